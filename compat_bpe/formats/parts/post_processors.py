"""The post-processors of a ``tokenizer.json``; a kind is imported once a file has it."""

from __future__ import annotations

from collections.abc import Callable

from ..checked_json import Json
from .kind import kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pipeline.bert_processors import Special
    from ...pipeline.processors import Piece, Processor


def read_post_processor(part: Json | None) -> Processor | None:
    """Return the ``post_processor`` of a file; None if there is none.

    Raises:
        ValueError: it is wrong.
    """
    return None if part is None else _read(part)


#: The members by which tokenizers knows a post-processor without a type.
_MEMBERS = {
    "BertProcessing": {"sep", "cls"},
    "TemplateProcessing": {"single", "pair", "special_tokens"},
}


def _read(part: Json) -> Processor:
    return _PROCESSORS[kind(part, list(_PROCESSORS), _MEMBERS)](part)


def _bert(part: Json) -> Processor:
    """Return BERT's or RoBERTa's: their members decide, and not the type, as in tokenizers."""
    cls, sep = _special(part["cls"]), _special(part["sep"])
    flags = [part.mapping().get(name) for name in ("trim_offsets", "add_prefix_space")]
    trims, adds = flags
    if not isinstance(trims, bool) or not isinstance(adds, bool):
        from ...pipeline.bert_processors import BertProcessing

        return BertProcessing(cls, sep)
    from ...pipeline.bert_processors import RobertaProcessing

    return RobertaProcessing(cls, sep, trims, adds)


def _special(part: Json) -> Special:
    from ...pipeline.bert_processors import Special

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


def _byte_level(part: Json) -> Processor:
    from ...pipeline.bert_processors import ByteLevelOffsets

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
    "ByteLevel": _byte_level,
    "RobertaProcessing": _bert,
    "Sequence": _sequence,
    "TemplateProcessing": _template,
}
