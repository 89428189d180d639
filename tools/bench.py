"""Speed and memory of this package beside tiktoken, in one run.

    python tools/bench.py [--encoding NAME]... [--corpus PATH]... [--only PART]... [--rounds N]
                          [--size N] [--training-size N] [--training-limit SECONDS]
                          [--trainer TITLE]... [--json FILE]

Every figure is the median of several rounds in which the two take turns, so that a machine that
slows down slows both. ``×`` is tiktoken's time divided by ours: 2.0× is twice as fast as tiktoken.

- **speed**: for each text, *cold* (a fresh encoder's first text), *steady* (an encoder that has met
  the first half of the text, on the second half) and *repeat* (the second half once more), for
  encoding and for counting (against ``len(encode_ordinary(text))``); and decoding.
- **small**: microseconds a call takes for texts of 10, 100 and 1,000 characters.
- **load**: ``get_encoding`` in a fresh process; tiktoken from its cache.
- **command**: ``compat-bpe count`` of a small file, as a whole process.
- **first**: the first answer of a fresh process, in CPU time, of which a ratio below 1 is less than
  tiktoken takes: to import, to load, the first ``encode`` (ASCII or other text), the first
  ``decode``, and ``compat-bpe count`` of a small file as a whole; and ``import compat_bpe`` beside
  ``import re``. Of ``deepseek_v3``, beside tokenizers, under *deepseek*. Start-up files of the
  environment (``.pth``) are in all processes alike: measure in one without editable installs.
- **memory**: resident after load, and after 50 MB of varied text.
- **scaling**: n, 2n and 4n characters of texts without a good place to cut.
- **peers**: other encoders that are installed.
- **editor**: a keystroke in documents of 10 KB to 10 MB, against a count of the whole by tiktoken;
  and whether such a text fits in a thousand tokens, and its head and tail that do.
- **columns**: rows a second of ``token_count`` in SQLite, DuckDB, Polars and pandas, in CPU time,
  beside a function around tiktoken in the same engine.
- **deepseek**: ``deepseek_v3`` beside Hugging Face tokenizers with the file it is from (by pip):
  cold, steady and repeat as in *speed*, counting a text that has been encoded, and the time to load
  what ships and to load the file.
- **kinds**: other kinds of tokenizers, beside tokenizers with the same file or sentencepiece:
  a new text, the same *again*, and the new one line by line; the time to load, and the first answer
  of a fresh process. ``--encoding`` names some of them.
- **cores**: a tree of 36 MB of sources and a text of 16 MB with one process and with two, the tree
  also beside a script with tiktoken, in CPU time and on the clock.
- **pypy**: new text and the same again on PyPy (``pypy3``, or the commands in the environment's
  ``PYPY``, separated as in ``PATH``), beside tiktoken on this interpreter, each in a process of its
  own, in CPU time, after three rounds to warm up; and the speed of a fresh process by megabytes.
- **lsp**: the language server as a process, asked by its protocol: a keystroke in a document of 1
  MB until its count, a prompt of 2,000 tokens in it, the first count after the start beside the
  command, and the memory that 20,000 keystrokes take.
- **training**: vocabularies of 8,000 tokens of each kind from mixed text, beside the trainers of
  tokenizers and sentencepiece: time, CPU time and memory of all processes, and the part of the
  pieces in common; and a small one beside ``bpe_train`` of ``tiktoken._educational``. Other pieces
  than the reference's end the run where those are determined. ``--training-size 50000000`` is what
  docs/performance.md has, and takes many minutes; ``--trainer`` names some of the kinds, and
  ``--training-limit`` stops a trainer after so much CPU time: ``>`` is before its figures then.

A text for which the ids differ from tiktoken's is reported and ends the run: speed without
exactness is nothing. Texts: ``../shared/corpora`` if that is there, the sources of the standard
library, files from the npm registry if that can be reached, and a mix of all; or those given.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.benchmark import (  # noqa: E402
    columns,
    cores,
    corpora,
    deepseek,
    editor,
    first,
    kinds,
    lsp,
    peers,
    processes,
    pypy,
    scaling,
    speed,
    training,
)
from tools.reference_files import reference_file  # noqa: E402
from tools.tiktoken_files import write_tiktoken_files  # noqa: E402

OF_EACH_ENCODING = (
    "speed",
    "small",
    "load",
    "command",
    "first",
    "memory",
    "scaling",
    "peers",
    "editor",
    "columns",
    "cores",
)
PARTS = (*OF_EACH_ENCODING, "deepseek", "kinds", "training", "lsp", "pypy")
NEED_TEXTS = {*PARTS} - {"load", "command", "first", "scaling", "cores"}


def line(title: str, *cells: str) -> None:
    print(f"  {title:22}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def run_throughput(
    reference: str,
    figures: Sequence[str],
    texts: dict[str, str],
    measure: Callable[[str, str], dict[str, float]],
) -> dict[str, Any]:
    """A row for each text, by its title and itself, and what they have in common."""
    line("", reference, *figures)
    rows = {}
    for title, text in texts.items():
        row = rows[title] = measure(title, text)
        ratios = (f"{row[figure]:.2f}×" for figure in figures)
        line(title, f"{row[f'{reference}_mb_per_second']:.1f} MB/s", *ratios)
    for title, summary in (("geometric mean", statistics.geometric_mean), ("lowest", min)):
        summed = {figure: summary([rows[text][figure] for text in texts]) for figure in figures}
        line(title, "", *(f"{summed[figure]:.2f}×" for figure in figures))
        rows[title] = summed
    return rows


def run_speed(name: str, texts: dict[str, str], rounds: int) -> dict[str, Any]:
    def measure(title: str, text: str) -> dict[str, float]:
        return speed.throughput(name, title, text, rounds)

    rows = run_throughput("tiktoken", speed.FIGURES, texts, measure)
    if {"english", "chinese_classical"} <= texts.keys():
        # It is in no mean, so that these stay comparable.
        title = "interface strings"
        found = corpora.interface_strings(texts["english"], texts["chinese_classical"])
        row = rows[title] = measure(title, found)
        ratios = (f"{row[figure]:.2f}×" for figure in speed.FIGURES)
        line(title, f"{row['tiktoken_mb_per_second']:.1f} MB/s", *ratios)
    return rows


def run_pypy(name: str, texts: dict[str, str], rounds: int) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for command in pypy.commands():
        if shutil.which(command) is None:
            print(f"  {command}: not installed")
            continue
        line(f"{name}, {command}")
        found = pypy.throughput(command, name, texts, rounds)
        rows[command] = run_throughput(
            "tiktoken",
            pypy.FIGURES,
            texts,
            lambda title, _: found[title],  # noqa: B023
        )
        warm = rows[command]["warming"] = pypy.warming(command, name, texts)
        line("after MB", *warm)
        line("part of the best", *(f"{part:.2f}" for part in warm.values()))
    return rows


def run_small(name: str, text: str, rounds: int) -> dict[str, Any]:
    rows = speed.small_inputs(name, text, rounds)
    for size, row in rows.items():
        ours, theirs = row["microseconds"], row["tiktoken_microseconds"]
        line(f"{size} characters", f"{ours:.1f} µs", f"tiktoken {theirs:.1f}")
    return rows


def run_load(name: str, rounds: int) -> dict[str, Any]:
    row = processes.load_seconds(name, max(rounds, 5))
    line("load", f"{row['seconds'] * 1000:.0f} ms", f"{row['ratio']:.1f}×")
    return row


def run_command(name: str, rounds: int) -> dict[str, Any]:
    row = processes.command_seconds(name, max(rounds, 5))
    ours, theirs, python = (row[f"{who}seconds"] * 1000 for who in ("", "tiktoken_", "python_"))
    line("compat-bpe count", f"{ours:.0f} ms", f"tiktoken {theirs:.0f}", f"python {python:.0f}")
    return row


def show_first(rows: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """A line for each step of a first answer: our CPU time, the other's, and the ratio."""
    for step, row in rows.items():
        (_, ours), (reference, theirs) = row.items()
        row["ratio"] = ours / max(theirs, 1e-6)
        line(
            step, *(f"{s * 1000:.1f} ms" for s in (ours, theirs)), reference, f"{row['ratio']:.2f}"
        )
    return rows


