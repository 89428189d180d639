"""``manifest.json``: the settings that files of a trained vocabulary do not hold themselves."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from ..files.whole import read_whole

MANIFEST = "manifest.json"

#: The pattern in a manifest if a ``tokenizer.json`` alone says how text is split.
AS_TOKENIZER_JSON = "that of tokenizer.json"

#: The formats of byte-level BPE, and the files of each; ``{name}`` stands for the name of the
#: vocabulary.
FORMATS: dict[str, tuple[str, ...]] = {
    "tiktoken": ("{name}.tiktoken",),
    "gpt2": ("encoder.json", "vocab.bpe"),
    "vocab-merges": ("vocab.json", "merges.txt", "tokenizer_config.json"),
    "tokenizer-json": ("tokenizer.json", "tokenizer_config.json"),
    "token-map": ("token_map.tsv",),
}

#: The format of models of SentencePiece, and all formats with it.
SENTENCEPIECE = "sentencepiece"
ALL_FORMATS = {**FORMATS, SENTENCEPIECE: ("{name}.model", "{name}.vocab")}


class Manifest(NamedTuple):
    """A manifest, as far as ``load`` needs it.

    Args:
        pattern: how text is split: a pattern, the name of one, or ``AS_TOKENIZER_JSON``.
        special_tokens: names and ids.
    """

    pattern: str
    special_tokens: dict[str, int]


def manifest_of(*files: Path) -> Manifest | None:
    """Read the manifest in the folder of some files.

    Returns:
        The manifest; None if there is none, or if it does not list one of the files with its
        SHA-256: then it belongs to another vocabulary, or something else is called so.

    Raises:
        OSError: one of the files cannot be read.
    """
    try:
        manifest = json.loads(read_whole(files[0].with_name(MANIFEST)))
        listed, pattern, specials = (
            manifest[key] for key in ("files", "pattern", "special_tokens")
        )
        digests = [listed[file.name] for file in files]
        special_tokens = dict(specials.items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    # A bool is an int to isinstance().
    if not isinstance(pattern, str) or any(type(one) is not int for one in special_tokens.values()):
        return None
    for file, digest in zip(files, digests):
        if hashlib.sha256(read_whole(file)).hexdigest() != digest:
            return None
    return Manifest(pattern, special_tokens)
