r"""Sets of Unicode code points, properties by name, as in ``\p{…}``, and case folding.

A set is kept as an *inversion list* (the Unicode Standard's name for it): the sorted code
points at which membership changes. ``(0x41, 0x5B, 0x61, 0x7B)`` are the ASCII letters.
The complement is the same list with 0 added or removed at the front. A union or an
intersection is one sorted walk over both lists.

Properties are those of the Unicode 16.0 tables. Nothing here asks the running Python, whose tables
are of the version it was built with. tiktoken 0.14 classifies by Unicode 16.0, and a code point in
another class gives other tokens. Only ``script_of`` goes by Unicode 9.0, as tokenizers 0.23.3 does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import Callable

from . import tables

#: One more than the highest code point.
END = 0x110000


class CodePoints:
    """An immutable set of code points, 0 to 0x10FFFF.

    >>> letters = CodePoints.of("az")
    >>> ord("m") in letters, ord("M") in letters, ord("M") in ~letters
    (True, False, True)
    >>> (letters | CodePoints.of("AZ")).bounds
    (65, 91, 97, 123)
    """

    __slots__ = ("bounds",)

    #: Code points at which membership changes, ascending; an odd length leaves the last range open.
    bounds: tuple[int, ...]

    def __init__(self, bounds: Iterable[int] = ()) -> None:
        self.bounds = tuple(bounds)

    @classmethod
    def of(cls, *ranges: str) -> CodePoints:
        """Return the set of ranges, each written as its first and last character, or as one.

        >>> CodePoints.of("09", "_").bounds
        (48, 58, 95, 96)
        """
        return cls.from_ranges((ord(item[0]), ord(item[-1])) for item in ranges)

    @classmethod
    def from_ranges(cls, ranges: Iterable[tuple[int, int]]) -> CodePoints:
        """Return the set of the ``(first, last)`` ranges, both ends included, in any order.

        >>> CodePoints.from_ranges([(97, 99), (98, 122), (123, 123)]).bounds
        (97, 124)
        """
        bounds: list[int] = []
        for first, last in sorted(ranges):
            if bounds and first <= bounds[-1]:
                bounds[-1] = max(bounds[-1], last + 1)
            else:
                bounds += (first, last + 1)
        return cls(bounds[:-1] if bounds[-1:] == [END] else bounds)

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Return the ``(first, last)`` ranges, ascending, both ends included.

        >>> list(CodePoints.of("az", "_").ranges())
        [(95, 95), (97, 122)]
        """
        bounds = self.bounds
        if len(bounds) % 2:
            bounds = (*bounds, END)
        return zip(bounds[::2], (after - 1 for after in bounds[1::2]))

    def clip(self, start: int, end: int) -> CodePoints:
        """Return the members from ``start`` up to, but not including, ``end``.

        >>> CodePoints.of("az").clip(ord("b"), ord("d")) == CodePoints.of("bc")
        True
        """
        if start >= end:
            return CodePoints()
        low, high = bisect_right(self.bounds, start), bisect_left(self.bounds, end)
        opened = (start,) if low % 2 else ()
        closed = (end,) if high % 2 and end < END else ()
        return CodePoints((*opened, *self.bounds[low:high], *closed))

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(first, last + 1) for first, last in self.ranges())

    def __contains__(self, code_point: int) -> bool:
        return bisect_right(self.bounds, code_point) % 2 == 1

    def __bool__(self) -> bool:
        return bool(self.bounds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodePoints) and self.bounds == other.bounds

    def __hash__(self) -> int:
        return hash(self.bounds)

    def __invert__(self) -> CodePoints:
        bounds = self.bounds
        return CodePoints(bounds[1:] if bounds[:1] == (0,) else (0, *bounds))

    def __or__(self, other: CodePoints) -> CodePoints:
        return CodePoints.union(self, other)

    def __and__(self, other: CodePoints) -> CodePoints:
        return ~(~self | ~other)

    def __sub__(self, other: CodePoints) -> CodePoints:
        return ~(~self | other)

    def __xor__(self, other: CodePoints) -> CodePoints:
        # At a code point where both sets change, membership in exactly one of them does not.
        return CodePoints(sorted({*self.bounds} ^ {*other.bounds}))

    @staticmethod
    @lru_cache(maxsize=64)
    def union(*sets: CodePoints) -> CodePoints:
        """Return the union of any number of sets; cached, since patterns repeat their classes.

        >>> CodePoints.union(CodePoints.of("a"), CodePoints.of("b"), CodePoints.of("d")).bounds
        (97, 99, 100, 101)
        """
        return CodePoints.from_ranges(chain.from_iterable(points.ranges() for points in sets))

    def __repr__(self) -> str:
        return f"CodePoints({self.to_re()})"

    def to_re(self) -> str:
        """Return the set as a class for stdlib ``re``; an empty set is an assertion that fails.

        >>> CodePoints.of("az", "09").to_re()
        '[0-9a-z]'
        """
        if not self.bounds:
            return "(?!)"
        parts = [
            _escaped(first) if first == last else f"{_escaped(first)}-{_escaped(last)}"
            for first, last in self.ranges()
        ]
        lone = len(self.bounds) == 2 and self.bounds[1] == self.bounds[0] + 1
        return parts[0] if lone else f"[{''.join(parts)}]"


