r"""Classes of characters by the names that Oniguruma has for them, as of Unicode 16.0.

The sources are ``doc/RE`` and ``doc/UNICODE_PROPERTIES`` of Oniguruma 6.9. The classes were
compared with those of tokenizers 0.23.3 over all code points.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Callable

from .code_points import CodePoints
from .properties import category, loose, parse_ranges, property_set, white_space, word
from .tables import SCRIPTS


@cache
def outer_word() -> CodePoints:
    r"""Return the characters that ``\w`` matches outside of a class.

    They are those that it matches within a class, three superscripts and three fractions.
    """
    return inner_word() | CodePoints.of("²³", "¹", "¼¾")


@cache
def inner_word() -> CodePoints:
    r"""Return the characters that ``\w`` matches within a class, such as ``[^\w\s]``.

    The joiners U+200C and U+200D are not among them.
    """
    return word() - CodePoints.of("\u200c\u200d")


@cache
def posix(name: str) -> CodePoints:
    """Return a POSIX class, such as ``alpha``.

    Raises:
        KeyError: there is none of this name.

    >>> ord("é") in posix("alpha"), ord("1") in posix("punct")
    (True, False)
    """
    return _POSIX[name]()


@cache
def named(name: str) -> CodePoints:
    r"""Return the characters that ``\p{name}`` matches.

    Raises:
        KeyError: Oniguruma has no such name.

    >>> ord("😀") in named("Emoji"), named("Latn") == named("latin"), ord("a") in named("in Arrows")
    (True, True, False)
    """
    with suppress(KeyError):
        return property_set(name)  # a category or a script, with its long name
    from .tables_properties import BLOCKS, PROPERTIES

    wanted = _full_names().get(loose(name), loose(name))
    for tables in (PROPERTIES, BLOCKS):
        if wanted in tables:
            return parse_ranges(tables[wanted])
    if wanted == "innoblock":
        return ~CodePoints.union(*map(parse_ranges, BLOCKS.values()))
    if wanted in ("unknown", "zzzz"):
        return ~CodePoints.union(*map(parse_ranges, SCRIPTS.values()))
    if wanted == "word":
        return outer_word()
    return posix(wanted) if wanted in _POSIX else property_set(wanted)


_POSIX: dict[str, Callable[[], CodePoints]] = {
    "alnum": lambda: posix("alpha") | category("Nd"),
    "alpha": lambda: named("Alphabetic"),
    "ascii": lambda: CodePoints((0, 0x80)),
    "blank": lambda: category("Zs") | CodePoints.of("\t"),
    "cntrl": lambda: category("Cc"),
    "digit": lambda: category("Nd"),
    "graph": lambda: ~(white_space() | category("Cc") | category("Cn") | category("Cs")),
    "lower": lambda: named("Lowercase"),
    "print": lambda: posix("graph") | category("Zs"),
    "punct": lambda: category("P") | category("S"),
    "space": white_space,
    "upper": lambda: named("Uppercase"),
    "word": inner_word,
    "xdigit": lambda: CodePoints.of("09", "AF", "af"),
}


@cache
def _full_names() -> dict[str, str]:
    """Return the name in the tables for each name in loose spelling."""
    from .tables_properties import BLOCKS, PROPERTIES, SHORT_NAMES

    names = {loose(name): name for name in (*PROPERTIES, *BLOCKS, *SCRIPTS)}
    names.update((loose(short), name) for short, name in SHORT_NAMES.items())
    return names
