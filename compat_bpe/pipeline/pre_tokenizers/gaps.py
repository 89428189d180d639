"""The matches of a pattern, and the gaps between them, as branches of one pattern."""

from __future__ import annotations

from ...pattern.ast import NEVER, Alternatives, Anchor, Chars, Look, Node, Repeat, surely_begins
from ...pattern.ast import Sequence as NodeSequence
from ...pattern.writer import project
from ...unicode.code_points import ALL, CodePoints


def matches(tree: Node, alphabet: CodePoints) -> list[Node]:
    """Return branches for the matches of a pattern in runs of an alphabet."""
    if alphabet != ALL:
        tree = _ending_before(project(tree, lambda points: points & alphabet), alphabet)
    if tree == NEVER:
        return []
    return list(tree.branches) if isinstance(tree, Alternatives) else [tree]


def matches_and_gaps(tree: Node, alphabet: CodePoints) -> list[Node]:
    """Return branches for the matches of a pattern in runs of an alphabet, and for its gaps."""
    branches = matches(tree, alphabet)
    if not branches:
        return [Repeat(Chars(alphabet), 1, None, "")] if alphabet else []
    tree = any_of(branches)
    in_gap = alphabet - surely_begins(tree)
    if in_gap:
        here = NodeSequence((Look(tree, ahead=True, negative=True), Chars(in_gap)))
        branches.append(Repeat(here, 1, None, ""))
    return branches


def any_of(branches: list[Node]) -> Node:
    """Return the pattern of some branches, of which the first that matches counts."""
    if len(branches) == 1:
        return branches[0]
    return Alternatives(tuple(branches)) if branches else NEVER


def _ending_before(node: Node, left: CodePoints) -> Node:
    r"""Return a pattern in which ``\z`` also matches before any character not in ``left``."""
    if isinstance(node, Anchor):
        return Look(Chars(left), ahead=True, negative=True)
    if isinstance(node, NodeSequence):
        return NodeSequence(tuple(_ending_before(item, left) for item in node.items))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(_ending_before(branch, left) for branch in node.branches))
    if isinstance(node, Chars):
        return node
    return node._replace(item=_ending_before(node.item, left))
