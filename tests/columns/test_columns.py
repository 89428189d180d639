"""Batches of rows, encodings on their way to workers, and the functions of SQLite."""

from __future__ import annotations

import json
import pickle
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding
from compat_bpe.columns import batches as module
from compat_bpe.columns.batches import Batches, Carried, count, split, truncated
from compat_bpe.fit import split_text
from compat_bpe.sql import register
from tests.encodings.small_vocabularies import own_encoding

OWN = {"mine": Carried("gpt2")}


def arrays(*columns: list[Any]) -> Any:
    return map(pytest.importorskip("pyarrow").array, columns)


def batch(function: Any, *columns: list[Any], errors: Any = "strict") -> list[Any]:
    return Batches(function, OWN, errors).apply(*arrays(*columns))


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
        assert batches.apply(*arrays(*columns)) == [1, 5000, 5000]
    assert [row for row in made if row[1] == "a"] == [
        ("gpt2", "a", 1),
        ("bytes", "a", 1),
        ("gpt2", "a", 2),
    ]
    assert len(made) == 3 + 4  # the long one is made once for each batch


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.columns.batches._KEPT", 8)
    batches = Batches(truncated, {}, "strict")
    for limit in range(9):
        texts = [f"{limit} {number}" for number in range(20)]
        columns: list[list[Any]] = [texts, ["gpt2"] * 20, [limit + 9] * 20]
        assert batches.apply(*arrays(*columns)) == texts
    memos = batches._memos.values()
    assert len(memos) == 4
    assert all(len(memo) + len(memo.older) <= 8 for memo in memos)


BYTES = {bytes([value]): value for value in range(256)}


@pytest.fixture(autouse=True)
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    module._known.clear()
    yield
    sys.setswitchinterval(before)
    module._known.clear()


def carried(number: int) -> Carried:
    """An encoding by value, as it comes to a worker."""
    names = {f"<{number}>": 256}
    encoding = Encoding(f"own {number}", pat_str=".", mergeable_ranks=BYTES, special_tokens=names)
    found: Carried = pickle.loads(pickle.dumps(Carried(encoding)))
    return found


def test_the_same_object_as_long_as_it_is_kept() -> None:
    first = carried(0)
    made = first.get()
    assert first.get() is carried(0).get() is made
    for number in range(1, module._MOST_KNOWN):
        carried(number).get()
    assert first.get() is made  # asked for last, it is given up last
    carried(module._MOST_KNOWN).get()
    assert first.get() is made
    for number in range(1, module._MOST_KNOWN + 1):
        carried(100 + number).get()
    assert first.get() is not made


def test_threads_share_what_is_kept() -> None:
    given = [carried(number) for number in range(module._MOST_KNOWN + 4)]

    def ask(turn: int) -> None:
        for at in range(60):
            number = (turn * 7 + at) % len(given)
            assert given[number].get().name == f"own {number}"

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    assert len(module._known) <= module._MOST_KNOWN


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:")
    register(made)
    yield made
    made.close()


def one(connection: sqlite3.Connection, sql: str, *values: Any) -> Any:
    return connection.execute(sql, values).fetchone()[0]


@pytest.mark.parametrize(
    "call",
    [
        "token_count(NULL, 'gpt2')",
        "token_count('a', NULL)",
        "truncate_tokens('a', 'gpt2', NULL)",
        "split_tokens(NULL, 'gpt2', 3)",
    ],
)
def test_null_gives_null(connection: sqlite3.Connection, call: str) -> None:
    assert one(connection, f"SELECT {call}") is None


def test_truncated_and_split(connection: sqlite3.Connection) -> None:
    text = "The cat sat on the mat. \0 世界"
    gpt2 = get_encoding("gpt2")
    found = one(connection, "SELECT truncate_tokens(?, 'gpt2', 3)", text)
    assert found == gpt2.truncate(text, 3).text == "The cat sat"
    found = one(connection, "SELECT split_tokens(?, 'gpt2', 4)", text)
    assert json.loads(found) == [part.text for part in split_text(gpt2, text, 4)]


def test_bytes_that_are_not_utf8() -> None:
    for errors, expected in (("replace", 2), ("skip", None)):
        connection = sqlite3.connect(":memory:")
        register(connection, errors=errors)  # type: ignore[arg-type]
        assert one(connection, "SELECT token_count(?, 'gpt2')", b"a\xff") == expected
        connection.close()


@pytest.mark.parametrize(
    "call",
    [
        "token_count(x'61FF', 'gpt2')",
        "token_count(5, 'gpt2')",
        "token_count('a', 'gpt9')",
        "truncate_tokens('a', 'gpt2', -1)",
        "truncate_tokens('a', 'gpt2', 1.0)",
    ],
)
def test_wrong_values_fail_the_query(connection: sqlite3.Connection, call: str) -> None:
    one(connection, "SELECT truncate_tokens('a', 'gpt2', 1)")  # remembered, but not for 1.0
    with pytest.raises(sqlite3.OperationalError):
        one(connection, f"SELECT {call}")


def test_own_encodings(connection: sqlite3.Connection) -> None:
    register(connection, {"mine": own_encoding()})
    assert one(connection, "SELECT token_count('abab', 'mine')") == 2
    with pytest.raises(ValueError, match="unknown encoding 'gpt9'"):
        register(connection, {"mine": "gpt9"})


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"sqlite3 or DuckDB, not a object.*spark.register"):
        register(object())
    with pytest.raises(ValueError, match="errors is 'ignore'"):
        register(object(), errors="ignore")  # type: ignore[arg-type]
