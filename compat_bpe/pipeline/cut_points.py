"""Cut points: positions at which a text may be cut, so that both sides have the ids of the whole.

The two characters beside a position alone decide if it is a cut point (see ``pattern.cuts``). So
it stays one whatever is changed elsewhere. Streams, documents, truncation and worker processes all
rely on that.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property, lru_cache

from ..pattern.splitter import Splitter
from ..unicode.surrogates import check_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .definition import Definition

#: ASCII characters that compose with a following combining mark.
_COMPOSED = frozenset("<=>ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


class CutPoints:
    """The cut points of texts, and the longest token, of one tokenizer.

    Args:
        definition: the parts of a tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._added = definition.added
        self._splitter = definition.splitter
        self._is_normalized = definition.added.is_normalized

    def next(
        self, text: str, start: int, end: int | None, names: Set[str], fine: bool
    ) -> int | None:
        """Return the first cut point between ``start`` and ``end``; see ``Core.next_cut_point``.

        With a Unicode normalization form, cut points are between ASCII characters alone. An ASCII
        character before another one is not changed. The other one is changed only if it composes
        with a mark after it, which letters and ``<=>`` may: before these there is no cut point.
        """
        splitter = self._splitter
        if fine:
            cut_points = splitter.fine_cut_points
        else:
            # The pattern for ASCII text compiles in a fraction of the time.
            cut_points = splitter.ascii_cut_points if text.isascii() else splitter.cut_points
        guarded = self._added.guarded(names)
        if cut_points is None or guarded is None:
            return None
        if end is None:
            end = len(text)
        found = cut_points.search(text, start, end)
        if not guarded and not self._is_normalized:
            return None if found is None else found.end()
        inside = _pairs_within(guarded)
        while found is not None:
            cut = found.end()
            beside = text[cut - 1 : cut + 1]
            is_kept = not self._is_normalized or (beside.isascii() and beside[1] not in _COMPOSED)
            if is_kept and beside not in inside:
                return cut
            found = cut_points.search(text, cut, end)
        return None

    @cached_property
    def longest_token(self) -> int | None:
        """The longest token in bytes; see ``Core.longest_token``."""
        longest_name = self._added.longest_name
        if longest_name is None or not (
            self._splitter.leaves_nothing_out and self._definition.model.is_complete
        ):
            return None
        return max(longest_name, *map(len, self._definition.tokens))

    def splitter_of(self, text: str) -> Splitter | None:
        """Return the splitter of a text, or None; see ``Core.splitter_of``."""
        splitter = self._splitter
        if self.longest_token is None or not self._definition.model.is_text:
            return None
        if not isinstance(splitter, Splitter) or not splitter.is_plain:
            return None
        if self._definition.undecodable is not None or not self._added.is_one_span(text):
            return None
        try:
            check_text(text)
        except UnicodeEncodeError:
            return None
        return splitter


@lru_cache(maxsize=128)
def _pairs_within(names: frozenset[str]) -> frozenset[str]:
    """Return all pairs of characters that follow each other in a name."""
    return frozenset(left + right for name in names for left, right in zip(name, name[1:]))
