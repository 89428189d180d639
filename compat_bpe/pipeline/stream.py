"""Text that arrives in pieces, encoded and counted; ids that arrive in pieces, decoded.

The pieces may be cut anywhere. The text so far is encoded up to its last cut point, and the text
after it is held back (``cutter``).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable, Iterator
from itertools import chain
from typing import Protocol, Union, runtime_checkable

from ..unicode.text import Utf8Decoder
from .cutter import PORTION, Cutter, TextEncoder, check_encoding, portions
from .processors import keeps_text
from .special_tokens import AllowedSpecial, DisallowedSpecial

_NO_NAMES: frozenset[str] = frozenset()


@runtime_checkable
class Readable(Protocol):
    """A file object, text or binary."""

    def read(self, size: int, /) -> str | bytes | None: ...


@runtime_checkable
class AsyncReadable(Protocol):
    """A file object whose ``read`` is awaited, such as ``asyncio.StreamReader``."""

    def read(self, size: int, /) -> Awaitable[str | bytes | None]: ...


class StreamEncoder:
    """An encoder of text that arrives in pieces.

    The ids of all pieces together are those that ``encoding.encode`` gives for the whole text.
    Each is returned as soon as it is certain, so that a stream from a keyboard or a language model
    can be followed. For speed, feed some thousand characters at a time.

    Args:
        encoding: the encoding to use.
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
        check_encoding(encoding)
        names = encoding.special_tokens_set
        allowed = names if allowed_special == "all" else allowed_special
        # Check the arguments now, before there is any text.
        encoding.encode("", allowed_special=allowed, disallowed_special=())
        disallowed = names - allowed if disallowed_special == "all" else disallowed_special
        self._allowed = frozenset(allowed)
        self._disallowed = frozenset(disallowed or ())
        processor = encoding.core.definition.processor
        self._cutter = Cutter(
            encoding,
            self._allowed | self._disallowed,
            # A post-processor that omits or repeats a text needs the whole text.
            whole_text=processor is not None and not keeps_text(processor),
        )

    def feed(self, text: str) -> list[int]:
        """Return the ids that this piece makes certain; there may be none.

        Args:
            text: any text; it may begin and end within a surrogate pair or a special token's name.

        Raises:
            ValueError: the text contains a disallowed name. The encoder cannot be used any more.
        """
        return self._encode(self._cutter.feed(text))

    def finish(self) -> list[int]:
        """Return the ids of the text held back, and reset the encoder.

        Raises:
            ValueError: as in ``feed``.
        """
        return self._encode(self._cutter.finish())

    def _encode(self, text: str) -> list[int]:
        return self._cutter.encoding.encode(
            text, allowed_special=self._allowed, disallowed_special=self._disallowed
        )


class StreamCounter:
    r"""A counter of the tokens of text that arrives in pieces.

    The count is the one that ``encoding.count`` gives for the whole text.

    Args:
        encoding: the encoding to count by.
        errors: the error handler for bytes that are not UTF-8, as in ``bytes.decode``.

    >>> from compat_bpe import get_encoding
    >>> counter = StreamCounter(get_encoding("gpt2"))
    >>> for piece in (b"caf\xc3", b"\xa9 au ", b"lait"):
    ...     counter.feed(piece)
    >>> counter.finish()
    6
    """

    def __init__(self, encoding: TextEncoder, *, errors: str = "strict") -> None:
        check_encoding(encoding)
        self._cutter = Cutter(encoding, _NO_NAMES)
        self._utf8 = Utf8Decoder(errors)
        self._waiting: list[str] = []
        self._waiting_length = 0
        self._total = 0

    def feed(self, piece: str | bytes) -> None:
        """Take a piece of text, or of its UTF-8, which may begin and end within a character.

        Raises:
            StreamDecodeError: with ``errors="strict"``, bytes are not UTF-8. It is a
                ``UnicodeDecodeError``; its ``offset`` counts from the first byte fed. The counter
                cannot be used any more.
        """
        if isinstance(piece, str):
            # Text ends the bytes before it, so bytes held back are either complete or wrong.
            self._take(self._utf8.finish())
            for part in portions(piece):
                self._take(part)
        else:
            for data in portions(piece):
                self._take(self._utf8.feed(data))

    def finish(self) -> int:
        """Return the number of tokens of everything fed, and reset the counter.

        Raises:
            StreamDecodeError: as in ``feed``, if the last character is not complete.
        """
        self._take(self._utf8.finish())
        self._count_waiting()
        rest = self._cutter.finish()
        total = self._total + self._cutter.encoding.count(rest)
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
        certain = self._cutter.feed(text)
        self._total += self._cutter.encoding.count(certain)


