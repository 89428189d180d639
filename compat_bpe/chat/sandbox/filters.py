"""The filters and tests of chat templates, each with what it costs.

These are what published chat templates use, and their likes; any other is refused by its name.
Each function here counts the work by the size of what it is given, before it is done.
"""

from __future__ import annotations

import json
from typing import Any, Callable

from .budget import Budget, TooMuch, is_number, number_of_bits
from .operators import count_comparison, count_form, count_replaced

#: The largest width, number of digits or the like.
WIDEST = 400

#: The longest text that is read as a number.
_LONGEST_NUMBER = 1_000

#: The cost of a filter or test: it is given the budget, the value and the arguments, and returns
#: the value that the filter is given.
Cost = Callable[..., Any]


def free(_budget: Budget, value: Any, *_: Any, **__: Any) -> Any:
    """Return a value of which only the kind, the number of items or an end is looked at."""
    return value


def _of_text(budget: Budget, value: Any, chars: Any = None) -> str:
    text = _text(budget, value)
    budget.search(text, chars or " ", backwards=True)
    budget.spend(len(text) >> 7)
    # A letter may become three, such as "ffi" that is one.
    budget.text(len(text) if text.isascii() else 3 * len(text), text)
    return text


def _text(budget: Budget, value: Any) -> str:
    """Return a value as a text, which is what its filter does first."""
    if isinstance(value, str):
        return value
    budget.shown(value)
    return str(value)


def _escaped(budget: Budget, value: Any) -> Any:
    text = _text(budget, value)
    budget.text(6 * len(text), text)
    return value


def _title(budget: Budget, value: Any) -> str:
    text = _text(budget, value)
    budget.spend(len(text), 100 * len(text))
    return text


def _replaced(budget: Budget, value: Any, old: Any, new: Any, count: int | None = None) -> str:
    text, old, new = (_text(budget, one) for one in (value, old, new))
    count_replaced(budget, text, old, new)
    return text


def _indented(
    budget: Budget, value: Any, width: Any = 4, first: bool = False, blank: bool = False
) -> str:
    text = _text(budget, value)
    step = _indent(width)
    lines = 1 + len(text.splitlines())
    budget.spend(lines + (len(text) >> 6), 100 * lines)
    for _ in range(2):
        budget.text(len(text) + lines * step, text, width if isinstance(width, str) else "")
    return text


def _indent(width: Any) -> int:
    step = len(width) if isinstance(width, str) else _check_width(width or 0)
    return _check_width(step)


def _check_width(width: Any) -> int:
    if not isinstance(width, int):
        raise TypeError("a width or the like must be an integer")
    if abs(width) > WIDEST:
        raise TooMuch(f"a width or the like of {width:,}; the largest is {WIDEST}")
    return width


def _read(_budget: Budget, value: Any, *args: Any, **kwargs: Any) -> Any:
    for one in (value, *args, *kwargs.values()):
        if isinstance(one, str) and len(one) > _LONGEST_NUMBER:
            raise TooMuch("it reads a number of thousands of digits")
        if isinstance(one, int):
            number_of_bits(one)
    return value


def _rounded(budget: Budget, value: Any, precision: Any = 0, method: Any = "common") -> Any:
    _check_width(precision)
    return _calculated(budget, value)


def _calculated(budget: Budget, value: Any, *args: Any) -> Any:
    if not all(map(is_number, (value, *args))):
        raise TypeError("it calculates with what is no number")
    return value


def _joined(budget: Budget, value: Any, d: Any = "", attribute: Any = None) -> Any:
    values = budget.items(value)
    _check_attribute(budget, attribute, len(values))
    text = _text(budget, d)
    budget.shown(*values)
    budget.spend(1, 100 * len(values))
    budget.text(len(text) * len(values), text)
    return values


