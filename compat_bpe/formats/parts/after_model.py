"""Post-processors, decoders, truncation and padding of a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from ...pipeline import processors
from ...pipeline.decoders import steps
from ...pipeline.tokenized import Padding, Truncation
from ..checked_json import Json
from . import character, flattened, one_of, part_type, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...pipeline.decoders.steps import DecoderStep
    from ...pipeline.processors import Piece, Processor, Special


def read_post_processor(part: Json | None) -> Processor | None:
    """Return the ``post_processor`` of a file; None if there is none.

    Raises:
        ValueError: it is wrong.
    """
    return None if part is None else _read(part)


#: The members by which tokenizers knows a post-processor without a type.
_PROCESSOR_MEMBERS = {
    "BertProcessing": {"sep", "cls"},
    "TemplateProcessing": {"single", "pair", "special_tokens"},
}


def _read(part: Json) -> Processor:
    return _PROCESSORS[part_type(part, _PROCESSORS, _PROCESSOR_MEMBERS)](part)


def _bert(part: Json) -> Processor:
    """Return BERT's or RoBERTa's: their members decide, and not the type, as in tokenizers."""
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


def _id(part: Json) -> int:
    """Return an id, or the type of a token: an unsigned 32-bit number."""
    number = part.number()
    if not 0 <= number < 1 << 32:
        part.fail(f"{number} is not from 0 to 2**32 - 1")
    return number


def _template(part: Json) -> Processor:
    tokens = part["special_tokens"]
    special = {}
    for name in tokens.mapping():
        ids = [_id(item) for item in tokens[name]["ids"].items()]
        texts = [item.text() for item in tokens[name]["tokens"].items()]
        special[name] = processors.SpecialTokens(ids, texts)
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
        [_read(item) for item in part["processors"].items(part.place)]
    ),
    "TemplateProcessing": _template,
}


def read_decoder(part: Json | None) -> list[DecoderStep]:
    """Return the steps of a file's ``decoder``; the pieces are joined by spaces if it has none.

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
        part.fail(f"the decoders may make {most} characters of one, more than {_MOST_OF_ONE}")
    return read


#: The most characters that decoders may make of one: a Replace may make as many as it writes.
_MOST_OF_ONE = 1 << 12

#: The members by which tokenizers knows a decoder without a type, in its order.
_DECODER_MEMBERS = {
    "BPEDecoder": {"suffix"},
    "WordPiece": {"prefix", "cleanup"},
    "CTC": {"pad_token", "word_delimiter_token", "cleanup"},
    "Replace": {"pattern", "content"},
    "Strip": {"content", "start", "stop"},
}


def _metaspace(part: Json) -> DecoderStep:
    scheme = part.get("prepend_scheme")
    name = "always" if scheme is None else scheme.text()
    if scheme is not None and name not in ("always", "first", "never"):
        scheme.fail(f"must be always, first or never, not {name!r}")
    old = part.get("add_prefix_space")
    if old is not None and not old.truth() and name != "never":
        old.fail("is false, but prepend_scheme is not 'never'")
    return steps.Metaspace(character(part["replacement"]), drop_first=name != "never")


def _replace(part: Json) -> DecoderStep:
    from ...pipeline.normalizers.simple import Replace

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
    "Metaspace": _metaspace,
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
    from ...pipeline.tokenized import Truncation

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
    from ...pipeline.tokenized import Padding

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
        _count(part["pad_id"], 1 << 32),
        _count(part["pad_type_id"], 1 << 32),
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


def _count(part: Json, end: int = 1 << 64) -> int:
    number = part.number()
    if not 0 <= number < end:
        part.fail(f"{number} is not from 0 to {end - 1}")
    return number


def _written(name: str, names: Mapping[str, str]) -> str:
    return next(written for written, known in names.items() if known == name)
