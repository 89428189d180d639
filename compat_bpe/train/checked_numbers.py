"""Checks of numbers that are settings."""

from __future__ import annotations


def check_integer(name: str, value: object) -> None:
    """Raise ``ValueError`` if the argument of that name is given and no integer.

    >>> check_integer("vocab_size", float("nan"))
    Traceback (most recent call last):
    ValueError: vocab_size is nan; it must be an integer
    """
    if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__")):
        raise ValueError(f"{name} is {value!r:.60}; it must be an integer")


def check_least(name: str, value: int | None, least: int) -> None:
    """Raise ``ValueError`` if the argument of that name is given and not ``least`` or more."""
    check_integer(name, value)
    if value is not None and value < least:
        raise ValueError(f"{name} is {value}; it must be {least} or more")
