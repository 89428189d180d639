"""The normalizers and pre-tokenizers of a ``tokenizer.json``; a kind is imported when needed."""

from __future__ import annotations

from collections.abc import Callable

from ...unicode.code_points import CodePoints
from ...unicode.properties import parse_ranges, white_space
from ..checked_json import Json
from . import character, flattened, one_of, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...pattern.ast import Node
    from ...pipeline.normalizers.base import Normalizer
    from ...pipeline.normalizers.forms import Form
    from ...pipeline.pre_tokenizers.base import PreTokenizerStep
    from ...pipeline.pre_tokenizers.split import Behavior, Split


def read_normalizer(part: Json | None) -> Normalizer | None:
    """Return the ``normalizer`` of a file; None if it changes nothing."""
    if part is None:
        return None
    from ...pipeline.normalizers.base import one_after_the_other

    parts = flattened(part, _NORMALIZERS, "normalizers", _MEMBERS)
    return one_after_the_other([_NORMALIZERS[type_name](item) for type_name, item in parts])


#: The members by which tokenizers knows a normalizer without a type, in its order.
_MEMBERS = {
    "BertNormalizer": {"clean_text", "handle_chinese_chars", "lowercase"},
    "Strip": {"strip_left", "strip_right"},
    "Sequence": {"normalizers"},
    "Replace": {"pattern", "content"},
    "Prepend": {"prepend"},
}


def _simple(make: Callable[[Any, Json], Normalizer]) -> Callable[[Json], Normalizer]:
    """Return the reader of a type, by a function of the module with simple normalizers."""

    def read(part: Json) -> Normalizer:
        from ...pipeline.normalizers import simple

        return make(simple, part)

    return read


def _form(form: Form) -> Callable[[Json], Normalizer]:
    def read(_: Json) -> Normalizer:
        from ...pipeline.normalizers.forms import UnicodeForm

        return UnicodeForm(form)

    return read


def _bert_normalizer(part: Json) -> Normalizer:
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


def _precompiled(part: Json) -> Normalizer:
    from base64 import b64decode

    from ...pipeline.normalizers.charsmap import Charsmap, Precompiled

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
    "Lowercase": _simple(lambda kinds, _: kinds.Lowercase()),
    "Strip": _simple(
        lambda kinds, part: kinds.Strip(part["strip_left"].truth(), part["strip_right"].truth())
    ),
    "Replace": _simple(
        lambda kinds, part: kinds.Replace(pattern(part["pattern"])[1], part["content"].text())
    ),
    "Prepend": _simple(lambda kinds, part: kinds.Prepend(part["prepend"].text())),
    "BertNormalizer": _bert_normalizer,
    "Bert": _bert_normalizer,
    "StripAccents": _simple(lambda kinds, _: kinds.StripAccents()),
    "Nmt": _simple(lambda kinds, _: kinds.Nmt()),
    "Precompiled": _precompiled,
    "ByteLevel": _simple(lambda kinds, _: kinds.ByteLevel()),
}


#: GPT-2's pattern, by which ``ByteLevel`` splits.
BYTE_LEVEL_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def joined_steps(part: Json | None) -> list[PreTokenizerStep]:
    """Return the steps of a ``pre_tokenizer``, joined already if it is one that ships."""
    if part is None:
        return []
    from ...pipeline.pre_tokenizers.splitter import prepared_steps

    try:
        written = repr(part.value)
    except RecursionError:  # PyPy reads JSON that is nested more deeply than it can be written
        part.fail("it is nested too deeply")
    prepared = prepared_steps(written, lambda: steps(part))
    return steps(part) if prepared is None else prepared


def steps(part: Json | None) -> list[PreTokenizerStep]:
    """Return the steps of a ``pre_tokenizer``."""
    if part is None:
        return []
    parts = flattened(part, _STEPS, "pretokenizers")
    return [step for type_name, item in parts for step in _STEPS[type_name](item)]


