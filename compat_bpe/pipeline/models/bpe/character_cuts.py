r"""Cutting of chunks before their characters are merged.

A chunk may be a whole text, since some files have no pre-tokenizer at all. But few pairs of
characters are ever joined in Chinese, say; and in most vocabularies ``▁``, which stands for a
space, is only ever the beginning of a token.

The property: a chunk may be cut between the characters x and y if

1. no token has x and y in it as neighbours, and
2. x is a token, or y is; or each character that is no token becomes the tokens of its bytes,

on the conditions (``are_possible``) that

3. the first symbol of a character does not depend on its place in the chunk,
4. each character has a symbol, and
5. no merge joins a symbol that stands for an unknown character, or for a byte.

The argument:

- The first symbols of the two sides are those of the whole. Only the token for unknown characters
  could be otherwise: one stands for several of them, and the bytes of others overtake it. But it
  waits for nothing at a cut, since it is placed before the next character that is a token (2).
- The symbols beside the cut are x and y, or stand for something unknown. In the first case the
  first merge across the cut would make a token that has x and y as neighbours (1). In the other
  case there is no such merge (5).
- So no merge crosses the cut, and each side is merged as if it were alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, compress, count
from operator import add, not_

from ....parallel.lazy import cached_property
from ...cache import Cache
from .by_merges import UnknownPolicy
from .symbols import absent_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base import Ids

#: The most pairs of characters, and the most parts of cut chunks, that are remembered.
_KEPT = 1 << 17
#: The greatest length in characters of a part that is remembered.
_LONGEST_KEPT = 64


class CharacterCuts:
    """The places at which chunks may be cut before merging.

    Args:
        vocabulary: each token's id.
        merges: the left and the right parts of all merges; None if a character's first symbol, or
            anything else, depends on the whole chunk.
        unknown: the treatment of characters that are not tokens.

    >>> cuts = CharacterCuts({"▁": 0, "a": 1, "▁a": 2, "?": 3}, (["▁"], ["a"]), UnknownPolicy("?"))
    >>> cuts.are_before("▁"), cuts.are_before("a"), cuts.after("▁")
    (True, False, frozenset({'a'}))
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: tuple[Sequence[str], Sequence[str]] | None,
        unknown: UnknownPolicy,
    ) -> None:
        self._vocabulary = vocabulary
        self._merges = merges
        self._unknown = unknown

    @cached_property
    def all_have_bytes(self) -> bool:
        """True if each character that is no token becomes the tokens of its bytes."""
        return self._unknown.byte_fallback and all(
            f"<0x{byte:02X}>" in self._vocabulary for byte in range(256)
        )

    @cached_property
    def are_possible(self) -> bool:
        """True if chunks may be cut at all: the conditions 3 to 5."""
        unknown = self._unknown
        if self._merges is None or (unknown.token is None and not self.all_have_bytes):
            return False
        others = {unknown.token}
        if unknown.byte_fallback:
            others.update(f"<0x{byte:02X}>" for byte in range(256))
        return all(map(others.isdisjoint, self._merges))

    def are_between(self, left: str, right: str) -> bool:
        """Return True if chunks may be cut between two characters."""
        return left + right not in self._neighbours and (
            self.all_have_bytes or left in self._vocabulary or right in self._vocabulary
        )

    def are_before(self, char: str) -> bool:
        """Return True if chunks may be cut between any other character and this one."""
        this = re.escape(char)
        return self._may_be_beside(char) and any(
            re.search(f"{this}(?<=[^{this}{re.escape(separator)}]{this})", joined) is None
            for joined, separator in self._all_joined()
        )

    def after(self, char: str) -> frozenset[str] | None:
        """Return the characters that a merge may join to a character before them.

        Between the character and any other one chunks may be cut. None if that is not so.
        """
        if not self._may_be_beside(char):
            return None
        joined, separator = self._tokens_joined
        following = re.findall(f"{re.escape(char)}(?=(.))", joined, re.DOTALL)
        return frozenset(following) - {separator}

    def _may_be_beside(self, char: str) -> bool:
        """Return True if the conditions for a cut beside a character are met, but for the first."""
        return self.are_possible and (self.all_have_bytes or char in self._vocabulary)

    def _all_joined(self) -> Iterator[tuple[str, str]]:
        """Yield all tokens as one text, and the character that separates them in it.

        Then yield those that a merge makes. They are more, since some are made in several ways.
        """
        assert self._merges is not None
        yield self._tokens_joined
        yield _joined(list(map(add, *self._merges)))

    @cached_property
    def _tokens_joined(self) -> tuple[str, str]:
        return _joined(self._vocabulary)

    @cached_property
    def _neighbours(self) -> frozenset[str]:
        """The pairs of characters that are neighbours in a token."""
        joined, _ = _joined([name for name in self._vocabulary if len(name) > 1])
        return frozenset(map(add, joined, joined[1:]))


class Cutter:
    """A cutter of long chunks, with a cache of the ids of the parts.

    Args:
        merged_ids: returns the ids of a part.
        cuts: the places at which chunks may be cut.
    """

    def __init__(self, merged_ids: Callable[[str], Ids], cuts: CharacterCuts) -> None:
        self._joined = Cache(lambda pair: not cuts.are_between(*pair), _KEPT, 2)
        self._ids = Cache(merged_ids, _KEPT, _LONGEST_KEPT)

    def ids(self, chunk: str) -> Iterator[int]:
        """Return the ids of a chunk, which is not empty."""
        joined = map(self._joined.__getitem__, map(add, chunk, chunk[1:]))
        cuts = list(compress(count(1), map(not_, joined)))
        parts = map(chunk.__getitem__, map(slice, [0, *cuts], [*cuts, len(chunk)]))
        return chain.from_iterable(map(self._ids.__getitem__, parts))


def _joined(names: Collection[str]) -> tuple[str, str]:
    """Return names joined to one text, and the character between them, which is in none."""
    joined = " ".join(names)
    if joined.count(" ") < len(names):
        return joined, " "
    separator = absent_from(joined)
    return separator.join(names), separator
