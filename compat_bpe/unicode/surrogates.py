"""Surrogates in text, refused or repaired as in tiktoken; the part of ``unicode`` for a start."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

_LONE = "[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"

#: An encoding that refuses the same as UTF-8. CPython writes UTF-16 faster than UTF-8; PyPy keeps
#: text as UTF-8, and only copies it.
_QUICK = "utf-8" if sys.implementation.name == "pypy" else "utf-16-le"

#: A mark for the beginning of a text. It is a surrogate, so no repaired text contains it.
START = "\ud800"


def repair(text: str) -> str:
    r"""Return the text with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    tiktoken repairs text that cannot be UTF-8 in the same way, through UTF-16.

    Raises:
        TypeError: ``text`` is not a ``str``.

    >>> repair("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"
    True
    """
    if not isinstance(text, str):
        raise not_a_text(text)
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        # Faster than the error handler "replace", which takes a microsecond for each.
        text = re.sub(_LONE, "\ufffd", text)
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    return text


def repair_with_places(text: str) -> tuple[str, Sequence[int]]:
    r"""Return a repaired text, and the places of its characters, and of its end, in the original.

    >>> repair_with_places("\ud83d\ude00 \ud83d")
    ('😀 �', [0, 2, 3, 4])
    """
    repaired = repair(text)
    if len(repaired) == len(text):
        return repaired, range(len(text) + 1)
    places = [0]
    for char in repaired:
        # A pair of surrogates is one character of the repaired text.
        is_pair = char > "\uffff" and text[places[-1]] < "\U00010000"
        places.append(places[-1] + 1 + is_pair)
    return repaired, places


def has_surrogates(text: str) -> bool:
    """Return True if a text has surrogates, in pairs or alone."""
    try:
        check_text(text)
    except UnicodeEncodeError:
        return True
    return False


def check_text(text: str) -> None:
    """Raise ``UnicodeEncodeError`` for a text with surrogates, ``TypeError`` for other objects."""
    if not isinstance(text, str):
        raise not_a_text(text)
    if not text.isascii():
        try:
            text.encode(_QUICK)
        except UnicodeEncodeError:
            text.encode()


def not_a_text(text: object) -> TypeError:
    """Return the error for an object that is not a ``str``."""
    return TypeError(f"text must be a str, not {type(text).__name__}")