def _escaped(code_point: int) -> str:
    char = chr(code_point)
    # Escape every ASCII sign, not just the special ones: `re` warns about `--` in a class.
    return char if char.isalnum() or code_point > 0x7E else f"\\x{code_point:02x}"


def kinds_of(bits: Mapping[CodePoints, int]) -> Iterator[tuple[int, int]]:
    """Yield the start of each range whose code points are in the same sets, and those sets' bits.

    Args:
        bits: the sets, each with a bit of its own. The bits of several sets are their sum.

    >>> list(kinds_of({CodePoints.of("az"): 1, CodePoints.of("ac"): 2}))
    [(0, 0), (97, 3), (100, 1), (123, 0)]
    """
    changes = {0: 0}
    for points, bit in bits.items():
        for bound in points.bounds:
            changes[bound] = changes.get(bound, 0) ^ bit
    kind = 0
    for start in sorted(changes):
        kind ^= changes[start]
        if changes[start] or not start:
            yield start, kind


#: The set of all code points, and the empty set.
ALL = CodePoints((0,))
NONE = CodePoints()


#: The long names of the general categories, in loose spelling (UAX 44, table 12).
_LONG_NAMES = """
    letter=L casedletter=LC uppercaseletter=Lu lowercaseletter=Ll titlecaseletter=Lt
    modifierletter=Lm otherletter=Lo mark=M combiningmark=M nonspacingmark=Mn spacingmark=Mc
    enclosingmark=Me number=N decimalnumber=Nd digit=Nd letternumber=Nl othernumber=No
    punctuation=P punct=P connectorpunctuation=Pc dashpunctuation=Pd openpunctuation=Ps
    closepunctuation=Pe initialpunctuation=Pi finalpunctuation=Pf otherpunctuation=Po symbol=S
    mathsymbol=Sm currencysymbol=Sc modifiersymbol=Sk othersymbol=So separator=Z
    spaceseparator=Zs lineseparator=Zl paragraphseparator=Zp other=C control=Cc cntrl=Cc
    format=Cf surrogate=Cs privateuse=Co unassigned=Cn
"""
_CATEGORY_NAMES = dict(pair.split("=") for pair in _LONG_NAMES.split())


def parse_ranges(table: str) -> CodePoints:
    """Return the set that a generated table describes.

    >>> parse_ranges("30-39 5f") == CodePoints.of("09", "_")
    True
    """
    ranges = (item.partition("-") for item in table.split())
    return CodePoints.from_ranges((int(a, 16), int(b or a, 16)) for a, _, b in ranges)


@cache
def category(name: str) -> CodePoints:
    """Return a general category by its one or two letters (``LC`` joins the three cased ones).

    Raises:
        KeyError: no category has this name.

    >>> ord("ſ") in category("Ll"), ord("½") in category("N")
    (True, True)
    """
    if name in tables.CATEGORIES:
        return parse_ranges(tables.CATEGORIES[name])
    if name == "Cn":
        return ~parse_ranges(" ".join(tables.CATEGORIES.values()))
    parts = ("Lu", "Ll", "Lt") if name == "LC" else [c for c in tables.CATEGORIES if c[0] == name]
    if not parts:
        raise KeyError(name)
    union = parse_ranges(" ".join(tables.CATEGORIES[part] for part in parts))
    return union | category("Cn") if name == "C" else union


