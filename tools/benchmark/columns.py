"""Rows a second of ``token_count`` in tables, beside a function around tiktoken in the same engine.

Rows are lines that are not empty (*lines*), or pieces of 50 to 500 characters (*pieces*), each
once; *repeated* has a tenth of the lines ten times. Each round is a process of its own, the two in
turn; both have met a short text before, so that loading is not counted. Figures are medians, in CPU
time of the process. Engines that are not installed are left out.
"""

from __future__ import annotations

import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .measured import ROOT

ENGINES = ("sqlite3", "duckdb", "polars", "pandas")
#: The engine that measures each text by itself.
OF_EACH_TEXT = "duckdb"
KINDS = ("lines", "pieces", "repeated")
FIGURES = ("rows_per_second", "tiktoken_rows_per_second", "ratio")

Run = Callable[[], Any]


def in_sqlite(ours: bool, name: str, count: Callable[[str], int], texts: list[str]) -> Run:
    from compat_bpe.sql import register

    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (text)")
    connection.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts])
    if ours:
        register(connection)
    else:
        connection.create_function("token_count", 2, lambda text, _: count(text))
    return lambda: connection.execute(f"SELECT sum(token_count(text, '{name}')) FROM t").fetchone()[
        0
    ]


def in_duckdb(ours: bool, name: str, count: Callable[[str], int], texts: list[str]) -> Run:
    import duckdb
    import pyarrow

    from compat_bpe.sql import register

    connection = duckdb.connect()
    connection.register("t", pyarrow.table({"text": texts}))
    if ours:
        register(connection)
    else:
        connection.create_function(
            "token_count",
            lambda batch, _: pyarrow.array([count(text) for text in batch.to_pylist()]),
            ["VARCHAR", "VARCHAR"],
            "BIGINT",
            type="arrow",
        )
    query = f"SELECT sum(token_count(text, '{name}')) FROM t"
    return lambda: int(connection.execute(query).fetchall()[0][0])


def in_polars(ours: bool, name: str, count: Callable[[str], int], texts: list[str]) -> Run:
    import polars

    import compat_bpe.polars  # noqa: F401

    column: Any = polars.col("text")
    made = (
        column.tokens.count(name) if ours else column.map_elements(count, return_dtype=polars.Int64)
    )
    frame = polars.DataFrame({"text": texts})
    return lambda: frame.select(made.sum()).item()


def in_pandas(ours: bool, name: str, count: Callable[[str], int], texts: list[str]) -> Run:
    import pandas

    import compat_bpe.pandas  # noqa: F401

    series: Any = pandas.Series(texts)
    return lambda: int((series.tokens.count(name) if ours else series.map(count)).sum())


def measure(engine: str, ours: bool, name: str, texts: list[str]) -> tuple[float, int]:
    """Return the rows a second, and the tokens of all rows."""
    import tiktoken

    from compat_bpe import get_encoding

    encode = tiktoken.get_encoding(name).encode_ordinary

    def count(text: str) -> int:
        return len(encode(text))

    count("warm"), get_encoding(name).count("warm")
    make = {
        "sqlite3": in_sqlite,
        "duckdb": in_duckdb,
        "polars": in_polars,
        "pandas": in_pandas,
    }[engine]
    run = make(ours, name, count, texts)
    start = time.process_time()
    tokens = run()
    return len(texts) / (time.process_time() - start), tokens


def rows_of(texts: Iterable[str], kind: str) -> list[str]:
    """Return the rows of a kind, in an order that is always the same."""
    rng = random.Random(1)
    if kind == "pieces":
        rows = sorted({piece for text in texts for piece in _pieces(text, rng)})
    else:
        rows = sorted({line for text in texts for line in text.split("\n") if line})
    rng.shuffle(rows)
    if kind == "repeated":
        rows = rows[: len(rows) // 10] * 10
        rng.shuffle(rows)
    return rows


def _pieces(text: str, rng: random.Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = rng.randint(50, 500)
        yield text[at : at + size]
        at += size


def rows_a_second(
    engine: str, name: str, texts: Iterable[str], kind: str, rounds: int
) -> dict[str, float]:
    """Return the figures of an engine that is installed.

    Raises:
        SystemExit: the counts differ.
    """
    speeds: dict[str, list[float]] = {"ours": [], "tiktoken": []}
    sums = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.json")
        path.write_text(json.dumps(rows_of(texts, kind)))
        for _ in range(rounds):
            for who, found in speeds.items():
                command = [sys.executable, "-m", __name__, engine, who, name, str(path)]
                done = subprocess.check_output(command, text=True, cwd=ROOT)
                speed, tokens = done.split()
                found.append(float(speed))
                sums.add(tokens)
    if len(sums) != 1:
        raise SystemExit(f"{name} in {engine}: the counts differ from tiktoken's")
    ours, theirs = map(statistics.median, speeds.values())
    return dict(zip(FIGURES, (ours, theirs, ours / theirs)))


def installed() -> list[str]:
    """Return the engines that are installed."""
    return [engine for engine in ENGINES if find_spec(engine)]


if __name__ == "__main__":
    _engine, _who, _name, _path = sys.argv[1:]
    _rows = json.loads(Path(_path).read_text())
    print(*measure(_engine, _who == "ours", _name, _rows))
