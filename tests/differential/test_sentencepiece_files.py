"""Files of SentencePiece models: the reader against Protocol Buffers, and published models."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.protobuf import BYTES, FIXED32, VARINT, write_field
from compat_bpe.formats.sentencepiece import SentencePieceModel, parse_sentencepiece
from tests.corpora import TEXTS as CORPORA
from tests.differential.small_sentencepieces import TEXTS, check, parsed, processor, trained
from tests.differential.small_tokenizers import answer
from tests.examples import drawn
from tools.reference_files import reference_file


@cache
def small(kind: str = "unigram") -> bytes:
    """Return a model with few pieces, so that most mutations change something that matters."""
    message = parsed(trained(model_type=kind, normalization_rule_name="identity"))
    del message.pieces[12:]
    message.pieces[9].type = 4
    message.pieces[10].type = 5
    message.trainer_spec.ClearField("input")
    message.denormalizer_spec.name = "x"
    found: bytes = message.SerializeToString()
    return found


def shown(text: str | bytes) -> str:
    """Return text; what is none is bytes in Protocol Buffers."""
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def check_equal(model: SentencePieceModel, message: Any) -> None:
    assert model.texts == [piece.piece for piece in message.pieces]
    assert model.scores == [piece.score for piece in message.pieces]
    assert list(model.types) == [piece.type for piece in message.pieces]
    trainer = message.trainer_spec
    assert model.kind == trainer.model_type
    assert model.byte_fallback == trainer.byte_fallback
    assert model.whitespace_as_suffix == trainer.treat_whitespace_as_suffix
    for name in ("unk_surface", "unk_piece", "bos_piece", "eos_piece", "pad_piece"):
        assert getattr(model, name) == shown(getattr(trainer, name))
    pairs = [(model.normalizer, message.normalizer_spec)]
    assert (model.denormalizer is not None) == message.HasField("denormalizer_spec")
    if model.denormalizer is not None:
        pairs.append((model.denormalizer, message.denormalizer_spec))
    for ours, theirs in pairs:
        assert ours.name == shown(theirs.name)
        assert ours.charsmap == theirs.precompiled_charsmap
        assert ours.add_dummy_prefix == theirs.add_dummy_prefix
        assert ours.remove_extra_whitespaces == theirs.remove_extra_whitespaces
        assert ours.escape_whitespaces == theirs.escape_whitespaces


def is_refused(data: bytes) -> bool:
    """Return True if sentencepiece does not take a model."""
    return answer(lambda: processor(data))[1] == "RuntimeError"


def check_like_the_references(data: bytes) -> None:
    """What they refuse is refused, and what is read is equal."""
    try:
        model = parse_sentencepiece(data, "file")
    except ValueError as error:
        reason = str(error)
    else:
        check_equal(model, parsed(data))
        return
    # Pieces that are no text, and no scores, are refused here only.
    is_known = reason.endswith((" is not UTF-8", "the score is nan"))
    assert reason.startswith("file: ")
    assert is_known or is_refused(data), reason


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
def test_fields(kind: str) -> None:
    data = small(kind)
    check_equal(parse_sentencepiece(data, "file"), parsed(data))


@drawn(400, st.data())
def test_mutated_files(data: st.DataObject) -> None:
    original = small(data.draw(st.sampled_from(["unigram", "bpe", "word"])))
    changed = bytearray(original)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed)))
        end = at + data.draw(st.integers(0, 3))
        changed[at:end] = data.draw(st.binary(max_size=3))
    check_like_the_references(bytes(changed))


@drawn(200, st.integers(1, 400))
def test_truncated_files(at: int) -> None:
    check_like_the_references(small()[:at])


def test_every_byte_of_a_small_file() -> None:
    draw = random.Random(11)
    data = small("bpe")
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] = draw.randrange(256)
        check_like_the_references(bytes(changed))


def piece(text: bytes, score: bytes = bytes(4), kind: int = 1) -> bytes:
    inside = write_field(1, BYTES, text) + write_field(2, FIXED32, score)
    return write_field(1, BYTES, inside + write_field(3, VARINT, kind))


UNK = piece(b"<unk>", kind=2)
TRAINER = write_field(2, BYTES, write_field(35, VARINT, 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (UNK + piece(b"a") + piece(b"a"), "file: piece 2: 'a' is also piece 1"),
        (UNK + UNK + piece(b"a"), "file: piece 1: '<unk>' is also piece 0"),
        (UNK + piece(b"b", kind=2) + piece(b"a"), "file: piece 1: it is the second unknown piece"),
        (piece(b"a"), "file: there is no unknown piece"),
        (UNK, "file: it has no piece that may be in text"),
        (UNK + piece(b""), "file: piece 1: it is empty"),
        (UNK + piece(b"a\0"), "file: piece 1: it has a NUL"),
        (UNK + piece(b"a" * 8000), "file: piece 1: it has 8000 bytes or more"),
        (UNK + piece(b"\xff"), r"file: piece 1: b'\xff' is not UTF-8"),
        (UNK + piece(b"a", b"\0\0\xc0\x7f"), "file: piece 1: the score is nan"),
        (UNK + piece(b"a", b"\0\0\x80\xff"), "file: piece 1: the score is -inf"),
        (
            UNK + piece(b"a") + piece(b"<0x00>", kind=6),
            "file: piece 2: it is a byte, but byte_fall",
        ),
        (UNK + piece(b"a") + TRAINER, "file: the byte <0x00> is missing"),
        (UNK + piece(b"<0x0>", kind=6) + TRAINER, "file: piece 1: '<0x0>' is not a byte"),
        (UNK + b"\x0a\x05abc", "file: byte 17: a field is longer than its message"),
        (UNK + b"\x0a", "file: byte 17: a number has no end"),
        (UNK + b"\x0a" + b"\x80" * 11, "file: byte 17: a number is longer than 10 bytes"),
        (UNK + piece(b"a") + b"\x22\x80\x80\x80\x80\x80\0", "file: byte 29: the length of a field"),
        (UNK + b"\x07", "file: byte 16: the number or type of a field is not valid"),
        (UNK + b"\x04", "file: byte 16: the number or type of a field is not valid"),
        (UNK + b"\x0c", "file: byte 16: a group ends that did not begin"),
        (UNK + b"\x0b" * 200, "file: byte "),
        (UNK + b"\x0b\x14", "file: byte 17: a group ends that did not begin"),
    ],
)
def test_what_is_refused_and_why(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match="file: ") as caught:
        parse_sentencepiece(data, "file")
    assert str(caught.value).startswith(message)
    assert is_refused(data) or "UTF-8" in message


@pytest.mark.parametrize(
    "extra",
    [
        b"\x0b\x08\x01\x0c",  # a group
        b"\xc2\x0c\x03abc",  # an extension
        b"\x10\x05",  # the number of a message, but another wire type
        b"\x98\x3f\x01",
        b"\xa1\x06" + bytes(8),
        write_field(2, BYTES, b"\x18\x09"),  # a kind that there is not
        write_field(2, BYTES, b"\x18\x82\x80\x80\x80\x10"),  # BPE, in more bits than it has
        write_field(2, BYTES, b"\x18\x02") + write_field(2, BYTES, b"\xc0\x01\x05"),
        write_field(3, BYTES, b"\x18\x00\x18\x01\x20\x00"),
        write_field(1, BYTES, b"\x15\0\0\x80\xbf\x0a\x01b"),  # the fields in another order
        write_field(1, BYTES, b"\x0a\x01b\x15\0\0\x80\xbf\x18\x09"),
        write_field(1, BYTES, b"\x0a\x01b\x0a\x01c"),
        piece("é".encode() * 100, b"\0\0\x80\xbf"),
    ],
)
def test_what_is_unusual_is_read(extra: bytes) -> None:
    data = UNK + piece(b"a") + extra
    check_equal(parse_sentencepiece(data, "file"), parsed(data))
    processor(data)


def usual(text: bytes, kind: int, score: bytes = b"\n\x15\n\x18") -> bytes:
    inside = write_field(1, BYTES, text) + write_field(2, FIXED32, score)
    return write_field(1, BYTES, inside + (b"" if kind == 1 else write_field(3, VARINT, kind)))


#: Ways to write a piece; the last three only look like the usual one.
WRITTEN: list[Callable[[bytes, int], bytes]] = [
    usual,
    lambda text, kind: piece(text, kind=kind),
    lambda text, kind: write_field(
        1, BYTES, write_field(2, FIXED32, b"abcd") + write_field(1, BYTES, text)
    ),
    lambda text, kind: usual(text + b"\x15\n\3\n\1a\x15", kind),
    lambda text, kind: write_field(1, BYTES, write_field(1, BYTES, text)) + b"\x15abcd",
    lambda text, kind: usual(text, 1) + b"\x18\3",
]
LENGTHS = st.sampled_from([1, 2, 60, 110, 116, 117, 118, 119, 120, 121, 130])
KINDS = st.sampled_from([1, 1, 4, 5])


@drawn(300, st.lists(st.tuples(st.sampled_from([0, 0, 0, *range(6)]), LENGTHS, KINDS)))
def test_usual_pieces_between_others(parts: list[tuple[int, int, int]]) -> None:
    data = UNK
    for number, (way, length, kind) in enumerate(parts):
        data += WRITTEN[way](f"{number}".ljust(length, "x").encode(), kind)
    check_like_the_references(data)


def test_a_piece_in_text_may_be_a_control_piece_too() -> None:
    both = UNK + piece(b"a") + piece(b"a", kind=3)
    assert parse_sentencepiece(both, "file").texts == ["<unk>", "a", "a"]
    processor(both)
    bpe = both + write_field(2, BYTES, b"\x18\x02")
    with pytest.raises(ValueError, match="'a' is also piece 1"):
        parse_sentencepiece(bpe, "file")


def test_scores_of_32_bits() -> None:
    data = UNK + piece(b"a", b"\xcd\xcc\xcc\x3d")
    assert parse_sentencepiece(data, "file").scores[1] == 0.10000000149011612
    infinite = UNK + piece(b"a", b"\0\0\x80\x7f") + write_field(2, BYTES, b"\x18\x02")
    assert parse_sentencepiece(infinite, "file").scores[1] == math.inf


SMALL = ["botchan_bpe", "botchan_unigram", "kyoto_unigram", "llama_2", "mistral_v3"]
LARGE = ["mistral_v1", "mistral_v2", "mistral_v7", "yi", "jamba", "nerdstash", "nerdstash_v2"]
LARGE += ["gemma_model", "j2"]
MODELS = [*SMALL, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]

#: The texts of corpora are cut to this many characters.
LONGEST = 400_000


@cache
def published(name: str) -> tuple[SentencePiece, Any]:
    path = reference_file(name)
    enc = compat_bpe.load(path)
    assert isinstance(enc, SentencePiece)
    return enc, processor(path.read_bytes())


@pytest.mark.parametrize("name", MODELS)
@drawn(50, text=TEXTS)
def test_hard_texts(name: str, text: str) -> None:
    enc, sp = published(name)
    check(enc, sp, text)
    ids = sp.encode(text)
    assert enc.decode(ids) == sp.decode(ids)


@pytest.mark.sweep
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("path", CORPORA, ids=lambda path: path.name)
def test_corpora(name: str, path: Path) -> None:
    """Line by line, and as one text."""
    enc, sp = published(name)
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    for line, ids in zip(lines, sp.encode(lines)):
        assert enc.encode(line) == ids
        assert enc.decode(ids) == sp.decode(ids)
    assert enc.encode(text[:LONGEST]) == sp.encode(text[:LONGEST])