def run_first(name: str, rounds: int) -> dict[str, Any]:
    return show_first(first.of_encoding(name, max(rounds, 9)))


def run_memory(name: str, texts: dict[str, str]) -> dict[str, Any]:
    row = processes.memory_megabytes(name, list(texts.values()))
    for title, key in (("after load", "after_load"), ("after 50 MB", "after_50_mb")):
        if key in row:
            line(title, f"{row[key]:.0f} MB", f"tiktoken {row['tiktoken_' + key]:.0f}")
    return row


def run_scaling(name: str, size: int) -> dict[str, Any]:
    line("", *(f"{times * size:,}" for times in (1, 2, 4)), "tiktoken")
    rows = scaling.scaling(name, size)
    for title, row in rows.items():
        theirs = row.get("tiktoken_seconds_1")
        reference = "raises" if theirs is None else f"{theirs:.2f} s"
        line(title, *(f"{row[f'seconds_{times}']:.2f} s" for times in (1, 2, 4)), reference)
    return rows


def run_peers(name: str, text: str) -> dict[str, Any]:
    found = {}
    for peer, megabytes in peers.peers(name, text):
        line(peer, f"{megabytes:.2f} MB/s")
        found[peer] = megabytes
    return found


def run_editor(name: str, texts: dict[str, str], rounds: int) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    line("", "a keystroke", "1 of 100", "to make", "tiktoken", "ratio")
    for size in editor.SIZES:
        row = editor.keystrokes(name, list(texts.values()), size, rounds)
        line(
            f"{size:,} characters",
            f"{row['microseconds']:.0f} µs",
            f"{row['slowest_of_100_microseconds']:.0f} µs",
            f"{row['seconds_to_make']:.2f} s",
            f"{row['tiktoken_seconds']:.3f} s",
            f"{row['ratio']:,.0f}×",
        )
        rows[f"{size}"] = row
    line("", "fits", "head", "tail", "tiktoken")
    for size in editor.SIZES:
        row = editor.cuts(name, list(texts.values()), size, max(rounds, 5))
        line(f"{size:,} characters", *(f"{milliseconds:.2f} ms" for milliseconds in row.values()))
        rows[f"{size}"].update(row)
    return rows


