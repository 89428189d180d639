"""Cut points: positions at which a text may be cut, so that both sides have the ids of the whole.

The right side of a cut is a text that *goes on*: what is put before a text, or left out at its
beginning, is not for it (``Core.continued``). The ids of the whole are those of the left side, and
those of the right side as a text that goes on. A text that goes on may be cut at the same places.

The two characters beside a position alone decide if it is a cut point (see
``pattern.cut_points``). So it stays one whatever is changed elsewhere. Streams, documents,
truncation and worker processes all rely on that.
"""

from __future__ import annotations

from collections.abc import Set
from itertools import chain, repeat
from operator import add

from ..parallel.lazy import cached_property
from ..pattern.splitter import Splitter
from ..unicode.surrogates import check_text, repair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .definition import Definition
    from .models.base import Joints
    from .special_tokens import Guard

#: The number of pairs of characters beside a position that are remembered.
_PAIRS = 1 << 14

#: The number of bytes at the beginning of a token by which a bound of its length is known.
_START = 3


class CutPoints:
    """The cut points of texts, and the longest token, of one tokenizer.

    Args:
        definition: the parts of a tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._added = definition.added
        self._splitter = definition.splitter
        joints = definition.model.joints if definition.cuts_at_joints else None
        is_exact = joints is not None and joints.are_exact
        #: Says between which two characters the model cuts a span; None if only the splitter does.
        self._cuts_between = joints.are_between if joints is not None and is_exact else None
        # Plain dictionaries: in loops over all characters a ``Memo`` takes up to a tenth longer.
        #: For coarse and fine cut points, and both again without those within chunks: pairs of
        #: characters, and, if there is one between them, what they may be in normalized text.
        self._pairs: tuple[dict[str, tuple[str, ...]], ...] = ({}, {}, {}, {})
        #: Pairs of characters, and True if there is a joint between them.
        self._joints: dict[str, bool] = {}
        #: Pairs of characters, and True if nothing changes them and the model knows both.
        self._plain: dict[str, bool] = {}

    def next(
        self,
        text: str,
        start: int,
        end: int | None,
        names: Set[str],
        fine: bool,
        whole_chunks: bool,
    ) -> int | None:
        """Return the first cut point between ``start`` and ``end``; see ``Core.next_cut_point``."""
        splitter = self._splitter
        guard = self._added.guard(names)
        if guard is None or not (splitter.has_cuts or self._cuts_between):
            return None
        if end is None:
            end = len(text)
        if self._added.changes_text or splitter.tree is None or self._cuts_between is not None:
            return self._next_by_pairs(text, start, end, guard, fine, whole_chunks)
        if fine:
            cut_points = splitter.fine_cut_points
        else:
            # The pattern for ASCII text compiles in a fraction of the time.
            cut_points = splitter.ascii_cut_points if text.isascii() else splitter.cut_points
        if cut_points is None:
            return None
        match = cut_points.search(text, start, end)
        while match is not None and guard.is_needed:
            cut = match.end()
            if not guard.forbids(text[cut - 1 : cut + 1]):
                return cut
            match = cut_points.search(text, cut, end)
        return None if match is None else match.end()

    def _next_by_pairs(
        self, text: str, start: int, end: int, guard: Guard, fine: bool, whole_chunks: bool
    ) -> int | None:
        """Return the first cut point of a text that is normalized before it is split.

        The normalizers say which characters are beside the position afterwards, if each side can
        be normalized by itself.
        """
        cuts_between = None if whole_chunks else self._cuts_between
        known = self._pairs[fine + 2 * (cuts_between is None)]
        forbids = guard.forbids if guard.is_needed else None
        for cut in range(start + 1, end):
            beside = text[cut - 1 : cut + 1]
            normalized = known.get(beside)
            if normalized is None:
                normalized = self._normalized_at_cut(beside, fine, cuts_between)
                if len(known) >= _PAIRS:
                    known.clear()
                known[beside] = normalized
            if normalized and (
                forbids is None or not (forbids(beside) or any(map(forbids, normalized)))
            ):
                return cut
        return None

    def next_joint(self, text: str, start: int, end: int) -> int | None:
        """Return the first joint between ``start`` and ``end``; see ``Core.next_joint``."""
        guard = self._added.guard(frozenset())
        if guard is None:
            return None
        known = self._joints
        for place in range(start + 1, end):
            beside = text[place - 1 : place + 1]
            is_joint = known.get(beside)
            if is_joint is None:
                if len(known) >= _PAIRS:
                    known.clear()
                is_joint = known[beside] = self._is_joint(beside, guard)
            if is_joint:
                return place
        return None

    def _is_joint(self, beside: str, guard: Guard) -> bool:
        if any("\ud800" <= char < "\ue000" for char in beside):
            return False
        across = self._added.across(beside)
        return all(
            not (guard.is_needed and (guard.forbids(beside) or guard.forbids(pair)))
            and (
                self._splitter.is_cut(ready, True)
                or (self._cuts_between is not None and self._cuts_between(ready[0], ready[1]))
                or self._stays(ready[0], ready[1])
            )
            for pair, ready in across
        ) and bool(across)

    def longest_span(self, text: str) -> int | None:
        """Return the most characters that a token stands for; see ``Core.longest_span``."""
        joints, guard = self._definition.model.joints, self._added.guard(frozenset())
        if joints is None or not joints.longest or guard is None:
            return None
        known = self._plain
        for beside in set(map(add, text, text[1:])):
            is_plain = known.get(beside)
            if is_plain is None:
                if len(known) >= _PAIRS:
                    known.clear()
                is_plain = known[beside] = self._is_plain(beside, joints, guard)
            if not is_plain:
                return None
        return joints.longest

    def _is_plain(self, beside: str, joints: Joints, guard: Guard) -> bool:
        """Return True if two characters stay what they are, in no name, and known to the model."""
        steps = self._definition.steps
        if steps is None or any("\ud800" <= char < "\ue000" for char in beside):
            return False
        across = self._added.across(beside)
        for pair, ready in across:
            if pair != beside or (guard.is_needed and guard.forbids(pair)):
                return False
            left, right = ready[0], ready[1]
            for step in steps:
                answer = step.going_on(left, right)
                if isinstance(answer, bool):
                    return False
                left, right = answer
            if not (joints.knows(left) and joints.knows(right)):
                return False
        return bool(across)

    def _stays(self, left: str, right: str) -> bool:
        """Return True if the tokens up to a place in a span stay, whatever follows."""
        joints, steps = self._definition.model.joints, self._definition.steps
        for step in () if steps is None else steps:
            answer = step.going_on(left, right)
            if isinstance(answer, bool):
                return answer
            left, right = answer
        return steps is not None and joints is not None and joints.are_between(left, right)

    def _normalized_at_cut(
        self, beside: str, fine: bool, cuts_between: Callable[[str, str], bool] | None
    ) -> tuple[str, ...]:
        """Return what two characters may be in normalized text; nothing if there is no cut."""
        if any("\ud800" <= char < "\ue000" for char in beside):
            return ()
        normalized: list[str] = []
        for pair, ready in self._added.across(beside):
            if not self._splitter.is_cut(ready, fine) and (
                cuts_between is None or not cuts_between(ready[0], ready[1])
            ):
                return ()
            normalized.append(pair)
        return tuple(normalized)

    @cached_property
    def longest_token(self) -> int | None:
        """The longest token in bytes; see ``Core.longest_token``."""
        longest_name = self._added.longest_name
        if longest_name is None or not (
            self._splitter.leaves_nothing_out and self._definition.model.is_complete
        ):
            return None
        return max(longest_name, *map(len, self._definition.tokens()))

    def longest_in(self, text: str) -> int:
        """Return a bound of the tokens in a text, in bytes; see ``Core.longest_in``."""
        data = repair(text).encode("utf-8")
        lengths = self._longest_by_start
        starts = {data[place : place + _START] for place in range(len(data))}
        return max(_START, *map(lengths.get, starts, repeat(0)))

    @cached_property
    def _longest_by_start(self) -> dict[bytes, int]:
        """The length of the longest token, or name, for each beginning of one, in bytes."""
        longest: dict[bytes, int] = {}
        names = self._added.ids if self._added.longest_name else ()
        for token in chain(self._definition.tokens(), map(str.encode, names)):
            start = token[:_START]
            if longest.get(start, 0) < len(token):
                longest[start] = len(token)
        return longest

    def splitter_of(self, text: str) -> Splitter | None:
        """Return the splitter of a text, or None; see ``Core.splitter_of``."""
        splitter = self._splitter
        if self.longest_token is None or not self._definition.model.is_text:
            return None
        if not isinstance(splitter, Splitter) or not splitter.is_plain:
            return None
        if self._definition.make_decoder is not None:
            return None
        if not self._added.is_one_span(text):
            return None
        try:
            check_text(text)
        except UnicodeEncodeError:
            return None
        return splitter
