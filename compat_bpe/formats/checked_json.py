"""Checked access to JSON from untrusted files; each value knows its place in the file.

A wrong value is a ``ValueError`` ``{file}: {place in the file}: {reason}``.

Numbers with a point or an exponent are read as tokenizers reads them. It reads JSON with
serde_json, which, unlike Python, does not choose the float nearest to the number in the file. It
rounds twice, so every fourth score of a vocabulary is off by one in its last bit. The path that a
Unigram model takes may depend on that bit, so a number is read here in the same steps:

1. Its digits, without the point, make one integer. If one more digit would make it 2**64 or more,
   that digit and all after it are dropped. A digit dropped before the point still counts for the
   power of ten.
2. The integer is rounded to a float.
3. The float is multiplied or divided by a power of ten, and rounded again.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from ..files.checked import Checked
from ..files.whole import json_message, read_whole, utf8_text

if TYPE_CHECKING:
    import re


class Json(Checked):
    """A value in a JSON file.

    Args:
        value: the value, as ``json`` gives it.
        source: the name of the file, for messages.
        place: the place in the file, for messages, such as ``model.merges[1]``.

    >>> part = Json({"type": "Digits"}, "tokenizer.json", "pre_tokenizer")
    >>> part["type"].text()
    'Digits'
    >>> part["individual_digits"]
    Traceback (most recent call last):
    ValueError: tokenizer.json: pre_tokenizer: there is no 'individual_digits'
    """

    __slots__ = ("source",)

    def __init__(self, value: Any, source: str, place: str = "") -> None:
        self.value = value
        self.place = place
        self.source = source

    def error(self, reason: str) -> ValueError:
        return ValueError(": ".join(filter(None, (self.source, self.place, reason))))

    def inner(self, value: Any, place: str) -> Json:
        return Json(value, self.source, place)

    def __getitem__(self, key: str) -> Json:
        """Return a required member; its value may be null."""
        if key not in self.mapping():
            self.fail(f"there is no {key!r}")
        return self.member(key)

    def get(self, key: str) -> Json | None:
        """Return a member; None if it is null or missing."""
        member = self.member(key)
        return None if member.value is None else member

    def text(self) -> str:
        text = super().text()
        if not is_unicode(text):
            self.fail("has a lone surrogate")
        return text


def _fail_constant(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name} is not a number in JSON")


def is_unicode(text: str) -> bool:
    """Return True if a text has no surrogates."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_json(path: str | os.PathLike[str]) -> Json:
    """Read a JSON file.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not JSON, or it is too large.
    """
    return parse_json(read_whole(path), os.fspath(path))


def parse_json(data: bytes, source: str, **options: Any) -> Json:
    """Parse the content of a JSON file.

    Args:
        data: the content.
        source: its name in messages.
        options: further options of ``json.loads``.

    Raises:
        ValueError: as in ``read_json``.

    >>> parse_json(b'{"a": 1', "cut.json")
    Traceback (most recent call last):
    ValueError: cut.json: line 1: not JSON: Expecting ',' delimiter: line 1 column 8 (char 7)
    """
    text = utf8_text(data, source)
    try:
        value = json.loads(text, parse_float=read_float, parse_constant=_fail_constant, **options)
        return Json(value, source)
    except json.JSONDecodeError as error:
        message = json_message(str(error))
        raise ValueError(f"{source}: line {error.lineno}: not JSON: {message}") from None
    except ValueError as error:  # also an integer of thousands of digits
        raise ValueError(f"{source}: {error}") from None
    except RecursionError:
        raise ValueError(f"{source}: nested too deeply") from None


_LIMIT = 1 << 64
#: All powers of ten that are floats.
_POWERS = [float(f"1e{power}") for power in range(309)]
_GREATEST_POWER = 308
_EXPONENT_LIMIT = 1 << 31
_INFINITE = float("inf")


def read_float(text: str) -> float:
    """Return the float that tokenizers reads.

    Args:
        text: a number as JSON writes it.

    Raises:
        ValueError: the number is too large.

    >>> read_float("-7.4715776443481445"), float("-7.4715776443481445")
    (-7.471577644348144, -7.4715776443481445)
    """
    whole, _, fraction = text.partition(".")
    try:
        digits = int(whole + fraction)
    except ValueError:  # It has an exponent, or thousands of digits.
        return _read_float(text)
    if digits and -_LIMIT < digits < _LIMIT and len(fraction) <= _GREATEST_POWER:
        return digits / _POWERS[len(fraction)]
    return _read_float(text)


def _read_float(text: str) -> float:
    """Return the float of any number, one digit after the other."""
    match = _number().fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a number")
    sign, whole, fraction, exponent_sign, exponent_digits = match.groups()
    significand, used = _significand(0, whole)
    exponent = len(whole) - used
    significand, used = _significand(significand, fraction or "")
    exponent -= used
    change = int((exponent_digits or "0").lstrip("0")[:11] or "0")
    if exponent_sign == "-":
        change = -change
    if change >= _EXPONENT_LIMIT and significand:
        raise ValueError(f"{text[:40]} is out of range")
    value = 0.0
    if abs(change) < _EXPONENT_LIMIT:
        value = _scaled(significand, exponent + change)
    if value == _INFINITE:
        raise ValueError(f"{text[:40]} is out of range")
    return -value if sign else value


@cache
def _number() -> re.Pattern[str]:
    import re  # most numbers have no exponent

    return re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")


def _significand(value: int, digits: str) -> tuple[int, int]:
    """Return a number with as many more digits as fit into 64 bits, and how many were added."""
    for used, digit in enumerate(digits):
        more = value * 10 + int(digit)
        if more >= _LIMIT:
            return value, used
        value = more
    return value, len(digits)


def _scaled(significand: int, exponent: int) -> float:
    """Return an integer times a power of ten, which may be infinite."""
    value = float(significand)
    if exponent >= 0:
        # 0 stays 0, however large the power.
        return value * _POWERS[exponent] if exponent <= _GREATEST_POWER else value and _INFINITE
    while value and exponent < -_GREATEST_POWER:
        value /= _POWERS[_GREATEST_POWER]
        exponent += _GREATEST_POWER
    return value / _POWERS[-exponent] if value else value
