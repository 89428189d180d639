"""SentencePiece models: ``.model`` files, read and written, and the tokenizer that they define.

The result gives the ids of sentencepiece 0.2.3. Its Unigram scores are summed in 32 bits, as in
that version. Earlier versions give other ids for some texts.

A file is a message of Protocol Buffers (``protobuf``). Messages are read as the reference
implementation reads them. So an unknown field, or a field with the wrong wire type, is skipped. If
a field comes twice, the last one counts.
"""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, partial
from itertools import compress
from operator import add
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
    of_types,
)
from ..pipeline.models.sentencepiece.bpe import SentencePieceBPE
from ..pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from ..pipeline.normalizers.charsmap import Charsmap
from ..pipeline.normalizers.sentencepiece import SpaceNormalizer
from .protobuf import (
    BYTES,
    FIXED32,
    VARINT,
    Damaged,
    Field,
    read_field,
    read_fields,
    write_field,
)

if TYPE_CHECKING:
    from ..pipeline.models.sentencepiece.base import SentencePieceBase


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
        remove_extra_whitespaces: remove spaces at the ends, and repeated spaces.
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
            symbols: the user-defined symbols, which are kept unchanged.
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
        denormalizer: the settings of normalization for decoded text; None if there are none.
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
        """Raise ``ValueError``: merges have scores here, and new tokens have none."""
        raise ValueError(f"{self.source}: a SentencePiece model cannot be extended")

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
        """Refuse a model that SentencePiece also refuses.

        Raises:
            ValueError: a piece is empty, too long, twice in the model or has a NUL; a score is not
                a number; there is no unknown piece, or more than one; bytes are missing or wrong.
                Also if too many pieces begin with each other, which SentencePiece allows.
        """
        self._check_texts()
        self._check_types()
        if math.isfinite(sum(self.scores)):
            return
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
                    self._fail(f"piece {number}: {text!r} is also piece {seen[key]}")

    def _check_types(self) -> None:
        texts, types = self.texts, self.types
        if types.count(UNKNOWN) > 1:
            second = types.index(UNKNOWN, types.index(UNKNOWN) + 1)
            self._fail(f"piece {second}: it is the second unknown piece")
        if UNKNOWN not in types and not self.byte_fallback:
            self._fail("there is no unknown piece")
        names = {f"<0x{byte:02X}>" for byte in range(256)}
        for number in compress(range(len(types)), of_types(types, {BYTE})):
            if not self.byte_fallback:
                self._fail(f"piece {number}: it is a byte, but byte_fallback is false")
            if texts[number] not in names:
                self._fail(f"piece {number}: {texts[number]!r} is not a byte")
            names.discard(texts[number])
        if self.byte_fallback and names:
            self._fail(f"the byte {min(names)} is missing")
        if self.kind == UNIGRAM and not self.pieces().ids:
            self._fail("it has no piece that may be in text")

    def _fail(self, reason: str) -> NoReturn:
        raise ValueError(f"{self.source}: {reason}")


#: The model of each kind.
_MODELS: dict[int, Callable[[SentencePieceVocabulary], SentencePieceBase]] = {
    UNIGRAM: SentencePieceUnigram,
    BPE: SentencePieceBPE,
    WORD: SentencePieceWords,
    CHAR: SentencePieceCharacters,
}


#: A token that only Phi-3 has, and the tokens of Phi-3 that do not take the white space after them.
_PHI_3, _PHI_3_BARE = "<|placeholder1|>", {"<unk>", "<s>", "<|endoftext|>"}