def run_cores(name: str, rounds: int) -> dict[str, Any]:
    found = cores.rows(name, rounds)
    for title, ways in found.items():
        times = (f"{way}: {taken.cpu:.2f} / {taken.clock:.2f} s" for way, taken in ways.items())
        print(f"  {title:22}", *times, "(CPU / clock)", flush=True)
    print("  load", *(f"{load:.1f}" for load in os.getloadavg()), flush=True)
    return found


def run_lsp(texts: dict[str, str], rounds: int) -> dict[str, float]:
    row = lsp.server(list(texts.values()), max(rounds, 5))
    line("", "median", "1 of 100")
    for title, key in (("a keystroke", "keystroke"), ("a prompt", "prompt")):
        median, slowest = row[f"{key}_milliseconds"], row[f"slowest_{key}_milliseconds"]
        line(title, f"{median:.2f} ms", f"{slowest:.2f} ms")
    line("the first count", f"{row['first_count_milliseconds']:.0f} ms")
    line("the command", f"{row['command_milliseconds']:.0f} ms")
    line("memory", f"{row['megabytes']:.0f} MB", f"{row['growth_megabytes']:+.1f} MB")
    return row


def run_deepseek(texts: dict[str, str], rounds: int) -> dict[str, Any]:
    path = reference_file("deepseek_r1")

    def measure(title: str, text: str) -> dict[str, float]:
        return deepseek.throughput(title, path, text, rounds)

    rows = run_throughput("tokenizers", deepseek.FIGURES, texts, measure)
    rows["load"] = deepseek.load_seconds(path, max(rounds, 5))
    for title, row in rows["load"].items():
        line(f"load, {title}", f"{row['seconds'] * 1000:.0f} ms", f"{row['part']:.2f} of it")
    sides = {
        "seconds": first.of_module("compat_bpe", deepseek.NAME),
        "tokenizers": first.of_tokenizers(path),
    }
    rows["first"] = show_first(first.first_answers(sides, max(rounds, 9)))
    return rows


def run_columns(name: str, texts: dict[str, str], rounds: int) -> dict[str, Any]:
    line("rows a second", "", "here", "tiktoken", "")
    rows: dict[str, Any] = {}
    wanted = [(engine, kind, texts) for kind in columns.KINDS for engine in columns.installed()]
    if columns.OF_EACH_TEXT in columns.installed() and len(texts) > 1:
        wanted += [
            (columns.OF_EACH_TEXT, kind, {title: text})
            for kind in ("lines", "pieces")
            for title, text in texts.items()
        ]
    for engine, kind, used in wanted:
        row = columns.rows_a_second(engine, name, used.values(), kind, rounds)
        title = f"{kind}, {engine}" if used is texts else f"{kind}, {next(iter(used))}"
        ours, theirs, ratio = row.values()
        line(title, "", f"{ours:,.0f}", f"{theirs:,.0f}", f"{ratio:.2f}×")
        rows[title] = row
    return rows


def run_kinds(texts: dict[str, str], rounds: int, only: Sequence[str]) -> dict[str, Any]:
    found = {title: texts.get(title) or texts.get(other) for title, other in kinds.TEXTS.items()}
    used = {title: text for title, text in found.items() if text} or texts
    rows: dict[str, Any] = {}
    for name, row in kinds.rows().items():
        if only and name not in only:
            continue
        line(f"{name}, {row.kind}", row.reference, *kinds.FIGURES)
        rows[name] = kinds.throughput(name, row, used, rounds)
        for title, figures in rows[name].items():
            speed_of_reference = figures[f"{row.reference}_mb_per_second"]
            ratios = (f"{figures[figure]:.2f}×" for figure in kinds.FIGURES)
            line(title, f"{speed_of_reference:.1f} MB/s", *ratios)
        load = rows[name]["load"] = kinds.load_seconds(row, max(rounds, 5))
        ours, theirs, part = load.values()
        line("load", f"{ours * 1000:.0f} ms", f"{theirs * 1000:.0f} ms", f"{part:.2f} of it")
        rows[name]["first"] = show_first(kinds.first_answers(row, max(rounds, 5)))
    return rows


