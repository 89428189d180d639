"""``ByteLevel`` as a post-processor: spaces are left out of the tokens' places in the text."""

from __future__ import annotations

from collections.abc import Sequence

from ...unicode.properties import white_space
from ..byte_level import BYTE_TO_UNICODE
from ..tokenized.tokenized import Tokenized

#: The space, in the byte alphabet.
_SPACE = BYTE_TO_UNICODE[ord(" ")]


class ByteLevelOffsets:
    """The post-processor ``ByteLevel``; it adds no tokens.

    Args:
        trim_offsets: leave the spaces around a token out of its place in the text.
        add_prefix_space: keep one space at the beginning of the text, as ``trimmed`` says.
    """

    def __init__(self, trim_offsets: bool = True, add_prefix_space: bool = True) -> None:
        self._trim_offsets = trim_offsets
        self._add_prefix_space = add_prefix_space

    def added(self, is_pair: bool) -> int:
        """Return 0."""
        return 0

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return each part as a text of its own, with other places."""
        if self._trim_offsets:
            parts = [trimmed(part, self._add_prefix_space) for part in parts]
        return [
            part.changed(sequence_ranges={**part.sequence_ranges, index: (0, len(part))})
            for index, part in enumerate(parts)
        ]

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the parts as they are."""
        return parts


def trimmed(part: Tokenized, add_prefix_space: bool) -> Tokenized:
    """Return a part in which no place has the spaces at the beginning and the end of its token.

    The overflowing parts are changed in the same way.

    Args:
        part: tokens and their places.
        add_prefix_space: keep a single space before the token at the beginning of the text, since
            it may not be in the text.

    >>> trimmed(Tokenized([5], ["Ġa"], [(3, 5)], [0]), True).offsets
    [(3, 5)]
    >>> trimmed(Tokenized([5], ["Ġa"], [(3, 5)], [0]), False).offsets
    [(4, 5)]
    """
    offsets = list(part.offsets)
    for index, token in enumerate(part.tokens):
        # All white space is a space to isspace(), too.
        if not token or not (_may_be_space(token[0]) or _may_be_space(token[-1])):
            continue
        start, end = offsets[index]
        before, after = _spaces(token), _spaces(token[::-1])
        if before == 1 and add_prefix_space and (index == 0 or start == 0):
            before = 0
        if before:
            start = min(start + before, end)
        if after and after <= end:
            end = max(end - after, start)
        offsets[index] = start, end
    return part.changed(
        offsets=offsets,
        overflowing=[trimmed(other, add_prefix_space) for other in part.overflowing],
    )


def _may_be_space(char: str) -> bool:
    return char == _SPACE or char.isspace()


def _spaces(token: str) -> int:
    """Return the number of spaces at the beginning of a token."""
    count = 0
    for char in token:
        if char != _SPACE and ord(char) not in white_space():
            break
        count += 1
    return count
