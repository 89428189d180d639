r"""A pattern, translated for Python's ``re`` one part at a time, each when it is first asked for.

``re`` tests a class of characters below U+0100 with one small bitmap, and one of the Basic
Multilingual Plane with a large one, which takes milliseconds to set up.  Ranges above that it walks
one by one, several times slower for *all* text.  So the pattern is written for three alphabets:

- ``ascii``: classes of ASCII characters alone;
- ``few``: besides ASCII, one *stand-in* below U+0100 for each kind of other characters.  A kind is
  what lies in the same classes of the pattern.  It is quickly set up, and takes some time for each
  character of a text that is replaced;
- ``most``: classes of the Basic Multilingual Plane, with stand-ins for the kinds of characters
  above it.  These are surrogates, of which no text has any (``repair`` sees to that).

A text of stand-ins is matched at the same places as the text itself, since each character is in the
same classes as the one it stands for.

What is needed for most texts is kept for the patterns that ship, in ``prepared_patterns``.
"""

from __future__ import annotations

from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..unicode.code_points import CodePoints
    from .ast import Node

#: A pattern for ``re``; the first code points of stretches of one kind, as characters; and the
#: stand-in of each of these stretches.
WithStandIns = tuple[str, str, str]

#: What of a translation is kept for the patterns that ship.
PREPARED_PARTS = (
    *("ascii", "few", "ascii_breaks", "few_breaks"),
    *("can_be_empty", "leaves_nothing_out"),
)

#: Of the stand-ins below U+0100; from here on they can be read where they are written.
FIRST_STAND_IN = "\xc0"


class Translation:
    """What ``re`` is given for a pattern.

    Args:
        make_tree: what gives the parsed pattern; called when something is not prepared.
        pattern: what messages call it.
        prepared: parts that are known already, by their names (see ``PREPARED_PARTS``).

    >>> from compat_bpe.pattern.parser import parse
    >>> translation = Translation(lambda: parse("[a-zé]+|é|(?!é)b"), "a pattern")
    >>> translation.ascii
    '[a-z]+|b'
    >>> translation.few[0]
    '[a-zÁ]+|Á|(?!Á)b'
    """

    def __init__(
        self,
        make_tree: Callable[[], Node],
        pattern: str,
        prepared: Mapping[str, Any] | None = None,
    ) -> None:
        self._make_tree = make_tree
        self._pattern = pattern
        # A cached property is looked for here first.
        self.__dict__.update(prepared or {})

    @cached_property
    def tree(self) -> Node:
        """The pattern, without possessive repeats as far as that can be.

        Raises:
            PatternError: it repeats something that may be empty.
        """
        from .ast import PatternError, Repeat
        from .writer import can_be_empty, relax, walk

        tree = self._make_tree()
        for node in walk(tree):
            # Engines differ in what follows when one round of a repeat takes no character.
            if isinstance(node, Repeat) and node.high != 1 and can_be_empty(node.item):
                raise PatternError(self._pattern, 0, "it repeats something that may be empty")
        return relax(tree)

    @cached_property
    def can_be_empty(self) -> bool:
        """Whether the pattern may match without taking a character."""
        from .writer import can_be_empty

        return can_be_empty(self.tree)

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """Whether every character of a text is certainly in a match."""
        from ..unicode.code_points import ALL
        from .writer import surely_begins

        return surely_begins(self.tree) == ALL

    @cached_property
    def ascii(self) -> str:
        """The pattern for ASCII text."""
        return self._for_re(lambda points: points.clip(0, 0x80))

    @cached_property
    def few(self) -> WithStandIns | None:
        """The pattern for text that is not ASCII, if there is not much of it; None if it has too
        many kinds of characters."""
        kinds = self._few_kinds
        if kinds is None:
            return None
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def most(self) -> WithStandIns:
        """The pattern for any text.

        Raises:
            ValueError: it has too many kinds of characters above U+FFFF.
        """
        kinds = _Kinds(self._classes(), ((0, 0xD800), (0xE000, 0x10000)), 0xD800, 0x800)
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def ascii_breaks(self) -> str | None:
        """Matches a character after which ASCII text may be cut (see ``breaks``), if one does."""
        return _break_pattern(
            (left.clip(0, 0x80), right.clip(0, 0x80)) for left, right in self._breaks
        )

    @cached_property
    def few_breaks(self) -> str | None:
        """The same for text with stand-ins as in ``few``; there are some."""
        assert self._few_kinds is not None
        share = self._few_kinds.share
        return _break_pattern((share(left), share(right)) for left, right in self._breaks)

    @cached_property
    def breaks(self) -> str | None:
        """The same for any text, as it stands."""
        return _break_pattern(self._breaks)

    @cached_property
    def fine_breaks(self) -> str | None:
        """As ``breaks``, with more such characters."""
        from .cuts import safe_breaks

        return _break_pattern(map(_without_surrogates, safe_breaks(self.tree, fine=True)))

    def _for_re(self, share: Callable[[CodePoints], CodePoints]) -> str:
        from .writer import join_runs, project, to_re

        return to_re(join_runs(project(self.tree, share)))

    @cached_property
    def _breaks(self) -> list[tuple[CodePoints, CodePoints]]:
        from .cuts import safe_breaks

        return list(map(_without_surrogates, safe_breaks(self.tree)))

    @cached_property
    def _few_kinds(self) -> _Kinds | None:
        sets = self._classes().union(*self._breaks)
        try:
            return _Kinds(sets, ((0, 0x80),), ord(FIRST_STAND_IN), 0x40)
        except ValueError:
            return None

    def _classes(self) -> set[CodePoints]:
        from .ast import Chars
        from .writer import walk

        return {node.points for node in walk(self.tree) if isinstance(node, Chars)}


