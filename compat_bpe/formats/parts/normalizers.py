"""The normalizers of a ``tokenizer.json``; a kind is imported once a file has it."""

from __future__ import annotations

from collections.abc import Callable

from ..checked_json import Json
from .kind import kind, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pipeline.normalizers.base import Normalizer
    from ...pipeline.normalizers.forms import Form


def read_normalizer(part: Json | None) -> Normalizer | None:
    """Return the ``normalizer`` of a file; None if it changes nothing."""
    if part is None:
        return None
    from ...pipeline.normalizers.base import one_after_the_other

    return one_after_the_other(_normalizers(part))


def _normalizers(part: Json) -> list[Normalizer]:
    type_name = kind(part, [*_NORMALIZERS, "Sequence"], _MEMBERS)
    if type_name != "Sequence":
        return [_NORMALIZERS[type_name](part)]
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
    def read(_: Json) -> Normalizer:
        from ...pipeline.normalizers.forms import UnicodeForm

        return UnicodeForm(form)

    return read


def _lowercase(_: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import Lowercase

    return Lowercase()


def _strip(part: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import Strip

    return Strip(part["strip_left"].truth(), part["strip_right"].truth())


def _prepend(part: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import Prepend

    return Prepend(part["prepend"].text())


def _replace(part: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import Replace

    _, splitter = pattern(part["pattern"])
    return Replace(splitter, part["content"].text())


def _bert(part: Json) -> Normalizer:
    from ...pipeline.normalizers.bert import BertNormalizer

    lowercase = part["lowercase"].truth()
    strip_accents = part.get("strip_accents")
    return BertNormalizer(
        clean_text=part["clean_text"].truth(),
        handle_chinese_chars=part["handle_chinese_chars"].truth(),
        # If it is not said, accents are stripped where letters are put in lower case.
        strip_accents=lowercase if strip_accents is None else strip_accents.truth(),
        lowercase=lowercase,
    )


def _strip_accents(_: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import StripAccents

    return StripAccents()


def _nmt(_: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import Nmt

    return Nmt()


def _byte_level(_: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import ByteLevel

    return ByteLevel()


def _precompiled(part: Json) -> Normalizer:
    from base64 import b64decode

    from ...pipeline.normalizers.charsmap import Charsmap
    from ...pipeline.normalizers.precompiled import Precompiled

    charsmap = part["precompiled_charsmap"]
    try:
        blob = b64decode(charsmap.text().encode(), validate=True)
    except ValueError as error:
        charsmap.fail(f"not base64: {error}")
    try:
        return Precompiled(Charsmap(blob))
    except ValueError as error:
        charsmap.fail(str(error))


#: The reader of each type.
_NORMALIZERS: dict[str, Callable[[Json], Normalizer]] = {
    "NFC": _form("NFC"),
    "NFD": _form("NFD"),
    "NFKC": _form("NFKC"),
    "NFKD": _form("NFKD"),
    "Lowercase": _lowercase,
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": _prepend,
    "BertNormalizer": _bert,
    "Bert": _bert,
    "StripAccents": _strip_accents,
    "Nmt": _nmt,
    "Precompiled": _precompiled,
    "ByteLevel": _byte_level,
}
