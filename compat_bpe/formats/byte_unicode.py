"""GPT-2's way of writing arbitrary bytes as printable text.

``encoder.json`` and ``vocab.bpe`` are text files, and ``vocab.bpe`` separates by blanks, yet a
token is any sequence of bytes. So each byte is written as one printable character: a byte whose
Latin-1 character is printable and no blank stands for itself (188 of them: ``!`` to ``~``, ``¡``
to ``¬``, ``®`` to ``ÿ``), and the other 68 are numbered, in order, from U+0100 upward. A space,
the 33rd of those, becomes U+0120, ``Ġ``.

The rule is that of ``bytes_to_unicode`` in OpenAI's GPT-2 release (``src/encoder.py``).
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

#: The character that each byte is written as, and back. The order of the entries is the order in
#: which GPT-2 numbers the bytes: ``!`` is its token 0, the space its token 220.
BYTE_TO_UNICODE: dict[int, str] = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(0x100 + n) for n, byte in enumerate(_OTHERS)},
}
UNICODE_TO_BYTE: dict[str, int] = {char: byte for byte, char in BYTE_TO_UNICODE.items()}


def encode_bytes(data: bytes) -> str:
    """Write bytes as text, one character a byte.

    >>> encode_bytes(b" caf\\xc3\\xa9")
    'ĠcafÃ©'
    """
    return "".join(map(BYTE_TO_UNICODE.__getitem__, data))


def decode_bytes(text: str) -> bytes:
    """Read back the bytes that :func:`encode_bytes` wrote.

    Raises ValueError, naming the character, if one of them stands for no byte.

    >>> decode_bytes("ĠcafÃ©")
    b' caf\\xc3\\xa9'
    >>> decode_bytes("a b")
    Traceback (most recent call last):
    ValueError: character 1, ' ' (U+0020), stands for no byte in GPT-2's byte alphabet
    """
    try:
        return bytes(map(UNICODE_TO_BYTE.__getitem__, text))
    except KeyError as error:
        char: str = error.args[0]
        raise ValueError(
            f"character {text.index(char)}, {char!a} (U+{ord(char):04X}), "
            "stands for no byte in GPT-2's byte alphabet"
        ) from None
