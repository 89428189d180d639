"""The parts of a ``tokenizer.json`` around its model, read; truncation and padding also written.

Each reader gets a part as in the file and returns the stage of the pipeline that it describes. The
module of a kind is imported on demand, unless every file needs it. A part that is not supported
raises a ``ValueError`` that names it. The names and their meaning are those of Hugging Face
tokenizers 0.23.3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from math import prod
from types import MappingProxyType

from ..pattern import GPT2
from ..pipeline import processors
from ..pipeline.decoders import steps
from ..pipeline.tokenized import Padding, Truncation
from ..unicode.properties import CodePoints, parse_ranges, white_space
from .checked_json import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ..pattern.splitter import Splitter
    from ..pattern.tree import Node
    from ..pipeline.decoders.steps import DecoderStep
    from ..pipeline.normalizers.base import Normalizer
    from ..pipeline.normalizers.forms import Form
    from ..pipeline.pre_tokenizers.base import PreTokenizerStep
    from ..pipeline.pre_tokenizers.split import Behavior, Split
    from ..pipeline.processors import Piece, Processor, Special

    T = TypeVar("T", bound=str)


#: The deepest nesting of sequences, each of which is a recursive call.
_DEEPEST = 50
#: The most objects in a part, each of which may be a step with a pattern of its own.
_MOST_OBJECTS = 1 << 12
_NONE: Mapping[str, Collection[str]] = MappingProxyType({})


def check_size(part: Json) -> None:
    """Refuse a part of thousands of steps, which would take minutes to read.

    Raises:
        ValueError: the part has more than ``_MOST_OBJECTS`` objects.
    """
    left, objects = [part.value], 0
    while left:
        value = left.pop()
        if isinstance(value, dict):
            objects += 1
            left += value.values()
        elif isinstance(value, list):
            left += value
    if objects > _MOST_OBJECTS:
        part.fail(f"has {objects} objects, more than {_MOST_OBJECTS}")


def part_type(
    part: Json, known: Collection[str], members_of: Mapping[str, Collection[str]] = _NONE
) -> str:
    """Return the type of a part.

    Args:
        part: the part.
        known: all types.
        members_of: the members by which tokenizers recognises a type if a part does not name a
            known type, in its order.

    Raises:
        ValueError: the type is not one of ``known``, or the part is nested too deeply.
    """
    if part.place.count("[") > _DEEPEST:
        part.fail("nested too deeply")
    members = part.mapping()
    type_name = members.get("type")
    if not isinstance(type_name, str) or type_name not in known:
        for name, needed in members_of.items():
            if members.keys() >= set(needed):
                return name
    type_name = part["type"].text()
    if type_name not in known:
        part.fail(f"{type_name} is not supported (only {', '.join(known)})")
    return type_name


def flattened(
    part: Json,
    known: Collection[str],
    key: str,
    members_of: Mapping[str, Collection[str]] = _NONE,
) -> Iterator[tuple[str, Json]]:
    """Yield the single parts of a part and their types; nested sequences are flattened.

    Args:
        part: the part.
        known, members_of: as in ``part_type``, ``"Sequence"`` aside.
        key: the member of a sequence that has its parts.
    """
    type_name = part_type(part, [*known, "Sequence"], members_of)
    if type_name != "Sequence":
        yield type_name, part
    else:
        for item in part[key].items(part.place):
            yield from flattened(item, known, key, members_of)


def character(part: Json) -> str:
    """Return a text of one character."""
    if len(part.text()) != 1:
        part.fail(f"must be one character, not {part.text()!r}")
    return part.text()


def one_of(part: Json, names: Collection[T]) -> T:
    """Return the name in a part, which must be one of some names."""
    for name in names:
        if part.text() == name:
            return name
    return part.fail(f"must be one of {', '.join(map(str, names))}, not {part.text()!r}")


def pattern(part: Json) -> tuple[Node, Splitter]:
    """Return a pattern ``{"Regex": …}`` or ``{"String": …}``, parsed and compiled.

    It is compiled even if the steps are joined later, so that the error for a wrong pattern names
    its place.
    """
    from ..pattern.oniguruma import parse_oniguruma
    from ..pattern.parser import check_length, check_limits
    from ..pattern.splitter import Splitter
    from ..pattern.tree import Chars, PatternError, Sequence

    members = part.mapping()
    if len(members) != 1 or not members.keys() <= {"Regex", "String"}:
        part.fail('must be {"Regex": "..."} or {"String": "..."}')
    (member,) = members
    text = part[member].text()
    try:
        if member == "Regex":
            tree = parse_oniguruma(text)
        else:
            check_length(text)
            tree = Sequence(tuple(Chars(CodePoints.of(char)) for char in text))
            check_limits(tree, text)
        return tree, Splitter.of_tree(tree, text)
    except PatternError as error:
        part[member].fail(str(error))


def read_normalizer(part: Json | None) -> Normalizer | None:
    """Return the ``normalizer`` of a file; None if it changes nothing."""
    if part is None:
        return None
    from ..pipeline.normalizers.base import one_after_the_other

    parts = flattened(part, _NORMALIZERS, "normalizers", _NORMALIZER_MEMBERS)
    return one_after_the_other([_NORMALIZERS[type_name](item) for type_name, item in parts])


#: The members by which tokenizers recognises a normalizer without a type, in its order.
_NORMALIZER_MEMBERS = {
    "BertNormalizer": {"clean_text", "handle_chinese_chars", "lowercase"},
    "Strip": {"strip_left", "strip_right"},
    "Sequence": {"normalizers"},
    "Replace": {"pattern", "content"},
    "Prepend": {"prepend"},
}


def _simple(make: Callable[[Any, Json], Normalizer]) -> Callable[[Json], Normalizer]:
    """Return the reader of a type, by a function of the module with simple normalizers."""

    def read(part: Json) -> Normalizer:
        from ..pipeline.normalizers import simple

        return make(simple, part)

    return read


def _form(form: Form) -> Callable[[Json], Normalizer]:
    def read(_: Json) -> Normalizer:
        from ..pipeline.normalizers.forms import UnicodeForm

        return UnicodeForm(form)

    return read


def _bert_normalizer(part: Json) -> Normalizer:
    from ..pipeline.normalizers.bert import BertNormalizer

    lowercase = part["lowercase"].truth()
    strip_accents = part.get("strip_accents")
    return BertNormalizer(
        clean_text=part["clean_text"].truth(),
        handle_chinese_chars=part["handle_chinese_chars"].truth(),
        # By default, accents are stripped where letters are put in lower case.
        strip_accents=lowercase if strip_accents is None else strip_accents.truth(),
        lowercase=lowercase,
    )


def _precompiled(part: Json) -> Normalizer:
    from base64 import b64decode

    from ..pipeline.normalizers.charsmap import Charsmap, Precompiled

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


def joined_steps(part: Json | None) -> list[PreTokenizerStep]:
    """Return the steps of a ``pre_tokenizer``; those of a shipped one are joined already."""
    if part is None:
        return []
    from ..pipeline.pre_tokenizers.splitter import prepared_steps

    try:
        written = repr(part.value)
    except RecursionError:  # PyPy reads JSON that is nested more deeply than it can be written
        part.fail("it is nested too deeply")
    prepared = prepared_steps(written, lambda: read_steps(part))
    return read_steps(part) if prepared is None else prepared


def read_steps(part: Json) -> list[PreTokenizerStep]:
    """Return the single steps of a ``pre_tokenizer``, as in the file."""
    parts = flattened(part, _STEPS, "pretokenizers")
    return [step for type_name, item in parts for step in _STEPS[type_name](item)]


def _split_by(tree: Node, behavior: Behavior = "Isolated", *, invert: bool = False) -> Split:
    from ..pipeline.pre_tokenizers.split import Split

    return Split(tree, behavior, invert)


def _split_at(points: CodePoints, behavior: Behavior = "Isolated") -> Split:
    from ..pattern.tree import Chars

    return _split_by(Chars(points), behavior)


def _split(part: Json) -> list[PreTokenizerStep]:
    tree, _ = pattern(part["pattern"])
    return [_split_by(tree, _behavior(part["behavior"]), invert=part["invert"].truth())]


def _behavior(part: Json) -> Behavior:
    from ..pipeline.pre_tokenizers.split import BEHAVIORS

    return one_of(part, BEHAVIORS)


def _byte_level(part: Json) -> list[PreTokenizerStep]:
    from ..pipeline.pre_tokenizers.steps import ByteAlphabet, PrefixSpace

    byte_level_steps: list[PreTokenizerStep] = []
    if part["add_prefix_space"].truth():
        byte_level_steps.append(PrefixSpace())
    part["trim_offsets"].truth()
    use_regex = _optional(part, "use_regex")
    if use_regex is None or use_regex.truth():
        from ..pattern.oniguruma import parse_oniguruma

        byte_level_steps.append(_split_by(parse_oniguruma(GPT2)))
    return [*byte_level_steps, ByteAlphabet()]


def _digits(part: Json) -> list[PreTokenizerStep]:
    from ..unicode.tables_tokenizers import NUMERIC

    is_each = part["individual_digits"].truth()
    return [_split_at(parse_ranges(NUMERIC), "Isolated" if is_each else "Contiguous")]


def _punctuation(part: Json) -> list[PreTokenizerStep]:
    behavior = _optional(part, "behavior")
    return [_split_at(_signs(), "Isolated" if behavior is None else _behavior(behavior))]


def _signs() -> CodePoints:
    from ..unicode.tables_tokenizers import PUNCTUATION

    return CodePoints.of("!/", ":@", "[`", "{~") | parse_ranges(PUNCTUATION)


def _whitespace(_: Json) -> list[PreTokenizerStep]:
    from ..pattern.parser import parse

    return [_split_by(parse(r"\w+|[^\w\s]+"), "Removed", invert=True)]


def _metaspace(part: Json) -> list[PreTokenizerStep]:
    from ..pipeline.pre_tokenizers.steps import SCHEMES, Metaspace

    replacement = character(part["replacement"])
    written = _optional(part, "prepend_scheme")
    scheme = "always" if written is None else one_of(written, SCHEMES)
    adds = part.get("add_prefix_space")
    if adds is not None and not adds.truth() and scheme != "never":
        adds.fail('is false, so "prepend_scheme" must be "never"')
    split = part.get("split")
    return [Metaspace(replacement, scheme, split is None or split.truth())]


def _scripts(_: Json) -> list[PreTokenizerStep]:
    from ..pipeline.pre_tokenizers.steps import UnicodeScripts

    return [UnicodeScripts()]


def _fixed_length(part: Json) -> list[PreTokenizerStep]:
    from ..pipeline.pre_tokenizers.steps import FixedLength

    length = _optional(part, "length")
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


def _optional(part: Json, key: str) -> Json | None:
    """Return a member that may be missing, but not null."""
    return part[key] if key in part.mapping() else None


def read_post_processor(part: Json | None) -> Processor | None:
    """Return the ``post_processor`` of a file; None if there is none.

    Raises:
        ValueError: it is wrong.
    """
    return None if part is None else _read_processor(part)


#: The members by which tokenizers recognises a post-processor without a type.
_PROCESSOR_MEMBERS = {
    "BertProcessing": {"sep", "cls"},
    "TemplateProcessing": {"single", "pair", "special_tokens"},
}


def _read_processor(part: Json) -> Processor:
    return _PROCESSORS[part_type(part, _PROCESSORS, _PROCESSOR_MEMBERS)](part)


def _bert(part: Json) -> Processor:
    """Return BERT's or RoBERTa's post-processor; as in tokenizers, its members decide which."""
    cls, sep = (_special_token(part[name]) for name in ("cls", "sep"))
    trims, adds = map(part.mapping().get, ("trim_offsets", "add_prefix_space"))
    if isinstance(trims, bool) and isinstance(adds, bool):
        return processors.RobertaProcessing(cls, sep, trims, adds)
    return processors.BertProcessing(cls, sep)


def _special_token(part: Json) -> Special:
    items = list(part.items())
    if len(items) != 2:
        part.fail("must be a token and its id")
    return processors.Special(items[0].text(), _id(items[1]))


def _template(part: Json) -> Processor:
    tokens = part["special_tokens"]
    special = {}
    for name in tokens.mapping():
        ids = [_id(item) for item in tokens[name]["ids"].items()]
        texts = [item.text() for item in tokens[name]["tokens"].items()]
        special[name] = processors.TemplateTokens(ids, texts)
    single, pair = ([_piece(item) for item in part[name].items()] for name in ("single", "pair"))
    for name, template in (("single", single), ("pair", pair)):
        if len(template) > _MOST_PIECES:
            part[name].fail(f"has {len(template)} pieces, more than {_MOST_PIECES}")
    processor = processors.TemplateProcessing(single, pair, special, f"{part.source}: {part.place}")
    if max(processor.added(is_pair=False), processor.added(is_pair=True)) > _MOST_ADDED:
        part.fail(f"adds more than {_MOST_ADDED} tokens")
    return processor


_NUMBERS = {"A": 0, "B": 1}
#: The most pieces of a template, each of which may be a text, and the most tokens that it adds.
_MOST_PIECES, _MOST_ADDED = 1 << 10, 1 << 16


def _piece(part: Json) -> Piece:
    members = part.mapping()
    if len(members) != 1:
        part.fail("must be a Sequence or a SpecialToken")
    (member,) = members
    name = part[member]["id"].text()
    type_id = _id(part[member]["type_id"])
    if member == "SpecialToken":
        return processors.SpecialPiece(name, type_id)
    if member != "Sequence":
        part.fail(f"must be a Sequence or a SpecialToken, not {member}")
    if name not in _NUMBERS:
        part[member]["id"].fail(f"must be A or B, not {name!r}")
    return processors.TextPiece(_NUMBERS[name], type_id)


#: The reader of each type.
_PROCESSORS: dict[str, Callable[[Json], Processor]] = {
    "BertProcessing": _bert,
    "ByteLevel": lambda part: processors.ByteLevelOffsets(
        part["trim_offsets"].truth(), part["add_prefix_space"].truth()
    ),
    "RobertaProcessing": _bert,
    "Sequence": lambda part: processors.ProcessorSequence(
        [_read_processor(item) for item in part["processors"].items(part.place)]
    ),
    "TemplateProcessing": _template,
}


def read_decoder(part: Json | None) -> list[DecoderStep]:
    """Return the steps of a file's ``decoder``; without one, pieces are joined by spaces.

    Raises:
        ValueError: it is wrong.
    """
    if part is None:
        return [steps.Spaced()]
    parts = list(flattened(part, _DECODERS, "decoders", _DECODER_MEMBERS))
    read = [_DECODERS[type_name](item) for type_name, item in parts]
    # Refuse decoders that could make a short piece so long that it takes all memory.
    written = [item["content"].text() for type_name, item in parts if type_name == "Replace"]
    most = prod(max(1, len(text)) for text in written)
    if most > _MOST_OF_ONE:
        part.fail(f"the decoders may turn a character into {most}, more than {_MOST_OF_ONE}")
    return read


#: The most characters that decoders may make from one: a Replace makes at most its content.
_MOST_OF_ONE = 1 << 12

#: The members by which tokenizers recognises a decoder without a type, in its order.
_DECODER_MEMBERS = {
    "BPEDecoder": {"suffix"},
    "WordPiece": {"prefix", "cleanup"},
    "CTC": {"pad_token", "word_delimiter_token", "cleanup"},
    "Replace": {"pattern", "content"},
    "Strip": {"content", "start", "stop"},
}


def _metaspace_decoder(part: Json) -> DecoderStep:
    scheme = part.get("prepend_scheme")
    name = "always" if scheme is None else scheme.text()
    if scheme is not None and name not in ("always", "first", "never"):
        scheme.fail(f"must be always, first or never, not {name!r}")
    old = part.get("add_prefix_space")
    if old is not None and not old.truth() and name != "never":
        old.fail("is false, but prepend_scheme is not 'never'")
    return steps.Metaspace(character(part["replacement"]), drop_first=name != "never")


def _replace(part: Json) -> DecoderStep:
    from ..pipeline.normalizers.simple import Replace

    return steps.Replace(Replace(pattern(part["pattern"])[1], part["content"].text()))


def _decoder_count(part: Json) -> int:
    if part.number() < 0:
        part.fail("must be 0 or more")
    return part.number()


#: The reader of each type.
_DECODERS: dict[str, Callable[[Json], DecoderStep]] = {
    "BPEDecoder": lambda part: steps.EndOfWord(part["suffix"].text()),
    "ByteFallback": lambda _: steps.ByteFallback(),
    "ByteLevel": lambda _: steps.ByteLevel(),
    "CTC": lambda part: steps.CTC(
        part["pad_token"].text(), part["word_delimiter_token"].text(), part["cleanup"].truth()
    ),
    "Fuse": lambda _: steps.Fuse(),
    "Metaspace": _metaspace_decoder,
    "Replace": _replace,
    "Strip": lambda part: steps.Strip(
        character(part["content"]), _decoder_count(part["start"]), _decoder_count(part["stop"])
    ),
    "WordPiece": lambda part: steps.WordPiece(part["prefix"].text(), part["cleanup"].truth()),
}


_STRATEGIES = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
_DIRECTIONS = {"Right": "right", "Left": "left"}


def read_truncation(part: Json) -> Truncation:
    """Return the ``truncation`` of a file.

    Raises:
        ValueError: it is wrong.
    """
    # Files of old versions have no direction.
    has_direction = "direction" in part.mapping()
    return Truncation(
        _count(part["max_length"]),
        _count(part["stride"]),
        _STRATEGIES[one_of(part["strategy"], _STRATEGIES)],
        _DIRECTIONS[one_of(part["direction"], _DIRECTIONS)] if has_direction else "right",
    )


def read_padding(part: Json) -> Padding:
    """Return the ``padding`` of a file.

    Raises:
        ValueError: it is wrong.
    """
    strategy = part["strategy"]
    length = None
    if strategy.value != "BatchLongest":
        if not isinstance(strategy.value, dict) or list(strategy.value) != ["Fixed"]:
            strategy.fail('must be "BatchLongest" or {"Fixed": length}')
        length = _count(strategy["Fixed"])
    multiple = part.get("pad_to_multiple_of")
    return Padding(
        length,
        _DIRECTIONS[one_of(part["direction"], _DIRECTIONS)],
        _id(part["pad_id"]),
        _id(part["pad_type_id"]),
        part["pad_token"].text(),
        None if multiple is None else _count(multiple),
    )


def truncation_part(truncation: Truncation) -> dict[str, Any]:
    """Return a truncation as in a file."""
    return {
        "direction": _written(truncation.direction, _DIRECTIONS),
        "max_length": truncation.max_length,
        "strategy": _written(truncation.strategy, _STRATEGIES),
        "stride": truncation.stride,
    }


def padding_part(padding: Padding) -> dict[str, Any]:
    """Return a padding as in a file."""
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": _written(padding.direction, _DIRECTIONS),
        "pad_to_multiple_of": padding.pad_to_multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.pad_type_id,
        "pad_token": padding.pad_token,
    }


def _id(part: Json) -> int:
    """Return an id, or the type of a token."""
    return _count(part, 1 << 32)


def _count(part: Json, end: int = 1 << 64) -> int:
    number = part.number()
    if not 0 <= number < end:
        part.fail(f"{number} is not from 0 to {end - 1}")
    return number


def _written(name: str, names: Mapping[str, str]) -> str:
    return next(written for written, known in names.items() if known == name)
