"""The parts of a ``tokenizer.json``, as they stand in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: What an added token says besides its id and its content.
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")

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
