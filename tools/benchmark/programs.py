"""Programs around the encoder: columns of tables, worker processes, the language server, Spark."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import statistics
import sys
import sysconfig
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from multiprocessing import Process
from pathlib import Path
from typing import Any
from unittest import mock

import tiktoken

from compat_bpe import get_encoding, sql
from tests.lsp.client import URI, insert, process, span
from tools.benchmark.common import Options, Row, cpu_of, grown, medians, mixed, run

# Columns of tables

ENGINES = ("sqlite3", "duckdb", "polars", "pandas")


def column(engine: str, name: str, texts: list[str], ours: bool) -> Callable[[], int]:
    """Return what sums the counts of a column, by this package or by a function around tiktoken."""
    encode = tiktoken.get_encoding(name).encode_ordinary

    def count(text: str) -> int:
        return len(encode(text))

    count("warm"), get_encoding(name).count("warm")
    query = f"SELECT sum(token_count(text, '{name}')) FROM t"
    if engine == "sqlite3":
        sqlite = sqlite3.connect(":memory:")
        sqlite.execute("CREATE TABLE t (text)")
        sqlite.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts])
        if ours:
            sql.register(sqlite)
        else:
            sqlite.create_function("token_count", 2, lambda text, _: count(text))
        return lambda: int(sqlite.execute(query).fetchone()[0])
    if engine == "duckdb":
        import duckdb
        import pyarrow

        duck = duckdb.connect()
        duck.register("t", pyarrow.table({"text": texts}))
        if ours:
            sql.register(duck)
        else:
            duck.create_function(
                "token_count",
                lambda batch, _: pyarrow.array([*map(count, batch.to_pylist())]),
                ["VARCHAR", "VARCHAR"],
                "BIGINT",
                type="arrow",
            )
        return lambda: int(duck.execute(query).fetchall()[0][0])
    if engine == "polars":
        import polars

        import compat_bpe.polars

        text: Any = polars.col("text")
        made = text.tokens.count(name) if ours else text.map_elements(count, polars.Int64)
        frame = polars.DataFrame({"text": texts})
        return lambda: int(frame.select(made.sum()).item())
    import pandas

    import compat_bpe.pandas  # noqa: F401

    series: Any = pandas.Series(texts)
    return lambda: int((series.tokens.count(name) if ours else series.map(count)).sum())


def rows_of(texts: Iterable[str], kind: str) -> list[str]:
    """Return rows in an order that is always the same.

    *lines* are distinct lines, *pieces* have 50 to 500 characters, and *repeated* is a tenth of the
    lines ten times.
    """
    rng = random.Random(1)
    rows: set[str] = set()
    for text in texts:
        if kind == "pieces":
            at = 0
            while at < len(text):
                size = rng.randint(50, 500)
                rows.add(text[at : at + size])
                at += size
        else:
            rows.update(line for line in text.split("\n") if line)
    found = sorted(rows)
    rng.shuffle(found)
    if kind == "repeated":
        found = found[: len(found) // 10] * 10
        rng.shuffle(found)
    return found


def columns(options: Options) -> Iterator[Row]:
    """Yield the rows a CPU second of ``token_count``; each round is a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.json")
        for kind in ("lines", "pieces", "repeated"):
            path.write_text(json.dumps(rows_of(options.texts.values(), kind)))
            for engine in ENGINES:
                if not find_spec(engine):
                    continue
                speeds: dict[str, list[float]] = {"here": [], "tiktoken": []}
                sums = set()
                for _ in range(options.rounds):
                    for side, found in speeds.items():
                        words = (engine, side, options.encoding, str(path))
                        rate, tokens = run("-m", __name__, *words)[1].split()
                        found.append(float(rate))
                        sums.add(tokens)
                if len(sums) != 1:
                    raise SystemExit(f"{options.encoding} in {engine}: tiktoken counts otherwise")
                row = {side: statistics.median(found) for side, found in speeds.items()}
                yield f"{kind}, {engine}", {**row, "ratio": row["here"] / row["tiktoken"]}


# One process and two

_TREE_WITH_TIKTOKEN = """
import pathlib, sys, tiktoken
encoding = tiktoken.get_encoding({name!r})
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    encoding.encode_ordinary(path.read_text("utf-8"))
"""


def cores(options: Options) -> Iterator[Row]:
    """Yield the CPU seconds of the command with one process and with two.

    The tree has the sources of the standard library, the text is all of them; the tree is also read
    by a script with tiktoken.
    """
    command = ["-m", "compat_bpe"]
    total = [*command, "count", "--no-cache", "-q", "--total-only", "-e", options.encoding]
    encode = [*command, "encode", "--packed", "-e", options.encoding]
    with tempfile.TemporaryDirectory() as folder:
        tree, text = Path(folder, "tree"), Path(folder, "text.py")
        text.write_bytes(b"".join(_write_sources(tree)))
        script = _TREE_WITH_TIKTOKEN.format(name=options.encoding)
        tasks: dict[str, dict[str, Sequence[str]]] = {
            title: {f"-j {jobs}": [*words, "-j", f"{jobs}", str(path)] for jobs in (1, 2)}
            for title, words, path in (
                ("count of a tree", total, tree),
                ("count of a text", total, text),
                ("encode of a text", encode, text),
            )
        }
        tasks["count of a tree"]["tiktoken"] = ["-c", script, str(tree)]
        for title, ways in tasks.items():
            yield title, medians(ways, options.rounds)


