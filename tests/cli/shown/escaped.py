"""Tokens as ``show`` writes them, and texts for it."""

from __future__ import annotations

import re

from tests.strategies import texts

# Only what no file of UTF-8 has is left out: surrogates.
utf8_texts = texts.map(lambda text: text.encode("utf-8", "ignore").decode())


def unescape(shown: str) -> bytes:
    """The bytes of a token, read as the help says how they are shown."""
    data = b""
    for escaped, plain in re.findall(
        r"\\(x..|u.{4}|U.{8}|n\n?|[tr\\|\"])|(.)", shown.replace("\\n\n", "\\n")
    ):
        if plain:
            assert plain.isprintable()
            data += plain.encode()
        elif escaped[0] == "x":
            data += bytes([int(escaped[1:], 16)])
        elif escaped[0] in "uU":
            data += chr(int(escaped[1:], 16)).encode()
        else:
            data += {"n": b"\n", "t": b"\t", "r": b"\r"}.get(escaped[0], escaped[0].encode())
    return data
