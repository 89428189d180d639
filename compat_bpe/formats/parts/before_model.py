"""The normalizers and pre-tokenizers of a ``tokenizer.json``; a kind is imported when needed."""

from __future__ import annotations

from collections.abc import Callable

from ..checked_json import Json
from . import part_type, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pattern.ast import Chars, Node
    from ...pipeline.normalizers.base import Normalizer
    from ...pipeline.normalizers.forms import Form
    from ...pipeline.pre_tokenizers.base import PreTokenizerStep
    from ...pipeline.pre_tokenizers.split import Behavior, Split
    from ...pipeline.pre_tokenizers.steps import Scheme


def read_normalizer(part: Json | None) -> Normalizer | None:
    """Return the ``normalizer`` of a file; None if it changes nothing."""
    if part is None:
        return None
    from ...pipeline.normalizers.base import one_after_the_other

    return one_after_the_other(_normalizer_list(part))


def _normalizer_list(part: Json) -> list[Normalizer]:
    type_name = part_type(part, [*_NORMALIZERS, "Sequence"], _MEMBERS)
    if type_name != "Sequence":
        return [_NORMALIZERS[type_name](part)]
    items = part["normalizers"].items(part.place)
    return [normalizer for item in items for normalizer in _normalizer_list(item)]


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


def _strip_accents(_: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import StripAccents

    return StripAccents()


def _nmt(_: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import Nmt

    return Nmt()


def _to_byte_alphabet(_: Json) -> Normalizer:
    from ...pipeline.normalizers.simple import ByteLevel

    return ByteLevel()


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
    "Lowercase": _lowercase,
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": _prepend,
    "BertNormalizer": _bert_normalizer,
    "Bert": _bert_normalizer,
    "StripAccents": _strip_accents,
    "Nmt": _nmt,
    "Precompiled": _precompiled,
    "ByteLevel": _to_byte_alphabet,
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
    type_name = part_type(part, [*_STEPS, "Sequence"])
    if type_name != "Sequence":
        return _STEPS[type_name](part)
    return [step for item in part["pretokenizers"].items(part.place) for step in steps(item)]


def _split_by(tree: Node, behavior: Behavior = "Isolated", *, invert: bool = False) -> Split:
    from ...pipeline.pre_tokenizers.split import Split

    return Split(tree, behavior, invert)


def _split(part: Json) -> list[PreTokenizerStep]:
    tree, _ = pattern(part["pattern"])
    return [_split_by(tree, _behavior(part["behavior"]), invert=part["invert"].truth())]


def _byte_level(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import ByteAlphabet

    byte_level_steps: list[PreTokenizerStep] = []
    if part["add_prefix_space"].truth():
        from ...pipeline.pre_tokenizers.steps import PrefixSpace

        byte_level_steps.append(PrefixSpace())
    part["trim_offsets"].truth()
    use_regex = _given(part, "use_regex")
    if use_regex is None or use_regex.truth():
        from ...pattern.oniguruma import parse_oniguruma

        byte_level_steps.append(_split_by(parse_oniguruma(BYTE_LEVEL_PATTERN)))
    return [*byte_level_steps, ByteAlphabet()]


def _digits(part: Json) -> list[PreTokenizerStep]:
    from ...pattern.ast import Chars
    from ...unicode import tables_tokenizers
    from ...unicode.properties import parse_ranges

    numeric = Chars(parse_ranges(tables_tokenizers.NUMERIC))
    return [_split_by(numeric, "Isolated" if part["individual_digits"].truth() else "Contiguous")]


def _punctuation(part: Json) -> list[PreTokenizerStep]:
    behavior = _given(part, "behavior")
    return [_split_by(_signs(), "Isolated" if behavior is None else _behavior(behavior))]


def _signs() -> Chars:
    from ...pattern.ast import Chars
    from ...unicode import tables_tokenizers
    from ...unicode.code_points import CodePoints
    from ...unicode.properties import parse_ranges

    ascii_signs = CodePoints.of("!/", ":@", "[`", "{~")
    return Chars(ascii_signs | parse_ranges(tables_tokenizers.PUNCTUATION))


def _bert(part: Json) -> list[PreTokenizerStep]:
    return [*_whitespace_split(part), _split_by(_signs())]


def _whitespace(_: Json) -> list[PreTokenizerStep]:
    from ...pattern.parser import parse

    return [_split_by(parse(r"\w+|[^\w\s]+"), "Removed", invert=True)]


def _whitespace_split(_: Json) -> list[PreTokenizerStep]:
    from ...pattern.ast import Chars
    from ...unicode.properties import white_space

    return [_split_by(Chars(white_space()), "Removed")]


def _delimiter(part: Json) -> list[PreTokenizerStep]:
    from ...pattern.ast import Chars
    from ...unicode.code_points import CodePoints

    return [_split_by(Chars(CodePoints.of(_character(part["delimiter"]))), "Removed")]


def _metaspace(part: Json) -> list[PreTokenizerStep]:
    from ...pipeline.pre_tokenizers.steps import Metaspace

    replacement = _character(part["replacement"])
    written = _given(part, "prepend_scheme")
    scheme = "always" if written is None else _scheme(written)
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
    "BertPreTokenizer": _bert,
    "Whitespace": _whitespace,
    "WhitespaceSplit": _whitespace_split,
    "CharDelimiterSplit": _delimiter,
    "Metaspace": _metaspace,
    "UnicodeScripts": _scripts,
    "FixedLength": _fixed_length,
}


def _given(part: Json, key: str) -> Json | None:
    """Return a member that may be missing, but not null."""
    return part[key] if key in part.mapping() else None


def _character(part: Json) -> str:
    if len(part.text()) != 1:
        part.fail(f"{part.text()!r} is not one character")
    return part.text()


def _scheme(part: Json) -> Scheme:
    from ...pipeline.pre_tokenizers.steps import SCHEMES

    for scheme in SCHEMES:
        if part.text() == scheme:
            return scheme
    return part.fail(f"must be one of {', '.join(SCHEMES)}, not {part.text()!r}")


def _behavior(part: Json) -> Behavior:
    from ...pipeline.pre_tokenizers.split import BEHAVIORS

    for behavior in BEHAVIORS:
        if part.text() == behavior:
            return behavior
    return part.fail(f"must be one of {', '.join(BEHAVIORS)}, not {part.text()!r}")
