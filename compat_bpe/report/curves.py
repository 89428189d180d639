"""Learning curves: bytes per token of held-out text, check by check, while a vocabulary grew.

Training writes them into ``manifest.json``; a report shows them again, as a chart and as a table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from math import floor, isfinite, log10
from pathlib import Path
from typing import Any, NamedTuple

from ..files.whole import read_whole
from ..formats.settings_beside import MANIFEST
from .names import Key, text

#: The most rows of a table in text.
_ROWS = 12


class Check(NamedTuple):
    """A check of a training: the numbers of tokens and of merges, and bytes per token."""

    tokens: int
    merges: int
    bytes_per_token: float


def curve_of(path: Path) -> list[Check]:
    """Return the learning curve of a vocabulary that ``compat-bpe train`` wrote.

    Args:
        path: its folder, or one of its files.

    Returns:
        The checks; none if there is no manifest with some, or if it is that of other files.

    Raises:
        OSError: a file of the vocabulary cannot be read.
    """
    folder = path if path.is_dir() else path.parent
    try:
        manifest = json.loads(read_whole(folder / MANIFEST))
        digests = dict(manifest["files"])
        checks = [_check(one) for one in manifest["metrics"]["curve"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    files = [path] if folder != path else [folder / name for name in digests]
    for file in files:
        if folder == path and not file.is_file():
            continue
        if hashlib.sha256(read_whole(file)).hexdigest() != digests.get(file.name):
            return []
    return checks


def _check(given: Any) -> Check:
    check = Check(*(given[name] for name in Check._fields))
    numbers = (type(check.tokens), type(check.merges), type(check.bytes_per_token))
    if numbers != (int, int, float) or min(check) < 0 or not isfinite(check[-1]):
        raise ValueError(f"{given} is no check")
    return check


def chosen(checks: Sequence[Check]) -> list[Check]:
    """Return some checks at equal distances, with the first and the last one.

    >>> len(chosen([Check(number, number, 1.0) for number in range(100)]))
    12
    """
    last = len(checks) - 1
    if last < _ROWS:
        return list(checks)
    return [checks[round(row * last / (_ROWS - 1))] for row in range(_ROWS)]


def chart(curves: Sequence[tuple[Key, Sequence[Check]]], description: str) -> str:
    """Return a line for each curve: bytes per token over the number of tokens, from zero on."""
    across = _ticks(max(check.tokens for _, some in curves for check in some))
    up = _ticks(max(check.bytes_per_token for _, some in curves for check in some))
    right, top = across[-1], up[-1]

    def place(check: Check) -> tuple[float, float]:
        return 100 * check.tokens / right, 100 * check.bytes_per_token / top

    lines = "".join(
        f'<polyline class="{key.style}" points="{_points(map(place, some))}"/>'
        for key, some in curves
    )
    grid = "".join(f'<path d="M{100 * tick / right:.2f} 0V100"/>' for tick in across)
    grid += "".join(f'<path d="M0 {100 - 100 * tick / top:.2f}H100"/>' for tick in up)
    names = "".join(
        f'<span class="x" style="left:{tick / right:.2%}">{tick:,.10g}</span>' for tick in across
    )
    names += "".join(
        f'<span class="y" style="bottom:{tick / top:.2%}">{tick:.10g}</span>' for tick in up
    )
    badges = "".join(_badge(key, *place(some[-1])) for key, some in curves if key.is_numbered)
    return (
        f'<div class="plot" role="img" aria-label="{text(description)}">'
        '<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
        f'<g class="grid">{grid}</g>{lines}</svg>{names}{badges}</div>'
        '<p class="below" aria-hidden="true">tokens of the vocabulary</p>'
    )


def _badge(key: Key, left: float, bottom: float) -> str:
    style = f"left:{left:.2f}%;bottom:{bottom:.2f}%"
    return f'<b class="badge {key.style}" style="{style}">{key.figure}</b>'


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{left:.2f},{100 - bottom:.2f}" for left, bottom in places)


def _ticks(most: float) -> list[float]:
    """Return round numbers from 0 on, at equal distances; the last one is the first not below.

    >>> _ticks(3.4), _ticks(2006)
    ([0, 1.0, 2.0, 3.0, 4.0], [0, 500, 1000, 1500, 2000, 2500])
    """
    power = 10 ** floor(log10(most / 5)) if most else 1
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * 5 >= most)
    ticks: list[float] = [0]
    while ticks[-1] < most:
        ticks.append(step * len(ticks))
    return ticks if len(ticks) > 1 else [0, step]
