"""Patterns that look ahead and repeat in most ways, and texts that are hard for them."""

from __future__ import annotations

from hypothesis import strategies as st

from compat_bpe import get_encoding
from tests.strategies import texts

#: None of them leaves a character out, or looks back.
PATTERNS = [
    r"a{2,5}|[ab]+(?=c)|(?:aa)+b?|\p{L}+?(?!a)|(?s:.)",
    r"\p{L}{3}|\p{L}+|[^\p{L}]+(?!1)|[^\p{L}]",
    r"(?:a{7})+|a+|[^a]",
    r"(?:a{3}){2,4}b*|a*b|a+?|(?s:.)",
    r"a+(?=a{4}$)|a+?(?=b)|a{1,3}|[^a]+",
    *(get_encoding(name)._pat_str for name in ("gpt2", "cl100k_base", "o200k_base")),
]
hard_texts = st.one_of(texts, st.text("ab1 \nc", max_size=40))
