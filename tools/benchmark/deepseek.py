"""DeepSeek's encoding beside Hugging Face tokenizers with the file it is from."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import tokenizers

from compat_bpe.encodings import deepseek
from compat_bpe.encodings.tokenizer import Tokenizer
from tools.benchmark import refuse_difference
from tools.benchmark.processes import run_code

NAME = "deepseek_v3"

#: What a row of the table has, each as a ratio to the speed of tokenizers.
FIGURES = ("cold", "steady", "repeat", "count after")

#: tokenizers takes ten times as long as tiktoken.
_LONGEST = 400_000

_LOAD = """
import time, {module}
start = time.perf_counter()
{expression}
print(time.perf_counter() - start)
"""


def throughput(title: str, path: Path, text: str, rounds: int) -> dict[str, float]:
    """The figures for one text, as in ``speed.throughput``, one thread each.

    "count after" is the first count of a text that has been encoded.
    """
    reference = tokenizers.Tokenizer.from_file(str(path))
    text = text[:_LONGEST]
    first, second = text[: len(text) // 2], text[len(text) // 2 :]
    times: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    theirs: list[float] = []

    def seconds(call: Callable[[], list[int] | int]) -> tuple[float, list[int] | int]:
        start = time.perf_counter()
        result = call()
        return time.perf_counter() - start, result

    def encode() -> list[int]:
        return list(reference.encode(second, add_special_tokens=False).ids)

    for _ in range(rounds):
        re.purge()
        cold = Tokenizer(NAME, deepseek.definition(NAME))
        steady = Tokenizer(NAME, deepseek.definition(NAME))
        steady.encode_ordinary(first)
        calls: dict[str, Callable[[], list[int] | int]] = {
            "cold": lambda: cold.encode_ordinary(second),  # noqa: B023
            "steady": lambda: steady.encode_ordinary(second),  # noqa: B023
            "repeat": lambda: steady.encode_ordinary(second),  # noqa: B023
            "count after": lambda: steady.count(second),  # noqa: B023
        }
        for figure, call in calls.items():
            taken, expected = seconds(encode)
            ours, result = seconds(call)
            theirs.append(taken)
            times[figure].append(taken / ours)
            if isinstance(result, list) and isinstance(expected, list):
                refuse_difference(f"{NAME}, {title}, {figure}", result, expected)
            elif isinstance(expected, list) and result != len(expected):
                raise SystemExit(f"{NAME}, {title}, {figure}: the count differs")
    row = {figure: statistics.median(ratios) for figure, ratios in times.items()}
    row["tokenizers_mb_per_second"] = len(second.encode()) / 1e6 / statistics.median(theirs)
    return row


def load_seconds(path: Path, rounds: int) -> dict[str, dict[str, float]]:
    """The pack that ships, and the file, each as a part of the time of ``Tokenizer.from_file``."""
    codes = {
        "tokenizers": _LOAD.format(
            module="tokenizers", expression=f"tokenizers.Tokenizer.from_file({str(path)!r})"
        ),
        "shipped": _LOAD.format(
            module="compat_bpe", expression=f"compat_bpe.get_encoding({NAME!r})"
        ),
        "from the file": _LOAD.format(
            module="compat_bpe", expression=f"compat_bpe.load({str(path)!r})"
        ),
    }
    times = [[run_code(code)[0] for code in codes.values()] for _ in range(rounds)]
    medians = dict(zip(codes, map(statistics.median, zip(*times))))
    reference = medians["tokenizers"]
    return {
        title: {"seconds": seconds, "part": seconds / reference}
        for title, seconds in medians.items()
    }
