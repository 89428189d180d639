"""The parts of a page: names, tables, and charts drawn with CSS and SVG.

An encoding has a number, a color and a pattern. The number alone tells any number of encodings
apart, without seeing colors; the colors repeat after eight, with another pattern. Names are broken
between their parts, and short where room is small.

A chart stretches to the width of the page: lengths in it are shares of that. Labels are text of the
page, so that they can be read on a phone. All figures of a chart are in a table, too, for readers
who do not see it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape as escape_html
from math import ceil, floor, log10
from typing import NamedTuple

from ..unicode.text import Visible, escape
from .figures import Check

#: Colors and patterns in the style sheet.
COLORS, PATTERNS = 8, 4

#: The most characters of a name that is never broken on purpose.
_WHOLE = 16

#: The most characters of a name that is shown unchanged beside a chart or above a column.
_SHORT = 32

_VISIBLE = Visible()

#: The name of a group whose own name is empty, as a field of JSON lines may be.
_NO_NAME = "(no name)"

#: Places where a name may be broken: after these characters, but not before the ending of a file's
#: name; and before a backslash, which separates folders or begins an escape.
_BREAK = re.compile(r"(?<=[/_.\-:])(?![/_.\-:]|$)(?!(?<=\.)\w{1,5}$)|(?<=.)(?=\\)")


def text(name: str) -> str:
    r"""Return a name as HTML, with escapes for invisible characters.

    >>> text("a<b\x1b")
    'a&lt;b\\x1b'
    """
    return escape_html(name.translate(_VISIBLE))


def breakable(name: str) -> str:
    r"""Return a name as HTML that is broken at the ends of its parts, rather than within them.

    >>> breakable("own_vocabularies/a.json")
    'own_<wbr>vocabularies/<wbr>a.json'
    """
    visible = name.translate(_VISIBLE)
    if len(visible) <= _WHOLE:
        return escape_html(visible)
    return "<wbr>".join(map(escape_html, _BREAK.split(visible)))


def titled(name: str, shown: str) -> str:
    """Return a shortened name as HTML; a long one has the full name as its title.

    >>> titled("en", "en"), titled("", "")
    ('<span class="name">en</span>', '<span class="name">(no name)</span>')
    """
    title = f' title="{text(name)}"' if len(name) > _WHOLE else ""
    return f'<span class="name"{title}>{breakable(shown) or _NO_NAME}</span>'


def shorten(names: Iterable[str]) -> dict[str, str]:
    """Return short forms of names by name: long paths lose folders, but stay different.

    >>> list(shorten(["gpt2", "/home/me/models/large/tokenizer.json"]).values())
    ['gpt2', '…/large/tokenizer.json']
    >>> list(shorten(f"{model}/step-1000-of-9000/tokenizer.json" for model in "ab").values())
    ['a/step-1000-of-9000/tokenizer.json', 'b/step-1000-of-9000/tokenizer.json']
    """
    forms = {name: _forms(name) for name in names}
    times = Counter(form for ends, gaps in forms.values() for form in {*ends, *gaps})
    short = {}
    for name, (ends, gaps) in forms.items():
        # The file's name, with its folder if that fits; else with more folders, or another one.
        fitting = [end for end in ends[1:] if len(end) <= _SHORT] or ends[:1]
        wanted = [*fitting, *gaps]
        own = (form for form in wanted if times[form] == 1 and form not in forms)
        short[name] = min(name, next(own, name), key=len)
    return short


def _forms(name: str) -> tuple[list[str], list[str]]:
    """Return the ends of a path, from its last part on, and its last part after each folder.

    >>> _forms("/home/me/models/large/tokenizer.json")[1]  # doctest: +NORMALIZE_WHITESPACE
    ['…/large/tokenizer.json', '…/models/…/tokenizer.json', '…/me/…/tokenizer.json',
     '…/home/…/tokenizer.json']
    """
    if len(name) <= _SHORT:
        return [], []
    parts = re.split(r"([/\\]+(?=[^/\\]))", name)  # names and separators in turn
    places = range(len(parts) - 2, 0, -2)  # those of the separators
    last = "".join(parts[-2:])
    ends = [f"…{''.join(parts[place:])}" for place in places]
    gaps = [f"…{parts[place]}{parts[place + 1]}{parts[place + 2]}…{last}" for place in places[2:]]
    return ends, ends[1:2] + gaps


class Key(NamedTuple):
    """The sign of an encoding.

    Args:
        number: its place among the encodings, from 0.
        name: its name.
        short: the name where room is small.
        is_numbered: whether there are others, so that its number is shown.
    """

    number: int
    name: str
    short: str
    is_numbered: bool

    @property
    def style(self) -> str:
        """Its classes: a color and a pattern.

        >>> Key(9, "gpt2", "gpt2", True).style
        'c1 p1'
        """
        return f"c{self.number % COLORS} p{self.number // COLORS % PATTERNS}"

    @property
    def figure(self) -> str:
        """Its number as text, from 1; empty if it is the only one."""
        return str(self.number + 1) if self.is_numbered else ""

    @property
    def badge(self) -> str:
        """Its number in its color."""
        return f'<b class="badge {self.style}">{self.figure}</b> ' if self.is_numbered else ""

    @property
    def label(self) -> str:
        """Its badge and its short name."""
        return self.badge + titled(self.name, self.short)

    @property
    def heading(self) -> str:
        """Its badge and its full name."""
        return self.badge + titled(self.name, self.name)


def keys(names: Sequence[str]) -> list[Key]:
    """Return the signs of some encodings."""
    short = shorten(names)
    return [Key(number, name, short[name], len(names) > 1) for number, name in enumerate(short)]


#: The tints of tokens in turn.
_TINTS = 4

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
        caption: its caption.
        heads: HTML of the heads of the columns, that of the names first.
        rows: the HTML of the name of each, and the text of its figures.
        shades: the depth of a cell's color, from 0 to 1, by row and column.
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


def bars(
    groups: Iterable[tuple[str, Sequence[Bar]]], description: str, most: float | None = None
) -> str:
    """Return horizontal bars on one scale, for groups given as the HTML of a name and its bars.

    The scale ends at ``most``, by default the longest bar.
    """
    listed = list(groups)
    most = most or max((bar.value for _, some in listed for bar in some), default=0.0) or 1.0
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


def percentage(share: float) -> str:
    """Return a share as text that distinguishes a small share from none.

    >>> percentage(0.0), percentage(0.0001), percentage(0.25)
    ('0', '<0.1%', '25.0%')
    """
    if not share:
        return "0"
    return "<0.1%" if share < 0.0005 else f"{share:.1%}"


#: A place in a plot: shares of its width and its height, from the left and from below.
Place = tuple[float, float]


class Line(NamedTuple):
    """The line of an encoding in a plot, and the place of its number; None for none."""

    key: Key
    places: Sequence[Place]
    badge: Place | None


def coverage_chart(series: Sequence[Sequence[float]], keys: Sequence[Key], description: str) -> str:
    """Return a line for each series of shares of 1 over 1, 2, 3 and so on, by their logarithms."""
    decades = max(1, ceil(log10(max(map(len, series), default=1) or 1)))

    def place(values: Sequence[float], number: int) -> Place:
        return log10(number) / decades, values[number - 1]

    lines = []
    for key, values in zip(keys, series):
        last = len(values)
        # Some 24 places of each decade.
        numbers = {min(last, floor(10 ** (step / 24))) for step in range(24 * decades + 1)}
        places = [place(values, number) for number in sorted(numbers)] if last else []
        # The numbers of the encodings stand at different parts of the width.
        part = (key.number + 1) / (len(keys) + 1)
        badge = place(values, max(1, round(last**part))) if last else None
        lines.append(Line(key, places, badge))
    across = [(number / decades, _short(10**number)) for number in range(decades + 1)]
    up = [(percent / 100, f"{percent}%") for percent in (0, 25, 50, 75, 100)]
    below = "number of the most frequent tokens, logarithmic"
    return _plot(lines, across, up, below, description)


def curve_chart(curves: Sequence[tuple[Key, Sequence[Check]]], description: str) -> str:
    """Return a line for each curve: bytes per token over the number of tokens, from zero on."""
    across = _ticks(max(check.tokens for _, some in curves for check in some))
    up = _ticks(max(check.bytes_per_token for _, some in curves for check in some))
    right, top = across[-1], up[-1]
    lines = []
    for key, some in curves:
        places = [(check.tokens / right, check.bytes_per_token / top) for check in some]
        lines.append(Line(key, places, places[-1]))
    return _plot(
        lines,
        [(tick / right, f"{tick:,.10g}") for tick in across],
        [(tick / top, f"{tick:.10g}") for tick in up],
        "tokens of the vocabulary",
        description,
    )


def _plot(
    lines: Sequence[Line],
    across: Sequence[tuple[float, str]],
    up: Sequence[tuple[float, str]],
    below: str,
    description: str,
) -> str:
    """Return lines in a square.

    Args:
        lines: the lines.
        across, up: the places and the names of the grid's lines.
        below: the name of the horizontal axis.
        description: the text for those who do not see it.
    """
    drawn = "".join(
        f'<polyline class="{key.style}" points="'
        + " ".join(f"{100 * left:.2f},{100 - 100 * bottom:.2f}" for left, bottom in places)
        + '"/>'
        for key, places, _ in lines
    )
    grid = "".join(f'<path d="M{100 * left:.2f} 0V100"/>' for left, _ in across)
    grid += "".join(f'<path d="M0 {100 - 100 * bottom:.2f}H100"/>' for bottom, _ in up)
    names = "".join(
        f'<span class="x" style="left:{left:.2%}">{name}</span>' for left, name in across
    )
    names += "".join(
        f'<span class="y" style="bottom:{bottom:.2%}">{name}</span>' for bottom, name in up
    )
    badges = "".join(
        f'<b class="badge {key.style}" style="left:{badge[0]:.2%};bottom:{badge[1]:.2%}">'
        f"{key.figure}</b>"
        for key, _, badge in lines
        if badge and key.is_numbered
    )
    return (
        f'<div class="plot" role="img" aria-label="{text(description)}">'
        '<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
        f'<g class="grid">{grid}</g>{drawn}</svg>{names}{badges}</div>'
        f'<p class="below" aria-hidden="true">{below}</p>'
    )


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
    """Return a list of tokens, each with a remark."""
    written = (f"<li>{token(part)} <small>{text(remark)}</small></li>" for part, remark in items)
    return f'<ul class="list">{"".join(written)}</ul>'


def token(part: bytes, tint: int = 0) -> str:
    """Return one token as HTML that shows its exact bytes.

    >>> token(b" <\\xe4")
    '<bdi class="t0">␣&lt;\\\\xe4</bdi>'
    """
    return f'<bdi class="t{tint}">{escape_html(escape(part, _VISIBLE_TOKEN))}</bdi>'