def _split_by(tree: Node, behavior: Behavior = "Isolated", *, invert: bool = False) -> Split:
    from ...pipeline.pre_tokenizers.split import Split

    return Split(tree, behavior, invert)


def _split_at(points: CodePoints, behavior: Behavior = "Isolated") -> Split:
    from ...pattern.ast import Chars

    return _split_by(Chars(points), behavior)


def _split(part: Json) -> list[PreTokenizerStep]:
    tree, _ = pattern(part["pattern"])
    return [_split_by(tree, _behavior(part["behavior"]), invert=part["invert"].truth())]


def _behavior(part: Json) -> Behavior:
    from ...pipeline.pre_tokenizers.split import BEHAVIORS

    return one_of(part, BEHAVIORS)


def _byte_level(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import ByteAlphabet, PrefixSpace

    byte_level_steps: list[PreTokenizerStep] = []
    if part["add_prefix_space"].truth():
        byte_level_steps.append(PrefixSpace())
    part["trim_offsets"].truth()
    use_regex = _given(part, "use_regex")
    if use_regex is None or use_regex.truth():
        from ...pattern.oniguruma import parse_oniguruma

        byte_level_steps.append(_split_by(parse_oniguruma(BYTE_LEVEL_PATTERN)))
    return [*byte_level_steps, ByteAlphabet()]


def _digits(part: Json) -> list[PreTokenizerStep]:
    from ...unicode.tables_tokenizers import NUMERIC

    is_each = part["individual_digits"].truth()
    return [_split_at(parse_ranges(NUMERIC), "Isolated" if is_each else "Contiguous")]


def _punctuation(part: Json) -> list[PreTokenizerStep]:
    behavior = _given(part, "behavior")
    return [_split_at(_signs(), "Isolated" if behavior is None else _behavior(behavior))]


def _signs() -> CodePoints:
    from ...unicode.tables_tokenizers import PUNCTUATION

    return CodePoints.of("!/", ":@", "[`", "{~") | parse_ranges(PUNCTUATION)


def _whitespace(_: Json) -> list[PreTokenizerStep]:
    from ...pattern.parser import parse

    return [_split_by(parse(r"\w+|[^\w\s]+"), "Removed", invert=True)]


def _metaspace(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import SCHEMES, Metaspace

    replacement = character(part["replacement"])
    written = _given(part, "prepend_scheme")
    scheme = "always" if written is None else one_of(written, SCHEMES)
    adds = part.get("add_prefix_space")
    if adds is not None and not adds.truth() and scheme != "never":
        adds.fail('is false, so "prepend_scheme" must be "never"')
    split = part.get("split")
    return [Metaspace(replacement, scheme, split is None or split.truth())]


def _scripts(_: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import UnicodeScripts

    return [UnicodeScripts()]


def _fixed_length(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import FixedLength

    length = _given(part, "length")
    if length is None:
        return [FixedLength(5)]
    if length.number() < 1:
        length.fail(f"must be at least 1, not {length.number()}")
    return [FixedLength(length.number())]


_STEPS: dict[str, Callable[[Json], list[PreTokenizerStep]]] = {
    "Split": _split,
    "ByteLevel": _byte_level,
    "Digits": _digits,
    "Punctuation": _punctuation,
    "BertPreTokenizer": lambda _: [_split_at(white_space(), "Removed"), _split_at(_signs())],
    "Whitespace": _whitespace,
    "WhitespaceSplit": lambda _: [_split_at(white_space(), "Removed")],
    "CharDelimiterSplit": lambda part: [
        _split_at(CodePoints.of(character(part["delimiter"])), "Removed")
    ],
    "Metaspace": _metaspace,
    "UnicodeScripts": _scripts,
    "FixedLength": _fixed_length,
}


def _given(part: Json, key: str) -> Json | None:
    """Return a member that may be missing, but not null."""
    return part[key] if key in part.mapping() else None
