"""Patterns that have a name, for files that hold a vocabulary and not how text is split."""

from __future__ import annotations

from .openai import PUBLISHED

#: By the names of the shipped encodings that have one, and of what else is kept in such files.
PATTERNS: dict[str, str] = {
    **{name: published.pattern for name, published in PUBLISHED.items()},
    # Of models/llama3/tokenizer.py in meta-llama/llama-models; "\n\u3000" is two chunks by it, and
    # one by that of cl100k_base.
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