def _write_sources(tree: Path) -> Iterator[bytes]:
    """Write the sources of the standard library into a new folder, and yield them."""
    tree.mkdir()
    library = Path(sysconfig.get_path("stdlib"))
    for number, path in enumerate(sorted([*library.glob("*.py"), *library.glob("*/*.py")])):
        data = path.read_bytes().decode("utf-8", "replace").encode()
        (tree / f"{number}.py").write_bytes(data)
        yield data


def again(options: Options) -> Iterator[Row]:
    """Yield the seconds on the clock of counts of a tree with the cache, and of tiktoken's.

    The tree is that of ``cores``. ``first`` begins with no cache, and ten files
    are changed before ``changed``.
    """
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ):
        os.environ["COMPAT_BPE_CACHE_DIR"] = cache = os.path.join(folder, "cache")
        tree = Path(folder, "tree")
        for _ in _write_sources(tree):
            pass
        paths = sorted(tree.iterdir())
        script = _TREE_WITH_TIKTOKEN.format(name=options.encoding)
        count = ["-m", "compat_bpe", "count", "-q", "--total-only", "-e", options.encoding]
        taken: dict[str, list[float]] = {}
        for number in range(options.rounds + 1):
            shutil.rmtree(cache, ignore_errors=True)
            for title in ("tiktoken", "no cache", "first", "again", "changed"):
                if title == "changed":
                    for path in random.Random(number).sample(paths, 10):
                        path.write_text(path.read_text("utf-8") + f"# {number}\n", "utf-8")
                words = ["-c", script] if title == "tiktoken" else count
                start = time.perf_counter()
                run(*words, *["--no-cache"] * (title == "no cache"), str(tree))
                if number:  # the first time, files may have to be read and modules compiled
                    taken.setdefault(title, []).append(time.perf_counter() - start)
        yield "count of a tree", {title: statistics.median(some) for title, some in taken.items()}


# The language server

#: Characters of the document; keystrokes and prompts whose time is taken; keystrokes in all.
_SIZE, _TIMED, _PROMPTS, _ALL = 1_000_000, 1_000, 300, 20_000


def server(options: Options) -> Iterator[Row]:
    """Yield what an editor waits for: a keystroke until its count, a prompt, the first count."""
    first = []
    for _ in range(options.rounds):
        start = time.perf_counter()
        with process() as (client, _running):
            client.initialize()
            client.open(Path(__file__).read_text())
            client.wait_for("compatBpe/didCount")
            first.append(time.perf_counter() - start)
            client.leave()
    lines = mixed([*options.texts.values()], _SIZE, seed=5).replace("\r", "").split("\n")
    plain = [number for number, line in enumerate(lines) if line.isascii()]
    rng = random.Random(6)
    with process() as (client, running):
        client.initialize()
        client.open("\n".join(lines))
        client.wait_for("compatBpe/didCount")
        version = 1

        def type_in() -> None:
            """Put in a letter or take one out."""
            nonlocal version
            version += 1
            line = rng.choice(plain)
            old = lines[line]
            at = rng.randrange(len(old) + 1)
            if at < len(old) and rng.random() < 0.5:
                lines[line] = old[:at] + old[at + 1 :]
                change = {"range": span(line, at, line, at + 1), "text": ""}
            else:
                char = rng.choice(" aeint(.")
                lines[line] = old[:at] + char + old[at:]
                change = insert(line, at, char)
            client.change(change, version=version)

        def count() -> int:
            found = client.wait_for(
                "compatBpe/didCount", lambda params: bool(params["version"] == version)
            )
            return int(found["count"])

        keystrokes, prompts = [], []
        for _ in range(_TIMED):
            start = time.perf_counter()
            type_in()
            count()
            keystrokes.append(time.perf_counter() - start)
            time.sleep(max(0.0, 0.055 - keystrokes[-1]))  # each is the first one of an interval
        for _ in range(_PROMPTS):
            place = {"line": rng.randrange(len(lines)), "character": 0}
            params = {"textDocument": {"uri": URI}, "position": place, "limit": 2000}
            start = time.perf_counter()
            found = client.request(
                "compatBpe/fitPrompt", {**params, "template": "<p>{prefix}<s>{suffix}<m>"}
            )
            prompts.append(time.perf_counter() - start)
            if found["count"] > 2000:
                raise SystemExit(f"a prompt of {found['count']} tokens")
        memory = []
        for number in range(_TIMED, _ALL):
            type_in()
            if number % 1000 == 0:
                count()  # nobody types faster than the server works
                status = Path(f"/proc/{running.pid}/status").read_text()
                memory.append(int(status.partition("VmRSS:")[2].split()[0]) / 1000)
        type_in()
        if (counted := count()) != get_encoding("o200k_base").count("\n".join(lines)):
            raise SystemExit(f"the server counts {counted} tokens, which is wrong")
        client.leave()
    for title, times in (("a keystroke", keystrokes), ("a prompt", prompts)):
        slowest = statistics.quantiles(times, n=100)[-1]
        yield title, {"ms": statistics.median(times) * 1000, "1 of 100 ms": slowest * 1000}
    yield "the first count", {"ms": statistics.median(first) * 1000}
    yield "memory", {"MB": memory[1], "MB in the end": memory[-1]}


