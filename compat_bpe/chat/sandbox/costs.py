"""The operators, filters, tests, methods and functions of chat templates, with their costs.

These are the ones that published chat templates use, and similar ones; any other is refused by its
name. Each cost counts the work by the size of its arguments, before it is done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from string import Formatter
from typing import Any, Callable, NoReturn

import jinja2
from jinja2.runtime import LoopContext
from jinja2.utils import Cycler, Namespace
from markupsafe import Markup

from .budget import LARGEST, Budget, TooMuch, is_number, number_of_bits

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
        TooMuch: a field has a width or the like that is not allowed, or it makes too much.
    """
    places = form.count("%")
    budget.spend(1 + places + len(form) // 256)
    if _FORM.sub("", form).count("%"):
        raise TooMuch("a '%' format has a width or precision that is not allowed")
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


#: The largest width, number of digits or the like.
WIDEST = 400

#: The longest text that is read as a number.
_LONGEST_NUMBER = 1_000

#: The cost of a filter or test: it is given the budget, the value and the arguments, and returns
#: the value that the filter is given.
Cost = Callable[..., Any]


def free(_budget: Budget, value: Any, *_: Any, **__: Any) -> Any:
    """Return a value whose filter looks only at its kind, its number of items or an end."""
    return value


def _of_text(budget: Budget, value: Any, chars: Any = None) -> str:
    text = _text(budget, value)
    budget.search(text, chars or " ", backwards=True)
    budget.spend(len(text) >> 7)
    # A letter may become three, such as "ffi" that is one.
    budget.text(len(text) if text.isascii() else 3 * len(text), text)
    return text


def _text(budget: Budget, value: Any) -> str:
    """Return a value as a text, as its filter does first."""
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
        raise TypeError("a width or precision must be an integer")
    if abs(width) > WIDEST:
        raise TooMuch(f"a width or precision of {width:,}; the largest is {WIDEST}")
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
        raise TypeError("it calculates with a value that is not a number")
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
    """Count a filter that converts each item."""
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


#: The costs of filters.
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


#: The costs of tests; "in" is counted as the operator is.
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
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


#: A method: it is given the budget, the object and the arguments.
Method = Callable[..., Any]


def _methods(cost: Callable[..., Any], *names: str) -> dict[str, Method]:
    """Return methods by their names: each is counted by a function, and called then."""

    def counted(name: str) -> Method:
        def method(budget: Budget, value: Any, /, *args: Any, **kwargs: Any) -> Any:
            cost(budget, value, *args, **kwargs)
            return getattr(value, name)(*args, **kwargs)

        return method

    return {name: counted(name) for name in names}


# The methods of texts


def _stripped(budget: Budget, text: str, chars: str | None = None, /) -> None:
    budget.search(text, chars or " ", backwards=True)
    budget.text(len(text), text)


def _changed(budget: Budget, text: str, /) -> None:
    budget.spend(len(text) >> 8)
    # A letter may become three, such as those of "ffi" in one.
    budget.text(len(text) if text.isascii() else 3 * len(text), text)


def _asked(budget: Budget, text: str, /) -> None:
    budget.search(text, " ")


def _found(
    budget: Budget, text: str, wanted: str, /, *places: int, backwards: bool = False
) -> None:
    budget.search(text, wanted, backwards)


def _begun(budget: Budget, text: str, wanted: Any, /, *places: int) -> None:
    for one in budget.items(wanted) if isinstance(wanted, tuple) else (wanted,):
        budget.search(one, " ")


def _parted(budget: Budget, text: str, separator: str, /, *, backwards: bool = False) -> None:
    budget.search(text, separator, backwards)
    budget.text(len(text), text)


def _split(
    budget: Budget,
    text: str,
    /,
    sep: str | None = None,
    maxsplit: int = -1,
    *,
    backwards: bool = False,
) -> None:
    budget.search(text, sep or " ", backwards)
    if sep is None:
        parts = 1 + len(text) // 2
    else:
        budget.search(text, sep)
        parts = 1 + (text.count(sep) if sep else 0)
    if maxsplit >= 0:
        parts = min(parts, maxsplit + 1)
    budget.text(len(text), text)
    budget.spend(parts >> 3, 80 * parts)


def _split_lines(budget: Budget, text: str, keepends: bool = False) -> None:
    budget.text(len(text), text)
    budget.spend(len(text) >> 3, 80 * len(text))


def _replacing(budget: Budget, text: str, old: str, new: str, count: int = -1, /) -> None:
    count_replaced(budget, text, old, new)


def _join(budget: Budget, text: str, values: Any, /) -> str:
    values = budget.items(values)
    budget.shown(*values)
    budget.text(len(text) * len(values), text)
    return text.join(values)


def _format(budget: Budget, text: str, /, *args: Any, **kwargs: Any) -> str:
    """Return a text with its fields filled in, which have no width or the like."""
    budget.spend(1 + len(text))
    parts: list[str] = []
    unnamed = iter(range(len(text)))
    for literal, name, form, conversion in Formatter().parse(text):
        parts.append(literal)
        if name is None:
            continue
        is_plain = name == "" or name.isidentifier() or name.isdecimal()
        if form or conversion or not is_plain or type(text) is not str:
            raise TooMuch(f"the field {{{name[:40]}}} of a format must be a plain name")
        if name == "" or name.isdecimal():
            value = args[int(name[:9]) if name else next(unnamed)]
        else:
            value = kwargs[name]
        budget.shown(value)
        parts.append(str(value))
    budget.text(sum(map(len, parts)), *parts)
    return "".join(parts)


_TEXT: dict[str, Method] = {
    **_methods(_stripped, "strip", "lstrip", "rstrip"),
    **_methods(_changed, "capitalize", "casefold", "lower", "title", "upper"),
    **_methods(_asked, "isalnum", "isalpha", "isascii", "isdecimal", "isdigit"),
    **_methods(_asked, "islower", "isnumeric", "isspace", "istitle", "isupper"),
    **_methods(_found, "count", "find", "index"),
    **_methods(partial(_found, backwards=True), "rfind", "rindex"),
    **_methods(_begun, "startswith", "endswith", "removeprefix", "removesuffix"),
    **_methods(_parted, "partition"),
    **_methods(partial(_parted, backwards=True), "rpartition"),
    **_methods(_split, "split"),
    **_methods(partial(_split, backwards=True), "rsplit"),
    **_methods(_split_lines, "splitlines"),
    **_methods(_replacing, "replace"),
    "format": _format,
    "join": _join,
}


# The methods of other values


def _got(budget: Budget, values: Any, key: Any, default: Any = None, /) -> None:
    budget.size(key)


def _viewed(budget: Budget, values: Any, /) -> None:
    pass


def _sought(budget: Budget, values: Any, wanted: Any, /, *places: int) -> None:
    count_search(budget, wanted, values)


def _called(budget: Budget, value: Any, /, *args: Any) -> None:
    budget.sizes(args)


#: The methods, by the kind of the object.
METHODS: dict[type, Mapping[str, Method]] = {
    str: _TEXT,
    Markup: _TEXT,
    dict: {**_methods(_got, "get"), **_methods(_viewed, "items", "keys", "values")},
    list: _methods(_sought, "count", "index"),
    tuple: _methods(_sought, "count", "index"),
    LoopContext: _methods(_called, "changed", "cycle"),
    Cycler: _methods(_called, "next", "reset"),
}

#: Attributes that are not methods.
ATTRIBUTES: dict[type, frozenset[str]] = {
    Cycler: frozenset(("current",)),
    LoopContext: frozenset(
        """
            depth depth0 first index index0 last length nextitem previtem revindex revindex0
        """.split()
    ),
}


#: The plain parts of the form of a date.
_DATE = re.compile("%[-]?[a-zA-Z%]")


class TemplateRefusal(jinja2.TemplateError):
    """The template itself refuses the messages."""


def make_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


class TemplateNamespace(Namespace):
    """A namespace without attributes that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *more = args  # so that a template may have a member "self"
        members = dict(*more, **kwargs)
        for name in members:
            _check_member(name)
        Namespace.__init__(self, members)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_member(name)
        super().__setitem__(name, value)

    def __repr__(self) -> str:
        return "<Namespace>"  # without its members, of which one may be itself


def _check_member(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace has no attribute {name!r}")


def raise_exception(message: Any) -> NoReturn:
    raise TemplateRefusal(str(message))


def strftime_now(form: str) -> str:
    # Without the widths that some platforms take: "%99999999d" would be that long.
    if not isinstance(form, str) or len(form) > 1_000 or _DATE.sub("", form).count("%"):
        raise jinja2.TemplateRuntimeError(
            "strftime_now accepts only a short format with plain parts, such as %d"
        )
    return date_now(form)


def date_now(form: str) -> str:
    """Return the date and the time in a form."""
    return datetime.now().strftime(form)
