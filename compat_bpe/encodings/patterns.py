"""Patterns with names, for vocabulary files that do not hold their pattern."""

from __future__ import annotations

from .openai import PUBLISHED

#: The patterns by name: shipped encodings with a single pattern, and others whose vocabularies are
#: kept in such files.
PATTERNS: dict[str, str] = {
    **{name: published.pattern for name, published in PUBLISHED.items()},
    # From models/llama3/tokenizer.py in meta-llama/llama-models. It splits "\n\u3000" into two
    # chunks; the pattern of cl100k_base leaves it one.
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
