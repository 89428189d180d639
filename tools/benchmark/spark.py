"""Jobs on Spark beside the same work without it, and beside a function around tiktoken.

    python -m tools.benchmark.spark [--size MB] [--fresh SHARE] [--corpus PATH]... [--json FILE]

It needs Java and ``pip install '.[spark]'``. The corpus is made of pieces of the given texts, with
a share of the words replaced by new ones, and written as Parquet. ``local[2]`` does the work, with
Spark's own size of partitions.

Beside it, the same work is done by two processes at once, each with every other file. Two, because
that is how many workers Spark has: cores that share a cache or that are two threads of one are
slower when both work.

Figures are megabytes of text a second, by the clock, and by the CPU time of all processes: on a
machine that others use, too, only the latter says something. CPU time is also given for the
workers of Python alone. A *share* is the throughput for CPU time on Spark divided by that of the
two processes. What is done twice has the figures of the run that took less CPU time.
``shuffled`` is what went from one stage to the next, and ``driver`` the most memory of the driver's
Python while it learned.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing import Process
from pathlib import Path
from threading import Event, Thread
from typing import Any

from compat_bpe import get_encoding
from compat_bpe.spark import chunk_counts, count_tokens, partition_counts, train
from compat_bpe.train import TrainingSettings
from tools.benchmark.corpora import SHARED, mixed, read
from tools.tiktoken_files import write_tiktoken_files

ENCODING = "o200k_base"
PATTERN = "o200k_base"

#: Characters of a document.
_DOCUMENT = 4_000
#: Characters of the documents that are made at a time, and that a file of Parquet has.
_PIECE, _FILE = 1_000_000, 16_000_000


def documents(texts: list[str], size: int, fresh: float, seed: int) -> Iterator[str]:
    """Documents of so many characters together, with a share of words that never came before."""
    rng = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgk"
    while size > 0:
        words = mixed(texts, min(size, _PIECE), rng.randrange(1 << 30)).split(" ")
        for at in rng.sample(range(len(words)), int(len(words) * fresh)):
            words[at] = "".join(rng.choices(letters, k=rng.randrange(5, 10)))
        text = " ".join(words)
        for start in range(0, len(text), _DOCUMENT):
            yield text[start : start + _DOCUMENT]
        size -= len(text) + 1


def write_corpus(folder: Path, texts: list[str], size: int, fresh: float) -> int:
    """Write a corpus as files of Parquet; return its size in bytes of UTF-8.

    Args:
        folder: the folder of the files.
        texts: the texts that it is made of.
        size: the size in bytes that it has at least.
        fresh: the share of words that are new.
    """
    import pyarrow
    import pyarrow.parquet

    total = number = 0
    while total < size:
        found = []
        for text in documents(texts, _FILE, fresh, number):
            found.append(text)
            total += len(text.encode())
            if total >= size:
                break
        table = pyarrow.table({"text": found})
        pyarrow.parquet.write_table(table, folder / f"{number:04}.parquet", row_group_size=1000)
        number += 1
    return total


def read_texts(paths: Iterable[Path]) -> Iterator[str]:
    import pyarrow.parquet

    for path in paths:
        yield from pyarrow.parquet.read_table(path)["text"].to_pylist()


def count_texts(paths: list[Path]) -> int:
    return sum(map(get_encoding(ENCODING).count, read_texts(paths)))


def count_chunks(paths: list[Path]) -> int:
    return len(partition_counts(read_texts(paths), PATTERN))


def by_two_processes(work: Callable[[list[Path]], object], paths: list[Path]) -> None:
    """Do some work with two processes, each with every other file."""
    processes = [Process(target=work, args=(paths[first::2],)) for first in (0, 1)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


#: The CPU time that each process was last seen with, and where it belongs.
_seen: dict[int, tuple[str, float]] = {}


def cpu_seconds() -> Counter[str]:
    """CPU time of this process, of Java, and of all others that it has started.

    Processes that have ended count with what they had when this was last called.
    """
    stats: dict[int, tuple[int, str, float]] = {}
    ticks = os.sysconf("SC_CLK_TCK")
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            start, _, end = path.read_text().rpartition(")")
        except OSError:
            continue
        fields = end.split()
        number = int(path.parent.name)
        is_own = number == os.getpid()
        name = "driver" if is_own else "java" if start.endswith("(java") else "workers"
        seconds = sum(map(int, fields[11 : 15 if is_own else 13])) / ticks
        stats[number] = int(fields[1]), name, seconds
    own = {os.getpid()}
    while more := {one for one, (parent, *_) in stats.items() if parent in own} - own:
        own |= more
    _seen.update({one: stats[one][1:] for one in own & stats.keys()})
    found: Counter[str] = Counter()
    for name, seconds in list(_seen.values()):
        found[name] += seconds  # type: ignore[assignment]
    return found


def watch(ended: Event) -> None:
    """See all processes each second: Spark ends workers that have nothing to do for a minute."""
    while not ended.wait(1):
        cpu_seconds()


def measured(
    megabytes: float, work: Callable[[], object], *, on_spark: bool = True
) -> dict[str, float]:
    """Throughput of some work, by the clock and by CPU time.

    Args:
        megabytes: the size of the text.
        work: the work.
        on_spark: False if it is work of processes that this one starts and waits for, so that
            their time is its own; Java and the workers do not count then.
    """
    started, before = time.perf_counter(), cpu_seconds()
    ended = Event()
    watching = Thread(target=watch, args=(ended,))
    watching.start()
    try:
        work()
    finally:
        seconds = time.perf_counter() - started
        ended.set()
        watching.join()
    after = cpu_seconds()
    names = ("driver", "java", "workers") if on_spark else ("driver",)
    cpu = {name: after[name] - before[name] for name in names}
    return {
        "seconds": seconds,
        "cpu_seconds": sum(cpu.values()),
        **{f"cpu_seconds_{name}": value for name, value in cpu.items()},
        "mb_per_second": megabytes / seconds,
        "mb_per_cpu_second": megabytes / sum(cpu.values()),
        **({"mb_per_cpu_second_workers": megabytes / cpu["workers"]} if on_spark else {}),
    }


def shuffled_bytes(spark: Any) -> int:
    """The bytes that all stages have written for others, as Spark's own service says."""
    context = spark.sparkContext
    path = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(path) as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def tiktoken_column() -> Any:
    """The function on a column that one would write around tiktoken."""
    import pyarrow
    from pyspark.sql.functions import arrow_udf

    def count(texts: Any) -> Any:
        import tiktoken

        encoding = tiktoken.get_encoding(ENCODING)
        found = [len(encoding.encode_ordinary(text)) for text in texts.to_pylist()]
        return pyarrow.array(found, pyarrow.int64())

    return arrow_udf(lambda texts: count(texts), "bigint")("text")


