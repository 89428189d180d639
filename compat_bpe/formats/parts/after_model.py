"""Post-processors, decoders, truncation and padding of a ``tokenizer.json``.

A kind is imported once a file has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from ..checked_json import Json
from . import part_type, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...pipeline.decoders.steps import DecoderStep
    from ...pipeline.processors import Piece, Processor, Special
    from ...pipeline.tokenized import Padding, Truncation


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
    return _PROCESSORS[part_type(part, list(_PROCESSORS), _PROCESSOR_MEMBERS)](part)


def _bert(part: Json) -> Processor:
    """Return BERT's or RoBERTa's: their members decide, and not the type, as in tokenizers."""
    cls, sep = _special_token(part["cls"]), _special_token(part["sep"])
    flags = [part.mapping().get(name) for name in ("trim_offsets", "add_prefix_space")]
    trims, adds = flags
    if not isinstance(trims, bool) or not isinstance(adds, bool):
        from ...pipeline.processors import BertProcessing

        return BertProcessing(cls, sep)
    from ...pipeline.processors import RobertaProcessing

    return RobertaProcessing(cls, sep, trims, adds)


def _special_token(part: Json) -> Special:
    from ...pipeline.processors import Special

    items = list(part.items())
    if len(items) != 2:
        part.fail("must be a token and its id")
    return Special(items[0].text(), _id(items[1]))


def _id(part: Json) -> int:
    """Return an id, or the type of a token: an unsigned 32-bit number."""
    number = part.number()
    if not 0 <= number < 1 << 32:
        part.fail(f"{number} is not from 0 to 2**32 - 1")
    return number


def _byte_level_offsets(part: Json) -> Processor:
    from ...pipeline.processors import ByteLevelOffsets

    return ByteLevelOffsets(part["trim_offsets"].truth(), part["add_prefix_space"].truth())


def _sequence(part: Json) -> Processor:
    from ...pipeline.processors import ProcessorSequence

    return ProcessorSequence([_read(item) for item in part["processors"].items(part.place)])


def _template(part: Json) -> Processor:
    from ...pipeline.processors import SpecialTokens, TemplateProcessing

    tokens = part["special_tokens"]
    special = {}
    for name in tokens.mapping():
        ids = [_id(item) for item in tokens[name]["ids"].items()]
        texts = [item.text() for item in tokens[name]["tokens"].items()]
        special[name] = SpecialTokens(ids, texts)
    single, pair = ([_piece(item) for item in part[name].items()] for name in ("single", "pair"))
    for name, template in (("single", single), ("pair", pair)):
        if len(template) > _MOST_PIECES:
            part[name].fail(f"has {len(template)} pieces, more than {_MOST_PIECES}")
    processor = TemplateProcessing(single, pair, special, f"{part.source}: {part.place}")
    if max(processor.added(is_pair=False), processor.added(is_pair=True)) > _MOST_ADDED:
        part.fail(f"adds more than {_MOST_ADDED} tokens")
    return processor


_NUMBERS = {"A": 0, "B": 1}
#: The most pieces of a template, each of which may be a text, and the most tokens that it adds.
_MOST_PIECES, _MOST_ADDED = 1 << 10, 1 << 16


def _piece(part: Json) -> Piece:
    from ...pipeline.processors import SpecialPiece, TextPiece

    members = part.mapping()
    if len(members) != 1:
        part.fail("must be a Sequence or a SpecialToken")
    (member,) = members
    name = part[member]["id"].text()
    type_id = _id(part[member]["type_id"])
    if member == "SpecialToken":
        return SpecialPiece(name, type_id)
    if member != "Sequence":
        part.fail(f"must be a Sequence or a SpecialToken, not {member}")
    if name not in _NUMBERS:
        part[member]["id"].fail(f"must be A or B, not {name!r}")
    return TextPiece(_NUMBERS[name], type_id)


#: The reader of each type.
_PROCESSORS: dict[str, Callable[[Json], Processor]] = {
    "BertProcessing": _bert,
    "ByteLevel": _byte_level_offsets,
    "RobertaProcessing": _bert,
    "Sequence": _sequence,
    "TemplateProcessing": _template,
}


def read_decoder(part: Json | None) -> list[DecoderStep]:
    """Return the steps of a file's ``decoder``; the pieces are joined by spaces if it has none.

    Raises:
        ValueError: it is wrong.
    """
    if part is not None:
        steps = _decoder_steps(part)
        _check_growth(part)
        return steps
    from ...pipeline.decoders.steps import Spaced

    return [Spaced()]


#: The most characters that decoders may make of one: a Replace may make as many as it writes.
_MOST_OF_ONE = 1 << 12


def _check_growth(part: Json) -> None:
    """Refuse decoders that could make a short piece so long that it takes all memory."""
    most = prod(max(1, len(replace["content"].text())) for replace in _replaces(part))
    if most > _MOST_OF_ONE:
        part.fail(f"the decoders may make {most} characters of one, more than {_MOST_OF_ONE}")


def _replaces(part: Json) -> Iterator[Json]:
    type_name = part_type(part, [*_DECODERS, "Sequence"], _DECODER_MEMBERS)
    if type_name == "Replace":
        yield part
    for item in part["decoders"].items(part.place) if type_name == "Sequence" else ():
        yield from _replaces(item)


def _decoder_steps(part: Json) -> list[DecoderStep]:
    type_name = part_type(part, [*_DECODERS, "Sequence"], _DECODER_MEMBERS)
    if type_name != "Sequence":
        return [_DECODERS[type_name](part)]
    return [step for item in part["decoders"].items(part.place) for step in _decoder_steps(item)]


#: The members by which tokenizers knows a decoder without a type, in its order.
_DECODER_MEMBERS = {
    "BPEDecoder": {"suffix"},
    "WordPiece": {"prefix", "cleanup"},
    "CTC": {"pad_token", "word_delimiter_token", "cleanup"},
    "Replace": {"pattern", "content"},
    "Strip": {"content", "start", "stop"},
}


def _bpe(part: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import EndOfWord

    return EndOfWord(part["suffix"].text())


def _byte_fallback(_: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import ByteFallback

    return ByteFallback()


def _byte_level_decoder(_: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import ByteLevel

    return ByteLevel()


def _fuse(_: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import Fuse

    return Fuse()


def _word_piece(part: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import WordPiece

    return WordPiece(part["prefix"].text(), part["cleanup"].truth())


def _metaspace(part: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import Metaspace

    scheme = part.get("prepend_scheme")
    name = "always" if scheme is None else scheme.text()
    if scheme is not None and name not in ("always", "first", "never"):
        scheme.fail(f"must be always, first or never, not {name!r}")
    old = part.get("add_prefix_space")
    if old is not None and not old.truth() and name != "never":
        old.fail("is false, but prepend_scheme is not 'never'")
    return Metaspace(_character(part["replacement"]), drop_first=name != "never")


def _ctc(part: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import CTC

    return CTC(
        part["pad_token"].text(), part["word_delimiter_token"].text(), part["cleanup"].truth()
    )


def _replace(part: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import Replace
    from ...pipeline.normalizers.simple import Replace as ReplaceText

    _, splitter = pattern(part["pattern"])
    return Replace(ReplaceText(splitter, part["content"].text()))


def _strip(part: Json) -> DecoderStep:
    from ...pipeline.decoders.steps import Strip

    return Strip(
        _character(part["content"]), _decoder_count(part["start"]), _decoder_count(part["stop"])
    )


def _character(part: Json) -> str:
    if len(part.text()) != 1:
        part.fail(f"must be one character, not {part.text()!r}")
    return part.text()


def _decoder_count(part: Json) -> int:
    if part.number() < 0:
        part.fail("must be 0 or more")
    return part.number()


#: The reader of each type.
_DECODERS: dict[str, Callable[[Json], DecoderStep]] = {
    "BPEDecoder": _bpe,
    "ByteFallback": _byte_fallback,
    "ByteLevel": _byte_level_decoder,
    "CTC": _ctc,
    "Fuse": _fuse,
    "Metaspace": _metaspace,
    "Replace": _replace,
    "Strip": _strip,
    "WordPiece": _word_piece,
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
        _named(part["strategy"], _STRATEGIES),
        _named(part["direction"], _DIRECTIONS) if has_direction else "right",
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
        _named(part["direction"], _DIRECTIONS),
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


def _named(part: Json, names: Mapping[str, str]) -> str:
    if part.text() not in names:
        part.fail(f"must be one of {', '.join(names)}, not {part.text()!r}")
    return names[part.text()]


def _written(name: str, names: Mapping[str, str]) -> str:
    return next(written for written, known in names.items() if known == name)
