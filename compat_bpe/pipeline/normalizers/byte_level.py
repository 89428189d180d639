"""The bytes of a text, each written as a character of GPT-2's byte alphabet."""

from __future__ import annotations

from codecs import charmap_decode

from ..aligned import Aligned
from ..byte_level import encode_bytes
from .base import PlainNormalizer

#: The character of each byte.
_ALPHABET = encode_bytes(bytes(range(256)))


class ByteLevel(PlainNormalizer):
    """The normalizer that writes each byte of a text as a character.

    >>> ByteLevel()(" é")
    'ĠÃ©'
    """

    is_local = True

    def __call__(self, text: str) -> str:
        """Return the bytes of a text in the byte alphabet."""
        return charmap_decode(text.encode(), "strict", _ALPHABET)[0]

    def align(self, text: Aligned) -> Aligned:
        """Return the bytes of a text, each with the place of its character."""
        return text.changed(
            (byte, int(index > 0)) for char in text.text for index, byte in enumerate(self(char))
        )

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the last byte of the left character, and the first of the right one."""
        return self(left)[-1], self(right)[0]