@cache
def white_space() -> CodePoints:
    r"""Return the characters that ``\s`` matches.

    Stdlib ``re`` and ``str.isspace`` add U+001C to U+001F, which are not White_Space.
    """
    return parse_ranges(tables.WHITE_SPACE)


@cache
def word() -> CodePoints:
    r"""Return the characters that ``\w`` matches (UTS 18, annex C)."""
    return parse_ranges(tables.WORD)


def loose(name: str) -> str:
    """Return a name for comparison, without case, spaces, hyphens, underscores (UAX44-LM3)."""
    return "".join(char for char in name.lower() if char not in " -_")


@cache
def property_set(name: str) -> CodePoints:
    r"""Return the characters that ``\p{name}`` matches.

    The name is a general category, a script, or one of ``Any``, ``Assigned``, ``ASCII``,
    ``White_Space`` and ``space``. ``gc=…``, ``General_Category=…``, ``sc=…`` and ``Script=…``
    are understood too.

    Raises:
        KeyError: the name is not one of these.

    >>> property_set("Lu") == property_set("Uppercase_Letter") == property_set("gc=lu")
    True
    >>> ord("字") in property_set("Han")
    True
    """
    kind, equals, value = name.replace(":", "=").partition("=")
    kind, wanted = (loose(kind), loose(value)) if equals else ("", loose(name))
    if kind in ("", "gc", "generalcategory"):
        short = _CATEGORY_NAMES.get(wanted, "LC" if wanted == "lc" else wanted.capitalize())
        try:
            return category(short)
        except KeyError:
            pass
    if kind in ("", "sc", "script"):
        for script, table in tables.SCRIPTS.items():
            if loose(script) == wanted:
                return parse_ranges(table)
    if not kind and wanted in _OTHERS:
        return _OTHERS[wanted]()
    raise KeyError(name)


_OTHERS: dict[str, Callable[[], CodePoints]] = {
    "any": lambda: ALL,
    "assigned": lambda: ~category("Cn"),
    "ascii": lambda: CodePoints((0, 0x80)),
    "whitespace": white_space,
    "space": white_space,
}


@cache
def _orbits() -> dict[int, tuple[int, ...]]:
    """Return, for each code point with case, all that match it when case is ignored."""
    orbits = {}
    for group in tables.CASE_ORBITS.split():
        members = tuple(int(item, 16) for item in group.split(","))
        orbits.update(dict.fromkeys(members, members))
    return orbits


@lru_cache(256)
def ignore_case(points: CodePoints) -> CodePoints:
    """Return the set with all characters that simple case folding makes equal to a member.

    >>> sorted(map(chr, ignore_case(CodePoints.of("s"))))
    ['S', 's', 'ſ']
    """
    orbits = _orbits()
    if sum(last - first for first, last in points.ranges()) < len(orbits):
        members = [c for c in points if c in orbits]
    else:
        members = [c for c in orbits if c in points]
    if not members:
        return points
    return points | CodePoints.from_ranges((c, c) for m in members for c in orbits[m])


#: The characters that have another script in 16.0 than in the reference.
_OTHER_SCRIPTS = {0x589: "Common", 0x61C: "Common", 0x953: "Devanagari", 0x954: "Devanagari"}


def script_of(code_point: int) -> str | None:
    """Return the script of a character in Unicode 9.0 by its long name; None if it has none.

    It is the script in 16.0, for the code points that 9.0 assigns. ``_OTHER_SCRIPTS`` has the few
    exceptions.

    >>> script_of(ord("字")), script_of(ord("1")), script_of(0x301), script_of(0xE000)
    ('Han', 'Common', 'Inherited', None)
    """
    if code_point in _OTHER_SCRIPTS:
        return _OTHER_SCRIPTS[code_point]
    starts, scripts = _script_ranges()
    return scripts[bisect_right(starts, code_point) - 1]


@cache
def _script_ranges() -> tuple[list[int], list[str | None]]:
    """Return the starts of all ranges of code points with one script, and their scripts."""
    from .tables_tokenizers import UNASSIGNED

    assigned = ~parse_ranges(UNASSIGNED)
    scripts: dict[int, str | None] = {0: None}
    for script, table in tables.SCRIPTS.items():
        for first, last in (parse_ranges(table) & assigned).ranges():
            scripts[first] = script
            scripts.setdefault(last + 1, None)
    starts = sorted(scripts)
    return starts, [scripts[start] for start in starts]
