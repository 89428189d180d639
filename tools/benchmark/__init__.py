"""What ``tools/bench.py`` measures, a module for each kind of figure."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def interleaved(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """The median seconds of each call, the calls taking turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def refuse_difference(
    what: str, found: Sequence[int], expected: Sequence[int], reference: str = "tiktoken"
) -> None:
    """End the program if ids differ from the reference's: speed never counts without exactness."""
    if list(found) == list(expected):
        return
    pairs = enumerate(zip(found, expected))
    at = next((i for i, (a, b) in pairs if a != b), min(len(found), len(expected)))
    raise SystemExit(
        f"{what}: {len(found)} ids, {reference} has {len(expected)}; they differ from number {at} "
        f"on: {list(found[at : at + 5])} instead of {list(expected[at : at + 5])}"
    )
