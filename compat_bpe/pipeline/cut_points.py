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
    from .pre_tokenizers.base import Across
    from .special_tokens import Guard

#: The number of pairs of characters beside a position that are remembered.
_PAIRS = 1 << 14

#: The number of bytes at the beginning of a token by which a bound of its length is known.
_START = 3


class CutPoints:
    """The cut points and joints of texts, and the bounds of their tokens' lengths.

    Args:
        definition: the parts of a tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.splitter = definition.splitter
        self.model = definition.model
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

    def next_cut_point(
        self,
        text: str,
        start: int = 0,
        end: int | None = None,
        names: Set[str] = frozenset(),
        *,
        fine: bool = False,
        whole_chunks: bool = False,
    ) -> int | None:
        """Return the first cut point after ``start`` and before ``end``; None if there is none.

        The ids of the left side and, by ``continued``, of the right side are those of the whole.

        Args:
            text: any text; neither of the two characters beside a cut point is a surrogate.
            start, end: positions in it; ``end`` is its length unless given.
            names: special tokens that may be tokens in it. No name is cut in two: between two
                characters that follow each other in a name there is no cut point anywhere.
            fine: look for more cut points, which takes longer.
            whole_chunks: leave out cut points within a chunk, of which the model knows that no
                token reaches across: the chunks of the two sides are those of the whole then.
        """
        splitter, added = self.splitter, self.definition.added
        guard = added.guard(names)
        if guard is None or not (splitter.has_cuts or self._cuts_between):
            return None
        if end is None:
            end = len(text)
        if added.changes_text or splitter.tree is None or self._cuts_between is not None:
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
        """Return the first joint after ``start`` and before ``end``; None if there is none.

        The text before a *joint* has at most as many tokens as the whole. What follows it has
        nearly as many tokens with any other text before the joint (see ``Core.slack``). Each cut
        point is a joint, and in a chunk there may be more: there the ids of what follows may depend
        on what is before.

        Args:
            text: any text in which nothing is special.
            start, end: positions in it.
        """
        guard = self.definition.added.guard(frozenset())
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
        if _has_surrogate(beside):
            return False
        across = self.definition.added.across(beside)
        return all(
            not (guard.is_needed and (guard.forbids(beside) or guard.forbids(pair)))
            and (
                self.splitter.is_cut(ready, True)
                or (self._cuts_between is not None and self._cuts_between(ready[0], ready[1]))
                or self._stays(ready[0], ready[1])
            )
            for pair, ready in across
        ) and bool(across)

    def longest_span(self, text: str) -> int | None:
        """Return the most characters of a text that one token may stand for; None if not known.

        So n characters of it have at least n / ``longest_span`` tokens, whatever is before and
        after them, but for the first and the last one.
        """
        joints, guard = self.model.joints, self.definition.added.guard(frozenset())
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
        if _has_surrogate(beside):
            return False
        across = self.definition.added.across(beside)
        for pair, ready in across:
            if pair != beside or (guard.is_needed and guard.forbids(pair)):
                return False
            answer = self._after_steps(ready[0], ready[1])
            if isinstance(answer, bool) or not all(map(joints.knows, answer)):
                return False
        return bool(across)

    def _stays(self, left: str, right: str) -> bool:
        """Return True if the tokens up to a place in a span stay, whatever follows."""
        joints, answer = self.model.joints, self._after_steps(left, right)
        if isinstance(answer, bool):
            return answer
        return joints is not None and joints.are_between(*answer)

    def _after_steps(self, left: str, right: str) -> Across:
        """Return what all steps make of two characters of a span; see ``going_on`` of a step."""
        if self.definition.steps is None:
            return False
        for step in self.definition.steps:
            answer = step.going_on(left, right)
            if isinstance(answer, bool):
                return answer
            left, right = answer
        return left, right

    def _normalized_at_cut(
        self, beside: str, fine: bool, cuts_between: Callable[[str, str], bool] | None
    ) -> tuple[str, ...]:
        """Return what two characters may be in normalized text; nothing if there is no cut."""
        if _has_surrogate(beside):
            return ()
        normalized: list[str] = []
        for pair, ready in self.definition.added.across(beside):
            if not self.splitter.is_cut(ready, fine) and (
                cuts_between is None or not cuts_between(ready[0], ready[1])
            ):
                return ()
            normalized.append(pair)
        return tuple(normalized)

    @cached_property
    def longest_token(self) -> int | None:
        """The longest token in bytes. It bounds counts from below.

        n bytes have at least n / ``longest_token`` tokens. None if unknown: if the pattern leaves
        something out, for instance.
        """
        longest_name = self.definition.added.longest_name
        if longest_name is None or not (
            self.splitter.leaves_nothing_out and self.model.is_complete
        ):
            return None
        return max(longest_name, *map(len, self.definition.tokens()))

    def longest_in(self, text: str) -> int:
        """Return a length in bytes that no token has which can be in a text.

        A token begins somewhere in the text, so it is no longer than the longest one with the
        beginning that is there. It is for encodings with a ``longest_token``.
        """
        data = repair(text).encode("utf-8")
        lengths = self._longest_by_start
        starts = {data[place : place + _START] for place in range(len(data))}
        return max(_START, *map(lengths.get, starts, repeat(0)))

    @cached_property
    def _longest_by_start(self) -> dict[bytes, int]:
        """The length of the longest token, or name, for each beginning of one, in bytes."""
        longest: dict[bytes, int] = {}
        names = self.definition.added.ids if self.definition.added.longest_name else ()
        for token in chain(self.definition.tokens(), map(str.encode, names)):
            start = token[:_START]
            if longest.get(start, 0) < len(token):
                longest[start] = len(token)
        return longest

    def splitter_of(self, text: str) -> Splitter | None:
        """Return the splitter of a text; None if it cannot be asked about the text directly.

        It can be asked if it sees the text unchanged and as one span, and if its pattern is plain
        (``Splitter.is_plain``). The tokens, joined, must also be the UTF-8 of the text.
        """
        splitter = self.splitter
        if self.longest_token is None or not self.model.is_text:
            return None
        if not isinstance(splitter, Splitter) or not splitter.is_plain:
            return None
        if self.definition.make_decoder is not None:
            return None
        if not self.definition.added.is_one_span(text):
            return None
        try:
            check_text(text)
        except UnicodeEncodeError:
            return None
        return splitter


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char < "\ue000" for char in text)
