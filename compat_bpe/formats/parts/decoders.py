"""The decoders of a ``tokenizer.json``; a kind is imported once a file has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from ..checked_json import Json
from .kind import kind, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pipeline.decoders.steps import DecoderStep


def read_decoder(part: Json | None) -> list[DecoderStep]:
    """Return the steps of a file's ``decoder``; the pieces are joined by spaces if it has none.

    Raises:
        ValueError: it is wrong.
    """
    if part is not None:
        steps = _steps(part)
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
    type_name = kind(part, [*_STEPS, "Sequence"], _MEMBERS)
    if type_name == "Replace":
        yield part
    for item in part["decoders"].items(part.place) if type_name == "Sequence" else ():
        yield from _replaces(item)


def _steps(part: Json) -> list[DecoderStep]:
    type_name = kind(part, [*_STEPS, "Sequence"], _MEMBERS)
    if type_name != "Sequence":
        return [_STEPS[type_name](part)]
    return [step for item in part["decoders"].items(part.place) for step in _steps(item)]


#: The members by which tokenizers knows a decoder without a type, in its order.
_MEMBERS = {
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


def _byte_level(_: Json) -> DecoderStep:
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

    return Strip(_character(part["content"]), _count(part["start"]), _count(part["stop"]))


def _character(part: Json) -> str:
    if len(part.text()) != 1:
        part.fail(f"must be one character, not {part.text()!r}")
    return part.text()


def _count(part: Json) -> int:
    if part.number() < 0:
        part.fail("must be 0 or more")
    return part.number()


#: The reader of each type.
_STEPS: dict[str, Callable[[Json], DecoderStep]] = {
    "BPEDecoder": _bpe,
    "ByteFallback": _byte_fallback,
    "ByteLevel": _byte_level,
    "CTC": _ctc,
    "Fuse": _fuse,
    "Metaspace": _metaspace,
    "Replace": _replace,
    "Strip": _strip,
    "WordPiece": _word_piece,
}
