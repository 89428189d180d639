"""Rows a second of ``token_count`` in tables, beside a function around tiktoken in the same engine.

    python -m tools.benchmark.tables FILE… [--encoding NAME] [--rounds N]

Rows are lines of the files that are not empty: *new* has each distinct line once, *repeated* a
tenth of them ten times. Each round is a process of its own, the two in turn; both have met a short
text before, so that loading is not counted. Figures are medians, in CPU time of the process. DuckDB
and Polars are left out where they are not installed; tiktoken needs its files
(``TIKTOKEN_CACHE_DIR``).
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ENGINES = ("sqlite3", "duckdb", "polars", "pandas")
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


def rows_of(files: list[Path], kind: str) -> list[str]:
    """Return the rows of a kind, in an order that is always the same."""
    lines = {line for file in files for line in file.read_text("utf-8").split("\n") if line}
    rows = sorted(lines)
    random.Random(1).shuffle(rows)
    if kind == "new":
        return rows
    rows = rows[: len(rows) // 10] * 10
    random.Random(2).shuffle(rows)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows a second of token_count in tables.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--encoding", default="o200k_base")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        engine, who, kind = arguments.one
        print(*measure(engine, who == "ours", arguments.encoding, rows_of(arguments.files, kind)))
        return
    for kind in ("new", "repeated"):
        print(f"{kind}: {len(rows_of(arguments.files, kind)):,} rows")
        for engine in filter(find_spec, ENGINES):
            found: dict[str, list[float]] = {"ours": [], "tiktoken": []}
            sums = set()
            for _ in range(arguments.rounds):
                for who, speeds in found.items():
                    command = [sys.executable, "-m", "tools.benchmark.tables"]
                    options = ["--encoding", arguments.encoding, "--one", engine, who, kind]
                    files = map(str, arguments.files)
                    done = subprocess.check_output([*command, *files, *options], text=True)
                    speed, tokens = done.split()
                    speeds.append(float(speed))
                    sums.add(tokens)
            assert len(sums) == 1, f"{engine}: the counts differ"
            ours, theirs = map(statistics.median, found.values())
            print(f"  {engine:8} {ours:10,.0f} {theirs:10,.0f} {ours / theirs:6.2f}×", flush=True)


if __name__ == "__main__":
    main()
