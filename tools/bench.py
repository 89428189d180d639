"""Speed and memory of this package beside tiktoken, tokenizers and sentencepiece.

    python tools/bench.py [--only PART]... [--encoding NAME]... [--row TITLE]... [--corpus PATH]...
                          [--rounds N] [--size N] [--limit SECONDS] [--json FILE]

Every figure is the median of several rounds in which the sides take turns, so that a machine that
slows down slows all. Times are CPU times unless a part says otherwise. Ids that differ from the
reference's end the run: speed without exactness is nothing. Texts: ``../shared/corpora`` if that is
there, the sources of the standard library, files from npm, and a mix of all; or those given.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.benchmark import encoders, programs, training
from tools.benchmark.common import Options, Row, corpora
from tools.tiktoken_files import write_tiktoken_files


class Part(NamedTuple):
    """A part of the benchmark.

    Args:
        measure: yields its rows.
        does: what it answers.
        of_encodings: True if it is measured with each encoding.
        size: the size by default: see ``Options``.
    """

    measure: Callable[[Options], Iterator[Row]]
    does: str
    of_encodings: bool = True
    size: int = 1_000_000


PARTS = {
    "speed": Part(encoders.speed, "encode, count and decode, times as fast as tiktoken"),
    "start": Part(encoders.start, "the first answer of a fresh process"),
    "memory": Part(encoders.memory, "megabytes after load, and after 50 MB of text"),
    "hard": Part(
        encoders.hard, "seconds for texts without a cut point, of 1, 2 and 4 times --size"
    ),
    "document": Part(encoders.document, "a keystroke, and cuts, in texts of 10 KB to 10 MB"),
    "columns": Part(programs.columns, "rows a second of token_count in engines for tables"),
    "cores": Part(programs.cores, "the command with one process and with two"),
    "again": Part(programs.again, "the command on a tree that it has counted before, by the clock"),
    "pypy": Part(encoders.pypy, "encode on PyPy, times as fast as tiktoken on this Python"),
    "kinds": Part(encoders.speed_of_kinds, "other tokenizers beside their references", False),
    "server": Part(programs.server, "the language server by the clock, as an editor asks", False),
    "training": Part(training.training, "trainers beside their references", False, 3_000_000),
    "spark": Part(programs.spark, "counting on Spark; needs Java", False, 100_000_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{name:10} {part.does}" for name, part in PARTS.items()),
    )
    parser.add_argument("--only", action="append", default=[], choices=PARTS)
    parser.add_argument("--encoding", action="append", default=[], metavar="NAME")
    parser.add_argument(
        "--row", action="append", default=[], metavar="TITLE", help="of kinds, and of training"
    )
    parser.add_argument("--corpus", action="append", default=[], metavar="PATH", type=Path)
    parser.add_argument("--rounds", default=3, type=int, metavar="N")
    parser.add_argument("--size", type=int, metavar="N", help="characters; each part has its own")
    parser.add_argument(
        "--limit",
        type=float,
        metavar="SECONDS",
        help="of CPU time, after which a trainer is stopped",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    given = parser.parse_args()
    texts = corpora(given.corpus)
    results: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_tiktoken_files(Path(folder))
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        os.environ["RUST_BACKTRACE"] = "0"  # tiktoken panics on some hard inputs
        for name in given.only or PARTS:
            part = PARTS[name]
            encodings = given.encoding or ["cl100k_base", "o200k_base"]
            for encoding in encodings if part.of_encodings else [""]:
                print(f"\n{encoding} {name}: {part.does}".lstrip(" "), flush=True)
                rows = results.setdefault(name, {}).setdefault(encoding, {})
                size = given.size or part.size
                options = Options(encoding, texts, given.rounds, size, given.row, given.limit)
                for title, figures in part.measure(options):
                    rows[title] = figures
                    cells = (f"{figure} {value:.3g}" for figure, value in figures.items())
                    print(f"  {title:28}", ", ".join(cells), flush=True)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
