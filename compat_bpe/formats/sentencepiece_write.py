"""The writer of ``.model`` files of SentencePiece."""

from __future__ import annotations

from array import array
from sys import byteorder

from .protobuf import BYTES, FIXED32, VARINT, write_field
from .sentencepiece import NormalizerSpec, SentencePieceModel


def sentencepiece_bytes(model: SentencePieceModel) -> bytes:
    """Return a model as a file.

    What is written is what ``parse_sentencepiece`` reads; other settings of the trainer are lost.
    """
    numbers = array("f", model.scores)
    if byteorder == "big":
        numbers.byteswap()
    scores = numbers.tobytes()
    fields = []
    for number, (text, kind) in enumerate(zip(model.texts, model.types)):
        piece = write_field(1, BYTES, text.encode())
        piece += write_field(2, FIXED32, scores[4 * number : 4 * number + 4])
        if kind != 1:
            piece += write_field(3, VARINT, kind)
        fields.append(write_field(1, BYTES, piece))
    fields.append(write_field(2, BYTES, _trainer(model)))
    fields.append(write_field(3, BYTES, _normalizer(model.normalizer)))
    if model.denormalizer is not None:
        fields.append(write_field(5, BYTES, _normalizer(model.denormalizer)))
    return b"".join(fields)


def _trainer(model: SentencePieceModel) -> bytes:
    pieces = model.pieces()
    names = (model.unk_piece, model.bos_piece, model.eos_piece, model.pad_piece)
    ids = [pieces.reserved.get(name, -1) for name in names]
    fields = [
        write_field(3, VARINT, model.kind),
        write_field(4, VARINT, len(model.texts)),
        write_field(24, VARINT, model.whitespace_as_suffix),
        write_field(35, VARINT, model.byte_fallback),
        # The ids; SentencePiece itself goes by the names.
        *(write_field(40 + at, VARINT, one) for at, one in enumerate(ids)),
        write_field(44, BYTES, model.unk_surface.encode()),
        *(write_field(45 + at, BYTES, name.encode()) for at, name in enumerate(names)),
    ]
    return b"".join(fields)


def _normalizer(spec: NormalizerSpec) -> bytes:
    return b"".join(
        (
            write_field(1, BYTES, spec.name.encode()),
            write_field(2, BYTES, spec.charsmap),
            write_field(3, VARINT, spec.add_dummy_prefix),
            write_field(4, VARINT, spec.remove_extra_whitespaces),
            write_field(5, VARINT, spec.escape_whitespaces),
        )
    )
