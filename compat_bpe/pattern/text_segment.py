r"""Oniguruma's ``\X``: what readers take for one character, as far as Oniguruma 6.9 knows it.

It is the extended grapheme cluster of UAX 29 and Unicode 16.0, without rule GB9c, which keeps Indic
conjuncts together.

``\X`` goes on until there is a boundary after its last character. In two cases a boundary depends
on the text before, whether that is in the match or not: between two halves of a flag, and before a
pictograph. So a pattern without lookbehinds finds the boundaries only if each ``\X`` begins at a
boundary, or follows neither half a flag nor a pictograph.
"""

from __future__ import annotations

from functools import cache

from ..unicode.code_points import ALL, CodePoints
from ..unicode.oniguruma import named
from ..unicode.properties import parse_ranges
from .ast import Alternatives, Atomic, Chars, Node, Repeat, Sequence
from .writer import walk


@cache
def text_segment() -> Node:
    r"""Return the pattern of one ``\X`` that begins at a boundary, or after no part of an emoji."""
    from ..unicode.tables_properties import CLUSTERS

    one = {name: parse_ranges(table) for name, table in CLUSTERS.items()}
    syllables = CodePoints((0xAC00, 0xD7A4))
    two_jamo = CodePoints.from_ranges((point, point) for point in range(0xAC00, 0xD7A4, 28))
    joiner = one["ZWJ"]
    controls = one["Control"] | one["CR"] | one["LF"]
    pictograph = _pictographs()

    def some(points: CodePoints, low: int = 0) -> Node:
        return Repeat(Chars(points), low, None, "")

    vowels = Alternatives(
        (
            some(one["V"], 1),
            Sequence((Chars(two_jamo), some(one["V"]))),
            Chars(syllables - two_jamo),
        )
    )
    bases = Alternatives(
        (
            Sequence((some(one["L"]), vowels, some(one["T"]))),
            some(one["L"], 1),
            some(one["T"], 1),
            Sequence((Chars(_flags()), Chars(_flags()))),
            Sequence(
                (
                    Chars(pictograph),
                    Repeat(
                        Sequence((some(one["Extend"]), Chars(joiner), Chars(pictograph))),
                        0,
                        None,
                        "",
                    ),
                )
            ),
            Chars(~controls),
        )
    )
    before = some(one["Prepend"])
    extending = some(one["Extend"] | joiner | one["SpacingMark"])
    return Atomic(
        Alternatives(
            (
                Sequence((Chars(one["CR"]), Chars(one["LF"]))),
                Sequence((before, bases, extending)),
                Chars(ALL),
            )
        )
    )


def is_exact(tree: Node) -> bool:
    r"""Return True if each ``\X`` of a pattern begins where ``text_segment`` is right.

    The property: ``\X`` is a branch, or a branch repeats it, so it never fails, and all text is in
    matches. What the other branches match has no pictographs and no halves of flags; so those are
    in matches of ``\X``, which end at boundaries.
    """
    segment = text_segment()
    for branch in tree.branches if isinstance(tree, Alternatives) else (tree,):
        while isinstance(branch, Repeat) and branch.low == 1:
            branch = branch.item
        nodes = list(walk(branch))
        if branch != segment and segment in nodes:
            return False
        if branch != segment and any(
            isinstance(node, Chars) and node.points & (_flags() | _pictographs()) for node in nodes
        ):
            return False
    return True


def _flags() -> CodePoints:
    return named("Regional_Indicator")


def _pictographs() -> CodePoints:
    return named("Extended_Pictographic")
