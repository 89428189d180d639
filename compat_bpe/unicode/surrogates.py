"""Surrogates in text: refused, or repaired as tiktoken repairs them."""

from __future__ import annotations

import re
import sys

_LONE = "[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"

#: An encoding that refuses the same as UTF-8.  CPython writes UTF-16 faster than UTF-8; PyPy keeps
#: text as UTF-8, and only copies it.
_QUICK = "utf-8" if sys.implementation.name == "pypy" else "utf-16-le"

#: A sign that no text has in it, since it is a surrogate: what follows begins where a text does.
START = "\ud800"


def repair(text: str) -> str:
    r"""The text with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    This is what tiktoken does to text that cannot be UTF-8, by way of UTF-16.

    >>> repair("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"
    True
    """
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        # Not left to "replace", which takes a microsecond for each.
        text = re.sub(_LONE, "\ufffd", text)
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    return text


def check_text(text: str) -> None:
    """Raise ``UnicodeEncodeError`` if a text has surrogates in it, ``TypeError`` if it is none."""
    if not isinstance(text, str):
        raise TypeError(f"a {type(text).__name__} is no text: it must be a str")
    if not text.isascii():
        try:
            text.encode(_QUICK)
        except UnicodeEncodeError:
            text.encode()
