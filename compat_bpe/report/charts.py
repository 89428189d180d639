"""The parts of a page: tables, and charts drawn with CSS and SVG.

A chart stretches to the width there is: lengths in it are shares of that, and what is written
beside it is text of the page, so that it can be read on a phone. It is for those who see it; the
figures are in a table as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape as escape_html
from math import ceil, floor, log10
from typing import NamedTuple

from ..unicode.text import Visible, escape
from .names import Key, text

#: The tints of tokens in turn.
_TINTS = 4

#: Numbers to write on an axis: of a chart from 1 up by logarithms, and steps of shares.
_RATIOS = (
    1.0,
    1.1,
    1.2,
    1.5,
    2.0,
    3.0,
    5.0,
    7.0,
    10.0,
    15.0,
    20.0,
    30.0,
    50.0,
    100.0,
    200.0,
    500.0,
    1000.0,
)
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)

#: A longer name gets more room in a table.
_LONG = 24
_TAG = re.compile("<[^>]*>")

#: A space is a sign of its own here: at the edge of a token it could not be seen.
_VISIBLE_TOKEN = Visible()
_VISIBLE_TOKEN[ord(" ")] = "␣"


class Bar(NamedTuple):
    """A length, the text beside it, and the encoding it belongs to."""

    value: float
    label: str
    key: Key


def legend(keys: Sequence[Key]) -> str:
    """Return the list of encodings with their signs; nothing if there is only one."""
    if len(keys) < 2:
        return ""
    items = "".join(f"<li>{key.label}</li>" for key in keys)
    return f'<ul class="legend" aria-hidden="true">{items}</ul>'


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[tuple[str, Sequence[str]]],
    *,
    shades: Mapping[tuple[int, int], float] | None = None,
) -> str:
    """Return a table of figures.

    Args:
        caption: what it shows.
        heads: HTML of the heads of the columns, that of the names first.
        rows: the HTML of the name of each, and the text of its figures.
        shades: how deep the color of a cell is, from 0 to 1, by row and column.
    """
    head = "".join(f'<th scope="col">{title}</th>' for title in heads)
    body = []
    for number, (name, cells) in enumerate(rows):
        written = []
        for column, cell in enumerate(cells):
            shade = None if shades is None else shades.get((number, column))
            style = "" if shade is None else f' class="shade" style="--shade:{shade:.0%}"'
            written.append(f"<td{style}>{text(cell)}</td>")
        long = ' class="long"' if len(_TAG.sub("", name)) > _LONG else ""
        body.append(f'<tr><th scope="row"{long}>{name}</th>{"".join(written)}</tr>')
    return (
        f'<div class="wide" style="--columns:{len(heads)}" tabindex="0"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def details(summary: str, content: str) -> str:
    """Return content that is shown only when it is asked for; the summary is HTML."""
    return f"<details><summary>{summary}</summary>{content}</details>"


def bars(groups: Iterable[tuple[str, Sequence[Bar]]], description: str) -> str:
    """Return horizontal bars on one scale; the HTML of a group's name, and its bars."""
    listed = list(groups)
    most = max((bar.value for _, some in listed for bar in some), default=0.0) or 1.0
    parts = []
    for name, some in listed:
        lines = "".join(
            f'<span class="bar" title="{text(bar.key.name)}: {text(bar.label)}">{_figure(bar.key)}'
            f'<span class="track">{_fill(bar.value / most, bar.key)}'
            f'<span class="value">{text(bar.label)}</span></span></span>'
            for bar in some
        )
        parts.append(f'<div class="bars-name">{name}</div><div class="bars-of">{lines}</div>')
    return f'<div class="bars" role="img" aria-label="{text(description)}">{"".join(parts)}</div>'


def _fill(share: float, key: Key) -> str:
    return f'<span class="fill {key.style}" style="width:{share:.2%}"></span>' if share else ""


def _figure(key: Key) -> str:
    return f'<span class="figure">{key.figure}</span>' if key.is_numbered else ""


def strip(
    key: Key,
    points: Sequence[tuple[str, float]],
    most: float,
    short: Mapping[str, str],
    description: str,
) -> str:
    """Return points on a line from 1 to ``most``, by their logarithms, the outermost with names.

    Args:
        key: the encoding.
        points: the ratio of each group, at least one.
        most: the greatest ratio of all encodings.
        short: the names of groups where room is small.
        description: the text for those who do not see it.
    """
    scale = log10(most) if most > 1 else 1.0

    def place(ratio: float) -> str:
        return f"{log10(ratio) / scale:.2%}"

    def end(group: str, said: str, side: str, at: str, room: float) -> str:
        return (
            f'<span class="end {side}" style="left:{at};max-width:{room:.2%}" '
            f'title="{said}{text(group)}">{said}{text(short.get(group, group))}</span>'
        )

    dots = "".join(
        f'<i class="{key.style}" style="left:{place(ratio)}" '
        f'title="{text(group)}: {ratio:.2f}×"></i>'
        for group, ratio in points
    )
    worst = max(points, key=lambda point: point[1])
    best = min(points, key=lambda point: point[1])
    # Text grows away from the edge that it is near to, and the two names share the room.
    at = log10(worst[1]) / scale
    ends = ""
    if at > 0.2 or best == worst:
        ends = end(best[0], "", "after", "0", 0.48 * at if at > 0.2 else 1)
    if worst != best:
        side, room = ("before", 0.48 * at) if at > 0.5 else ("after", 1 - at)
        ends += end(worst[0], f"{worst[1]:.1f}× ", side, place(worst[1]), room)
    return (
        f'<div class="strip-name">{key.label}</div>'
        f'<div class="strip" role="img" aria-label="{text(description)}">'
        f'<span class="range {key.style}" style="width:{place(worst[1])}"></span>'
        f"{dots}{ends}</div>"
    )


