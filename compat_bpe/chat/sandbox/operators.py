"""The operators of chat templates, each with what it costs.

Each function here counts the work by the size of what it is given, before it is done.
"""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup

from .budget import LARGEST, Budget, TooMuch, is_number

#: A field in the text before "%", without a width or a precision of four digits or more.
_FORM = re.compile(r"%(\(\w+\))?[-+ #0]*\d{0,3}(\.\d{0,3})?[a-zA-Z%]")


def count_operation(budget: Budget, operator: str, left: Any, right: Any) -> None:
    """Count an operation of two values.

    Raises:
        TooMuch: it makes too much.
        TypeError: there is no such operation of them.
    """
    if isinstance(left, str):
        if operator == "+" and isinstance(right, str):
            is_safe = isinstance(left, Markup) or isinstance(right, Markup)
            budget.text((len(left) + len(right)) * (6 if is_safe else 1), left, right)
            return None
        if operator == "%":
            return count_form(budget, left, right)
    if is_number(left) and is_number(right):
        budget.spend()
        are_whole = isinstance(left, int) and isinstance(right, int)
        if operator == "**" and are_whole and left.bit_length() * max(right, 0) > LARGEST:
            raise TooMuch("it makes a number of thousands of digits")
        return None
    if operator == "+" and isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        length = len(left) + len(right)
        return budget.spend(1 + (length >> 6), 64 + 8 * length)
    if operator == "*":
        copied, times = (right, left) if isinstance(left, int) else (left, right)
        if isinstance(copied, (str, list, tuple)) and isinstance(times, int):
            length = len(copied) * max(times, 0)
            if isinstance(copied, str):
                return budget.text(length, copied)
            return budget.spend(1 + (length >> 6), 64 + 8 * length)
    kinds = f"{type(left).__name__!r} and {type(right).__name__!r}"
    raise TypeError(f"unsupported operand type(s) for {operator}: {kinds}")


def count_form(budget: Budget, form: str, values: Any) -> None:
    """Count the filling in of a text by "%".

    Raises:
        TooMuch: a field has a width or the like that is not taken, or it makes too much.
    """
    places = form.count("%")
    budget.spend(1 + places + len(form) // 256)
    if _FORM.sub("", form).count("%"):
        raise TooMuch("a format with '%' has widths or the like that are not taken")
    # Each place may show all of the values.
    made = len(form) + places * (3_000 + 6 * budget.size(values).shown)
    budget.spend(made >> 12, 4 * made)


def count_comparison(budget: Budget, left: Any, right: Any) -> None:
    """Count a comparison of two values."""
    if isinstance(left, str):
        budget.spend(1 + (min(len(left), len(right)) >> 10 if isinstance(right, str) else 0))
    else:
        # Equal parts of both are looked at.
        budget.size(left)
        if not isinstance(right, str):
            budget.size(right)


def count_search(budget: Budget, wanted: Any, values: Any) -> Any:
    """Count a search for a value among others, and return these."""
    if isinstance(values, str):
        if isinstance(wanted, str):
            budget.search(values, wanted)
        return values
    size = budget.size(wanted)
    if isinstance(values, dict):
        return values
    values = budget.items(values)
    budget.spend(1 + len(values) * (size.length >> 10))
    if not isinstance(wanted, str):
        budget.size(values)
    return values


def count_slice(budget: Budget, value: Any) -> None:
    """Count a part of a text or a list."""
    if isinstance(value, str):
        budget.text(len(value), value)
    elif isinstance(value, (list, tuple)):
        budget.spend(1 + (len(value) >> 6), 64 + 8 * len(value))
    elif not isinstance(value, range):
        raise TypeError(f"{type(value).__name__!r} object has no slices")


def count_replaced(budget: Budget, text: str, old: str, new: str) -> None:
    """Count the replacing of one text by another in a third."""
    budget.search(text, old)
    budget.search(text, old)
    length = len(text) + text.count(old) * len(new)
    budget.spend(length >> 8)
    budget.text(length, text, new)
