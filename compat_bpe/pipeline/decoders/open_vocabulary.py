"""The decoders of models without a vocabulary of their own."""

from __future__ import annotations

from array import array

from .streams import Spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .streams import TextStream


class _Decoder:
    """The common part of both decoders; see ``IdDecoder`` for the methods."""

    #: The text that is put between two tokens.
    between = ""

    def decode(self, tokens: Sequence[int]) -> bytes:
        return self.decode_text(tokens, "strict").encode()

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        raise NotImplementedError

    def stream(self, errors: str) -> TextStream:
        return Spaced(lambda tokens: self.decode_text(tokens, errors), self.between)

    def decode_one(self, token: int) -> bytes:
        return self.decode((token,))


class CharacterDecoder(_Decoder):
    """The decoder of code points.

    >>> CharacterDecoder().decode_text([110, 233], "strict")
    'né'
    """

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some code points; see ``IdDecoder``."""
        numbers = _checked(tokens)
        for code_point in numbers:
            if code_point > 0x10FFFF or 0xD800 <= code_point < 0xE000:
                raise KeyError(f"{code_point} is the code point of no character")
        return "".join(map(chr, numbers))


class WordDecoder(_Decoder):
    """The decoder of words that have been encoded before.

    Args:
        words: the word of each id, as bytes; it may grow.
        between: the text that is put between two words.

    >>> WordDecoder([b"to", b"be"], " ").decode_text([0, 1], "strict")
    'to be'
    """

    def __init__(self, words: Sequence[bytes], between: str) -> None:
        self._words = words
        self.between = between

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some ids; see ``IdDecoder``."""
        numbers = _checked(tokens)
        highest = max(numbers, default=-1)
        if highest >= len(self._words):
            raise KeyError(f"{highest} is the id of no word that has been encoded")
        return self.between.encode().join(map(self._words.__getitem__, numbers)).decode()


def _checked(tokens: Sequence[int]) -> Sequence[int]:
    """Return ids; ``OverflowError`` or ``TypeError`` if one is impossible."""
    if isinstance(tokens, (str, dict)) or not hasattr(tokens, "__getitem__"):
        raise TypeError(f"a {type(tokens).__name__} is no sequence of token ids")
    numbers = array("I")
    numbers.fromlist(list(tokens))
    return numbers
