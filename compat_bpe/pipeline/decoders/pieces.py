"""The decoders of vocabularies of pieces: by the steps of a file, or as in SentencePiece.

``PieceDecoder`` follows a file's steps, which turn the tokens' pieces into text. The plain rule is
``PieceDecoder.plain``: each step works on the list of all pieces. The fast way works for most
decoders. Their first steps change each piece by itself: only the first and the last piece depend on
their position. So the texts of the others are looked up and joined. If ``ByteFallback`` follows,
each byte is looked up as a lone surrogate, which no text has. So the runs of bytes can still be
seen in the joined text.

``SentencePieceDecoder`` joins the pieces, and each ``▁`` becomes a space.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence

from ...caches import Memo, cached_property
from ...unicode.text import Utf8Decoder
from ..models.sentencepiece.base import BYTE, CONTROL, SPACE, UNKNOWN, SentencePieceVocabulary
from .bytes import checked
from .steps import ESCAPED, ByteFallback, DecoderStep, Fuse, PieceStep, byte_of, text_of_run
from .streams import Chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..normalizers.base import Normalizer
    from .streams import StepStream, TextStream


#: The first of 256 lone surrogates, which stand for bytes; and one for a piece without text, which
#: also ends a run of bytes.
_BYTES = 0xDC00
_NO_TEXT = "\udfff"
_RUN = re.compile("[\udc00-\udcff]+|\udfff")


class PieceDecoder:
    """The decoder of one vocabulary, whose tokens are pieces of text.

    Args:
        pieces: the piece of each id.
        steps: the steps of the decoder.

    >>> from .steps import Metaspace
    >>> PieceDecoder({5: "▁a", 6: "▁b"}, [Metaspace()]).decode_text([5, 6], "strict")
    'a b'
    """

    def __init__(self, pieces: Mapping[int, str], steps: Sequence[DecoderStep]) -> None:
        self._pieces = pieces
        self._steps = steps
        #: The steps that change each piece by itself, and those that follow.
        self._first: list[PieceStep] = []
        for step in steps:
            if not isinstance(step, PieceStep):
                break
            self._first.append(step)
        rest = list(steps[len(self._first) :])
        self._has_bytes = bool(rest) and isinstance(rest[0], ByteFallback)
        self._rest = rest[1:] if self._has_bytes else rest
        self._is_fast = not self._rest or isinstance(self._rest[0], Fuse)
        #: The texts of tokens that are neither first nor last; the limit is never exceeded.
        self._texts = Memo(self.text_of, len(pieces))

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of some ids: of their text, and of byte tokens that are not UTF-8.

        Raises:
            KeyError, OverflowError, TypeError: see ``IdDecoder``.
        """
        return self.decode_text(tokens, ESCAPED).encode("utf-8", ESCAPED)

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some ids.

        Args:
            tokens: the ids.
            errors: as in ``bytes.decode``, for bytes that are not UTF-8.

        Raises:
            KeyError, OverflowError, TypeError: see ``IdDecoder``.
            UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.
        """
        ids, _ = checked(tokens)
        if not self._is_fast or len(ids) < 3:
            return self.plain(ids, errors)
        texts = [self.text_of(ids[0], is_first=True)]
        texts += map(self._texts.__getitem__, ids[1:-1])
        texts.append(self.text_of(ids[-1], is_last=True))
        text = "".join(texts)
        if self._has_bytes:
            text = _RUN.sub(lambda run: _text_of_run(run[0], errors), text)
        for step in self._rest:
            text = "".join(step([text], errors))
        return text

    def stream(self, errors: str) -> TextStream:
        """Return a decoder of ids that arrive one after another; see ``IdDecoder``."""
        return Chain(self._pieces_of, lambda: self._step_streams(errors))

    def _pieces_of(self, tokens: Sequence[int]) -> list[str]:
        return list(map(self._piece, checked(tokens)[0]))

    def _step_streams(self, errors: str) -> list[StepStream]:
        streams = []
        is_joined = False
        for step in self._steps:
            streams.append(step.joined_stream(errors) if is_joined else step.stream(errors))
            is_joined = is_joined or step.joins
        return streams

    def plain(self, ids: Sequence[int], errors: str) -> str:
        """Return the text of some ids, by the plain rule."""
        pieces = list(map(self._piece, ids))
        for step in self._steps:
            pieces = step(pieces, errors)
        return "".join(pieces)

    def decode_one(self, token: int) -> bytes:
        """Return the bytes of one token that has others before and after it.

        For a byte token that is the byte, and otherwise the text that the steps make from its
        piece.

        Raises:
            KeyError, OverflowError, TypeError: see ``IdDecoder``.
        """
        (token_id,), _ = checked([token])
        text = self._piece(token_id)
        is_joined = False
        for step in self._steps:
            text = step.within(text) if is_joined else step.in_middle(text)
            is_joined = is_joined or step.joins
        return text.encode("utf-8", ESCAPED)

    def text_of(self, number: int, *, is_first: bool = False, is_last: bool = False) -> str:
        """Return the text of a token after the first steps; a byte as a lone surrogate."""
        text = self._piece(number)
        for step in self._first:
            text = step.change(text, is_first=is_first, is_last=is_last)
        if self._has_bytes:
            byte = byte_of(text)
            if byte is not None:
                return chr(_BYTES + byte)
            return text or _NO_TEXT
        return text

    def _piece(self, number: int) -> str:
        try:
            return self._pieces[number]
        except KeyError:
            raise KeyError(f"{number} is not in the vocabulary") from None


def _text_of_run(run: str, errors: str) -> str:
    if run == _NO_TEXT:
        return ""
    return "".join(text_of_run(bytes(ord(char) - _BYTES for char in run), errors))


_REPLACED = {0xDC00 + byte: "\ufffd" for byte in range(128, 256)}
#: The sign for a piece without text: a surrogate that does not stand for a byte.
_INVISIBLE = "\ud800"


class SentencePieceDecoder:
    """The decoder of a SentencePiece model.

    - A control piece has no text.
    - The text of an unknown piece is ``unk_surface``.
    - Bytes that are pieces of their own are joined. Each byte that is not UTF-8 becomes U+FFFD.
    - The ``▁`` of the first piece is dropped.

    Args:
        pieces: the vocabulary.
        unk_surface: the text of an unknown piece.
        drops_space: drop the ``▁`` of the first piece.
        drops_all: drop the ``▁`` of each piece until there is text.
        denormalize: a normalizer for the decoded text, or None.
    """

    def __init__(
        self,
        pieces: SentencePieceVocabulary,
        unk_surface: str,
        *,
        drops_space: bool,
        drops_all: bool,
        denormalize: Normalizer | None = None,
    ) -> None:
        self._pieces = pieces
        self._unk_surface = unk_surface
        self._drops_space = drops_space
        self._drops_all = drops_all
        self._denormalize = denormalize

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of some ids.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            TypeError: an id is not an integer, or ``tokens`` is not a sequence.
        """
        if self._denormalize is not None:
            return self.decode_text(tokens, "replace").encode()
        return "".join(self.texts(tokens)).encode("utf-8", "surrogateescape")

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some ids.

        Args:
            tokens: the ids.
            errors: as in ``bytes.decode``; ``"replace"`` puts one U+FFFD for each wrong byte.

        Raises:
            KeyError, OverflowError, TypeError: as in ``decode``.
            UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.
        """
        return self._finished(self.texts(tokens), errors)

    def decode_pieces(self, pieces: Sequence[str]) -> str:
        """Return the text of some pieces; a piece outside the vocabulary stands for itself."""
        vocabulary = self._pieces
        numbers = list(map(vocabulary.id_of, pieces))
        texts = [
            piece if token_id < 0 or piece != vocabulary.texts[token_id] else self._texts[token_id]
            for piece, token_id in zip(pieces, numbers)
        ]
        if self._drops_space:
            self._drop(numbers, pieces, texts)
        return self._finished(texts, "replace")

    def _finished(self, texts: Sequence[str], errors: str) -> str:
        joined = "".join(texts)
        try:
            joined.encode()
        except UnicodeEncodeError:
            # An invisible piece between two bytes keeps them apart, too.
            runs = "".join(text or _INVISIBLE for text in texts).split(_INVISIBLE)
            joined = "".join(_decoded(run, errors) for run in runs)
        return joined if self._denormalize is None else self._denormalize(joined)

    def decode_one(self, token: int) -> bytes:
        """Return the bytes of one id, with its ``▁`` as a space; errors as in ``decode``."""
        (token_id,) = array("I", (token,))
        return self._look_up(token_id).encode("utf-8", "surrogateescape")

    def stream(self, errors: str) -> TextStream:
        """Return a decoder of ids that arrive one after another; see ``IdDecoder``."""
        if self._denormalize is not None:
            from .streams import AtEnd

            return AtEnd(lambda tokens: self.decode_text(tokens, errors))
        return _Stream(self, self._drops_space, errors)

    def texts(self, tokens: Sequence[int]) -> list[str]:
        """Return the text of each of some ids; a byte above 127 is a lone surrogate.

        Raises:
            KeyError, OverflowError, TypeError: as in ``decode``.
        """
        return self.texts_of(tokens, self._drops_space)[0]

    def texts_of(self, tokens: Sequence[int], drops_space: bool) -> tuple[list[str], bool]:
        """Return the text of each of some ids, and True if a space after them is also dropped.

        Args:
            tokens: the ids; errors as in ``texts``.
            drops_space: drop the spaces that were put at the beginning of the text.
        """
        _, numbers = checked(tokens)
        texts = self._texts
        try:
            chosen = [texts[token_id] for token_id in numbers]
        except IndexError:
            for token_id in numbers:
                self._look_up(token_id)
            raise
        if not drops_space:
            return chosen, False
        pieces = self._pieces.texts
        return chosen, not self._drop(numbers, (pieces[token_id] for token_id in numbers), chosen)

    def _drop(self, numbers: Iterable[int], pieces: Iterable[str], texts: list[str]) -> bool:
        """Drop the spaces put at the beginning of the text; return True once the text has begun."""
        types = self._pieces.types
        for at, (token_id, piece) in enumerate(zip(numbers, pieces)):
            kind = types[token_id] if token_id >= 0 else UNKNOWN
            if kind not in (BYTE, CONTROL) and piece.startswith(SPACE):
                if kind != UNKNOWN:
                    texts[at] = texts[at][1:]
                if not self._drops_all:
                    return True
            if texts[at]:
                return True
        return False

    def _look_up(self, number: int) -> str:
        if number >= len(self._texts):
            raise KeyError(f"{number} is not in the vocabulary")
        return self._texts[number]

    @cached_property
    def _texts(self) -> list[str]:
        """The text of each id, with a byte above 127 as a lone surrogate."""
        texts = []
        for text, kind in zip(self._pieces.texts, self._pieces.types):
            if kind == CONTROL:
                text = ""
            elif kind == UNKNOWN:
                text = self._unk_surface
            elif kind == BYTE:
                text = bytes((int(text[3:5], 16),)).decode("utf-8", "surrogateescape")
            else:
                text = text.replace(SPACE, " ")
            texts.append(text)
        return texts


def _decoded(run: str, errors: str) -> str:
    """Return the text of a run of pieces, in which bytes above 127 are lone surrogates."""
    data = run.encode("utf-8", "surrogateescape")
    if errors == "replace":
        return data.decode("utf-8", "surrogateescape").translate(_REPLACED)
    return data.decode("utf-8", errors)


class _Stream:
    """The decoder of ids that arrive one after another, of a model without a denormalizer."""

    def __init__(self, decoder: SentencePieceDecoder, drops_space: bool, errors: str) -> None:
        self._decoder = decoder
        self._drops_space = self._drops_now = drops_space
        self._replaces = errors == "replace"
        self._utf8 = Utf8Decoder("surrogateescape" if self._replaces else errors)

    def feed(self, ids: Sequence[int]) -> str:
        """Return the text up to the last whole character; see ``TextStream``."""
        texts, drops_space = self._decoder.texts_of(ids, self._drops_now)
        first, *others = "".join(text or _INVISIBLE for text in texts).split(_INVISIBLE)
        decoded = self._utf8.feed(first.encode("utf-8", "surrogateescape"))
        for run in others:
            decoded += self._utf8.finish()
            decoded += self._utf8.feed(run.encode("utf-8", "surrogateescape"))
        self._drops_now = drops_space
        return decoded.translate(_REPLACED) if self._replaces else decoded

    def finish(self) -> str:
        """Return the text of the bytes held back, and begin anew."""
        text = self._utf8.finish()
        self._drops_now = self._drops_space
        return text.translate(_REPLACED) if self._replaces else text
