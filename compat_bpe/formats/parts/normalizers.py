"""The normalizers of a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from ...pipeline.normalizers.base import one_after_the_other
from ...pipeline.normalizers.case import Lowercase
from ...pipeline.normalizers.forms import Form, UnicodeForm
from ...pipeline.normalizers.prepend import Prepend
from ...pipeline.normalizers.replace import Replace
from ...pipeline.normalizers.strip import Strip
from ..checked_json import Json
from .kind import kind, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pipeline.normalizers.base import Normalizer


def read_normalizer(part: Json | None) -> Normalizer | None:
    """Return the ``normalizer`` of a file; None if it changes nothing."""
    return None if part is None else one_after_the_other(_normalizers(part))


def _normalizers(part: Json) -> list[Normalizer]:
    found = kind(part, [*_NORMALIZERS, "Sequence"])
    if found != "Sequence":
        return [_NORMALIZERS[found](part)]
    items = part["normalizers"].items(part.place)
    return [normalizer for item in items for normalizer in _normalizers(item)]


def _form(form: Form) -> Callable[[Json], Normalizer]:
    return lambda _: UnicodeForm(form)


def _strip(part: Json) -> Normalizer:
    return Strip(part["strip_left"].truth(), part["strip_right"].truth())


def _replace(part: Json) -> Normalizer:
    _, splitter = pattern(part["pattern"])
    return Replace(splitter, part["content"].text())


#: The reader of each type.
_NORMALIZERS: dict[str, Callable[[Json], Normalizer]] = {
    **{form: _form(form) for form in get_args(Form)},
    "Lowercase": lambda _: Lowercase(),
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": lambda part: Prepend(part["prepend"].text()),
}
