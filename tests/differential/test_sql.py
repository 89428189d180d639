"""Counts in SQL are tiktoken's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.sql import register
from tests.corpora import TEXTS
from tests.differential.reference import Pair


def check(pair: Pair, texts: list[str]) -> None:
    connection = sqlite3.connect(":memory:")
    register(connection)
    connection.execute("CREATE TABLE t (number INTEGER, text)")
    # Each as text and as a blob, and each twice.
    rows = [value for text in texts for value in (text, text.encode(), text)]
    connection.executemany("INSERT INTO t VALUES (?, ?)", enumerate(rows))
    query = "SELECT token_count(text, ?) FROM t ORDER BY number"
    found = [count for (count,) in connection.execute(query, [pair.ours.name])]
    connection.close()
    assert found == [len(pair.theirs.encode_ordinary(text)) for text in texts for _ in range(3)]


@given(texts=st.lists(st.text(st.characters(blacklist_categories=["Cs"]))))
def test_random_texts(get_pair: Callable[[str], Pair], texts: list[str]) -> None:
    check(get_pair("o200k_base"), texts)


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_odd_texts_and_lines(get_pair: Callable[[str], Pair], name: str) -> None:
    lines = [line for path in TEXTS for line in path.read_text("utf-8")[:20_000].split("\n")]
    check(get_pair(name), ["", "a\0b\0", "<|endoftext|>", "x" * 5000, *lines])
