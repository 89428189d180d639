"""Names on a report's page: told apart, broken between their parts, short where room is small.

An encoding has a number, a color and a pattern. The number alone tells any number of encodings
apart, without seeing colors; the colors repeat after eight, with another pattern.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape as escape_html
from typing import NamedTuple

from ..unicode.text import Visible

#: Colors and patterns in the style sheet.
COLORS, PATTERNS = 8, 4

#: Characters of a name that is never broken on purpose.
_WHOLE = 16

#: Characters of a name that is shown as it is beside a chart or above a column.
_SHORT = 32

_VISIBLE = Visible()

#: What is shown of a group whose name is empty, as a field of JSON lines may be.
_NO_NAME = "(no name)"

#: Places where a name may be broken: after these characters, but not before the ending of a file's
#: name; and before a backslash, which separates folders or begins an escape.
_BREAK = re.compile(r"(?<=[/_.\-:])(?![/_.\-:]|$)(?!(?<=\.)\w{1,5}$)|(?<=.)(?=\\)")


def text(name: str) -> str:
    r"""Return a name as HTML, with escapes for what could not be seen.

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
    """Return names with folders left out of long paths, so that none is taken for another.

    >>> list(shorten(["gpt2", "/home/me/models/large/tokenizer.json"]).values())
    ['gpt2', '…/large/tokenizer.json']
    >>> list(shorten(f"{model}/step-1000-of-9000/tokenizer.json" for model in "ab").values())
    ['a/step-1000-of-9000/tokenizer.json', 'b/step-1000-of-9000/tokenizer.json']
    """
    forms = {name: _forms(name) for name in names}
    times = Counter(form for ends, gaps in forms.values() for form in {*ends, *gaps})
    short = {}
    for name, (ends, gaps) in forms.items():
        # The file's name, with its folder if that fits; if need be with more, or another one.
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
