r"""Patterns of ignore files, matched by the rules of git's ``wildmatch``.

A pattern of a name is runs of characters with stars between them. A pattern of a path is the same
with names in place of characters: runs of names with ``**`` between them. In both, what is between
two stars has a fixed length, so the first place where it fits leaves the most to what follows, and
no other has to be tried. So each character of a pattern meets each character of a text a few times
at most, whatever the pattern. A regular expression would try the stars in all combinations.

Git compares bytes: so a text here is the bytes of a text, each as a character (``as_bytes``).

With ``core.ignoreCase``, which git sets where the disk does not tell ``A`` from ``a``, it makes the
text lower case and the pattern too, but not what a pattern has in a set or behind a backslash
(``_Set`` has the exceptions). So ``[A]`` then matches neither ``A`` nor ``a``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Any, Callable, Union

#: The characters that make a pattern more than plain text.
_SPECIAL = re.compile(r"[*?\[\\]")
_STARS = re.compile(r"\*+")
#: The characters of the classes that may be in a set, as in ``[[:digit:]]``: C's, for ASCII.
_CLASSES = {
    name: frozenset(filter(re.compile(f"[{chars}]").match, map(chr, range(128))))
    for name, chars in {
        "alnum": "0-9A-Za-z",
        "alpha": "A-Za-z",
        "blank": r"\t ",
        "cntrl": r"\x00-\x1f\x7f",
        "digit": "0-9",
        "graph": r"\x21-\x7e",
        "lower": "a-z",
        "print": r"\x20-\x7e",
        "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
        "space": r"\t\n\r ",
        "upper": "A-Z",
        "xdigit": "0-9A-Fa-f",
    }.items()
}


#: Letters of ASCII in lower case: git folds no others.
_LOWER = {ord(char): char.lower() for char in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


class _Set:
    """A set of characters, or all but those.

    Args:
        chars: single characters.
        ranges: the first and last characters of ranges. They are not written out: one may have a
            million characters.
        negated: the set has all characters but those.
        any_case: a range has a letter in lower case, too, if it has it in upper case.
    """

    __slots__ = ("_any_case", "_chars", "_negated", "_ranges")

    def __init__(
        self,
        chars: frozenset[str],
        ranges: tuple[tuple[str, str], ...],
        negated: bool,
        any_case: bool = False,
    ) -> None:
        self._chars = chars
        self._ranges = ranges
        self._negated = negated
        self._any_case = any_case

    def __contains__(self, char: str) -> bool:
        is_in = char in self._chars
        upper = char.upper() if self._any_case and char.isascii() else char
        for first, last in self._ranges:
            is_in = is_in or first <= char <= last or first <= upper <= last
        return is_in is not self._negated


_EVERY = _Set(frozenset(), (), True)

#: The pattern of one character of a text: itself, or the set of all that match.
_Char = Union[str, _Set]
#: A part of a pattern: one character's, or a number of stars.
_Part = Union[_Char, int]


#: Braces with a comma in them; and escapes and sets, in which a brace is a character.
_BRACES = re.compile(r"\\.|\[[!^]?\]?[^\]]*\]|\{([^{}\\\[\]]*,[^{}\\\[\]]*)\}", re.DOTALL)
#: The most patterns that the braces of one may stand for.
MOST_ALTERNATIVES = 256


class InvalidPatternError(ValueError):
    """A pattern that is refused.

    Nothing matches it, as with a set without an end or a backslash before nothing; or it stands for
    too many patterns.
    """


def alternatives(glob: str) -> list[str]:
    r"""Return the patterns that a glob of the user stands for: ``{a,b}`` is either.

    Git's ignore files have no braces. Braces without a comma, escaped or in a set are characters.

    Raises:
        InvalidPatternError: there are more than ``MOST_ALTERNATIVES``.

    >>> alternatives("src/*.{py,pyi}")
    ['src/*.py', 'src/*.pyi']
    >>> alternatives(r"{a},\{b,c}")
    ['{a},\\{b,c}']
    """
    choices: list[list[str]] = []
    at = 0
    for found in _BRACES.finditer(glob):
        if found[1] is not None:
            choices += [[glob[at : found.start()]], found[1].split(",")]
            at = found.end()
    choices.append([glob[at:]])
    if prod(map(len, choices)) > MOST_ALTERNATIVES:
        raise InvalidPatternError(f"the braces stand for more than {MOST_ALTERNATIVES} patterns")
    return ["".join(chosen) for chosen in product(*choices)]


def as_bytes(text: str) -> str:
    """Return the bytes of a path or a pattern, each as a character.

    >>> as_bytes("é")
    'Ã©'
    """
    return text if text.isascii() else os.fsencode(text).decode("latin-1")


def lowered(text: str) -> str:
    """Return a text, as by ``as_bytes``, with its letters of ASCII in lower case.

    >>> lowered("A\xc4")
    'aÄ'
    """
    return text.translate(_LOWER)


def matcher(pattern: str, *, is_name: bool, any_case: bool = False) -> Callable[[str], bool]:
    r"""Return the function that says if a pattern matches a text, each as by ``as_bytes``.

    Args:
        pattern: the pattern.
        is_name: the pattern is for a name. Otherwise it is for a path, in which only ``**``
            between slashes matches a slash.
        any_case: the pattern matches in upper and lower case; texts have to be ``lowered``.

    Raises:
        InvalidPatternError: the pattern matches nothing.

    >>> matcher("*.py[co]", is_name=True)("a.pyc")
    True
    >>> matches = matcher("b/**/x", is_name=False)
    >>> [path for path in ("x", "b/x", "a/b/x", "b/c/d/x") if matches(path)]
    ['b/x', 'b/c/d/x']
    """
    special = _SPECIAL.search(pattern)
    if special is None:
        return (lowered(pattern) if any_case else pattern).__eq__
    if is_name:
        return _name(_parts(pattern, any_case)).matches
    # Git compares what is before the first special character as a text. So two stars there begin a
    # pattern, although they are within a name, and match slashes.
    stars = _STARS.match(pattern, special.start())
    before, after = pattern[: special.start()], pattern[stars.end() if stars else 0 :]
    before = lowered(before) if any_case else before
    if stars and len(stars[0]) > 1 and before and not before.endswith("/"):
        if not after:
            return lambda path: path.startswith(before)
        if after.startswith(("/", "\\/")):
            rest = after[after.index("/") + 1 :]
            below = _path_matcher(f"{before}*/**/{rest}", any_case)
            if after.startswith("\\"):
                return below
            beside = _path_matcher(before + rest, any_case)
            return lambda path: beside(path) or below(path)
    return _path_matcher(pattern, any_case)


def _path_matcher(pattern: str, any_case: bool) -> Callable[[str], bool]:
    """Return the function that says if a pattern matches a path, name by name."""
    names: list[_Name | None] = []
    parts: list[_Part] = []
    for part in [*_parts(pattern, any_case), "/"]:
        if part not in ("/", _ESCAPED_SLASH):
            parts.append(part)
            continue
        if not (len(parts) == 1 and isinstance(parts[0], int) and parts[0] > 1):
            names.append(_name(parts))
        elif part == "/":
            names.append(None)
        else:
            names += [_ANY, None]  # as git has it, at least one directory
        parts = []
    if names[-1] is None:
        names.append(_ANY)
    path = _Path(names)
    return lambda text: path.matches(text.split("/"))


def _name(parts: Iterable[_Part]) -> _Name:
    return _Name(None if isinstance(part, int) else part for part in parts)


class _Starred:
    """A pattern of runs with stars between them.

    Args:
        parts: each matches one item of the text; None is a star.
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        runs: list[list[Any]] = [[]]
        for part in parts:
            if part is not None:
                runs[-1].append(part)
            elif runs[-1] or len(runs) == 1:  # a star beside a star adds nothing
                runs.append([])
        self._length = sum(map(len, runs))
        self._first, *between = map(self.run, runs)
        self._last = between.pop() if between else None
        self._between = between

    def matches(self, text: Any) -> bool:
        """Return True if the whole text, or the whole list of names, matches."""
        if self._last is None:
            return len(text) == self._length and self.fits(self._first, text, 0)
        end = len(text) - len(self._last)
        if (
            len(text) < self._length
            or not self.fits(self._first, text, 0)
            or not self.fits(self._last, text, end)
        ):
            return False
        at = len(self._first)
        for run in self._between:
            at = self.find(run, text, at, end)
            if at < 0:
                return False
            at += len(run)
        return True

    def run(self, parts: list[Any]) -> Any:
        """Return a run in the form in which it is compared."""
        return parts

    def fits(self, run: Any, text: Any, at: int) -> bool:
        """Return True if a run is at a place of a text that is long enough."""
        raise NotImplementedError

    def find(self, run: Any, text: Any, at: int, end: int) -> int:
        """Return the first place of a run between two places, or -1."""
        places = range(at, end - len(run) + 1)
        return next((place for place in places if self.fits(run, text, place)), -1)


