"""The reader of ``.model`` files of SentencePiece, which are messages of Protocol Buffers."""

from __future__ import annotations

import os
from array import array
from sys import byteorder
from typing import TYPE_CHECKING, Any

from ..files.whole import read_whole
from .protobuf import BYTES, FIXED32, VARINT, Damaged, Field, read_field, read_fields
from .sentencepiece import NormalizerSpec, SentencePieceModel

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The fields that are read of each message: number, name, and the type of the value.
_TRAINER = {
    3: ("kind", range(1, 5)),
    24: ("whitespace_as_suffix", bool),
    35: ("byte_fallback", bool),
    44: ("unk_surface", str),
    45: ("unk_piece", str),
    46: ("bos_piece", str),
    47: ("eos_piece", str),
    48: ("pad_piece", str),
}
_NORMALIZER = {
    1: ("name", str),
    2: ("charsmap", bytes),
    3: ("add_dummy_prefix", bool),
    4: ("remove_extra_whitespaces", bool),
    5: ("escape_whitespaces", bool),
}
_PIECE = {1: ("text", str), 2: ("score", float), 3: ("type", range(1, 7))}
_WIRE = {bool: VARINT, str: BYTES, bytes: BYTES, float: FIXED32}


def read_sentencepiece(path: str | os.PathLike[str]) -> SentencePieceModel:
    """Return the content of a ``.model`` file of SentencePiece.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged, or SentencePiece does not take it either. The message says the
            file, the place in it and the reason.
    """
    return parse_sentencepiece(read_whole(path), os.fspath(path))


def parse_sentencepiece(data: bytes, source: str) -> SentencePieceModel:
    """Return the content of a model.

    Args:
        data: the bytes of the file.
        source: the name of the file, for messages.

    Raises:
        ValueError: as in ``read_sentencepiece``.
    """
    try:
        model = _parse(data, source)
    except Damaged as error:
        reason, place = error.args
        raise ValueError(f"{source}: byte {place}: {reason}") from None
    model.check()
    return model


def _parse(data: bytes, source: str) -> SentencePieceModel:
    texts: list[bytes] = []
    scores: list[bytes] = []
    types = bytearray()
    trainer: dict[str, Any] = {}
    normalizers: dict[int, dict[str, Any]] = {}
    at = 0
    while True:
        at = _read_pieces(data, at, texts, scores, types)
        if at == len(data):
            break
        # A field that is no piece, or a piece that is not written in the usual way.
        field = read_field(data, at, len(data))
        at = field.end
        if field.wire != BYTES:
            continue
        if field.number == 1:
            piece = _members(data, field, _PIECE)
            texts.append(piece.get("text", b""))
            scores.append(piece.get("score", bytes(4)))
            types.append(piece.get("type", 1))
        elif field.number == 2:
            trainer.update(_members(data, field, _TRAINER))
        elif field.number in (3, 5):
            spec = _members(data, field, _NORMALIZER)
            normalizers.setdefault(field.number, {}).update(spec)
    numbers = array("f", b"".join(scores))
    if byteorder == "big":
        numbers.byteswap()
    specs = {
        number: NormalizerSpec(**_decoded(spec, _NORMALIZER))
        for number, spec in normalizers.items()
    }
    return SentencePieceModel(
        _decoded_pieces(texts, source),
        numbers.tolist(),
        bytes(types),
        normalizer=specs.get(3, NormalizerSpec()),
        denormalizer=specs.get(5),
        source=source,
        **_decoded(trainer, _TRAINER),
    )


def _read_pieces(
    data: bytes, at: int, texts: list[bytes], scores: list[bytes], types: bytearray
) -> int:
    """Read the pieces from a place on that are written in the usual way; return where they end.

    The usual way is a field of less than 128 bytes with the text, the score and, if it is not 1,
    the type.
    """
    end = len(data)
    try:
        while at < end:
            first, size, second, length = data[at : at + 4]
            stop = at + 2 + size
            score = at + 5 + length
            if first != 0x0A or second != 0x0A or size > 127 or length > 127 or stop > end:
                break
            if data[score - 1] != 0x15:
                break
            after = score + 4
            if after == stop:
                types.append(1)
            elif after + 2 == stop and data[after] == 0x18 and 0 < data[after + 1] < 7:
                types.append(data[after + 1])
            else:
                break
            texts.append(data[at + 4 : score - 1])
            scores.append(data[score:after])
            at = stop
    except (IndexError, ValueError):
        pass  # The general reader says what is wrong.
    return at


def _members(data: bytes, message: Field, kinds: Mapping[int, tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a message that have a name and the right type."""
    members: dict[str, Any] = {}
    for field in read_fields(data, message.start, message.end):
        name, kind = kinds.get(field.number, ("", None))
        if not name or field.wire != _WIRE.get(kind, VARINT):
            continue
        value: Any = field.value
        if kind is bool:
            value = bool(value)
        elif isinstance(kind, range):
            value &= 0xFFFFFFFF
            if value not in kind:
                continue  # A value that the reference does not know counts as left out.
        members[name] = value
    return members


def _decoded(members: dict[str, Any], kinds: Mapping[int, tuple[str, Any]]) -> dict[str, Any]:
    """Return the members with text in place of bytes where it is text."""
    texts = {name for name, kind in kinds.values() if kind is str}
    return {
        name: value.decode("utf-8", "replace") if name in texts else value
        for name, value in members.items()
    }


def _decoded_pieces(texts: list[bytes], source: str) -> list[str]:
    try:
        if texts and all(texts) and b"\0" not in b"".join(texts):
            return b"\0".join(texts).decode().split("\0")
    except UnicodeDecodeError:
        pass
    try:
        return list(map(bytes.decode, texts))
    except UnicodeDecodeError as error:
        number = texts.index(error.object)
        raise ValueError(f"{source}: piece {number}: {error.object!r} is not UTF-8") from None
