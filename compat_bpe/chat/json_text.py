"""JSON as the programs that make prompts write it: spaces, letters and numbers."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Callable


def json_text(value: Any, *, spaced: bool, number: Callable[[float], str]) -> str:
    """Return JSON on one line, all letters as they are.

    Args:
        value: plain data.
        spaced: True for a space behind each comma and colon, as Python's ``json`` writes it.
        number: writes a number that is no integer.

    >>> json_text({"a": [1, 2.5, "é"]}, spaced=True, number=repr)
    '{"a": [1, 2.5, "é"]}'
    >>> json_text({"a": [1, 2.5]}, spaced=False, number=repr)
    '{"a":[1,2.5]}'
    """
    comma, colon = (", ", ": ") if spaced else (",", ":")

    def written(one: Any) -> str:
        if isinstance(one, float):
            return number(one)
        if isinstance(one, dict):
            members = (f"{written(name)}{colon}{written(held)}" for name, held in one.items())
            return "{" + comma.join(members) + "}"
        if isinstance(one, (list, tuple)):
            return "[" + comma.join(map(written, one)) + "]"
        return json.dumps(one, ensure_ascii=False)

    return written(value)


def rust_number(value: float, plus: str = "") -> str:
    """Return a number as Rust's crates for JSON write it.

    They have one more zero behind the point than Python, and no zero before an exponent.

    Args:
        value: a finite number.
        plus: the sign before an exponent above 0, in which the crates differ.

    >>> rust_number(1.5e-5), rust_number(1e-7), rust_number(1e16), rust_number(1e16, "+")
    ('0.000015', '1e-7', '1e16', '1e+16')
    """
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    if exponent == "-05":
        return f"{Decimal(repr(value)):f}"
    power = int(exponent)
    return f"{digits}e{plus if power > 0 else ''}{power}"
