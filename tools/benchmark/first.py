"""The first answer of a fresh process, step by step and as a whole."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tools.benchmark.processes import ROOT

ASCII = "def first(answer): return answer  # 42 is the first answer\n" * 20
OTHER = "“Naïve” – ein früher Größenwahn, 今天天气很好 😀, привет мир\n" * 20

#: What is timed, each in a process of its own kind: one meets ASCII text first, one other text.
STEPS = ("import", "load", "encode, ASCII", "encode, other", "decode")

_STEPS = """
from time import process_time as now
times = [now()]
{module}
times.append(now())
{load}
times.append(now())
{encode}
times.append(now())
{decode}
times.append(now())
print(*(after - before for before, after in zip(times, times[1:])), sep="\\n")
"""


class Side(NamedTuple):
    """The code of each step; that to encode has ``{text!r}`` in it."""

    module: str
    load: str
    encode: str
    decode: str

    def code(self, text: str) -> str:
        """A script that prints the seconds of the four steps."""
        encode = self.encode.format(text=text)
        return _STEPS.format(module=self.module, load=self.load, encode=encode, decode=self.decode)


def of_module(module: str, name: str) -> Side:
    """The steps of this package or of tiktoken."""
    return Side(
        f"import {module}",
        f"encoding = {module}.get_encoding({name!r})",
        "encoding.encode({text!r})",
        "encoding.decode([100, 200, 300])",
    )


def of_tokenizers(path: Path) -> Side:
    """The steps of tokenizers with a ``tokenizer.json``."""
    return Side(
        "import tokenizers",
        f"encoding = tokenizers.Tokenizer.from_file({str(path)!r})",
        "encoding.encode({text!r}, add_special_tokens=False).ids",
        "encoding.decode([100, 200, 300])",
    )


def environment() -> dict[str, str]:
    """Where modules are compiled once, as when they are installed, and not at each start."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": str(ROOT)}


def run(*arguments: str) -> tuple[float, str]:
    """The seconds of CPU that a Python takes as a whole, and what it prints."""
    import resource  # Windows has none

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, check=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.stdout


def steps_seconds(side: Side) -> dict[str, float]:
    """The seconds of CPU of each of ``STEPS``, from two processes."""
    first, other = (
        list(map(float, run("-c", side.code(text))[1].split())) for text in (ASCII, OTHER)
    )
    return dict(zip(STEPS, (first[0], first[1], first[2], other[2], first[3])))


def first_answers(sides: dict[str, Side], rounds: int) -> dict[str, dict[str, float]]:
    """For each step, the seconds of CPU that each side takes; medians, the sides taking turns."""
    found: dict[str, list[dict[str, float]]] = {title: [] for title in sides}
    for number in range(rounds + 1):
        for title, side in sides.items():
            seconds = steps_seconds(side)
            # The first time, files may have to be read and modules compiled.
            if number:
                found[title].append(seconds)
    return {
        step: {title: statistics.median(row[step] for row in rows) for title, rows in found.items()}
        for step in STEPS
    }


def whole_processes(commands: dict[str, list[str]], rounds: int) -> dict[str, float]:
    """The seconds of CPU of whole processes, the start of Python included."""
    taken: dict[str, list[float]] = {title: [] for title in commands}
    for number in range(rounds + 1):
        for title, arguments in commands.items():
            seconds, _ = run(*arguments)
            if number:
                taken[title].append(seconds)
    return {title: statistics.median(seconds) for title, seconds in taken.items()}


def of_encoding(name: str, rounds: int) -> dict[str, dict[str, float]]:
    """The steps and whole processes with one encoding, beside tiktoken with its files at hand."""
    sides = {"seconds": of_module("compat_bpe", name), "tiktoken": of_module("tiktoken", name)}
    rows = first_answers(sides, rounds)
    path = str(Path(__file__))
    read = "import sys; text = open(sys.argv[1], encoding='utf-8').read()\n"
    load = f"{sides['tiktoken'].module}; {sides['tiktoken'].load}\n"
    script = f"{read}{load}print(len(encoding.encode(text)))"
    whole = whole_processes(
        {
            "seconds": ["-m", "compat_bpe", "count", "--encoding", name, path],
            "tiktoken": ["-c", script, path],
            "python": ["-c", "pass"],
            "import": ["-c", "import compat_bpe"],
            "import re": ["-c", "import re"],
        },
        rounds,
    )
    rows["whole process"] = {side: whole[side] for side in ("seconds", "tiktoken")}
    rows["import, beside re"] = {
        "seconds": whole["import"] - whole["python"],
        "re": whole["import re"] - whole["python"],
    }
    return rows
