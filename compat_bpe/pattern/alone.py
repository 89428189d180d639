r"""Patterns whose chunks stay whole when they stand alone.

Let a pattern split some text, and let *c* be one of the chunks. For most patterns, *c* as a text
of its own is one chunk, too. So a text that such a pattern splits is never a chunk.

The property holds if a pattern looks around only in these ways: ``(?!x)`` with a set of single
characters ``x``, and ``$`` for the end of the text. The argument: both are true at the end of the
text, and elsewhere they depend on the next character alone. So the way by which *c* matched in
the text leads to a match of all of *c*. A way that comes before it and ends within *c* sees the
same characters in the text, so it would have matched there, and *c* would be shorter. Hence the
first way that matches, if it is another one, ends at the end of *c*, and gives all of it.

Possessive repeats and atomic groups (``++``, ``(?>…)``) keep the property if they repeat a single
character: such a repeat ends within *c*, as in the text, or at the end of *c*.
"""

from __future__ import annotations

from .ast import Anchor, Atomic, Chars, Look, Node, Repeat
from .writer import walk


def stays_whole(tree: Node) -> bool:
    r"""Return True if the property above certainly holds for a pattern.

    >>> from .parser import parse
    >>> [stays_whole(parse(one)) for one in (r"\w++|\s+(?!\S)|\s+$", r"(?<=a)b|.", r"a+(?=!)|a")]
    [True, False, False]
    """
    return all(map(_is_harmless, walk(tree)))


def _is_harmless(node: Node) -> bool:
    if isinstance(node, Look):
        return node.ahead and node.negative and isinstance(node.item, Chars)
    if isinstance(node, Anchor):
        return node.kind != "start"
    if isinstance(node, Repeat) and node.mode == "+":
        return isinstance(node.item, Chars)
    return not isinstance(node, Atomic) or isinstance(node.item, Chars)
