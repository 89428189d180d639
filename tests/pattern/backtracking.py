"""Backtracking as a textbook has it, counted: the plain rule for what ``re`` and states match."""

from __future__ import annotations

from collections.abc import Iterator

from compat_bpe.pattern.ast import Alternatives, Anchor, Atomic, Chars, Look, Node, Repeat, Sequence


class TooManySteps(Exception):
    """More characters were tried than allowed."""


class Backtracking:
    """A matcher that tries the ways of a pattern one after another.

    Args:
        text: the text.
        most: the most characters that may be tried.

    Attributes:
        steps: the number of characters that were tried.
    """

    def __init__(self, text: str, most: int) -> None:
        self.text = text
        self.most = most
        self.steps = 0

    def end(self, node: Node, start: int) -> int:
        """Return the end of the match at a position; -1 if there is none."""
        return next(self.ends(node, start), -1)

    def ends(self, node: Node, at: int) -> Iterator[int]:
        """Yield the ends of a node's matches at a position, the preferred first."""
        if isinstance(node, Chars):
            self.steps += 1
            if self.steps > self.most:
                raise TooManySteps
            if at < len(self.text) and ord(self.text[at]) in node.points:
                yield at + 1
        elif isinstance(node, Sequence):
            if not node.items:
                yield at
                return
            for end in self.ends(node.items[0], at):
                yield from self.ends(Sequence(node.items[1:]), end)
        elif isinstance(node, Alternatives):
            for branch in node.branches:
                yield from self.ends(branch, at)
        elif isinstance(node, Repeat):
            if node.mode == "+":
                yield from self.ends(Atomic(node._replace(mode="")), at)
            else:
                yield from self.rounds(node, at, 0)
        elif isinstance(node, Atomic):
            end = self.end(node.item, at)
            if end >= 0:
                yield end
        elif isinstance(node, Anchor):
            if at == (0 if node.kind == "start" else len(self.text)):
                yield at
        elif self.looks(node, at) != node.negative:
            yield at

    def rounds(self, node: Repeat, at: int, done: int) -> Iterator[int]:
        if node.mode == "?" and done >= node.low:
            yield at
        if node.high is None or done < node.high:
            for end in self.ends(node.item, at):
                yield from self.rounds(node, end, done + 1)
        if node.mode != "?" and done >= node.low:
            yield at

    def looks(self, look: Look, at: int) -> bool:
        if look.ahead:
            return self.end(look.item, at) >= 0
        return any(at in self.ends(look.item, start) for start in range(at + 1))