def strip_axis(most: float) -> str:
    """Return the axis below strips from 1 to ``most``."""
    scale = log10(most) if most > 1 else 1.0
    ticks = []
    last = -1.0
    for ratio in _RATIOS if most > 1 else (1.0,):
        at = log10(ratio) / scale
        if at <= 1 and at - last >= 0.1:
            ticks.append(f'<span style="left:{at:.2%}">{ratio:g}×</span>')
            last = at
    axis = f'<div class="axis" aria-hidden="true">{"".join(ticks)}</div>'
    return f'<div class="strip-name"></div>{axis}'


def shares(values: Sequence[tuple[str, float]], most: float, key: Key, description: str) -> str:
    """Return a bar for each share, with its name before and its percentage after it, and an axis.

    Args:
        values: the names and the shares of 1.
        most: the greatest share of all encodings: the end of the scale.
        key: the encoding.
        description: the text for those who do not see it.
    """
    scale = most or 1.0
    step = next((step for step in _STEPS if scale / step <= 3), _STEPS[-1])
    rows = "".join(
        f'<span class="row">{text(name)}</span>'
        f'<span class="track">{_fill(value / scale, key)}</span>'
        f'<span class="value">{text(_written(value))}</span>'
        for name, value in values
    )
    ticks = "".join(
        f'<span style="left:{number * step / scale:.2%}">{_percent(number * step)}</span>'
        for number in range(floor(scale / step + 1e-9) + 1)
    )
    return (
        f'<div class="shares" role="img" aria-label="{text(description)}" '
        f'style="--step:{step / scale:.2%}"><span class="head">bytes</span>'
        f'<span class="head end">share of tokens</span>{rows}'
        f'<span class="axis">{ticks}</span></div>'
    )


def _written(share: float) -> str:
    """
    >>> _written(0.0), _written(0.0001), _written(0.25)
    ('0', '<0.1%', '25.0%')
    """
    if not share:
        return "0"
    return "<0.1%" if share < 0.0005 else f"{share:.1%}"


def _percent(share: float) -> str:
    """
    >>> _percent(0.2), _percent(0.005)
    ('20%', '0.5%')
    """
    return f"{100 * share:.4g}%"


def lines(series: Sequence[Sequence[float]], keys: Sequence[Key], description: str) -> str:
    """Return a line for each series of shares of 1 over 1, 2, 3 and so on, by their logarithms."""
    decades = max(1, ceil(log10(max(map(len, series), default=1) or 1)))
    paths = "".join(
        f'<polyline class="{key.style}" points="{_points(values, decades)}"/>'
        for key, values in zip(keys, series)
    )
    grid = "".join(
        f'<path d="M{100 * decade / decades:.2f} 0V100"/>' for decade in range(decades + 1)
    )
    grid += "".join(f'<path d="M0 {at}H100"/>' for at in (0, 25, 50, 75, 100))
    across = "".join(
        f'<span class="x" style="left:{decade / decades:.2%}">{_short(10**decade)}</span>'
        for decade in range(decades + 1)
    )
    up = "".join(
        f'<span class="y" style="bottom:{at}%">{at}%</span>' for at in (0, 25, 50, 75, 100)
    )
    badges = "".join(
        _on_line(values, key, (key.number + 1) / (len(keys) + 1), decades)
        for key, values in zip(keys, series)
        if values and key.is_numbered
    )
    return (
        f'<div class="plot" role="img" aria-label="{text(description)}">'
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
        f'<g class="grid">{grid}</g>{paths}</svg>{across}{up}{badges}</div>'
        '<p class="below" aria-hidden="true">number of the most frequent tokens, logarithmic</p>'
    )


def _on_line(values: Sequence[float], key: Key, part: float, decades: int) -> str:
    """Return the number of an encoding, on its line at a part of the line's width."""
    number = max(1, round(len(values) ** part))
    left, bottom = log10(number) / decades, values[number - 1]
    return (
        f'<b class="badge {key.style}" style="left:{left:.2%};bottom:{bottom:.2%}">{key.figure}</b>'
    )


def _points(values: Sequence[float], decades: int) -> str:
    """Return a curve in a square of 100, at some 24 places of each decade."""
    last = len(values)
    numbers = (
        {min(last, floor(10 ** (step / 24))) for step in range(24 * decades + 1)} if last else ()
    )
    return " ".join(
        f"{100 * log10(number) / decades:.2f},{100 - 100 * values[number - 1]:.2f}"
        for number in sorted(numbers)
    )


def _short(number: int) -> str:
    """
    >>> _short(100), _short(10_000), _short(1_000_000)
    ('100', '10k', '1M')
    """
    for size, sign in ((10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number // size}{sign}"
    return str(number)


def tokens(parts: Sequence[bytes]) -> str:
    """Return tokens one after the other, their backgrounds in turn."""
    return '<span class="tokens">{}</span>'.format(
        "".join(token(part, number % _TINTS) for number, part in enumerate(parts))
    )


def token_list(items: Iterable[tuple[bytes, str]]) -> str:
    """Return tokens, and what is said of each."""
    written = (f"<li>{token(part)} <small>{text(said)}</small></li>" for part, said in items)
    return f'<ul class="list">{"".join(written)}</ul>'


def token(part: bytes, tint: int = 0) -> str:
    """Return one token, as exactly what it is.

    >>> token(b" <\\xe4")
    '<bdi class="t0">␣&lt;\\\\xe4</bdi>'
    """
    return f'<bdi class="t{tint}">{escape_html(escape(part, _VISIBLE_TOKEN))}</bdi>'
