"""Special tokens in text: finding them, refusing disallowed ones, and not cutting their names.

A special token is a name such as ``<|endoftext|>``, with an id of its own that merging never
gives. In a text from a user, the name must not become the token unless the caller says so.
Callers say so with ``allowed_special`` and ``disallowed_special``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
from functools import lru_cache

from .names import NameFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NoReturn, Union

    from .aligned import Aligned

    #: Names that become their token: a set of them, or ``"all"``.
    AllowedSpecial = Union[Literal["all"], Set[str]]
    #: Names that a text may not contain: a collection of them, or ``"all"``.
    DisallowedSpecial = Union[Literal["all"], Collection[str]]
else:
    # Importing typing takes longer than importing this package.
    AllowedSpecial = DisallowedSpecial = object

#: No names.
NOTHING: frozenset[str] = frozenset()


@lru_cache(maxsize=128)
def _finder_of(names: frozenset[str]) -> NameFinder:
    return NameFinder(names)


def allowed_names(
    text: str, names: frozenset[str], allowed: AllowedSpecial, disallowed: DisallowedSpecial
) -> Set[str]:
    """Return the names that become special tokens in a text; refuse a text with a disallowed one.

    Args:
        text: any text.
        names: the names of all special tokens, which ``"all"`` stands for.
        allowed: names that become their token.
        disallowed: names that the text may not contain; ``"all"`` is all that are not allowed.

    Raises:
        ValueError: the text contains a disallowed name; the message says which options to pass.

    >>> allowed_names("one<|end|>two", frozenset(["<|end|>"]), "all", "all")
    frozenset({'<|end|>'})
    """
    if isinstance(allowed, str) and allowed == "all":
        allowed = names
    if isinstance(disallowed, str) and disallowed == "all":
        # Mostly nothing is allowed: then this is a set whose hash is known.
        disallowed = names if allowed == NOTHING else names - allowed
    refused = frozenset(disallowed or ())
    if refused:
        name = _finder_of(refused).first(text)
        if "" in refused and (name is None or not text.startswith(name)):
            name = ""  # It is at the beginning of any text.
        if name is not None:
            raise_disallowed(name)
    return allowed


def split_special(text: str, names: Set[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the spans of plain text, each with the special token that ends it.

    The last span has None. Of two names at one position the longer wins; tiktoken defines no
    order there.

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

    A name that is cut in two is found in neither side. And some tokens depend on what is beside
    their names. The guard forbids every place where that could matter, by the two characters beside
    it.

    Args:
        names: names that must not be cut in two.
        lefts: characters that must not be on the left of a cut.
        rights: characters that must not be on the right of one.

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


@lru_cache(maxsize=128)
def _guard_of(names: frozenset[str]) -> Guard:
    return Guard(names)


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
        """The finder for a text that goes on after a cut point: itself."""
        return self

    def guard(self, names: Set[str]) -> Guard:
        """Return the guard of the names, if the given names may be tokens."""
        return _guard_of(frozenset(names))

    def across(self, beside: str) -> list[tuple[str, str]]:
        """Return the characters beside a position as they are, twice; see ``AddedTokens``."""
        return [(beside, beside)]

    def is_one_span(self, text: str) -> bool:
        """Return True if a text without allowed names, and each part of it, is not changed."""
        return True


def raise_disallowed(name: str) -> NoReturn:
    """Refuse a text that contains the name of a disallowed special token.

    Raises:
        ValueError: always; the message names the token and the options to pass.
    """
    raise ValueError(
        # The first line is tiktoken's, since programs look for it.
        f"Encountered text corresponding to disallowed special token {name!r}.\n"
        f"To encode it as that token, pass allowed_special={{{name!r}}}; to encode it as plain "
        "text, pass disallowed_special=() or use encode_ordinary."
    )
