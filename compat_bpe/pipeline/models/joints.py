"""Joints: places in a chunk at which nothing that follows changes the tokens before.

A model that takes a chunk from left to right, such as Unigram, has ids that depend on all that is
before: sums of scores are rounded, and that may decide between two ways that are nearly as good.
So a chunk cannot be cut. But between two characters that no piece has next to each other is a
*joint*: every way goes through there. What follows is taken one way or another, but what is before
is decided, and its tokens stay.
"""

from __future__ import annotations

from typing import Callable, NamedTuple


class Joints(NamedTuple):
    """The promises of a model about its joints.

    Args:
        are_between: returns True if there is a joint between two characters of any chunk. The part
            of the chunk before it has at most as many tokens as the whole.
        slack: returns an upper bound on the tokens that the part of a chunk after a joint can lose
            when other text is before the joint.
        longest: the most characters that a token stands for, if no character in it is unknown; 0
            if it may be any number.
        knows: returns True for a character that is never unknown.
    """

    are_between: Callable[[str, str], bool]
    slack: Callable[[str], int]
    longest: int = 0
    knows: Callable[[str], bool] = str.isascii  # not asked without a longest


def no_slack(chunk: str) -> int:
    """Return 0, for models whose tokens after a joint do not depend on what is before."""
    return 0


def common_length(one: str, other: str) -> int:
    """Return the length of the longest beginning that two texts have in common.

    >>> common_length("a cat", "a car")
    4
    """
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
