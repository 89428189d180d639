"""Functions for SQL in the SQLite of the standard library."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.fit import split_text
from compat_bpe.sql import register
from tests.encodings.small_vocabularies import own_encoding


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
    with pytest.raises(TypeError, match=r"sqlite3 or of DuckDB, not a object.*spark.register"):
        register(object())
    with pytest.raises(ValueError, match="errors is 'ignore'"):
        register(object(), errors="ignore")  # type: ignore[arg-type]