class PiecesWithNames(SentencePieceModel):
    """A model whose control, unknown and user-added pieces are found in text by their names.

    Control pieces and the unknown piece are special. The text between names is a text of its own,
    with its own dummy prefix, as in the ``tokenizer.json`` of Llama 2.
    """

    @cached_property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens."""
        # No file has the flag for white space, but its value for these is known.
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

#: A piece as it is usually written: a field of less than 128 bytes with the text, the score and, if
#: it is not 1, the type. Its parts are three bytes with the two lengths, and these three.
_USUAL_PIECE = re.compile(rb"\n(.\n.)([^\x15]{1,118})\x15(.{4})((?:\x18[\2-\6])?)", re.DOTALL)
#: The type by that part, and the length of a field without it by that of the text.
_TYPES = {b"": 1, **{bytes((0x18, kind)): kind for kind in range(2, 7)}}
_WITH_SCORE = bytes((length + 7) % 256 for length in range(256))
#: The bytes in which such pieces are looked for at first, and after another field; at least one is
#: in them. As long as there are some, it is twice as many each time.
_WINDOW, _LARGEST_WINDOW = 1 << 8, 1 << 15


def read_sentencepiece(path: str | os.PathLike[str]) -> SentencePieceModel:
    """Return the content of a ``.model`` file of SentencePiece.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged, or SentencePiece refuses it, too. The message gives the
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
    texts: list[str] = []
    scores: list[bytes] = []
    types = bytearray()
    trainer: dict[str, Any] = {}
    normalizers: dict[int, dict[str, Any]] = {}
    at, window = 0, _WINDOW
    while at < len(data):
        start, at = at, _read_pieces(data, at, at + window, texts, scores, types)
        if at > start:
            window = min(2 * window, _LARGEST_WINDOW)
            continue
        window = _WINDOW
        # A field that is no piece, or a piece that is not written in the usual way.
        field = read_field(data, at, len(data))
        at = field.end
        if field.wire != BYTES:
            continue
        if field.number == 1:
            piece = _members(data, field, _PIECE)
            texts.append(_decoded_text(piece.get("text", b""), len(texts), source))
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
        texts,
        numbers.tolist(),
        bytes(types),
        normalizer=specs.get(3, NormalizerSpec()),
        denormalizer=specs.get(5),
        source=source,
        **_decoded(trainer, _TRAINER),
    )


def _read_pieces(
    data: bytes, at: int, end: int, texts: list[str], scores: list[bytes], types: bytearray
) -> int:
    """Read pieces of the usual form between two places, up to the first piece of another form.

    The usual form is a field of less than 128 bytes with the text, the score and, if it is not 1,
    the type. One pattern finds all such pieces. Its text may be other data with the same bytes, so
    the pieces count only if there is nothing between them and all lengths in the file agree. Then
    ``read_field`` would read the same.

    Returns:
        The place after the pieces; ``at`` if there are none.
    """
    split = _USUAL_PIECE.split(data[at:end])
    count = next(compress(range(len(split)), split[::5]), len(split) // 5)
    _, lengths, found, found_scores, kinds = (split[part : 5 * count : 5] for part in range(5))
    sizes, own = b"".join(lengths), bytes(map(len, found))
    found_types = bytes(map(_TYPES.__getitem__, kinds))
    with_score = own.translate(_WITH_SCORE)
    if found_types.count(1) < count:
        with_score = bytes(map(add, with_score, map(len, kinds)))
    if sizes[::3] != with_score or sizes[2::3] != own:
        return at
    try:
        texts += list(map(bytes.decode, found))
    except UnicodeDecodeError:
        return at
    scores.append(b"".join(found_scores))
    types += found_types
    return at + 2 * count + sum(sizes[::3])


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
    """Return the members with the bytes of texts decoded."""
    texts = {name for name, kind in kinds.values() if kind is str}
    return {
        name: value.decode("utf-8", "replace") if name in texts else value
        for name, value in members.items()
    }


def _decoded_text(text: bytes, number: int, source: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{source}: piece {number}: {text!r} is not UTF-8") from None


def sentencepiece_bytes(model: SentencePieceModel) -> bytes:
    """Return the bytes of the file of a model.

    Only the fields that ``parse_sentencepiece`` reads are written. Other settings are lost.
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
    fields = _fields(model, _TRAINER)
    fields[4] = write_field(4, VARINT, len(model.texts))
    # The ids; SentencePiece itself goes by the names.
    reserved = model.pieces().reserved
    names = (model.unk_piece, model.bos_piece, model.eos_piece, model.pad_piece)
    for number, name in enumerate(names, 40):
        fields[number] = write_field(number, VARINT, reserved.get(name, -1))
    return b"".join(fields[number] for number in sorted(fields))


def _fields(message: object, kinds: Mapping[int, tuple[str, Any]]) -> dict[int, bytes]:
    """Return the bytes of the fields of a message, by their numbers."""
    fields = {}
    for number, (name, kind) in kinds.items():
        value = getattr(message, name)
        value = value.encode() if kind is str else value
        fields[number] = write_field(number, _WIRE.get(kind, VARINT), value)
    return fields


def _normalizer(spec: NormalizerSpec) -> bytes:
    return b"".join(_fields(spec, _NORMALIZER).values())