class _Kinds:
    """The characters above an alphabet, by the sets in which they lie.

    Args:
        sets: the sets.
        alphabet: stretches of code points that have no stand-ins; the last ends where these begin.
        first: the code point of the first stand-in.
        limit: how many there may be.

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
        from itertools import accumulate
        from operator import xor

        self._alphabet = alphabet
        end = alphabet[-1][1]
        # A set's bit in a kind, which has the bits of all sets that a character lies in.
        self._bits = {points: 1 << number for number, points in enumerate(sets)}
        changes: dict[int, int] = {}
        for points, bit in self._bits.items():
            for bound in points.bounds:
                if bound > end:
                    changes[bound] = changes.get(bound, 0) ^ bit
        kind = sum(bit for points, bit in self._bits.items() if end in points)
        starts = [end, *sorted(start for start, change in changes.items() if change)]
        kinds = list(accumulate((changes[start] for start in starts[1:]), xor, initial=kind))
        self._points = {kind: first + i for i, kind in enumerate(dict.fromkeys(kinds))}
        if len(self._points) > limit:
            above = f"above U+{end - 1:04X}"
            raise ValueError(f"a pattern with more than {limit:,} kinds of characters {above}")
        self.starts = "".join(map(chr, starts))
        self.stand_ins = "".join(chr(self._points[kind]) for kind in kinds)

    def share(self, points: CodePoints) -> CodePoints:
        """What a set has of the alphabet, and its stand-ins."""
        from ..unicode.code_points import CodePoints

        bit = self._bits[points]
        inside = [stand_in for kind, stand_in in self._points.items() if kind & bit]
        return CodePoints.union(
            *(points.clip(start, end) for start, end in self._alphabet),
            CodePoints.from_ranges(zip(inside, inside)),
        )


def _without_surrogates(
    pair: tuple[CodePoints, CodePoints],
) -> tuple[CodePoints, CodePoints]:
    """A pair of sets between which a cut is safe, of characters below U+10000 alone.

    The characters beside a cut are no surrogates: so a text can be cut before it is repaired.
    """
    left, right = pair
    return left.clip(0, 0xD800) | left.clip(0xE000, 0x10000), right


def _break_pattern(pairs: Iterable[tuple[CodePoints, CodePoints]]) -> str | None:
    """Matches a character of the first set of a pair before one of the second."""
    found = [f"{left.to_re()}(?={right.to_re()})" for left, right in pairs if left and right]
    return "|".join(found) or None
