"""Checks of settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..formats.checked_json import is_unicode

#: The largest weight of a group; its inverse is the smallest. With these, no number overflows.
_MOST_WEIGHT = 1e9


def check_integer(name: str, value: object) -> None:
    """Raise ``ValueError`` if an argument is given and is no integer.

    >>> check_integer("vocab_size", float("nan"))
    Traceback (most recent call last):
    ValueError: vocab_size is nan; it must be an integer
    """
    if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__")):
        raise ValueError(f"{name} is {value!r:.60}; it must be an integer")


def check_least(name: str, value: int | None, least: int) -> None:
    """Raise ``ValueError`` if an argument is given and is below ``least`` or no integer."""
    check_integer(name, value)
    if value is not None and value < least:
        raise ValueError(f"{name} is {value}; it must be {least} or more")


def check_special_names(names: Iterable[str]) -> None:
    """Raise ``ValueError`` if a name cannot be that of a special token, or comes twice."""
    seen: set[str] = set()
    for name in names:
        if not name:
            raise ValueError("a special token has an empty name")
        if not is_unicode(name):
            raise ValueError(f"the special token {name!r} has a lone surrogate")
        if name in seen:
            raise ValueError(f"the special token {name!r} is named twice")
        seen.add(name)


def check_weights(weights: Mapping[str, float]) -> None:
    """Raise ``ValueError`` if the weight of a group is not positive, or is out of all proportion.

    >>> check_weights({"en": 1e300})
    Traceback (most recent call last):
    ValueError: the weight of 'en' is 1e+300; it must be from 1e-09 to 1e+09
    """
    for group, weight in weights.items():
        if not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise ValueError(f"the weight of {group!r} is {weight!r:.60}; it must be positive")
        if not 1 / _MOST_WEIGHT <= weight <= _MOST_WEIGHT:
            raise ValueError(
                f"the weight of {group!r} is {weight!r:.60}; it must be from "
                f"{1 / _MOST_WEIGHT:g} to {_MOST_WEIGHT:g}"
            )