def session() -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master("local[2]").appName("benchmark")
    settings = {
        "spark.driver.memory": "4g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def run(folder: Path, size: int, vocabulary: int, note: Callable[[str, Any], None]) -> None:
    """Measure on a corpus.

    Args:
        folder: its folder.
        size: its size in bytes.
        vocabulary: the number of tokens that are learned.
        note: called with the name and the value of each figure, as it comes.
    """
    from pyspark.sql import functions

    paths = sorted(folder.glob("*.parquet"))
    megabytes = size / 1e6
    note("bytes", size)
    note("rows", sum(1 for _ in read_texts(paths)))
    spark = session()
    df = spark.read.parquet(str(folder))
    note("partitions", df.rdd.getNumPartitions())
    df.limit(2000).repartition(2).select(count_tokens("text", ENCODING)).collect()  # starts workers
    before = shuffled_bytes(spark)
    counts = chunk_counts(df, "text", pattern=PATTERN)
    noop = counts.write.format("noop").mode("overwrite")
    for time_of in ("first", "second"):
        alone = partial(by_two_processes, count_chunks, paths)
        note(f"chunk_counts, processes, {time_of}", measured(megabytes, alone, on_spark=False))
        note(f"chunk_counts, Spark, {time_of}", measured(megabytes, noop.save))
    note("shuffled_bytes", (shuffled_bytes(spark) - before) / 2)
    note("distinct_chunks", counts.count())
    alone = partial(by_two_processes, count_texts, paths)
    note("count_tokens, processes", measured(megabytes, alone, on_spark=False))
    summed = df.select(count_tokens("text", ENCODING).alias("n")).agg(functions.sum("n"))
    note("count_tokens, Spark", measured(megabytes, summed.collect))
    note("driver_megabytes_before", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    with tempfile.TemporaryDirectory() as output:
        settings = TrainingSettings(vocabulary, pattern=PATTERN)
        own = partial(train, df, "text", Path(output) / "own", settings)
        note("train, Spark", measured(megabytes, own))
    note("driver_megabytes", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    summed = df.select(tiktoken_column().alias("n")).agg(functions.sum("n"))
    note("around tiktoken, Spark", measured(megabytes, summed.collect))
    spark.stop()


class Notes:
    """Figures, printed as they come, and kept in a file of JSON.

    Args:
        path: the file; None for none.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: dict[str, Any] = {}

    def __call__(self, name: str, value: Any) -> None:
        self.found[name] = value
        if isinstance(value, dict):
            shown = (
                f"{value['seconds']:8.0f} s  {value['mb_per_second']:7.2f} MB/s  "
                f"{value['mb_per_cpu_second']:7.2f} MB a CPU second"
            )
            if "mb_per_cpu_second_workers" in value:
                shown += f"  {value['mb_per_cpu_second_workers']:7.2f} of workers alone"
        else:
            shown = f"{value:14,.0f}"
        print(f"{name:34}{shown}", flush=True)
        if self._path:
            self._path.write_text(json.dumps(self.found, indent=1) + "\n")

    def shares(self) -> dict[str, float]:
        """The throughput of Spark for CPU time, as a share of that of processes."""
        both = (("chunk_counts", "first"), ("chunk_counts", "second"), ("count_tokens", ""))
        found: dict[str, float] = {}
        best: dict[tuple[str, str], float] = {}
        for work, run_name in both:
            for where in ("processes", "Spark"):
                name = ", ".join(filter(None, (work, where, run_name)))
                rate = self.found[name]["mb_per_cpu_second"]
                best[work, where] = max(rate, best.get((work, where), 0))
            found[work] = best[work, "Spark"] / best[work, "processes"]
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", metavar="MB", type=float, default=1000)
    parser.add_argument("--fresh", metavar="SHARE", type=float, default=0.01)
    parser.add_argument("--corpus", metavar="PATH", type=Path, action="append", default=[])
    parser.add_argument("--vocabulary", metavar="N", type=int, default=8000)
    parser.add_argument("--json", metavar="FILE", type=Path)
    options = parser.parse_args()
    paths = options.corpus or sorted(one for one in SHARED.glob("*") if one.stem != "README")
    texts = list(map(read, paths))
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as files:
        os.environ["TIKTOKEN_CACHE_DIR"] = files
        write_tiktoken_files(Path(files))
        size = write_corpus(Path(folder), texts, int(options.size * 1e6), options.fresh)
        notes = Notes(options.json)
        run(Path(folder), size, options.vocabulary, notes)
    for name, share in notes.shares().items():
        print(f"{name:34}{share:8.2f} of the processes")


if __name__ == "__main__":
    main()
