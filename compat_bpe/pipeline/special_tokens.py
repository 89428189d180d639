"""Special tokens in text: finding their names, refusing disallowed ones, and not cutting a name.

A special token is a name such as ``<|endoftext|>``, with an id of its own that merging never
gives. In a text from a user, the name must not become the token unless the caller allows it with
``allowed_special`` and ``disallowed_special``.

``NameFinder`` finds names, also those of other added tokens and user-defined pieces: the leftmost
first, or the longest of several at one place. The plain rule is a pattern of all names, the longest
first, which is used for a few names. With many names, it would try each at every place. So many
names are kept in sorted order (``SortedNames``). A place then takes one search, for any number of
names and of names that begin alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Set
from functools import lru_cache

from ..caches import cached_property

#: The most names that are found by a pattern: compiling one of a thousand names takes longer than
#: encoding a page.
FEW = 16
#: The most characters of all these names, since a pattern may compare all of them at a place. A
#: single name may have any number, since no character is compared with it twice.
_FEW_CHARACTERS = 1 << 12

#: The greatest length of the beginnings by which places for names are found, in characters.
_BEGINNING = 3
#: The most beginnings that are searched; if there are more, shorter ones are searched.
_MOST_BEGINNINGS = 64

_SPAN = re.Match.span


class NameFinder:
    """A finder of names in text; an empty name is never found.

    Its pattern and its table are built when they are first needed. At each place the text is
    compared with some dozens of names at most, each by a comparison of memory.

    Args:
        names: the names.

    >>> list(NameFinder(["a", "ab", "bc"]).spans("abc a"))
    [(0, 2), (4, 5)]
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names = frozenset(filter(None, names))
        #: True if ``candidates`` matches only the longest names.
        self._are_few = len(names) < 2 or (
            len(names) <= FEW and sum(map(len, names)) <= _FEW_CHARACTERS
        )

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return an iterator of the starts and ends of the names in a text; none overlap."""
        if self._are_few:
            return map(_SPAN, self._pattern.finditer(text))
        candidate = self._pattern.search(text)
        return iter(()) if candidate is None else self._spans_from(text, candidate)

    def _spans_from(self, text: str, candidate: re.Match[str] | None) -> Iterator[tuple[int, int]]:
        longest_at, search = self._sorted.longest_at, self._pattern.search
        while candidate is not None:
            start = end = candidate.start()
            length = longest_at(text, start)
            if length:
                end += length
                yield start, end
            candidate = search(text, max(end, start + 1))

    def first(self, text: str) -> str | None:
        """Return the first name in a text; None if there is none.

        >>> NameFinder(["a", "ab"]).first("c abc")
        'ab'
        """
        match = self._pattern.search(text)
        if match is None or self._are_few:
            return None if match is None else match.group()
        for start, end in self._spans_from(text, match):
            return text[start:end]
        return None

    def length_at(self, text: str, place: int) -> int:
        """Return the length of the longest name at a place in a text; 0 if there is none.

        >>> NameFinder(["a", "ab"]).length_at("c abc", 2)
        2
        """
        if not self._are_few:
            return self._sorted.longest_at(text, place)
        match = self._pattern.match(text, place)
        return 0 if match is None else match.end() - place

    def candidates(self) -> str:
        """Return a pattern that matches wherever a name begins; it may match elsewhere, too."""
        if not self._are_few:
            return _beginning_of_any(self._names)
        return "|".join(map(re.escape, sorted(self._names, key=len, reverse=True))) or "(?!)"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.candidates())

    @cached_property
    def _sorted(self) -> SortedNames:
        return SortedNames(self._names)


def _beginning_of_any(names: frozenset[str]) -> str:
    """Return a pattern for the beginnings of names, so short that there are few of them."""
    for length in range(_BEGINNING, 0, -1):
        beginnings = {name[:length] for name in names}
        if len(beginnings) <= _MOST_BEGINNINGS:
            return "|".join(map(re.escape, sorted(beginnings)))
    # A set is a table up to U+FFFF; the characters above it would be compared one by one.
    low = "".join(sorted(char for char in beginnings if char <= "\uffff"))
    high = "" if len(low) == len(beginnings) else "\U00010000-\U0010ffff"
    return f"[{re.escape(low)}{high}]"


class SortedNames:
    """Names in their sorted order, and for each the names that it begins with.

    Let L be the last name that is not after a text in the order. L begins with each name that the
    text begins with: such a name is not after the text, and every name between the two begins with
    it. So the names that the text begins with are the shortest of those that L begins with. Jumps
    over several of these make the number of steps logarithmic (E. W. Myers, "An applicative
    random-access stack", 1983).

    Args:
        names: different names that are not empty.

    >>> SortedNames(["a", "ab", "abcd"]).longest_at("abce", 0)
    2
    """

    def __init__(self, names: Iterable[str]) -> None:
        #: The empty name is the first, and each name begins with it.
        self._names = ["", *sorted(names)]
        #: For each name, the place of the longest other name that it begins with.
        self._shorter = [0]
        #: For each name, the place of a name that it begins with, perhaps a much shorter one.
        self._jumps = [0]
        #: For each name, the number of others that it begins with, the empty name included.
        self._depths = [0]
        nested = [0]
        for place, name in enumerate(self._names[1:], 1):
            while not name.startswith(self._names[nested[-1]]):
                nested.pop()
            self._add(nested[-1])
            nested.append(place)
        self._longest = max(map(len, self._names))
        from bisect import bisect_right  # imported here: hardly any program has many names

        self._bisect_right = bisect_right

    def _add(self, shorter: int) -> None:
        """Add a name that begins with the name at ``shorter``."""
        jumps, depths = self._jumps, self._depths
        middle = jumps[shorter]
        # A jump is as long as two of the same length and one step; these lengths halve on the way.
        is_equal = depths[shorter] - depths[middle] == depths[middle] - depths[jumps[middle]]
        jumps.append(jumps[middle] if is_equal else shorter)
        depths.append(depths[shorter] + 1)
        self._shorter.append(shorter)

    def longest_at(self, text: str, place: int) -> int:
        """Return the length of the longest name at a place in a text; 0 if there is none."""
        names = self._names
        window = text[place : place + self._longest]
        index = self._bisect_right(names, window) - 1
        while not window.startswith(names[index]):
            jump = self._jumps[index]
            index = self._shorter[index] if window.startswith(names[jump]) else jump
        return len(names[index])

    def begun_by_few(self, most: int) -> list[str]:
        """Return the names that begin with fewer than ``most`` others, in their order.

        >>> SortedNames(["a", "ab", "abc"]).begun_by_few(2)
        ['a', 'ab']
        """
        return [name for name, depth in zip(self._names, self._depths) if 0 < depth <= most]


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NoReturn, Union

    from .aligned import Aligned

    #: The names that become special tokens: a set, or ``"all"``.
    AllowedSpecial = Union[Literal["all"], Set[str]]
    #: The names that a text must not contain: a collection, or ``"all"``.
    DisallowedSpecial = Union[Literal["all"], Collection[str]]
else:
    # Importing typing takes longer than importing this package.
    AllowedSpecial = DisallowedSpecial = object

#: No names.
NOTHING: frozenset[str] = frozenset()


_finder_of = lru_cache(maxsize=128)(NameFinder)


def allowed_names(
    text: str, names: frozenset[str], allowed: AllowedSpecial, disallowed: DisallowedSpecial
) -> Set[str]:
    """Return the names that become special tokens in a text.

    Args:
        text: any text.
        names: the names of all special tokens, which ``"all"`` stands for.
        allowed: the names that become special tokens.
        disallowed: the names that the text must not contain; ``"all"`` is all that are not allowed.

    Raises:
        ValueError: the text contains a disallowed name; the message gives the options to pass.

    >>> allowed_names("one<|end|>two", frozenset(["<|end|>"]), "all", "all")
    frozenset({'<|end|>'})
    """
    if isinstance(allowed, str) and allowed == "all":
        allowed = names
    if isinstance(disallowed, str) and disallowed == "all":
        # Usually nothing is allowed. Then this is a set whose hash is known.
        disallowed = names if allowed == NOTHING else names - allowed
    refused = frozenset(disallowed or ())
    if refused:
        name = _finder_of(refused).first(text)
        if "" in refused and (name is None or not text.startswith(name)):
            name = ""  # every text begins with it
        if name is not None:
            raise_disallowed(name)
    return allowed


def split_special(text: str, names: Set[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the spans of plain text, each with the special token that ends it.

    The last span has None. The longer of two names at one position wins; tiktoken defines no order
    there.

    >>> list(split_special("one<|end|>two", {"<|end|>"}))
    [('one', '<|end|>'), ('two', None)]
    """
    start = 0
    for first, last in _finder_of(frozenset(names)).spans(text) if names else ():
        yield text[start:first], text[first:last]
        start = last
    yield text[start:] if start else text, None


class Guard:
    """The pairs of characters between which a text must not be cut.

    A name that is cut in two is found on neither side. And some tokens depend on the text beside
    their names. The guard forbids every place where that could matter, by the two characters beside
    it.

    Args:
        names: names that must not be cut in two.
        lefts: characters that must not be on the left of a cut.
        rights: characters that must not be on the right of a cut.

    >>> guard = Guard(["<b>"], lefts=">")
    >>> [pair for pair in ("<b", "b>", ">c", "c<", "cb") if guard.forbids(pair)]
    ['<b', 'b>', '>c']
    """

    __slots__ = ("_inside", "_lefts", "_rights", "is_needed")

    def __init__(
        self, names: Iterable[str], lefts: Iterable[str] = (), rights: Iterable[str] = ()
    ) -> None:
        self._inside = frozenset(
            left + right for name in names for left, right in zip(name, name[1:])
        )
        self._lefts = frozenset(lefts)
        self._rights = frozenset(rights)
        #: True if it forbids anything.
        self.is_needed = bool(self._inside or self._lefts or self._rights)

    def forbids(self, beside: str) -> bool:
        """Return True if a text must not be cut between two characters."""
        return beside in self._inside or beside[0] in self._lefts or beside[1] in self._rights


_guard_of = lru_cache(maxsize=128)(Guard)


class SpecialTokens:
    """A finder of special tokens; names that are not allowed are plain text.

    Args:
        ids: each special token's name and id.

    >>> list(SpecialTokens({"<|end|>": 5}).spans("one<|end|>two", {"<|end|>"}))
    [('one', 5), ('two', None)]
    """

    #: No text is changed before it is split; places are counted from 0 on.
    origin = 0
    prefix = None
    normalize = None
    is_normalized = False
    changes_text = False
    #: No name is a token unless it is allowed.
    longest_name = 0

    def __init__(self, ids: dict[str, int]) -> None:
        self.ids = ids

    def spans(self, text: str, allowed: Set[str]) -> Iterable[tuple[str, int | None]]:
        """Return the spans of a text, each with the id of the special token after it, or None."""
        if not allowed:
            return ((text, None),)
        names = allowed & self.ids.keys()
        return (
            (plain, None if name is None else self.ids[name])
            for plain, name in split_special(text, names)
        )

    def align(self, text: str, allowed: Set[str]) -> Iterator[tuple[Aligned, int | None]]:
        """Yield the spans and the special tokens, with their places; a token has its id."""
        from .aligned import Aligned

        whole = Aligned.of(text)
        at = 0
        for plain, name in split_special(text, allowed & self.ids.keys()):
            if plain:
                yield whole.part(at, at + len(plain)), None
            at += len(plain)
            if name is not None:
                yield whole.part(at, at + len(name)), self.ids[name]
                at += len(name)

    @property
    def continued(self) -> SpecialTokens:
        """The finder for a text that continues after a cut point: itself."""
        return self

    def guard(self, names: Set[str]) -> Guard:
        """Return the guard for a text in which these names may be tokens."""
        return _guard_of(frozenset(names))

    def across(self, beside: str) -> list[tuple[str, str]]:
        """Return the characters beside a position unchanged, twice; see ``AddedTokens``."""
        return [(beside, beside)]

    def is_one_span(self, text: str) -> bool:
        """Return True if a text without allowed names, and each part of it, is not changed."""
        return True


def raise_disallowed(name: str) -> NoReturn:
    """Raise the ``ValueError`` for a text that contains the name of a disallowed special token."""
    raise ValueError(
        # The first line is tiktoken's, since programs look for it.
        f"Encountered text corresponding to disallowed special token {name!r}.\n"
        f"To encode it as that token, pass allowed_special={{{name!r}}}; to encode it as plain "
        "text, pass disallowed_special=() or use encode_ordinary."
    )
