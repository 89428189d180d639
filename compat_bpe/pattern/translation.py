r"""The translation of a pattern for Python's ``re``, in parts that are made when first asked for.

``re`` tests a class of characters below U+0100 with one small bitmap. A class of the Basic
Multilingual Plane takes a large bitmap, and milliseconds to set up. Ranges above that plane are
tested one by one, which makes *all* text several times slower. So the pattern is written for three
alphabets:

- ``ascii``: classes of ASCII characters alone.
- ``few``: ASCII, and one *stand-in* below U+0100 for each kind of other characters. Characters are
  of one kind if they are in the same classes of the pattern. This alphabet is quickly set up, but
  replacing the characters of a text takes time.
- ``most``: classes of the Basic Multilingual Plane, and stand-ins for the kinds of characters above
  it. These stand-ins are surrogates, which no text has (``repair`` replaces them).

A text of stand-ins has its matches at the same positions as the text itself, since each stand-in is
in the same classes as the character that it replaces.

For the patterns that ship, the parts that most texts need are kept in ``prepared``, and those that
long texts need, which are larger, in ``prepared_large``.
"""

from __future__ import annotations

from ..parallel.lazy import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..unicode.properties import CodePoints
    from .ast import Node
    from .states import States

#: A pattern for ``re``; the first code point of each range of one kind, as a character; and the
#: stand-in of each of these ranges.
WithStandIns = tuple[str, str, str]

#: The parts of a translation that are kept for the patterns that ship.
PREPARED_PARTS = (
    *("ascii", "few", "ascii_cut_points", "few_cut_points"),
    *("can_be_empty", "leaves_nothing_out"),
)
#: Those of them that are kept apart.
LARGE_PARTS = ("most", "cut_points")

#: The first stand-in below U+0100. From here on the characters are printable.
FIRST_STAND_IN = "\xc0"


