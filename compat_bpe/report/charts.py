"""The parts of a page: tables, and charts drawn with CSS and SVG.

A chart stretches to the width there is: lengths in it are shares of that, and what is written
beside it is text of the page, so that it can be read on a phone.  It is for those who see it; the
figures are in a table as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape as escape_html
from math import ceil, floor, log10
from typing import NamedTuple

from ..unicode.escape import Visible, escape

#: Colors in the style sheet; further encodings get them once more.
COLORS = 8

#: The tints of tokens in turn.
_TINTS = 4

_VISIBLE = Visible()
#: A space is a sign of its own here: at the edge of a token it could not be seen.
_VISIBLE_TOKEN = Visible()
_VISIBLE_TOKEN[ord(" ")] = "␣"


class Bar(NamedTuple):
    """A length, what is written beside it, and the number of its color."""

    value: float
    label: str
    color: int


def text(name: str) -> str:
    """A name as HTML; what could not be seen in it is an escape.

    >>> text("a<b\\x1b")
    'a&lt;b\\\\x1b'
    """
    return escape_html(name.translate(_VISIBLE))


def legend(names: Iterable[str]) -> str:
    """Which color is which encoding."""
    items = (
        f'<li><span class="swatch {color(number)}"></span>{text(name)}</li>'
        for number, name in enumerate(names)
    )
    return f'<ul class="legend" aria-hidden="true">{"".join(items)}</ul>'


def color(number: int) -> str:
    """The class of a color."""
    return f"c{number % COLORS}"


def table(
    caption: str,
    titles: Sequence[str],
    rows: Iterable[tuple[str, Sequence[str]]],
    *,
    shades: Mapping[tuple[int, int], float] | None = None,
) -> str:
    """A table of figures.

    Args:
        caption: what it is of.
        titles: those of the columns, that of the names first.
        rows: the name of each and its figures.
        shades: how deep the color of a cell is, from 0 to 1, by row and column.
    """
    head = "".join(f'<th scope="col">{text(title)}</th>' for title in titles)
    body = []
    for number, (name, cells) in enumerate(rows):
        written = []
        for column, cell in enumerate(cells):
            shade = None if shades is None else shades.get((number, column))
            style = "" if shade is None else f' class="shade" style="--shade:{shade:.0%}"'
            written.append(f"<td{style}>{text(cell)}</td>")
        body.append(f'<tr><th scope="row">{text(name)}</th>{"".join(written)}</tr>')
    return (
        f'<div class="wide" tabindex="0"><table><caption>{text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def details(summary: str, content: str) -> str:
    """What is shown only when it is asked for."""
    return f"<details><summary>{text(summary)}</summary>{content}</details>"


def bars(groups: Iterable[tuple[str, Sequence[Bar]]], description: str) -> str:
    """Horizontal bars, those of a group under each other, on one scale."""
    listed = list(groups)
    most = max((bar.value for _, some in listed for bar in some), default=0.0) or 1.0
    parts = []
    for name, some in listed:
        lines = "".join(
            f'<span class="bar"><span class="fill {color(bar.color)}" '
            f'style="width:{bar.value / most:.2%}"></span><span class="value">{text(bar.label)}'
            "</span></span>"
            for bar in some
        )
        parts.append(f'<div class="bars-name">{text(name)}</div><div class="bars-of">{lines}</div>')
    return f'<div class="bars" role="img" aria-label="{text(description)}">{"".join(parts)}</div>'


def strip(
    name: str, number: int, points: Sequence[tuple[str, float]], most: float, description: str
) -> str:
    """Points on a line from 1 to ``most``, by their logarithms; the outermost have their names."""
    scale = log10(most) if most > 1 else 1.0

    def place(ratio: float) -> str:
        return f"{log10(ratio) / scale:.2%}"

    dots = "".join(
        f'<i class="{color(number)}" style="left:{place(ratio)}" '
        f'title="{text(group)}: {ratio:.2f}"></i>'
        for group, ratio in points
    )
    worst = max(points, key=lambda point: point[1])
    best = min(points, key=lambda point: point[1])
    # Text grows away from the edge that it is near to.
    side = "before" if log10(worst[1]) / scale > 0.5 else "after"
    ends = f'<span class="end after" style="left:0">{text(best[0])}</span>'
    if worst[0] != best[0]:
        ends += (
            f'<span class="end {side}" style="left:{place(worst[1])}">'
            f"{text(worst[0])} {worst[1]:.1f}×</span>"
        )
    return (
        f'<div class="strip-name">{text(name)}</div>'
        f'<div class="strip" role="img" aria-label="{text(description)}">'
        f'<span class="range {color(number)}" style="width:{place(worst[1])}"></span>'
        f"{dots}{ends}</div>"
    )


def columns(values: Sequence[tuple[str, float]], most: float, number: int, description: str) -> str:
    """Upright columns, each a share of ``most``, with names under them."""
    scale = most or 1.0
    parts = "".join(
        f'<span class="column" title="{text(name)}: {value:.1%}">'
        f'<span class="fill {color(number)}" style="height:{value / scale:.2%}"></span>'
        f"<small>{text(name)}</small></span>"
        for name, value in values
    )
    return f'<div class="columns" role="img" aria-label="{text(description)}">{parts}</div>'


def lines(series: Sequence[Sequence[float]], description: str) -> str:
    """Shares of 1 over 1, 2, 3 and so on, these by their logarithms; a line for each series."""
    decades = max(1, ceil(log10(max(map(len, series), default=1) or 1)))
    paths = "".join(
        f'<polyline class="{color(number)}" points="{_points(values, decades)}"/>'
        for number, values in enumerate(series)
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
    return (
        f'<div class="plot" role="img" aria-label="{text(description)}">'
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
        f'<g class="grid">{grid}</g>{paths}</svg>{across}{up}</div>'
    )


def _points(values: Sequence[float], decades: int) -> str:
    """A curve in a square of 100, at some 24 places of each decade."""
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
    """Tokens one after the other, their backgrounds in turn."""
    return '<span class="tokens">{}</span>'.format(
        "".join(token(part, number % _TINTS) for number, part in enumerate(parts))
    )


def token_list(items: Iterable[tuple[bytes, str]]) -> str:
    """Tokens, and what is said of each."""
    written = (f"<li>{token(part)} <small>{text(said)}</small></li>" for part, said in items)
    return f'<ul class="list">{"".join(written)}</ul>'


def token(part: bytes, tint: int = 0) -> str:
    """One token, as exactly what it is.

    >>> token(b" <\\xe4")
    '<bdi class="t0">␣&lt;\\\\xe4</bdi>'
    """
    return f'<bdi class="t{tint}">{escape_html(escape(part, _VISIBLE_TOKEN))}</bdi>'
