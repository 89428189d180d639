"""Encoding, counting and decoding of whole texts, and of small ones, beside tiktoken."""

from __future__ import annotations

import random
import re
import statistics
import time
from collections.abc import Callable

import tiktoken

from compat_bpe import Encoding, get_encoding
from tools.benchmark import interleaved, refuse_difference

#: What a row of the table has, each as a ratio to tiktoken's speed.
FIGURES = ("cold", "steady", "repeat", "count cold", "count", "count repeat", "decode")


def fresh(encoding: Encoding) -> Encoding:
    """The same encoding with nothing remembered and nothing compiled."""
    re.purge()
    return Encoding(
        encoding.name,
        pat_str=encoding._pat_str,
        mergeable_ranks=encoding._mergeable_ranks,
        special_tokens=encoding._special_tokens,
    )


def throughput(name: str, title: str, text: str, rounds: int) -> dict[str, float]:
    """The figures for one encoding and one text.

    Cold is a fresh encoder's first sight of the text's second half; steady that of one that has
    met the first half; repeat is the second half once more. In each round tiktoken's turn comes
    before and after each of ours.
    """
    reference, encoding = tiktoken.get_encoding(name), get_encoding(name)
    first, second = text[: len(text) // 2], text[len(text) // 2 :]
    expected = reference.encode_ordinary(second)
    times: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    theirs: list[float] = []

    def reference_seconds(call: Callable[[], object]) -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    def measure(figure: str, call: Callable[[], object], their_call: Callable[[], object]) -> None:
        before = reference_seconds(their_call)
        start = time.perf_counter()
        result = call()
        taken = time.perf_counter() - start
        beside = (before + reference_seconds(their_call)) / 2
        times[figure].append(beside / taken)
        if figure != "decode":
            theirs.append(beside)
        if isinstance(result, list):
            refuse_difference(f"{name}, {title}, {figure}", result, expected)
        elif result != (second if figure == "decode" else len(expected)):
            raise SystemExit(f"{name}, {title}, {figure}: the result differs from tiktoken's")

    def encode() -> list[int]:
        return reference.encode_ordinary(second)

    for _ in range(rounds):
        for ours, kind in ((Encoding.encode_ordinary, ""), (Encoding.count, "count ")):
            cold, steady = fresh(encoding), fresh(encoding)
            ours(steady, first)
            measure(f"{kind}cold", lambda: ours(cold, second), encode)  # noqa: B023
            measure(kind.strip() or "steady", lambda: ours(steady, second), encode)  # noqa: B023
            measure(f"{kind}repeat", lambda: ours(steady, second), encode)  # noqa: B023
        measure("decode", lambda: encoding.decode(expected), lambda: reference.decode(expected))
    row = {figure: statistics.median(ratios) for figure, ratios in times.items()}
    row["tiktoken_mb_per_second"] = len(second.encode()) / 1e6 / statistics.median(theirs)
    return row


def small_inputs(name: str, text: str, rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds a call takes for texts of 10, 100 and 1,000 characters.

    The encoder has met the first half of ``text``; the small texts are from the second.
    """
    reference, encoding = tiktoken.get_encoding(name), fresh(get_encoding(name))
    half = len(text) // 2
    encoding.encode_ordinary(text[:half])
    rng = random.Random(3)
    rows = {}
    for size in (10, 100, 1000):
        starts = [rng.randrange(half, len(text) - size) for _ in range(500)]
        some = [text[start : start + size] for start in starts]
        ours, theirs = interleaved(
            rounds,
            lambda: list(map(encoding.encode, some)),  # noqa: B023
            lambda: list(map(reference.encode, some)),  # noqa: B023
        )
        rows[f"{size}"] = {"microseconds": ours * 2000, "tiktoken_microseconds": theirs * 2000}
    return rows
