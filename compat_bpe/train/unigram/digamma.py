"""The digamma function, which both learners of Unigram weigh expected counts by."""

from __future__ import annotations

from math import log


def digamma(number: float) -> float:
    """Return the derivative of the logarithm of the gamma function, at a positive number.

    The operations are in the order of both references, so the bits are the same.

    >>> round(digamma(1.0), 9)  # Euler's constant, negative
    -0.577215665
    """
    result = 0.0
    while number < 7.0:
        result -= 1.0 / number
        number += 1.0
    number -= 1.0 / 2.0
    inverse = 1.0 / number
    two = inverse * inverse
    four = two * two
    result += (
        log(number)
        + (1.0 / 24.0) * two
        - 7.0 / 960.0 * four
        + (31.0 / 8064.0) * four * two
        - (127.0 / 30720.0) * four * four
    )
    return result
