"""The decoder of vocabularies of pieces: the file's steps make a text of the tokens' pieces.

The plain rule is in ``PieceDecoder.plain``: each step works on the list of all pieces. The fast
way holds for most decoders. Their first steps change each piece by itself: only the first and the
last piece depend on their position. So the texts of the others are looked up and joined. If
``ByteFallback`` follows, each byte is looked up as a lone surrogate, which no text has, so the
runs of bytes can still be seen in the joined text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .base import checked
from .steps import ESCAPED, ByteFallback, DecoderStep, Fuse, PieceStep, byte_of, text_of_run
from .streams import Chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .streams import StepStream, TextStream

#: The first of 256 lone surrogates, which stand for the bytes; and one that stands for no text,
#: which ends a run of bytes, too.
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
        self._texts = _Texts(self)

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of some ids: of the text, and those of byte tokens that are no UTF-8.

        Raises:
            KeyError, OverflowError, TypeError: see ``IdDecoder``.
        """
        return self.decode_text(tokens, ESCAPED).encode("utf-8", ESCAPED)

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some ids.

        Args:
            tokens: the ids.
            errors: as in ``bytes.decode``, for bytes that are no UTF-8.

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
        """Return the bytes that one token stands for if there are others before and after it.

        That is the byte for a byte token, and else the text that the steps make of its piece.

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


class _Texts(dict[int, str]):
    """The texts of tokens that are neither first nor last; each is made when it is first needed."""

    def __init__(self, decoder: PieceDecoder) -> None:
        super().__init__()
        self._decoder = decoder

    def __missing__(self, number: int) -> str:
        text = self[number] = self._decoder.text_of(number)
        return text


def _text_of_run(run: str, errors: str) -> str:
    if run == _NO_TEXT:
        return ""
    return "".join(text_of_run(bytes(ord(char) - _BYTES for char in run), errors))
