"""Numbers with a point or an exponent, as tokenizers reads them from JSON.

tokenizers reads JSON with serde_json, which does not take the float that is nearest to a number
as written, as Python does. It rounds twice, so every fourth score of a vocabulary is off by one
in its last bit. The path that a Unigram model takes may depend on that bit, so the scores are
read here in the same steps:

1. Its digits, without the point, make one integer. Where one more digit would reach 2**64, it and
   those after it are dropped. A digit dropped before the point still counts for the power of ten.
2. The integer is rounded to a float.
3. That is multiplied with a power of ten, or divided by one, and rounded again.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_LIMIT = 1 << 64
#: Powers of ten; there is no greater one that is a float.
_POWERS = [float(f"1e{power}") for power in range(309)]
_GREATEST_POWER = 308
_EXPONENT_LIMIT = 1 << 31
_INFINITE = float("inf")


def read_float(text: str) -> float:
    """Return the float that tokenizers reads.

    Args:
        text: a number as JSON writes it.

    Raises:
        ValueError: it is too large.

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
        raise ValueError(f"{text[:40]!r} is no number")
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
    """Return a number with more digits, as many as fit into 64 bits, and how many these are."""
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


def written_float(value: float) -> float:
    """Return the float to write so that tokenizers reads ``value``.

    A float is written as the shortest number that Python reads as that float.

    Raises:
        ValueError: no float near it is read as this value.
    """
    import math  # only for writing

    below = above = value
    for _ in range(8):
        for candidate in (below, above):
            if read_float(repr(candidate)) == value:
                return candidate
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
    raise ValueError(f"{value!r} cannot be written so that tokenizers reads it")
