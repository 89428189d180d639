"""Models of SentencePiece: ``.model`` files, read and written, and the tokenizer that they define.

The result gives the ids of sentencepiece 0.2.3. Its Unigram scores are summed in 32 bits, as in
that version; earlier ones give other ids for some texts.

A file is a message of Protocol Buffers: fields, each a number, a wire type and a value. Messages
are read as the reference implementation reads them. So a field that is not known, or has another
wire type than it should have, is skipped, and of a field that comes twice the last counts.
"""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache, partial
from itertools import compress
from sys import byteorder
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..caches import cached_property
from ..files.whole import read_whole
from ..pipeline.added_tokens import AddedToken, AddedTokens
from ..pipeline.core import Definition
from ..pipeline.decoders.pieces import SentencePieceDecoder
from ..pipeline.models.scored_pieces import MOST_NESTED, LongPieces
from ..pipeline.models.sentencepiece.base import (
    BYTE,
    CONTROL,
    IN_TEXT,
    SPACE,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    SentencePieceCharacters,
    SentencePieceVocabulary,
    SentencePieceWords,
)
from ..pipeline.models.sentencepiece.bpe import SentencePieceBPE
from ..pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from ..pipeline.normalizers.charsmap import Charsmap
from ..pipeline.normalizers.sentencepiece import SpaceNormalizer

if TYPE_CHECKING:
    from ..pipeline.models.sentencepiece.base import SentencePieceBase


#: The wire types: an integer, 8 bytes, bytes of any length, the two ends of a group, 4 bytes.
VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 = range(6)
#: The deepest that groups, which are obsolete, may be within each other.
_DEEPEST = 100


class Damaged(ValueError):
    """A message is damaged; the arguments are the reason and the place in bytes."""


class Field(NamedTuple):
    """A field of a message.

    Args:
        number, wire: its number and its wire type.
        value: an integer, or bytes; no bytes for a group, which is skipped.
        start, end: the place of the value.
    """

    number: int
    wire: int
    value: int | bytes
    start: int
    end: int


def read_field(data: bytes, at: int, end: int) -> Field:
    """Return the field at a place.

    Args:
        data: the file.
        at, end: the place of the field, and the end of the message that it is in.

    Raises:
        Damaged: the field goes on after the end, or is none at all.
    """
    number, wire, start = _read_tag(data, at, end)
    if wire == VARINT:
        value, after = read_varint(data, start, end)
        return Field(number, wire, value, start, after)
    if wire == GROUP:
        return Field(number, wire, b"", start, _skip_group(data, start, end, number))
    if wire == GROUP_END:
        raise Damaged("a group ends that did not begin", at)
    start, after = _span(data, start, end, wire)
    return Field(number, wire, data[start:after], start, after)


