"""Speed of this package beside tiktoken, in one run.

    python tools/bench.py [--encoding NAME]... [--corpus PATH]... [--rounds N] [--json FILE]

Every figure is the median of several rounds in which the two take turns, so that a machine that
slows down slows both.  ``×`` is tiktoken's time divided by ours: 2.0× is twice as fast as tiktoken.

- **new**: a fresh encoder's first sight of the text.
- **again**: the same text once more.
- **count**: ``count`` of text seen before, against ``len(encode_ordinary(text))``.
- **decode**: ids to text.
- **load**: ``get_encoding`` in a fresh process, the package imported; tiktoken from its warm cache.

A text for which the two differ is reported and the run fails: speed without exactness is nothing.
Texts: English and other natural text from ``../shared/corpora`` if that is there, and the standard
library's sources.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from compat_bpe import Encoding, get_encoding  # noqa: E402
from tools.tiktoken_files import write_tiktoken_files  # noqa: E402

LOAD = """
import time, {module} as module
start = time.perf_counter()
module.get_encoding({name!r})
print(time.perf_counter() - start)
"""


def texts(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """The name and content of each corpus."""
    for path in paths or sorted((ROOT.parent / "shared" / "corpora").glob("*")):
        if path.name != "README.md":
            yield path.name, path.read_bytes().decode()
    if not paths:
        sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
        yield "stdlib *.py", "".join(path.read_text("utf-8") for path in sources)[:1_500_000]


def interleaved(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """The median seconds of each call, the calls taking turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def fresh(encoding: Encoding) -> Encoding:
    """The same encoding with nothing remembered and nothing compiled."""
    return Encoding(
        encoding.name,
        pat_str=encoding._pat_str,
        mergeable_ranks=encoding._mergeable_ranks,
        special_tokens=encoding._special_tokens,
    )


def load_times(name: str, rounds: int) -> dict[str, float]:
    """Seconds to load an encoding in a fresh process."""

    def seconds(module: str) -> float:
        code = LOAD.format(module=module, name=name)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, check=True
        )
        return float(run.stdout)

    times = [(seconds("compat_bpe"), seconds("tiktoken")) for _ in range(rounds)]
    ours, theirs = map(statistics.median, zip(*times))
    return {"seconds": ours, "tiktoken_seconds": theirs, "ratio": theirs / ours}


def measure(name: str, text: str, rounds: int) -> dict[str, float]:
    """All figures for one encoding and one text.

    Raises:
        SystemExit: the ids differ from tiktoken's.
    """
    import tiktoken

    reference, encoding = tiktoken.get_encoding(name), get_encoding(name)
    ids = reference.encode_ordinary(text)
    found = encoding.encode_ordinary(text)
    if found != ids:
        at = next(
            (i for i, (a, b) in enumerate(zip(found, ids)) if a != b), min(len(found), len(ids))
        )
        raise SystemExit(f"{name}: ids differ from tiktoken's at {at}: {found[at : at + 5]}")
    encoders = iter([fresh(encoding) for _ in range(rounds)])
    encode = reference.encode_ordinary
    new, theirs_1, again, theirs_2, count, theirs_3, decode, theirs_4 = interleaved(
        rounds,
        lambda: next(encoders).encode_ordinary(text),
        lambda: encode(text),
        lambda: encoding.encode_ordinary(text),
        lambda: encode(text),
        lambda: encoding.count(text),
        lambda: len(encode(text)),
        lambda: encoding.decode(ids),
        lambda: reference.decode(ids),
    )
    theirs = statistics.median([theirs_1, theirs_2, theirs_3])
    return {
        "megabytes": len(text.encode()) / 1e6,
        "tiktoken_mb_per_second": len(text.encode()) / 1e6 / theirs,
        "new": theirs_1 / new,
        "again": theirs_2 / again,
        "count": theirs_3 / count,
        "decode": theirs_4 / decode,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed beside tiktoken.")
    parser.add_argument("--encoding", action="append", default=[], metavar="NAME")
    parser.add_argument("--corpus", action="append", default=[], metavar="PATH", type=Path)
    parser.add_argument("--rounds", default=5, type=int, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    results: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_tiktoken_files(Path(folder))
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        for name in arguments.encoding or ["cl100k_base", "o200k_base"]:
            load = load_times(name, max(arguments.rounds, 5))
            rows = {"load": load}
            print(f"\n{name}: loads in {load['seconds'] * 1000:.0f} ms, {load['ratio']:.1f}×")
            print(f"{'':24}{'tiktoken':>10}" + "".join(f"{h:>8}" for h in FIGURES))
            for title, text in texts(arguments.corpus):
                row = rows[title] = measure(name, text, arguments.rounds)
                print(
                    f"{title:24}{row['tiktoken_mb_per_second']:5.1f} MB/s"
                    + "".join(f"{row[figure]:7.2f}×" for figure in FIGURES)
                )
            means = (
                statistics.geometric_mean(rows[t][figure] for t in rows if t != "load")
                for figure in FIGURES
            )
            print(f"{'geometric mean':34}" + "".join(f"{mean:7.2f}×" for mean in means))
            results[name] = rows
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


FIGURES = ("new", "again", "count", "decode")

if __name__ == "__main__":
    main()
