"""The methods that a chat template may call, each with what it costs.

These are what published chat templates call, and their likes. Each function here counts the work
by the size of what it is given, before it is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any, Callable

from jinja2.runtime import LoopContext
from jinja2.utils import Cycler
from markupsafe import Markup

from .budget import Budget, TooMuch
from .operators import count_replaced, count_search

#: A method: it is given the budget, the object and the arguments.
Method = Callable[..., Any]


# The methods of texts


def _stripping(name: str) -> Method:
    def strip(budget: Budget, text: str, chars: str | None = None, /) -> str:
        budget.search(text, chars or " ", backwards=True)
        budget.text(len(text), text)
        return getattr(text, name)(chars)  # type: ignore[no-any-return]

    return strip


def _changing(name: str) -> Method:
    def change(budget: Budget, text: str, /) -> str:
        budget.spend(len(text) >> 8)
        # A letter may become three, such as those of "ffi" in one.
        budget.text(len(text) if text.isascii() else 3 * len(text), text)
        return getattr(text, name)()  # type: ignore[no-any-return]

    return change


def _asking(name: str) -> Method:
    def ask(budget: Budget, text: str, /) -> bool:
        budget.search(text, " ")
        return getattr(text, name)()  # type: ignore[no-any-return]

    return ask


def _finding(name: str) -> Method:
    backwards = name.startswith("r")

    def find(budget: Budget, text: str, wanted: str, /, *places: int) -> int:
        budget.search(text, wanted, backwards)
        return getattr(text, name)(wanted, *places)  # type: ignore[no-any-return]

    return find


def _beginning(name: str) -> Method:
    def begins(budget: Budget, text: str, wanted: Any, /, *places: int) -> bool:
        for one in budget.items(wanted) if isinstance(wanted, tuple) else (wanted,):
            budget.search(one, " ")
        return getattr(text, name)(wanted, *places)  # type: ignore[no-any-return]

    return begins


def _parting(name: str) -> Method:
    def part(budget: Budget, text: str, separator: str, /) -> tuple[str, str, str]:
        budget.search(text, separator, name.startswith("r"))
        budget.text(len(text), text)
        return getattr(text, name)(separator)  # type: ignore[no-any-return]

    return part


def _splitting(name: str) -> Method:
    def split(budget: Budget, text: str, sep: str | None = None, maxsplit: int = -1) -> list[str]:
        budget.search(text, sep or " ", name.startswith("r"))
        if sep is None:
            parts = 1 + len(text) // 2
        else:
            budget.search(text, sep)
            parts = 1 + (text.count(sep) if sep else 0)
        if maxsplit >= 0:
            parts = min(parts, maxsplit + 1)
        budget.text(len(text), text)
        budget.spend(parts >> 3, 80 * parts)
        return getattr(text, name)(sep, maxsplit)  # type: ignore[no-any-return]

    return split


def _splitlines(budget: Budget, text: str, keepends: bool = False) -> list[str]:
    budget.text(len(text), text)
    budget.spend(len(text) >> 3, 80 * len(text))
    return text.splitlines(keepends)


def _replace(budget: Budget, text: str, old: str, new: str, count: int = -1, /) -> str:
    count_replaced(budget, text, old, new)
    return text.replace(old, new, count)


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
            raise TooMuch(f"the field {{{name[:40]}}} of a format is more than a name")
        if name == "" or name.isdecimal():
            value = args[int(name[:9]) if name else next(unnamed)]
        else:
            value = kwargs[name]
        budget.shown(value)
        parts.append(str(value))
    budget.text(sum(map(len, parts)), *parts)
    return "".join(parts)


_TEXT: dict[str, Method] = {
    **{name: _stripping(name) for name in ("strip", "lstrip", "rstrip")},
    **{name: _changing(name) for name in ("capitalize", "casefold", "lower", "title", "upper")},
    **{name: _asking(name) for name in ("isalnum", "isalpha", "isascii", "isdecimal", "isdigit")},
    **{name: _asking(name) for name in ("islower", "isnumeric", "isspace", "istitle", "isupper")},
    **{name: _finding(name) for name in ("count", "find", "index", "rfind", "rindex")},
    **{name: _beginning(name) for name in ("startswith", "endswith")},
    **{name: _beginning(name) for name in ("removeprefix", "removesuffix")},
    **{name: _parting(name) for name in ("partition", "rpartition")},
    **{name: _splitting(name) for name in ("split", "rsplit")},
    "format": _format,
    "join": _join,
    "replace": _replace,
    "splitlines": _splitlines,
}


# The methods of other values


def _get(budget: Budget, values: Any, key: Any, default: Any = None, /) -> Any:
    budget.size(key)
    return values.get(key, default)


def _viewing(name: str) -> Method:
    return lambda budget, values, /: getattr(values, name)()


def _seeking(name: str) -> Method:
    def seek(budget: Budget, values: Any, wanted: Any, /, *places: int) -> int:
        count_search(budget, wanted, values)
        return getattr(values, name)(wanted, *places)  # type: ignore[no-any-return]

    return seek


def _calling(name: str) -> Method:
    def call(budget: Budget, value: Any, /, *args: Any) -> Any:
        budget.sizes(args)
        return getattr(value, name)(*args)

    return call


_LIST = {name: _seeking(name) for name in ("count", "index")}

#: The methods, by the kind of the object.
METHODS: dict[type, Mapping[str, Method]] = {
    str: _TEXT,
    Markup: _TEXT,
    dict: {"get": _get, **{name: _viewing(name) for name in ("items", "keys", "values")}},
    list: _LIST,
    tuple: _LIST,
    LoopContext: {name: _calling(name) for name in ("changed", "cycle")},
    Cycler: {name: _calling(name) for name in ("next", "reset")},
}

#: Attributes that are no methods.
ATTRIBUTES: dict[type, frozenset[str]] = {
    Cycler: frozenset(("current",)),
    LoopContext: frozenset(
        (
            *("depth", "depth0", "first", "index", "index0", "last", "length", "nextitem"),
            *("previtem", "revindex", "revindex0"),
        )
    ),
}
