"""Batches of SQL: what is checked first, and that equal rows are made once."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.columns.batches import Batches, Carried, count, split, truncated
from compat_bpe.encodings.encoding import Encoding

pyarrow = pytest.importorskip("pyarrow")

OWN = {"mine": Carried("gpt2")}


def batch(function: Any, *columns: list[Any], errors: Any = "strict") -> list[Any]:
    return Batches(function, OWN, errors).made(*map(pyarrow.array, columns))


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

    assert batch(spy, ["a", "a", "b", "a"], ["gpt2", "gpt2", "gpt2", "bytes"]) == [1, 1, 1, 1]
    assert made == [("gpt2", "a"), ("gpt2", "b"), ("bytes", "a")]


def test_short_texts_are_remembered_from_batch_to_batch() -> None:
    made = []

    def spy(encoding: Encoding, text: str, *limit: int) -> int:
        made.append((encoding.name, text, *limit))
        return len(text)

    batches = Batches(spy, {}, "strict")
    long = "a" * 5000
    for names, limits in (("gpt2", 1), ("gpt2", 1), ("bytes", 1), ("gpt2", 2)):
        columns: list[list[Any]] = [["a", long, long], [names] * 3, [limits] * 3]
        assert batches.made(*map(pyarrow.array, columns)) == [1, 5000, 5000]
    assert [row for row in made if row[1] == "a"] == [
        *(("gpt2", "a", 1), ("bytes", "a", 1), ("gpt2", "a", 2))
    ]
    assert len(made) == 3 + 4  # the long one is made once for each batch


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.columns.batches._KEPT", 8)
    batches = Batches(truncated, {}, "strict")
    for limit in range(9):
        texts = [f"{limit} {number}" for number in range(20)]
        columns: list[list[Any]] = [texts, ["gpt2"] * 20, [limit + 9] * 20]
        assert batches.made(*map(pyarrow.array, columns)) == texts
    memos = batches._memos.values()
    assert len(memos) == 4
    assert all(len(memo) + len(memo.older) <= 8 for memo in memos)
