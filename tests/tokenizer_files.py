"""The parts of a ``tokenizer.json``, as they stand in a file."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import compat_bpe

#: What an added token says besides its id and its content.
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")

#: Stands for the value of a member that is deleted.
DELETED = "(deleted)"

BERT_NORMALIZER: dict[str, Any] = {
    "type": "BertNormalizer",
    **dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), True),
    "strip_accents": None,
}
BYTE_LEVEL: dict[str, Any] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


def added(number: int, content: str, **flags: bool) -> dict[str, Any]:
    """An added token, with some of its flags set."""
    return {"id": number, "content": content, **dict.fromkeys(FLAGS, False), **flags}


def bpe_model(vocab: Mapping[str, int], merges: Sequence[Any], **options: Any) -> dict[str, Any]:
    """A model of BPE without anything else, unless the options say so."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        **options,
        "vocab": vocab,
        "merges": merges,
    }


def tokenizer_file(**parts: Any) -> dict[str, Any]:
    """A whole file: all but what is given is left out."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        **parts,
    }


def load_json(folder: Path, content: Any, name: str = "tokenizer.json") -> Any:
    """Write a file, and load it."""
    path = folder / name
    path.write_text(json.dumps(content))
    return compat_bpe.load(path)


def with_member(file: dict[str, Any], path: Sequence[Any], value: Any) -> dict[str, Any]:
    """A file with one member set, or ``DELETED``."""
    found = copy.deepcopy(file)
    part: Any = found
    for key in path[:-1]:
        part = part[key]
    if value is DELETED:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return found
