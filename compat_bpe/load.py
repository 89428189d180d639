"""Encodings from files on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from compat_bpe.encoding import Encoding
from compat_bpe.encodings.openai import PUBLISHED
from compat_bpe.formats.gpt2 import read_gpt2
from compat_bpe.formats.tiktoken import read_ranks


def load_gpt2(
    encoder_json: str | os.PathLike[str],
    vocab_bpe: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Iterable[str] | None = None,
    name: str | None = None,
) -> Encoding:
    """An encoding from GPT-2 style ``encoder.json`` and ``vocab.bpe``.

    Args:
        encoder_json: token → id, tokens written in the byte-to-unicode map.
        vocab_bpe: the merges, one a line, in their order.
        pattern: how text is split; GPT-2's own pattern unless given.
        special_tokens: which entries of ``encoder_json`` are special.  Unless given, those that
            no merge makes and that are written ``<…>``.
        name: what the encoding is called; the file's name unless given.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged, or the two do not fit; it names file, line and reason.
    """
    ranks, specials = read_gpt2(encoder_json, vocab_bpe, special_tokens)
    return Encoding(
        _stem(encoder_json) if name is None else name,
        pat_str=PUBLISHED["gpt2"].pattern if pattern is None else pattern,
        mergeable_ranks=ranks,
        special_tokens=specials,
    )


def load_tiktoken(
    path: str | os.PathLike[str],
    *,
    pattern: str,
    special_tokens: Mapping[str, int] | None = None,
    name: str | None = None,
) -> Encoding:
    """An encoding from a ``.tiktoken`` rank file (a line a token: base64 and rank).

    Args:
        path: the rank file.
        pattern: how text is split: a published pattern, or the name of a shipped encoding
            that has the same one.  The file does not say it.
        special_tokens: names and ids of special tokens, none unless given.
        name: what the encoding is called; the file's name unless given.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged (it names file, line and reason), or the pattern or the
            special tokens cannot be used.
    """
    ranks = read_ranks(path)
    published = PUBLISHED.get(pattern)
    return Encoding(
        _stem(path) if name is None else name,
        pat_str=published.pattern if published else pattern,
        mergeable_ranks=ranks,
        special_tokens=dict(special_tokens or {}),
    )


def _stem(path: str | os.PathLike[str]) -> str:
    """The name of a file without folder and extension."""
    return os.path.splitext(os.path.basename(path))[0]