class Translation:
    """A pattern as it is given to ``re``.

    Args:
        make_tree: returns the parsed pattern; it is called when a part is not prepared.
        pattern: the name of the pattern in messages.
        prepared: the parts that are known already, by their names (see ``PREPARED_PARTS``), and
            with ``large`` the place of others in ``prepared_large``.

    >>> from compat_bpe.pattern.parser import parse
    >>> translation = Translation(lambda: parse("[a-zé]+|é|(?!é)b"), "a pattern")
    >>> translation.ascii
    '[a-z]+|b'
    >>> translation.few[0]
    '[a-zÁ]+|Á|(?!Á)b'
    """

    #: The place of the large parts in ``prepared_large``; None if they are not prepared.
    large: int | None = None

    def __init__(
        self,
        make_tree: Callable[[], Node],
        pattern: str,
        prepared: Mapping[str, Any] | None = None,
    ) -> None:
        self._make_tree = make_tree
        self._pattern = pattern
        # A cached property is looked up here first.
        self.__dict__.update(prepared or {})
        if prepared and "ascii" in prepared:
            # What ships is for `re`; a test looks at each of these patterns.
            self.__dict__["states"] = None

    @cached_property
    def tree(self) -> Node:
        """The parsed pattern, with possessive repeats replaced as far as possible.

        Raises:
            PatternError: the pattern repeats something that may be empty.
        """
        from .ast import PatternError, Repeat, can_be_empty, walk
        from .writer import relax

        tree = self._make_tree()
        for node in walk(tree):
            # Engines differ in what they do after a round of a repeat that takes no character.
            if isinstance(node, Repeat) and node.high != 1 and can_be_empty(node.item):
                raise PatternError(self._pattern, 0, "it repeats something that may be empty")
        return relax(tree)

    @cached_property
    def states(self) -> States | None:
        """The pattern as states, if ``re`` might try too many ways; None if ``re`` is fit for it.

        Raises:
            PatternError: it is neither for ``re`` nor for states.
        """
        from .backtracking import uncertain_parts

        if uncertain_parts(self.tree) == []:
            return None
        from .ast import PatternError
        from .states import NoTable, States, is_bounded

        if is_bounded(self.tree):
            return None
        try:
            return States(self.tree)
        except NoTable as error:
            reason = f"it may match a text in too many ways to try them all, and {error}"
            hint = "; write it so that no two repeats match the same text"
            raise PatternError(self._pattern, 0, reason, hint) from None

    @cached_property
    def can_be_empty(self) -> bool:
        """True if the pattern may match without taking a character."""
        from .ast import can_be_empty

        return can_be_empty(self.tree)

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a match."""
        from ..unicode.properties import ALL
        from .ast import surely_begins

        return surely_begins(self.tree) == ALL

    @cached_property
    def ascii(self) -> str:
        """The pattern for ASCII text."""
        return self._for_re(lambda points: points.clip(0, 0x80))

    @cached_property
    def few(self) -> WithStandIns | None:
        """The pattern for a small amount of text that is not ASCII.

        None if the pattern has too many kinds of characters.
        """
        kinds = self._few_kinds
        if kinds is None:
            return None
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def most(self) -> WithStandIns:
        """The pattern for any text.

        Raises:
            ValueError: the pattern has too many kinds of characters above U+FFFF.
        """
        if self.large is not None:
            most: WithStandIns = self._large_parts["most"]
            return most
        kinds = _Kinds(self._classes(), ((0, 0xD800), (0xE000, 0x10000)), 0xD800, 0x800)
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def ascii_cut_points(self) -> str | None:
        """A pattern for a character with a cut point after it in ASCII text (see ``cut_points``).

        None if there are no cut points.
        """
        return _cut_point_pattern(
            (left.clip(0, 0x80), right.clip(0, 0x80)) for left, right in self._cut_point_pairs
        )

    @cached_property
    def few_cut_points(self) -> str | None:
        """``cut_points`` for text with the stand-ins of ``few``, which must not be None."""
        assert self._few_kinds is not None
        share = self._few_kinds.share
        return _cut_point_pattern(
            (share(left), share(right)) for left, right in self._cut_point_pairs
        )

    @cached_property
    def cut_points(self) -> str | None:
        """A pattern for a character with a cut point after it in any text (see ``cut_points``).

        None if there are no cut points.
        """
        if self.large is not None:
            cut_points: str | None = self._large_parts["cut_points"]
            return cut_points
        return _cut_point_pattern(self._cut_point_pairs)

    @cached_property
    def fine_cut_points(self) -> str | None:
        """A pattern that finds more cut points than ``cut_points``."""
        from .cut_points import cut_point_pairs

        return _cut_point_pattern(map(_without_surrogates, cut_point_pairs(self.tree, fine=True)))

    @property
    def _large_parts(self) -> Mapping[str, Any]:
        from .prepared_large import LARGE

        assert self.large is not None
        return LARGE[self.large]

    def _for_re(self, share: Callable[[CodePoints], CodePoints]) -> str:
        from .writer import join_runs, project, to_re

        return to_re(join_runs(project(self.tree, share)))

    @cached_property
    def _cut_point_pairs(self) -> list[tuple[CodePoints, CodePoints]]:
        from .cut_points import cut_point_pairs

        return list(map(_without_surrogates, cut_point_pairs(self.tree)))

    @cached_property
    def _few_kinds(self) -> _Kinds | None:
        sets = self._classes().union(*self._cut_point_pairs)
        try:
            return _Kinds(sets, ((0, 0x80),), ord(FIRST_STAND_IN), 0x40)
        except ValueError:
            return None

    def _classes(self) -> set[CodePoints]:
        from .ast import Chars, walk

        return {node.points for node in walk(self.tree) if isinstance(node, Chars)}


class _Kinds:
    """The kinds of characters above an alphabet; characters of one kind are in the same sets.

    Args:
        sets: the sets.
        alphabet: ranges of code points without stand-ins. All code points from the end of the last
            range on have stand-ins.
        first: the code point of the first stand-in.
        limit: the largest number of kinds.

    Raises:
        ValueError: there are more kinds.
    """

    def __init__(
        self,
        sets: set[CodePoints],
        alphabet: tuple[tuple[int, int], ...],
        first: int,
        limit: int,
    ) -> None:
        from ..unicode.properties import kinds_of

        self._alphabet = alphabet
        end = alphabet[-1][1]
        # A kind is a number with one bit for each set that its characters are in.
        self._bits = {points: 1 << number for number, points in enumerate(sets)}
        by_start: dict[int, int] = {}
        for start, kind in kinds_of(self._bits):
            by_start[max(start, end)] = kind
        starts, kinds = list(by_start), list(by_start.values())
        self._points = {kind: first + i for i, kind in enumerate(dict.fromkeys(kinds))}
        if len(self._points) > limit:
            above = f"above U+{end - 1:04X}"
            raise ValueError(f"a pattern with more than {limit:,} kinds of characters {above}")
        self.starts = "".join(map(chr, starts))
        self.stand_ins = "".join(chr(self._points[kind]) for kind in kinds)

    def share(self, points: CodePoints) -> CodePoints:
        """Return a set's characters in the alphabet, and the stand-ins of its other characters."""
        from ..unicode.properties import CodePoints

        bit = self._bits[points]
        inside = [stand_in for kind, stand_in in self._points.items() if kind & bit]
        return CodePoints.union(
            *(points.clip(start, end) for start, end in self._alphabet),
            CodePoints.from_ranges(zip(inside, inside)),
        )


def _without_surrogates(
    pair: tuple[CodePoints, CodePoints],
) -> tuple[CodePoints, CodePoints]:
    """Return a pair of sets with a cut point between them, the first without surrogates.

    The first set keeps only characters below U+10000. The characters beside a cut point are no
    surrogates, so a text can be cut before it is repaired.
    """
    left, right = pair
    return left.clip(0, 0xD800) | left.clip(0xE000, 0x10000), right


def _cut_point_pattern(pairs: Iterable[tuple[CodePoints, CodePoints]]) -> str | None:
    """Return a pattern for a character of a pair's first set, followed by one of the second.

    None if a set of each pair is empty.
    """
    cuts = [f"{left.to_re()}(?={right.to_re()})" for left, right in pairs if left and right]
    return "|".join(cuts) or None
