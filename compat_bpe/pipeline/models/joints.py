"""Joints: places between two characters that no token reaches across.

The two characters alone decide. What is between two joints is taken one way or another, but what
is before a joint is decided, and its tokens stay.

A joint is *exact* if both sides have the ids of the whole. A model that takes a chunk from left to
right, such as Unigram, has joints with *slack*: sums of scores are rounded, and that may decide
between two ways that are nearly as good. So the tokens after a joint may be other ones if other
text is before it.
"""

from __future__ import annotations

from typing import Callable, NamedTuple


class Joints(NamedTuple):
    """The promises of a model about its joints.

    Args:
        are_between: returns True if there is a joint between two characters of any chunk. The part
            of the chunk before it has at most as many tokens as the whole.
        slack: returns an upper bound on the tokens that the part of a chunk after a joint can lose
            when other text is before the joint; None if joints are exact.
        longest: the most characters that a token stands for, if no character in it is unknown; 0
            if it may be any number.
        knows: returns True for a character that is never unknown.
    """

    are_between: Callable[[str, str], bool]
    slack: Callable[[str], int] | None = None
    longest: int = 0
    knows: Callable[[str], bool] = str.isascii  # not asked without a longest

    @property
    def are_exact(self) -> bool:
        """True if both sides of a joint have the ids of the whole."""
        return self.slack is None