def read_fields(data: bytes, at: int, end: int) -> Iterator[Field]:
    """Yield the fields of a message, by ``read_field``."""
    while at < end:
        field = read_field(data, at, end)
        yield field
        at = field.end


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return an integer of at most 64 bits, and the place after it.

    Raises:
        Damaged: it has no end, or more than ten bytes.
    """
    number = 0
    for shift in range(0, 70, 7):
        if at + shift // 7 >= end:
            raise Damaged("a number has no end", at)
        byte = data[at + shift // 7]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & (1 << 64) - 1, at + shift // 7 + 1
    raise Damaged("a number is longer than 10 bytes", at)


def _read_tag(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    tag, after = read_varint(data, at, end)
    if after - at > 5 or tag >> 32 or not tag >> 3 or tag & 7 > FIXED32:
        raise Damaged("there is no field of such a number and type", at)
    return tag >> 3, tag & 7, after


def _span(data: bytes, at: int, end: int, wire: int) -> tuple[int, int]:
    """Return the start and end of the bytes of a field."""
    start, size = at, 8 if wire == FIXED64 else 4
    if wire == BYTES:
        size, start = read_varint(data, at, end)
    if size > end - start:
        raise Damaged("a field is longer than what it is in", at)
    return start, start + size


def _skip_group(data: bytes, at: int, end: int, number: int) -> int:
    open_groups = [number]
    while open_groups:
        start = at
        number, wire, at = _read_tag(data, at, end)
        if wire == GROUP:
            open_groups.append(number)
            if len(open_groups) > _DEEPEST:
                raise Damaged("groups are nested too deep", start)
        elif wire == GROUP_END:
            if open_groups.pop() != number:
                raise Damaged("a group ends that did not begin", start)
        elif wire == VARINT:
            _, at = read_varint(data, at, end)
        else:
            _, at = _span(data, at, end, wire)
    return at


def write_varint(number: int) -> bytes:
    """Return an integer as it is written; a negative one in two's complement of 64 bits.

    >>> write_varint(300)
    b'\\xac\\x02'
    """
    number &= (1 << 64) - 1
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def write_field(number: int, wire: int, value: int | bytes) -> bytes:
    """Return a field as it is written."""
    tag = write_varint(number << 3 | wire)
    if isinstance(value, int):
        return tag + write_varint(value)
    return tag + (write_varint(len(value)) if wire == BYTES else b"") + value


#: The kinds of models.
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4

#: SentencePiece refuses a piece of this many bytes.
_TOO_LONG = 8000


class NormalizerSpec(NamedTuple):
    """The settings of normalization in a model.

    Args:
        name: the name of the rules.
        charsmap: the precompiled character map; empty if there is none.
        add_dummy_prefix: put a space before the text.
        remove_extra_whitespaces: remove spaces at the ends, and repeated ones.
        escape_whitespaces: write spaces as ``▁``.
    """

    name: str = ""
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True

    def normalizer(
        self, symbols: Sequence[str] = (), whitespace_as_suffix: bool = False
    ) -> SpaceNormalizer:
        """Return the normalizer.

        Args:
            symbols: the user-defined symbols, which are kept as they are.
            whitespace_as_suffix: put the space of ``add_dummy_prefix`` after the text.

        Raises:
            ValueError: the character map is damaged.
        """
        return SpaceNormalizer(
            Charsmap(self.charsmap) if self.charsmap else None,
            symbols,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            space=SPACE if self.escape_whitespaces else " ",
            whitespace_as_suffix=whitespace_as_suffix,
        )


class SentencePieceModel(NamedTuple):
    """The content of a ``.model`` file.

    Args:
        texts: each piece, by id.
        scores: the score of each piece, a number of 32 bits.
        types: the type of each piece, a byte (see ``pipeline.models.sentencepiece.base``).
        normalizer: its settings of normalization.
        denormalizer: the same for decoded text; None if there are none.
        kind: ``UNIGRAM``, ``BPE``, ``WORD`` or ``CHAR``.
        whitespace_as_suffix: True if spaces belong to the word before.
        byte_fallback: True if unknown characters are written as bytes.
        unk_surface: the text that an unknown piece is decoded to.
        unk_piece, bos_piece, eos_piece, pad_piece: the names of the special pieces.
        source: the name of the file, for messages.
    """

    texts: list[str]
    scores: list[float]
    types: bytes
    normalizer: NormalizerSpec = NormalizerSpec()
    denormalizer: NormalizerSpec | None = None
    kind: int = UNIGRAM
    whitespace_as_suffix: bool = False
    byte_fallback: bool = False
    unk_surface: str = " \u2047 "
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    source: str = "the model"

    @property
    def reference(self) -> str:
        """The library whose ids these are."""
        return "sentencepiece"

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens: there are none, since no text becomes a control piece."""
        return ()

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each piece, written as in the file, and its id."""
        return {text: number for number, text in enumerate(self.texts)}

    @property
    def truncation(self) -> None:
        """The settings of truncation: a model has none."""
        return None

    @property
    def padding(self) -> None:
        """The settings of padding: a model has none."""
        return None

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> SentencePieceModel:
        """Raise ``ValueError``: a merge has a score here, which new tokens do not have."""
        raise ValueError(f"{self.source}: a model of SentencePiece cannot be extended")

    def with_special(self, names: Set[str]) -> SentencePieceModel:
        """Return the model itself, since it has no added tokens that could be special."""
        return self

    def pieces(self) -> SentencePieceVocabulary:
        """Return the vocabulary of the models in the pipeline."""
        return SentencePieceVocabulary(self.texts, self.scores, self.types, self.byte_fallback)

    def assemble(self) -> Definition:
        """Return the parts of the tokenizer, ready to work.

        Raises:
            ValueError: the character map is damaged.
        """
        pieces = self.pieces()
        try:
            normalize = self.normalizer.normalizer(pieces.user_defined, self.whitespace_as_suffix)
            denormalize = None
            if self.denormalizer is not None and self.denormalizer.charsmap:
                denormalize = self.denormalizer.normalizer()
        except ValueError as error:
            raise ValueError(f"{self.source}: {error}") from None
        model = _MODELS[self.kind](pieces)
        by_kind = cache(partial(pieces.bytes_by_kind, self.unk_surface))
        spec = self.normalizer
        return Definition(
            added=AddedTokens([], normalize),
            splitter=model.splitter,
            model=model,
            tokens=lambda: by_kind()[0],
            other_tokens=lambda: by_kind()[1],
            make_decoder=lambda: SentencePieceDecoder(
                pieces,
                self.unk_surface,
                drops_space=spec.add_dummy_prefix or spec.remove_extra_whitespaces,
                drops_all=spec.remove_extra_whitespaces,
                denormalize=denormalize,
            ),
            pieces=lambda: dict(enumerate(self.texts)),
            cuts_at_joints=True,
            steps=(),
            highest=len(self.texts) - 1,
        )

    def check(self) -> None:
        """Refuse what SentencePiece refuses, too.

        Raises:
            ValueError: a piece is empty, too long, twice in the model or has a NUL; a score is no
                number; there is no unknown piece, or more than one; bytes are missing or wrong.
                Also too many pieces that begin with each other, which SentencePiece takes.
        """
        self._check_texts()
        self._check_types()
        # The scores of other kinds may be infinite.
        are_finite = list(map(math.isfinite, self.scores))
        if self.kind != UNIGRAM and False in are_finite:
            are_finite = [score == score for score in self.scores]
        if False in are_finite:
            number = are_finite.index(False)
            self._fail(f"piece {number}: the score is {self.scores[number]}")

    def _check_texts(self) -> None:
        texts, types = self.texts, self.types
        joined = "".join(texts)
        if "" in texts:
            self._fail(f"piece {texts.index('')}: it is empty")
        longest = max(map(len, texts), default=0)
        if 4 * longest >= _TOO_LONG:
            for number, text in enumerate(texts):
                if len(text.encode()) >= _TOO_LONG:
                    self._fail(f"piece {number}: it has {_TOO_LONG} bytes or more")
        if self.kind == UNIGRAM and longest > MOST_NESTED:
            try:
                LongPieces(dict.fromkeys(texts, 0.0))
            except ValueError as error:
                self._fail(str(error))
        if "\0" in joined:
            for number, text in enumerate(texts):
                is_skipped = text == "\0" and (self.byte_fallback or types[number] == UNUSED)
                if "\0" in text and not is_skipped:
                    self._fail(f"piece {number}: it has a NUL")
        if len(set(texts)) < len(texts):
            # Pieces in text and others may be the same, if the model keeps them apart.
            seen: dict[tuple[str, bool], int] = {}
            for number, text in enumerate(texts):
                key = text, self.kind != BPE and types[number] in IN_TEXT
                if seen.setdefault(key, number) != number and text != "\0":
                    self._fail(f"piece {number}: {text!r} is piece {seen[key]}, too")

    def _check_types(self) -> None:
        texts, types = self.texts, self.types
        if types.count(UNKNOWN) > 1:
            second = types.index(UNKNOWN, types.index(UNKNOWN) + 1)
            self._fail(f"piece {second}: it is the second unknown piece")
        if UNKNOWN not in types and not self.byte_fallback:
            self._fail("no piece is the unknown one")
        names = {f"<0x{byte:02X}>" for byte in range(256)}
        for number in compress(range(len(types)), map(BYTE.__eq__, types)):
            if not self.byte_fallback:
                self._fail(f"piece {number}: it is a byte, but the model says that it has none")
            if texts[number] not in names:
                self._fail(f"piece {number}: {texts[number]!r} is no byte")
            names.discard(texts[number])
        if self.byte_fallback and names:
            self._fail(f"the byte {min(names)} is missing")
        if self.kind == UNIGRAM and not self.pieces().ids:
            self._fail("no piece may be in text")

    def _fail(self, reason: str) -> NoReturn:
        raise ValueError(f"{self.source}: {reason}")


#: The model of each kind.
_MODELS: dict[int, Callable[[SentencePieceVocabulary], SentencePieceBase]] = {
    UNIGRAM: SentencePieceUnigram,
    BPE: SentencePieceBPE,
    WORD: SentencePieceWords,
    CHAR: SentencePieceCharacters,
}


#: A token that only Phi-3 has, and its tokens that do not take the white space after them.
_PHI_3, _PHI_3_BARE = "<|placeholder1|>", {"<unk>", "<s>", "<|endoftext|>"}


class PiecesWithNames(SentencePieceModel):
    """A model whose control pieces, the unknown one and those added by users have names in text.

    The names of the first two are special. What is between names is a text by itself, so that it
    has a dummy prefix of its own, as in the ``tokenizer.json`` of Llama 2.
    """

    @cached_property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens."""
        # No file says which of them take white space; it is known of these.
        takes_left = {"<mask>"} if self.kind == UNIGRAM else set()
        takes_right = set(self.texts) - _PHI_3_BARE if _PHI_3 in self.texts else set()
        return tuple(
            AddedToken(
                text,
                number,
                special=kind != USER_DEFINED,
                lstrip=text in takes_left,
                rstrip=text in takes_right,
            )
            for number, (text, kind) in enumerate(zip(self.texts, self.types))
            if kind in (UNKNOWN, CONTROL, USER_DEFINED)
            # A run of spaces is found in normalized text, by the model itself.
            and not (kind == USER_DEFINED and SPACE in text)
        )

    def assemble(self) -> Definition:
        """Return the parts of the tokenizer, ready to work; see ``SentencePieceModel``."""
        definition = super().assemble()
        definition.added = AddedTokens(self.added_tokens, definition.added.normalize)
        return definition


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