def encode_iter(
    encoding: TextEncoder,
    pieces: Iterable[str],
    *,
    allowed_special: AllowedSpecial = _NO_NAMES,
    disallowed_special: DisallowedSpecial = "all",
) -> Iterator[int]:
    """Yield the ids of a text that arrives in pieces, each as soon as it is certain.

    They are the ids that ``encoding.encode`` gives for all pieces joined, wherever the pieces end.
    Only the text between two cut points is held in memory, mostly a few words. See
    ``StreamEncoder``.

    Args:
        encoding: the encoding to use.
        pieces: pieces of text, of any lengths.
        allowed_special, disallowed_special: as in ``Encoding.encode``.

    Raises:
        TypeError: ``allowed_special`` is not a set.
        ValueError: the text contains a disallowed name; raised when the name is reached.

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
    """Yield ids as ``encode_iter`` does, for pieces that arrive asynchronously.

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
    r"""Return the number of tokens of a file, ``encoding.count`` of its text, in constant memory.

    The name of a special token counts as plain text. Bytes are decoded as UTF-8 without changes:
    no newline is translated, and a byte-order mark is a character.

    Args:
        encoding: the encoding to count by.
        file: a file object, text or binary, or pieces of text or of bytes.
        errors: the error handler for bytes that are not UTF-8, as in ``bytes.decode``.

    Raises:
        StreamDecodeError: with ``errors="strict"``, bytes are not UTF-8. It is a
            ``UnicodeDecodeError``; its ``offset`` is the position of the wrong byte in the file.
        OSError: the file cannot be read, or it is in non-blocking mode and has nothing yet.
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
    """Return the number of tokens, as ``count_stream`` does, of text that is read asynchronously.

    Args:
        encoding, errors: as in ``count_stream``.
        file: an object with an ``async def read(size)``, or an asynchronous iterable of pieces.

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


def _pieces(file: Readable | Iterable[str] | Iterable[bytes]) -> Iterator[str | bytes]:
    """Yield a file in blocks, since a line may be very short or the whole file."""
    if isinstance(file, (str, bytes)):
        # Most likely a path. As an iterable, the path itself would be counted.
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
    """Yield the blocks of a file that is read asynchronously, as ``_pieces`` does."""
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


#: One id, or several.
Tokens = Union[int, Iterable[int]]


class StreamDecoder:
    """A decoder of ids that arrive one after another.

    The text of all ids is the one that ``encoding.decode`` gives. Text is returned only when it is
    certain, and is never taken back: a character whose bytes are in several tokens is returned with
    the last of them. Some tokenizers hold back more, most often the text of the last id. A few
    decoders, such as a SentencePiece denormalizer, need all ids first; then ``finish`` returns the
    text.

    Args:
        encoding: the encoding of the ids.
        errors: the error handler for bytes that are not UTF-8, as in ``Encoding.decode``.

    >>> from compat_bpe import get_encoding
    >>> decoder = StreamDecoder(get_encoding("gpt2"))
    >>> [decoder.feed(token) for token in [31373, 12520, 246, 222]], decoder.finish()
    (['hello', ' ', '', '😀'], '')
    """

    def __init__(self, encoding: TextEncoder, errors: str = "replace") -> None:
        check_encoding(encoding)
        self._stream = encoding.core.decoder_of_stream(errors)

    def feed(self, tokens: Tokens) -> str:
        """Return the text that one or more ids make certain; it may be empty.

        After an error the decoder keeps the state that it had before the call.

        Raises:
            KeyError, OverflowError: as in ``Encoding.decode``.
            UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8. If the tokens
                are bytes, it is a ``StreamDecodeError``; its ``offset`` counts the bytes from the
                first id on.
        """
        return self._stream.feed(list(tokens) if isinstance(tokens, Iterable) else [tokens])

    def finish(self) -> str:
        """Return the text held back, and reset the decoder.

        If it is the beginning of an incomplete character, that is treated as ``errors`` says.

        Raises:
            UnicodeDecodeError: with ``errors="strict"``, a character is incomplete.
        """
        return self._stream.finish()


def decode_iter(
    encoding: TextEncoder, tokens: Iterable[Tokens], errors: str = "replace"
) -> Iterator[str]:
    """Yield the text of ids as they arrive, in pieces that are not empty; see ``StreamDecoder``.

    Args:
        encoding: the encoding of the ids.
        tokens: ids, or lists of ids.
        errors: as in ``Encoding.decode``.

    Raises:
        KeyError, OverflowError, UnicodeDecodeError: as in ``StreamDecoder``, when the wrong id is
            reached.

    >>> from compat_bpe import get_encoding
    >>> list(decode_iter(get_encoding("gpt2"), [31373, 12520, 246, 222]))
    ['hello', ' ', '😀']
    """
    decoder = StreamDecoder(encoding, errors)

    def texts() -> Iterator[str]:
        for some in tokens:
            yield decoder.feed(some)
        yield decoder.finish()

    return filter(None, texts())


async def adecode_iter(
    encoding: TextEncoder, tokens: AsyncIterable[Tokens], errors: str = "replace"
) -> AsyncIterator[str]:
    """Yield text as ``decode_iter`` does, for ids that arrive asynchronously.

    >>> import asyncio
    >>> from compat_bpe import get_encoding
    >>> async def model():
    ...     for token in [31373, 12520, 246, 222]:
    ...         yield token
    >>> async def main():
    ...     return [text async for text in adecode_iter(get_encoding("gpt2"), model())]
    >>> asyncio.run(main())
    ['hello', ' ', '😀']
    """
    decoder = StreamDecoder(encoding, errors)
    async for some in tokens:
        text = decoder.feed(some)
        if text:
            yield text
    text = decoder.finish()
    if text:
        yield text
