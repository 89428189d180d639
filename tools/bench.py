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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.benchmark import encoders, training
from tools.benchmark.common import Options, corpora
from tools.tiktoken_files import write_tiktoken_files

#: What measures, and what it answers. The last two have their own tokenizers.
PARTS = {
    "speed": (encoders.speed, "encode, count and decode, times as fast as tiktoken"),
    "start": (encoders.start, "the first answer of a fresh process"),
    "tree": (encoders.tree, "the command on a tree of files, first and again, by the clock"),
    "document": (encoders.document, "a keystroke, and cuts, in texts of 10 KB to 10 MB"),
    "kinds": (encoders.speed_of_kinds, "other tokenizers beside their references"),
    "training": (training.training, "trainers beside their references"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{name:10} {does}" for name, (_, does) in PARTS.items()),
    )
    parser.add_argument("--only", action="append", default=[], choices=PARTS)
    parser.add_argument("--encoding", action="append", default=[], metavar="NAME")
    parser.add_argument(
        "--row", action="append", default=[], metavar="TITLE", help="of kinds, and of training"
    )
    parser.add_argument("--corpus", action="append", default=[], metavar="PATH", type=Path)
    parser.add_argument("--rounds", default=3, type=int, metavar="N")
    parser.add_argument(
        "--size", type=int, default=3_000_000, metavar="N", help="characters to train on"
    )
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
        for name in given.only or PARTS:
            measure, does = PARTS[name]
            encodings = given.encoding or ["cl100k_base", "o200k_base"]
            for encoding in [""] if name in ("kinds", "training") else encodings:
                print(f"\n{encoding} {name}: {does}".lstrip(" "), flush=True)
                rows = results.setdefault(name, {}).setdefault(encoding, {})
                options = Options(encoding, texts, given.rounds, given.size, given.row, given.limit)
                for title, figures in measure(options):
                    rows[title] = figures
                    cells = (f"{figure} {value:.3g}" for figure, value in figures.items())
                    print(f"  {title:28}", ", ".join(cells), flush=True)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
