"""Read what a SentencePiece model holds, as far as a ``tokenizer.json`` is made of it.

The file is one message of Protocol Buffers: fields, each a number, a wire type and a value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

UNIGRAM, BPE = 1, 2
UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4


class Piece(NamedTuple):
    """A piece, its score (of 32 bits in the file), and its type."""

    text: str
    score: float
    type: int


class Model(NamedTuple):
    """A model: its pieces by id, its kind, and how it normalizes."""

    pieces: list[Piece]
    kind: int
    byte_fallback: bool
    unk_id: int
    charsmap: bytes


def read_model(data: bytes) -> Model:
    """Read a ``.model``, which is taken to be whole: its sha256 is known."""
    pieces = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    for field, value in _fields(data):
        if isinstance(value, int):
            continue
        if field == 1:
            pieces.append(_piece(dict(_fields(value))))
        elif field == 2:
            trainer = dict(_fields(value))
        elif field == 3:
            normalizer = dict(_fields(value))
    charsmap = normalizer.get(2, b"")
    assert isinstance(charsmap, bytes)
    return Model(
        pieces,
        kind=int(trainer.get(3, UNIGRAM)),
        byte_fallback=bool(trainer.get(35, 0)),
        unk_id=int(trainer.get(40, 0)),
        charsmap=charsmap,
    )


def _piece(fields: dict[int, int | bytes]) -> Piece:
    text, score = fields[1], fields.get(2, bytes(4))
    assert isinstance(text, bytes)
    assert isinstance(score, bytes)
    return Piece(text.decode(), struct.unpack("<f", score)[0], int(fields.get(3, 1)))


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: whole numbers, or the bytes of anything else."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        wire = tag & 7
        if wire == 0:
            number, at = _number(data, at)
            yield tag >> 3, number
            continue
        if wire == 2:
            size, at = _number(data, at)
        else:
            size = {1: 8, 5: 4}[wire]
        yield tag >> 3, data[at : at + size]
        at += size


def _number(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while data[at] > 127:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
    return number | data[at] << shift, at + 1
