"""Batches of SQL: what is checked first, and that equal rows are made once."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.columns.batches import count, made_of_batch, split, truncated
from compat_bpe.columns.encoding_for_workers import Carried
from compat_bpe.encodings.encoding import Encoding

pyarrow = pytest.importorskip("pyarrow")

OWN = {"mine": Carried("gpt2")}


def batch(function: Any, *columns: list[Any], errors: Any = "strict") -> list[Any]:
    return made_of_batch(function, OWN, errors, *map(pyarrow.array, columns))


def test_rows() -> None:
    texts, names = ["The cat sat on", None, "The cat sat on", ""], ["gpt2", "gpt2", "mine", None]
    assert batch(count, texts, names) == [4, None, 4, None]
    assert batch(truncated, texts, names, [3, 3, None, 3]) == ["The cat sat", None, None, None]
    assert batch(split, texts, names, [3, 3, 3, 3])[2] == ["The cat sat", " on"]
    assert batch(count, [b"a", b"\xff"], ["gpt2", "gpt2"], errors="skip") == [1, None]


def test_what_is_checked_first() -> None:
    """Encodings come before texts, and all texts before the first call."""

    def never(encoding: Encoding, text: str) -> int:
        raise AssertionError("a row was made")

    with pytest.raises(ValueError, match=r"(?i)unknown encoding"):
        batch(never, [b"a", b"\xff"], ["gpt2", "none"])
    with pytest.raises(ValueError, match="a text is not UTF-8"):
        batch(never, [b"a", b"\xff"], ["gpt2", "mine"])


def test_equal_rows_are_made_once() -> None:
    made = []

    def spy(encoding: Encoding, text: str) -> int:
        made.append((encoding.name, text))
        return get_encoding(encoding.name).count(text)

    assert batch(spy, ["a", "a", "b", "a"], ["gpt2", "gpt2", "gpt2", "mine"]) == [1, 1, 1, 1]
    assert made == [("gpt2", "a"), ("gpt2", "b"), ("gpt2", "a")]