# Spark


def count_chunks(paths: Sequence[Path]) -> None:
    """Count the chunks of files of Parquet without Spark."""
    import pyarrow.parquet

    from compat_bpe.spark import partition_counts

    texts = (
        text for path in paths for text in pyarrow.parquet.read_table(path)["text"].to_pylist()
    )
    sum(1 for _ in partition_counts(texts, "o200k_base"))


def spark(options: Options) -> Iterator[Row]:
    """Yield megabytes a CPU second of all processes, Java's included, on ``local[2]``.

    It needs Java and ``pip install '.[spark]'``. The corpus is of documents of 4,000 characters.
    Beside Spark, two processes do the same with half of the files each; and a function around
    tiktoken is applied to a column.
    """
    import pyarrow
    import pyarrow.parquet
    from pyspark.sql import SparkSession, functions

    from compat_bpe.spark import chunk_counts, count_tokens

    with tempfile.TemporaryDirectory() as folder:
        megabytes = 0.0
        for number, text in enumerate(grown([*options.texts.values()], options.size)):
            rows = [text[at : at + 4000] for at in range(0, len(text), 4000)]
            megabytes += len(text.encode()) / 1e6
            pyarrow.parquet.write_table(
                pyarrow.table({"text": rows}), f"{folder}/{number:04}.parquet", row_group_size=1000
            )
        paths = sorted(Path(folder).glob("*.parquet"))

        def by_processes() -> None:
            halves = [Process(target=count_chunks, args=(paths[at::2],)) for at in (0, 1)]
            for half in halves:
                half.start()
            for half in halves:
                half.join()

        started = time.process_time() + sum(os.times()[2:4])
        by_processes()
        taken = time.process_time() + sum(os.times()[2:4]) - started
        yield "chunks, two processes", {"MB a CPU second": megabytes / taken}
        os.environ["PYSPARK_PYTHON"] = sys.executable
        session: Any = SparkSession.builder
        session = session.master("local[2]").config("spark.ui.showConsoleProgress", "false")
        session = session.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        table = session.read.parquet(folder)

        def counts(texts: Any) -> Any:
            encode = tiktoken.get_encoding("o200k_base").encode_ordinary
            return pyarrow.array([len(encode(text)) for text in texts.to_pylist()], pyarrow.int64())

        # A function with hints of types that it does not know is refused.
        with_tiktoken = functions.arrow_udf(lambda texts: counts(texts), "bigint")
        chunks = chunk_counts(table, "text", pattern="o200k_base")
        jobs = {
            "chunks": chunks.write.format("noop").mode("overwrite").save,
            "tokens": table.select(count_tokens("text", "o200k_base").alias("n"))
            .agg(functions.sum("n"))
            .collect,
            "tokens, a function around tiktoken": table.select(with_tiktoken("text").alias("n"))
            .agg(functions.sum("n"))
            .collect,
        }
        table.limit(2000).repartition(2).select(count_tokens("text", "o200k_base")).collect()
        for title, job in jobs.items():
            before = cpu_of(os.getpid())
            job()
            yield f"{title}, Spark", {"MB a CPU second": megabytes / (cpu_of(os.getpid()) - before)}
        address = f"{session.sparkContext.uiWebUrl}/api/v1/applications"
        with urllib.request.urlopen(
            f"{address}/{session.sparkContext.applicationId}/stages"
        ) as answer:
            written = sum(stage["shuffleWriteBytes"] for stage in json.load(answer))
        yield "chunks", {"distinct": chunks.count(), "shuffled MB": written / 1e6}
        session.stop()


if __name__ == "__main__":
    _engine, _side, _name, _path = sys.argv[1:]
    _texts = json.loads(Path(_path).read_text())
    _sum = column(_engine, _name, _texts, _side == "here")
    _start = time.process_time()
    _tokens = _sum()
    print(len(_texts) / (time.process_time() - _start), _tokens)
