"""Decoding of ids that arrive one after another.

The property of every stream: its results, joined, are the result of the decoder for all ids at
once. So a stream holds back the part that may still change:

- a step that changes pieces by themselves holds back the last piece, if it would be changed
  differently as the very last one;
- ``ByteFallback`` holds back a run of bytes, since a wrong byte turns all of them into U+FFFD;
- the decoding of bytes holds back the beginning of a character;
- a step that needs all pieces holds back everything.

A stream never changes an object of its state, but replaces it. So its state can be restored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...unicode.text import Utf8Decoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class StepStream(Protocol):
        """A step of a decoder that gets some pieces at a time."""

        def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
            """Return the pieces that become certain; ``at_end`` is True for the last pieces."""

    class TextStream(Protocol):
        """A decoder that gets some ids at a time."""

        def feed(self, ids: Sequence[int]) -> str:
            """Return the text that becomes certain.

            After an error the state is that before the call.
            """

        def finish(self) -> str:
            """Return the text held back, and begin anew."""


def flattened(held: Any) -> list[Any]:
    """Return the items held as ``((…), last)``, in order; ``()`` holds none.

    >>> flattened((((), 1), 2))
    [1, 2]
    """
    items = []
    while held:
        held, last = held
        items.append(last)
    return items[::-1]


class Held:
    """The stream of a step that returns nothing before the end.

    Args:
        step: returns the pieces after the step, given all pieces.
        is_joined: True if the pieces are parts of one.
    """

    def __init__(self, step: Callable[[Sequence[str]], list[str]], *, is_joined: bool) -> None:
        self._step = step
        self._is_joined = is_joined
        self._held: Any = ()

    def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
        """Return nothing, and at the end the pieces after the step."""
        for piece in pieces:
            self._held = self._held, piece
        if not at_end:
            return []
        held = flattened(self._held)
        return self._step(["".join(held)] if self._is_joined else held)


class OneByOne:
    """The stream of a step that changes each piece by itself.

    Args:
        change: returns a piece, changed, given ``is_first`` and ``is_last``.
    """

    def __init__(self, change: Callable[..., str]) -> None:
        self._change = change
        self._is_first = True
        self._waiting: tuple[str, bool] | None = None

    def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
        """Return the pieces, changed."""
        texts = []
        change = self._change
        for piece in pieces:
            if self._waiting is not None:
                waiting, is_first = self._waiting
                texts.append(change(waiting, is_first=is_first, is_last=False))
                self._waiting = None
            text = change(piece, is_first=self._is_first, is_last=False)
            if text == change(piece, is_first=self._is_first, is_last=True):
                texts.append(text)
            else:
                self._waiting = piece, self._is_first
            self._is_first = False
        if at_end and self._waiting is not None:
            waiting, is_first = self._waiting
            texts.append(change(waiting, is_first=is_first, is_last=True))
        return texts


class Runs:
    """The stream of ``ByteFallback``.

    Args:
        byte_of: returns the byte that a piece stands for, or None.
        text_of: returns the text of a run of bytes, in pieces.
    """

    def __init__(
        self, byte_of: Callable[[str], int | None], text_of: Callable[[bytes], list[str]]
    ) -> None:
        self._byte_of = byte_of
        self._text_of = text_of
        self._run: Any = ()

    def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
        """Return the pieces up to the last run of bytes."""
        texts: list[str] = []
        for piece in pieces:
            byte = self._byte_of(piece)
            if byte is not None:
                self._run = self._run, byte
                continue
            texts += self._ended()
            texts.append(piece)
        return texts + self._ended() if at_end else texts

    def _ended(self) -> list[str]:
        if not self._run:
            return []
        run = bytes(flattened(self._run))
        self._run = ()
        return self._text_of(run)


class Through:
    """The stream of a step that joins pieces.

    Args:
        between: the text between two pieces.
    """

    def __init__(self, between: str = "") -> None:
        self._between = between
        self._before = ""

    def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
        """Return the pieces, each after the text between two unless it is the first."""
        texts = []
        for piece in pieces:
            texts.append(self._before + piece)
            self._before = self._between
        return texts


class Repeated:
    """The stream of ``CTC``, which leaves out a piece that is repeated.

    Args:
        change: returns a piece, changed; nothing if it is left out.
    """

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change
        self._last: str | None = None

    def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
        """Return the pieces that are not left out."""
        texts = []
        for piece in pieces:
            if piece != self._last:
                texts.append(self._change(piece))
                self._last = piece
        return list(filter(None, texts))


class Decoded:
    """The stream of a step whose pieces are bytes of UTF-8.

    Args:
        bytes_of: returns the bytes of a piece.
        errors: as in ``bytes.decode``.
    """

    def __init__(self, bytes_of: Callable[[str], bytes], errors: str) -> None:
        self._bytes_of = bytes_of
        self._utf8 = Utf8Decoder(errors)

    def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
        """Return the text up to the last whole character."""
        texts = [self._utf8.feed(b"".join(map(self._bytes_of, pieces)))]
        return [*texts, self._utf8.finish()] if at_end else texts


class Ends:
    """The stream of ``Strip`` for one text in parts.

    Args:
        content: the character that is left out.
        start, stop: the most of them that are left out at the beginning, and at the end.
    """

    def __init__(self, content: str, start: int, stop: int) -> None:
        self._content = content
        self._start = start
        self._stop = stop
        self._held = ""

    def feed(self, pieces: Sequence[str], at_end: bool) -> list[str]:
        """Return the text up to the characters that may be left out at the end."""
        text = self._held + "".join(pieces)
        kept = text.lstrip(self._content)
        left_out = min(self._start, len(text) - len(kept))
        # After another character, nothing more is left out.
        self._start = 0 if kept else self._start - left_out
        text = text[left_out:]
        size = len(text) - min(self._stop, len(text) - len(text.rstrip(self._content)))
        self._held = text[size:]
        return [text[:size]]


class Chain:
    """The stream of a decoder of several steps.

    Args:
        pieces_of: returns the pieces of some ids.
        make: returns a new stream of each step.
    """

    def __init__(
        self,
        pieces_of: Callable[[Sequence[int]], list[str]],
        make: Callable[[], list[StepStream]],
    ) -> None:
        self._pieces_of = pieces_of
        self._make = make
        self._streams = make()

    def feed(self, ids: Sequence[int]) -> str:
        """Return the text that these ids make certain; see ``TextStream``."""
        return self._run(self._pieces_of(ids), at_end=False)

    def finish(self) -> str:
        """Return the text held back, and begin anew."""
        text = self._run([], at_end=True)
        self._streams = self._make()
        return text

    def _run(self, pieces: list[str], *, at_end: bool) -> str:
        before = [dict(vars(stream)) for stream in self._streams]
        try:
            for stream in self._streams:
                pieces = stream.feed(pieces, at_end)
        except UnicodeDecodeError:
            for stream, state in zip(self._streams, before):
                vars(stream).update(state)
            raise
        return "".join(pieces)


class Concatenation:
    """The stream of a decoder that joins the bytes of ids.

    Args:
        decode: returns the bytes of some ids.
        errors: as in ``bytes.decode``.
    """

    def __init__(self, decode: Callable[[Sequence[int]], bytes], errors: str) -> None:
        self._decode = decode
        self._utf8 = Utf8Decoder(errors)

    def feed(self, ids: Sequence[int]) -> str:
        """Return the text up to the last whole character; see ``TextStream``."""
        return self._utf8.feed(self._decode(ids))

    def finish(self) -> str:
        """Return the text of the bytes held back, and begin anew."""
        return self._utf8.finish()


class AtEnd:
    """The stream of a decoder that must see all ids.

    Args:
        decode: returns the text of some ids.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []

    def feed(self, ids: Sequence[int]) -> str:
        """Return nothing; see ``TextStream``."""
        self._decode(ids)
        self._ids += ids
        return ""

    def finish(self) -> str:
        """Return the text of all ids, and begin anew."""
        text = self._decode(self._ids)
        self._ids = []
        return text


class Separated:
    """The stream of a decoder that puts a text between the texts of two ids.

    Args:
        decode: returns the text of some ids.
        between: the text between two.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], between: str) -> None:
        self._decode = decode
        self._between = between
        self._before = ""

    def feed(self, ids: Sequence[int]) -> str:
        """Return the text of some ids; see ``TextStream``."""
        text = self._decode(ids)
        if not ids:
            return ""
        before, self._before = self._before, self._between
        return before + text

    def finish(self) -> str:
        """Return nothing, and begin anew."""
        self._before = ""
        return ""
