"""Splitting of spans that no pre-tokenizer splits, at places that no merge crosses.

The splitter is for BPE in a ``tokenizer.json``; that of ``models.sentencepiece.splitter`` is for
models of SentencePiece.

Some files have no pre-tokenizer: each span is one chunk. Chunks so long never come back, so their
ids would never come from the cache. But the model may know of places at which a chunk may be cut
without changing its ids (see ``models.bpe.character_cuts``): before each ``▁``, which stands for a
space, beside the end of a line, and after most full stops of Chinese. The parts are words then,
which come back all the time, or sentences; and at the same places texts have cut points.
"""

from __future__ import annotations

import re

from ....pattern.splitter import Splitter
from ....pattern.translation import Translation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ....pattern.ast import Node

#: The character that words begin with, the one that ends a line, and the one that ends a sentence
#: where no spaces are written.
MARK, LINE_END, STOP = "▁", "\n", "。"
#: The name of the pattern in messages.
_NAME = "of the words"
#: The characters above the Basic Multilingual Plane.
_ABOVE = r"\U00010000-\U0010ffff"
#: Characters that must not be on the left of a cut point, and on the right (see
#: ``pattern.translation``).
_NOT_LEFT = rf"\ud800-\udfff{_ABOVE}"
_NOT_RIGHT = r"\ud800-\udfff"


def splitter_by_merges(
    *, marks: bool, lines: bool, after_stops: frozenset[str] | None, before_spaces: bool = False
) -> Splitter | None:
    r"""Return a splitter at places that no merge crosses; None if there are no such places.

    Args:
        marks: True if no merge joins a mark to another character before it.
        lines: True if no merge joins the end of a line to another character.
        after_stops: the characters that a merge may join to a full stop before them; None if a text
            must not be cut after full stops.
        before_spaces: True if each space ends a chunk.

    >>> splitter = splitter_by_merges(marks=True, lines=True, after_stops=frozenset("”"))
    >>> splitter.chunks("▁a▁▁b\n\n▁c中。”文。。")
    ['▁a', '▁▁b', '\n\n', '▁c中。”文。', '。']
    """
    if not marks and not lines:
        return None
    space = " " if before_spaces else ""
    stop = "" if after_stops is None else STOP
    mark, end = MARK if marks else "", r"\n" if lines else ""
    inside = f"[^{mark}{end}{stop}{space}]"
    # What may follow in a chunk: a full stop ends it unless a character after it may be joined.
    joined = "".join(re.escape(char) for char in sorted(after_stops or ()) if char <= "\uffff")
    if any(char > "\uffff" for char in after_stops or ()):
        joined += _ABOVE  # characters above have one stand-in, so all of them count as joined
    going_on = f"{stop}(?=[{joined}]){inside}*" if stop and joined else ""
    rest = (f"(?:{going_on})*" if going_on else "") + (f"{stop}?" if stop else "")
    branches = [f"{inside}+{rest}"]
    cuts = []
    if marks:
        branches.insert(0, f"{mark}+{inside}*{rest}")
        cuts.append(f"[^{mark}{_NOT_LEFT}](?={mark})")
    if lines:
        branches.append(r"\n+")
        cuts += [rf"[^\n{_NOT_LEFT}](?=\n)", rf"\n(?=[^\n{space}{_NOT_RIGHT}])"]
    if stop:
        branches += [f"(?:{going_on})+{stop}?"] if going_on else []
        branches.append(stop)
        cuts.append(f"{stop}(?=[^{joined}{space}{_NOT_RIGHT}])")
    if before_spaces:
        branches = [f"{branch} ?" for branch in branches] + [" "]
    pattern, cut_points = "|".join(branches), "|".join(cuts)
    parts = {
        # One pattern for any text: its classes are small, so there need not be stand-ins.
        "ascii": pattern,
        "few": None,
        "most": (pattern, "\U00010000", "\ud800"),
        "ascii_cut_points": cut_points,
        "cut_points": cut_points,
        "fine_cut_points": cut_points,
        "can_be_empty": False,
        "leaves_nothing_out": True,
    }
    return Splitter.of_translation(Translation(lambda: _parse(pattern), _NAME, parts), _NAME)


def _parse(pattern: str) -> Node:
    from ....pattern.parser import parse

    return parse(pattern)
