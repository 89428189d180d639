"""GPT-2's byte alphabet: arbitrary bytes, written as printable text.

``encoder.json`` and ``vocab.bpe`` are text files, and ``vocab.bpe`` separates by blanks, but a
token is any sequence of bytes. So each byte is written as one printable character. A byte whose
Latin-1 character is printable and not a blank is written as that character. There are 188 such
bytes: ``!`` to ``~``, ``¡`` to ``¬``, ``®`` to ``ÿ``. The other 68 are numbered, in order, from
U+0100 upward. A space, the 33rd of these, becomes U+0120, ``Ġ``.

The rule is that of ``bytes_to_unicode`` in OpenAI's GPT-2 release (``src/encoder.py``).
"""

from __future__ import annotations

import re
from codecs import charmap_build, charmap_decode, charmap_encode
from collections.abc import Sequence

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = sorted({*range(256)}.difference(_PRINTABLE))

#: The character of each byte, and the reverse. The order of the entries is the order in which
#: GPT-2 numbers the bytes: ``!`` is its token 0, the space its token 220.
BYTE_TO_UNICODE: dict[int, str] = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(0x100 + n) for n, byte in enumerate(_OTHERS)},
}
UNICODE_TO_BYTE: dict[str, int] = {char: byte for byte, char in BYTE_TO_UNICODE.items()}

# A codec of one byte per character is many times as fast as a look-up for each character.
_ALPHABET = "".join(map(BYTE_TO_UNICODE.__getitem__, range(256)))
_TO_BYTES = charmap_build(_ALPHABET)


def encode_bytes(data: bytes) -> str:
    """Return bytes written as text, one character per byte.

    >>> encode_bytes(b" caf\\xc3\\xa9")
    'ĠcafÃ©'
    """
    return charmap_decode(data, "strict", _ALPHABET)[0]


def decode_bytes(text: str) -> bytes:
    """Return the bytes that ``encode_bytes`` has written as text.

    Raises:
        ValueError: a character stands for no byte; the message names it.

    >>> decode_bytes("ĠcafÃ©")
    b' caf\\xc3\\xa9'
    >>> decode_bytes("a b")
    Traceback (most recent call last):
    ValueError: character 1, ' ' (U+0020), stands for no byte in GPT-2's byte alphabet
    """
    try:
        return charmap_encode(text, "strict", _TO_BYTES)[0]
    except UnicodeEncodeError as error:
        char = text[error.start]
        raise ValueError(
            f"character {error.start}, {char!a} (U+{ord(char):04X}), "
            "stands for no byte in GPT-2's byte alphabet"
        ) from None


def decode_all(texts: Sequence[str]) -> list[bytes | None]:
    """Return the bytes of each text, or None for a text with a character that stands for no byte.

    The texts are joined, decoded as one and split again, since one long call is faster than many.
    The separator is ``0xFF``: no UTF-8 has it, so usually only the token of that single byte does.
    If another text has it, the texts are decoded one by one.

    >>> decode_all(["Ġa", "a b", "ÿ"])
    [b' a', None, b'\\xff']
    """
    separator = "ÿ"
    not_in_alphabet = re.compile("[^!-~\xa1-\xac\xae-\u0143]")
    others = [text for text in texts if text != separator]
    joined = separator.join(others)
    if joined.count(separator) != len(others) - 1:
        return [None if not_in_alphabet.search(text) else decode_bytes(text) for text in texts]
    tokens: list[bytes | None] = []
    tokens += charmap_encode(joined, "replace", _TO_BYTES)[0].split(b"\xff") if others else []
    index = at = 0
    for match in not_in_alphabet.finditer(joined):
        index += joined.count(separator, at, match.start())
        at = match.start()
        tokens[index] = None
    if len(others) < len(texts):
        for index, text in enumerate(texts):
            if text == separator:
                tokens.insert(index, b"\xff")
    return tokens