def _each(budget: Budget, value: Any, *args: Any, **kwargs: Any) -> Any:
    """Count a filter that makes something of each item."""
    if not value:
        return value
    values = budget.items(value)
    for one in (*args, *kwargs.values()):
        _check_attribute(budget, one, len(values))
    budget.spend(1 + 2 * len(values), 16 * len(values))
    # An iterator stays one, since "length" refuses it but takes a list.
    return values if values is value else iter(values)


def _check_attribute(budget: Budget, name: Any, times: int) -> None:
    if isinstance(name, str):
        budget.spend(1 + (name.count(".") + name.count(",")) * times)
    elif isinstance(name, int):
        number_of_bits(name)


def _sorted(budget: Budget, value: Any, *args: Any, **kwargs: Any) -> Any:
    """Count a filter that compares the items with each other, also by an attribute."""
    if not value:
        return value
    values = budget.items(value)
    size = budget.size(values)
    comparisons = len(values).bit_length()
    made = 64 * size.items + 12 * size.length
    budget.spend(comparisons * (size.items + (size.length >> 10)), made)
    _each(budget, values, *args, **kwargs)
    return values if values is value else iter(values)


def _summed(budget: Budget, value: Any, attribute: Any = None, start: Any = 0) -> Any:
    _calculated(budget, start)
    return _each(budget, value, attribute)


def _formatted(budget: Budget, value: Any, *args: Any, **kwargs: Any) -> str:
    text = _text(budget, value)
    count_form(budget, text, kwargs or args)
    return text


def _as_json(
    budget: Budget,
    value: Any,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> Any:
    size = budget.size(value)
    budget.spend(size.items)
    made = size.shown
    if indent is not None:
        made += 4 * size.items * (1 + size.depth) * _indent(indent)
    for one in separators or ():
        made += 4 * size.items * len(one)
    budget.spend(1 + (made >> 12), made)
    return value


#: The filters, by what they cost.
FILTERS: dict[str, Cost] = {
    **dict.fromkeys(("count", "d", "default", "first", "last", "length"), free),
    **dict.fromkeys(("capitalize", "lower", "safe", "string", "trim", "upper"), _of_text),
    **dict.fromkeys(("e", "escape"), _escaped),
    **dict.fromkeys(("items", "list", "map", "reject", "rejectattr", "reverse"), _each),
    **dict.fromkeys(("select", "selectattr"), _each),
    **dict.fromkeys(("dictsort", "groupby", "max", "min", "sort", "unique"), _sorted),
    **dict.fromkeys(("float", "int"), _read),
    "abs": _calculated,
    "format": _formatted,
    "indent": _indented,
    "join": _joined,
    "replace": _replaced,
    "round": _rounded,
    "sum": _summed,
    "title": _title,
    "tojson": _as_json,
}


# Tests


def _compared(budget: Budget, value: Any, other: Any) -> Any:
    count_comparison(budget, value, other)
    return value


def _named(budget: Budget, value: Any) -> Any:
    budget.size(value)
    return value


def _shown(budget: Budget, value: Any) -> str:
    text = _text(budget, value)
    budget.spend(1 + (len(text) >> 8))
    return text


#: The tests, by what they cost; "in" is for itself.
TESTS: dict[str, Cost] = {
    **dict.fromkeys(("boolean", "callable", "defined", "escaped", "false", "float"), free),
    **dict.fromkeys(("integer", "iterable", "mapping", "none", "number", "sameas"), free),
    **dict.fromkeys(("sequence", "string", "true", "undefined"), free),
    **dict.fromkeys(("!=", "<", "<=", "==", ">", ">=", "eq", "equalto", "ge"), _compared),
    **dict.fromkeys(("greaterthan", "gt", "le", "lessthan", "lt", "ne"), _compared),
    **dict.fromkeys(("divisibleby", "even", "odd"), _calculated),
    **dict.fromkeys(("filter", "test"), _named),
    **dict.fromkeys(("lower", "upper"), _shown),
}


def to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Return a value as JSON, without the escapes for HTML that jinja2's own filter has."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )
