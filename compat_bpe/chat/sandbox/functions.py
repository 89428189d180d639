"""The functions that a chat template may call, as transformers has them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2.utils import Namespace

#: The plain parts of the form of a date.
_DATE = re.compile("%[-]?[a-zA-Z%]")


class TemplateRefusal(jinja2.TemplateError):
    """The template itself says that it does not take the messages."""


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
            "strftime_now takes a short text with plain parts, like %d"
        )
    return date_now(form)


def date_now(form: str) -> str:
    """Return the date and the time in a form."""
    return datetime.now().strftime(form)