def run_training(
    texts: dict[str, str], size: int, rounds: int, only: Sequence[str], limit: float | None
) -> dict[str, Any]:
    line(
        "", "seconds", "reference", "CPU", "reference", "times in CPU", "MB", "reference", "common"
    )
    rows: dict[str, Any] = {}
    titles = [title for title in training.ROWS if not only or title in only]
    for title, row in training.training(list(texts.values()), size, rounds, titles, limit):
        rows[title] = row
        ours, theirs, _, cpu, their_cpu, times, here, there, *_ = row.values()
        over = "is_over" in row, "reference_is_over" in row
        # A run that was stopped bounds the ratio from one side only; two bound nothing.
        ratio = "–" if all(over) else f"{'>' if over[0] else '<' if over[1] else ''}{times:.2f}"
        line(
            title,
            *(f"{one:.1f}" for one in (ours, theirs)),
            *(f"{'>' * is_over}{one:.1f}" for is_over, one in zip(over, (cpu, their_cpu))),
            ratio,
            *(f"{'>' * is_over}{one:.0f}" for is_over, one in zip(over, (here, there))),
            f"{row['in_common']:.2%}" if "in_common" in row else "–",
        )
    if not only:
        row = training.beside_educational(next(iter(texts.values())), rounds)
        line("_educational", f"{row['educational_seconds']:.2f} s", f"{row['ratio']:.0f}×")
        rows["educational"] = row
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and memory beside tiktoken.")
    parser.add_argument("--encoding", action="append", default=[], metavar="NAME")
    parser.add_argument("--corpus", action="append", default=[], metavar="PATH", type=Path)
    parser.add_argument("--only", action="append", default=[], choices=PARTS, metavar="PART")
    parser.add_argument("--rounds", default=3, type=int, metavar="N")
    parser.add_argument(
        "--size", default=1_000_000, type=int, metavar="N", help="of the texts for scaling"
    )
    parser.add_argument(
        "--training-size", default=3_000_000, type=int, metavar="N", help="of the text to train on"
    )
    parser.add_argument(
        "--training-limit",
        type=float,
        metavar="SECONDS",
        help="of processor time of a trainer, after which it is stopped: > is before its figures",
    )
    parser.add_argument("--trainer", action="append", default=[], choices=training.ROWS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    parts = arguments.only or PARTS
    rounds = arguments.rounds
    texts = corpora.corpora(arguments.corpus) if NEED_TEXTS.intersection(parts) else {}
    prose = texts.get("english") or max(texts.values(), key=len, default="")
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_tiktoken_files(Path(folder))
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        os.environ["RUST_BACKTRACE"] = "0"  # tiktoken panics on some hard inputs
        for name in arguments.encoding or ["cl100k_base", "o200k_base"]:
            runs = {
                "speed": lambda: run_speed(name, texts, rounds),  # noqa: B023
                "small": lambda: run_small(name, prose, rounds),  # noqa: B023
                "load": lambda: run_load(name, rounds),  # noqa: B023
                "command": lambda: run_command(name, rounds),  # noqa: B023
                "first": lambda: run_first(name, rounds),  # noqa: B023
                "memory": lambda: run_memory(name, texts),  # noqa: B023
                "scaling": lambda: run_scaling(name, arguments.size),  # noqa: B023
                "editor": lambda: run_editor(name, texts, rounds),  # noqa: B023
                "cores": lambda: run_cores(name, rounds),  # noqa: B023
                "peers": lambda: run_peers(name, prose[:200_000]),  # noqa: B023
                "columns": lambda: run_columns(name, texts, rounds),  # noqa: B023
            }
            results[name] = {}
            for part in parts:
                if part == "pypy":
                    print(f"\n{name}, on PyPy", flush=True)
                    results[name][part] = run_pypy(name, texts, rounds)
                if part in OF_EACH_ENCODING:
                    print(f"\n{name}, {part}", flush=True)
                    results[name][part] = runs[part]()
    if "deepseek" in parts:
        print(f"\n{deepseek.NAME}", flush=True)
        results[deepseek.NAME] = run_deepseek(texts, rounds)
    if "kinds" in parts:
        print("\nother kinds of tokenizers", flush=True)
        results["kinds"] = run_kinds(texts, rounds, arguments.encoding)
    if "lsp" in parts:
        print("\nthe language server", flush=True)
        results["lsp"] = {"o200k_base": run_lsp(texts, rounds)}
    if "training" in parts:
        print("\ntraining", flush=True)
        results["training"] = run_training(
            texts, arguments.training_size, rounds, arguments.trainer, arguments.training_limit
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
