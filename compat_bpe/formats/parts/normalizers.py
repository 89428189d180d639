"""The normalizers of a ``tokenizer.json``."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable
from typing import get_args

from ...pipeline.charsmap import Charsmap
from ...pipeline.normalizers.accents import StripAccents
from ...pipeline.normalizers.base import one_after_the_other
from ...pipeline.normalizers.bert import BertNormalizer
from ...pipeline.normalizers.byte_level import ByteLevel
from ...pipeline.normalizers.case import Lowercase
from ...pipeline.normalizers.forms import Form, UnicodeForm
from ...pipeline.normalizers.nmt import Nmt
from ...pipeline.normalizers.precompiled import Precompiled
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
    found = kind(part, [*_NORMALIZERS, "Sequence"], _MEMBERS)
    if found != "Sequence":
        return [_NORMALIZERS[found](part)]
    items = part["normalizers"].items(part.place)
    return [normalizer for item in items for normalizer in _normalizers(item)]


#: The members by which tokenizers knows a normalizer without a type, in its order.
_MEMBERS = {
    "BertNormalizer": {"clean_text", "handle_chinese_chars", "lowercase"},
    "Strip": {"strip_left", "strip_right"},
    "Sequence": {"normalizers"},
    "Replace": {"pattern", "content"},
    "Prepend": {"prepend"},
}


def _form(form: Form) -> Callable[[Json], Normalizer]:
    return lambda _: UnicodeForm(form)


def _strip(part: Json) -> Normalizer:
    return Strip(part["strip_left"].truth(), part["strip_right"].truth())


def _replace(part: Json) -> Normalizer:
    _, splitter = pattern(part["pattern"])
    return Replace(splitter, part["content"].text())


def _bert(part: Json) -> Normalizer:
    lowercase = part["lowercase"].truth()
    strip_accents = part.get("strip_accents")
    return BertNormalizer(
        clean_text=part["clean_text"].truth(),
        handle_chinese_chars=part["handle_chinese_chars"].truth(),
        # If it is not said, accents are stripped where letters are put in lower case.
        strip_accents=lowercase if strip_accents is None else strip_accents.truth(),
        lowercase=lowercase,
    )


def _precompiled(part: Json) -> Normalizer:
    charsmap = part["precompiled_charsmap"]
    try:
        blob = b64decode(charsmap.text().encode(), validate=True)
    except binascii.Error as error:
        charsmap.fail(f"not base64: {error}")
    try:
        return Precompiled(Charsmap(blob))
    except ValueError as error:
        charsmap.fail(str(error))


#: The reader of each type.
_NORMALIZERS: dict[str, Callable[[Json], Normalizer]] = {
    **{form: _form(form) for form in get_args(Form)},
    "Lowercase": lambda _: Lowercase(),
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": lambda part: Prepend(part["prepend"].text()),
    "BertNormalizer": _bert,
    "Bert": _bert,
    "StripAccents": lambda _: StripAccents(),
    "Nmt": lambda _: Nmt(),
    "Precompiled": _precompiled,
    "ByteLevel": lambda _: ByteLevel(),
}
