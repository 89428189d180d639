"""Text that comes in pieces, into ids or their number.

The pieces may be cut anywhere.  What has come is encoded up to the last *safe cut* in it, a place
where the ids of both sides are those of the whole (``Core.next_cut``), and the rest is held
back.  In most texts there is a safe cut every few words.  Where there is none, as in a million
letters, or with a pattern that looks back, all is held until there is one.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable, Iterator
from itertools import chain
from typing import AnyStr, Protocol, runtime_checkable

from ..pipeline.special import AllowedSpecial, DisallowedSpecial
from ..unicode.utf8 import Utf8Decoder
from .limit import last_cut
from .text_encoder import TextEncoder

#: Characters or bytes that are taken at a time: enough to be as fast as with the whole text.
PORTION = 1 << 16
#: Characters without a safe cut after which more kinds of it are looked for.
_LONG = 1024

_NO_NAMES: frozenset[str] = frozenset()


@runtime_checkable
class Readable(Protocol):
    """A file object, text or binary."""

    def read(self, size: int, /) -> str | bytes | None: ...


@runtime_checkable
class AsyncReadable(Protocol):
    """A file object whose ``read`` is awaited, ``asyncio.StreamReader`` for instance."""

    def read(self, size: int, /) -> Awaitable[str | bytes | None]: ...


class StreamEncoder:
    """Encodes text as it comes.

    The ids of all pieces together are what ``encoding.encode`` gives for the whole text.  Each is
    given out as soon as it is certain, so that a stream from a keyboard or a language model can be
    followed.  Where speed counts, feed some thousand characters at a time.

    Args:
        encoding: what to encode with.
        allowed_special, disallowed_special: as in ``Encoding.encode``.

    Raises:
        TypeError: ``allowed_special`` is not a set.

    >>> from compat_bpe import get_encoding
    >>> encoder = StreamEncoder(get_encoding("gpt2"))
    >>> encoder.feed("hello wo"), encoder.feed("rld!"), encoder.finish()
    ([31373], [995], [0])
    """

    def __init__(
        self,
        encoding: TextEncoder,
        *,
        allowed_special: AllowedSpecial = _NO_NAMES,
        disallowed_special: DisallowedSpecial = "all",
    ) -> None:
        names = encoding.special_tokens_set
        allowed = names if allowed_special == "all" else allowed_special
        # Raises what is to be raised, before there is any text.
        encoding.encode("", allowed_special=allowed, disallowed_special=())
        disallowed = names - allowed if disallowed_special == "all" else disallowed_special
        self._encoding = encoding
        self._allowed = frozenset(allowed)
        self._disallowed = frozenset(disallowed or ())
        self._cutter = Cutter(encoding, self._allowed | self._disallowed)

    def feed(self, text: str) -> list[int]:
        """The ids that are certain with this piece and were not before; there may be none.

        Args:
            text: any text; it may begin and end within a surrogate pair or a special token's name.

        Raises:
            ValueError: a disallowed name stands in the text.  The encoder cannot go on then.
        """
        return self._encode(self._cutter.feed(text))

    def finish(self) -> list[int]:
        """The ids of what is left when no text follows; then the encoder is as new.

        Raises:
            ValueError: as in ``feed``.
        """
        return self._encode(self._cutter.finish())

    def _encode(self, text: str) -> list[int]:
        return self._encoding.encode(
            text, allowed_special=self._allowed, disallowed_special=self._disallowed
        )


class StreamCounter:
    r"""Counts the tokens of text as it comes.

    The count is what ``encoding.count`` gives for the whole text.

    Args:
        encoding: what to count with.
        errors: what to do with bytes that are not UTF-8, as in ``bytes.decode``.

    >>> from compat_bpe import get_encoding
    >>> counter = StreamCounter(get_encoding("gpt2"))
    >>> for piece in (b"caf\xc3", b"\xa9 au ", b"lait"):
    ...     counter.feed(piece)
    >>> counter.finish()
    6
    """

    def __init__(self, encoding: TextEncoder, *, errors: str = "strict") -> None:
        self._count = encoding.count
        self._cutter = Cutter(encoding, _NO_NAMES)
        self._utf8 = Utf8Decoder(errors)
        self._waiting: list[str] = []
        self._waiting_length = 0
        self._total = 0

    def feed(self, piece: str | bytes) -> None:
        """Take a piece of text, or of its UTF-8, which may begin and end within a character.

        Raises:
            StreamDecodeError: with ``errors="strict"``, bytes are not UTF-8.  It is a
                ``UnicodeDecodeError``; its ``offset`` counts from the first byte on.  The counter
                cannot go on then.
        """
        if isinstance(piece, str):
            # What was held back of bytes before it is complete, or wrong.
            self._take(self._utf8.finish())
            for part in portions(piece):
                self._take(part)
        else:
            for data in portions(piece):
                self._take(self._utf8.feed(data))

    def finish(self) -> int:
        """The number of tokens of all that was fed; then the counter is as new.

        Raises:
            StreamDecodeError: as in ``feed``, where the last character is not complete.
        """
        self._take(self._utf8.finish())
        self._count_waiting()
        total = self._total + self._count(self._cutter.finish())
        self._total = 0
        return total

    def _take(self, text: str) -> None:
        self._waiting.append(text)
        self._waiting_length += len(text)
        # Nobody waits for the count of a piece, so small ones are counted together.
        if self._waiting_length >= PORTION:
            self._count_waiting()

    def _count_waiting(self) -> None:
        text = "".join(self._waiting)
        self._waiting.clear()
        self._waiting_length = 0
        self._total += self._count(self._cutter.feed(text))


class Cutter:
    """Cuts text that comes in pieces into parts that can be encoded one by one.

    Args:
        encoding: what they are encoded with.
        names: special tokens that no cut may be within.
    """

    def __init__(self, encoding: TextEncoder, names: frozenset[str]) -> None:
        self._encoding = encoding
        self._names = names
        #: The pieces since the last safe cut, and their length.
        self._held: list[str] = []
        self._length = 0

    def feed(self, text: str) -> str:
        """What was held back and this piece, up to the last safe cut; nothing if there is none."""
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        if not text:
            return ""
        # Whether there is a cut is seen from two characters: what came before was looked at.
        last = self._held[-1][-1] if self._held else ""
        cut = self._last_cut(last + text, fine=False)
        if not cut and self._length + len(text) > _LONG:
            cut = self._last_cut(last + text, fine=True)
        if not cut:
            self._held.append(text)
            self._length += len(text)
            return ""
        cut -= len(last)
        certain = "".join([*self._held, text[:cut]])
        self._held = [text[cut:]]
        self._length = len(text) - cut
        return certain

    def finish(self) -> str:
        """What is left."""
        rest = "".join(self._held)
        self._held = []
        self._length = 0
        return rest

    def _last_cut(self, text: str, *, fine: bool) -> int:
        return last_cut(self._encoding, text, len(text), names=self._names, fine=fine)


def encode_iter(
    encoding: TextEncoder,
    pieces: Iterable[str],
    *,
    allowed_special: AllowedSpecial = _NO_NAMES,
    disallowed_special: DisallowedSpecial = "all",
) -> Iterator[int]:
    """The ids of a text that comes in pieces, each as soon as it is certain.

    They are what ``encoding.encode`` gives for all pieces joined, wherever the cuts are.  Only what
    lies between two safe cuts is held in memory, mostly some words.  See ``StreamEncoder``.

    Args:
        encoding: what to encode with.
        pieces: pieces of text, of any lengths.
        allowed_special, disallowed_special: as in ``Encoding.encode``.

    Raises:
        TypeError: ``allowed_special`` is not a set.
        ValueError: a disallowed name stands in the text; raised when it comes to it.

    >>> from compat_bpe import get_encoding
    >>> list(encode_iter(get_encoding("gpt2"), ["hel", "lo wo", "rld"]))
    [31373, 995]
    """
    encoder = StreamEncoder(
        encoding, allowed_special=allowed_special, disallowed_special=disallowed_special
    )

    def found() -> Iterator[list[int]]:
        for piece in pieces:
            for part in portions(piece):
                yield encoder.feed(part)
        yield encoder.finish()

    return chain.from_iterable(found())


def aencode_iter(
    encoding: TextEncoder,
    pieces: AsyncIterable[str],
    *,
    allowed_special: AllowedSpecial = _NO_NAMES,
    disallowed_special: DisallowedSpecial = "all",
) -> AsyncIterator[int]:
    """``encode_iter`` for pieces that come asynchronously.

    >>> import asyncio
    >>> from compat_bpe import get_encoding
    >>> async def pieces():
    ...     for piece in ("hel", "lo wo", "rld"):
    ...         yield piece
    >>> async def main():
    ...     return [token async for token in aencode_iter(get_encoding("gpt2"), pieces())]
    >>> asyncio.run(main())
    [31373, 995]
    """
    encoder = StreamEncoder(
        encoding, allowed_special=allowed_special, disallowed_special=disallowed_special
    )

    async def tokens() -> AsyncIterator[int]:
        async for piece in pieces:
            for part in portions(piece):
                for token in encoder.feed(part):
                    yield token
        for token in encoder.finish():
            yield token

    return tokens()


def count_stream(
    encoding: TextEncoder,
    file: Readable | Iterable[str] | Iterable[bytes],
    *,
    errors: str = "strict",
) -> int:
    r"""How many tokens a file has, in constant memory: ``encoding.count`` of its text.

    The name of a special token counts as the plain text it is.  Bytes are decoded as UTF-8 as they
    are: no newline is translated, and a byte-order mark is a character.

    Args:
        encoding: what to count with.
        file: a file object, text or binary, or pieces of text or of bytes.
        errors: what to do with bytes that are not UTF-8, as in ``bytes.decode``.

    Raises:
        StreamDecodeError: with ``errors="strict"``, bytes are not UTF-8.  It is a
            ``UnicodeDecodeError``; its ``offset`` is where in the file the wrong byte stands.
        OSError: the file cannot be read; or it is in non-blocking mode and has nothing yet.
        TypeError: ``file`` is a str or bytes.

    >>> import io
    >>> from compat_bpe import get_encoding
    >>> count_stream(get_encoding("gpt2"), io.BytesIO(b"hello world\r\n"))
    4
    >>> count_stream(get_encoding("gpt2"), ["hello wo", "rld\r", "\n"])
    4
    """
    counter = StreamCounter(encoding, errors=errors)
    for piece in _pieces(file):
        counter.feed(piece)
    return counter.finish()


async def acount_stream(
    encoding: TextEncoder,
    file: AsyncReadable | AsyncIterable[str] | AsyncIterable[bytes],
    *,
    errors: str = "strict",
) -> int:
    """``count_stream`` for a file or pieces that are read asynchronously.

    Args:
        encoding, errors: as in ``count_stream``.
        file: something with an ``async def read(size)``, or an asynchronous iterable of pieces.

    >>> import asyncio
    >>> from compat_bpe import get_encoding
    >>> async def main():
    ...     reader = asyncio.StreamReader()
    ...     reader.feed_data(b"hello world")
    ...     reader.feed_eof()
    ...     return await acount_stream(get_encoding("gpt2"), reader)
    >>> asyncio.run(main())
    2
    """
    counter = StreamCounter(encoding, errors=errors)
    async for piece in _apieces(file):
        counter.feed(piece)
    return counter.finish()


def portions(piece: AnyStr) -> Iterator[AnyStr]:
    """A piece in parts of a bounded length, so that memory is bounded whatever is fed."""
    for start in range(0, len(piece), PORTION):
        yield piece[start : start + PORTION]


def _pieces(file: Readable | Iterable[str] | Iterable[bytes]) -> Iterator[str | bytes]:
    """What a file has, block by block: lines would be short, and one may be the whole file."""
    if isinstance(file, (str, bytes)):
        # A path, most likely; as an iterable it would be counted itself.
        raise TypeError(
            f"file must be a file object or an iterable of pieces, not {type(file).__name__}; "
            "open a path first"
        )
    if isinstance(file, Readable):
        while block := _checked(file.read(PORTION)):
            yield block
    else:
        yield from file


async def _apieces(
    file: AsyncReadable | AsyncIterable[str] | AsyncIterable[bytes],
) -> AsyncIterator[str | bytes]:
    """``_pieces`` of what is read asynchronously."""
    if isinstance(file, AsyncReadable):
        while block := _checked(await file.read(PORTION)):
            yield block
    else:
        async for piece in file:
            yield piece


def _checked(block: str | bytes | None) -> str | bytes:
    if block is None:
        raise BlockingIOError("the file is in non-blocking mode and has nothing to read yet")
    return block