class _Name(_Starred):
    """A pattern of a name, or of the part of a path between slashes: runs of characters."""

    def run(self, parts: list[_Char]) -> str | list[_Char]:
        chars = [part for part in parts if isinstance(part, str)]
        return "".join(chars) if len(chars) == len(parts) else parts

    def fits(self, run: str | list[_Char], text: str, at: int) -> bool:
        if isinstance(run, str):
            return text.startswith(run, at)
        return all(char in part for char, part in zip(text[at : at + len(run)], run))

    def find(self, run: str | list[_Char], text: str, at: int, end: int) -> int:
        return text.find(run, at, end) if isinstance(run, str) else super().find(run, text, at, end)


class _Path(_Starred):
    """A pattern of a path: runs of names."""

    def fits(self, run: list[_Name], text: list[str], at: int) -> bool:
        return all(name.matches(text[at + index]) for index, name in enumerate(run))


#: The pattern that any name matches.
_ANY = _Name([None])
#: The part of a pattern for a slash after a backslash.
_ESCAPED_SLASH = "\\/"


def _parts(pattern: str, any_case: bool) -> Iterator[_Part]:
    """Yield the parts of a pattern; with ``any_case`` those that lower case has, as in git.

    Raises:
        InvalidPatternError: the pattern matches nothing.
    """
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            stars = len(pattern) - at - len(pattern[at:].lstrip("*"))
            yield stars
            at += stars
        elif char == "?":
            yield _EVERY
            at += 1
        elif char == "[":
            chars, at = _set(pattern, at + 1, any_case)
            yield chars
        elif char == "\\":
            escaped = _char(pattern, at + 1)
            yield _ESCAPED_SLASH if escaped == "/" else escaped
            at += 2
        else:
            yield lowered(char) if any_case else char
            at += 1


