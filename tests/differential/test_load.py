"""A rank file read with the name of a pattern, against tiktoken with the pattern as published."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, load
from compat_bpe.formats.tiktoken import format_ranks
from tests.strategies import texts

#: As in Meta's llama-models.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
RANKS = {bytes([byte]): byte for byte in range(256)}
# Tokens across the edges of chunks: where a pattern has another edge, the ids are others.
for _word in ("\n\u3000", "\u3000\n", "1234", "a'll", "'sa", " \n\n", "  a", "a b", "!\n a", ". "):
    for _end in range(2, len(_word.encode()) + 1):
        RANKS.setdefault(_word.encode()[:_end], len(RANKS))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Encoding:
    path: Path = tmp_path_factory.mktemp("llama3") / "tokenizer.model"
    path.write_bytes(format_ranks(RANKS))
    return load(path, pattern="llama3")


@cache
def there() -> tiktoken.Encoding:
    return tiktoken.Encoding("x", pat_str=LLAMA3, mergeable_ranks=RANKS, special_tokens={})


def test_llama3(here: Encoding) -> None:
    @example("\n\u3000")
    @given(st.one_of(texts, st.text("\n\r \u3000\t1234a'lLsſ!.b", max_size=30)))
    def check(text: str) -> None:
        assert here.encode_ordinary(text) == there().encode_ordinary(text)

    check()