def _char(pattern: str, at: int) -> str:
    """Return a character of a pattern.

    Raises:
        InvalidPatternError: the pattern ends before it.
    """
    if at >= len(pattern):
        raise InvalidPatternError(f"{pattern!r} ends within a set or behind a backslash")
    return pattern[at]


def _set(pattern: str, at: int, any_case: bool) -> tuple[_Set, int]:
    """Return the set whose bracket is before ``at``, and the place behind the set.

    Raises:
        InvalidPatternError: the set has no end, or has a class that does not exist.
    """
    negated = _char(pattern, at) in "!^"
    at += negated
    chars: set[str] = set()
    ranges: list[tuple[str, str]] = []
    last = ""  # the character before, with which a range may begin
    first = True
    while first or _char(pattern, at) != "]":
        first = False
        char = _char(pattern, at)
        if char == "\\":
            at += 1
            last = _char(pattern, at)
            chars.add(last)
        elif char == "-" and last and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1
            if pattern[at] == "\\":
                at += 1
            ranges.append((last, _char(pattern, at)))
            last = ""
        elif char == "[" and pattern[at + 1 : at + 2] == ":":
            end = pattern.find("]", at + 2)
            if end < 0:
                raise InvalidPatternError(f"{pattern!r} ends within a set")
            if end > at + 2 and pattern[end - 1] == ":":
                name = pattern[at + 2 : end - 1]
                if name not in _CLASSES:
                    raise InvalidPatternError(f"there is no class [:{name}:]")
                chars |= _CLASSES["alpha" if any_case and name == "upper" else name]
                at, last = end, ""
            else:
                chars.add(char)
                last = char
        else:
            chars.add(char)
            last = char
        at += 1
    return _Set(frozenset(chars), tuple(ranges), negated, any_case), at + 1
