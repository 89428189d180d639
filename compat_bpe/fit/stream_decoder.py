"""Decoding of ids that arrive one after another, as from a language model."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Union

from .text_encoder import TextEncoder, check_encoding

#: One id, or several.
Tokens = Union[int, Iterable[int]]


class StreamDecoder:
    """A decoder of ids that arrive one after another.

    The text of all ids is the one that ``encoding.decode`` gives. Text is returned only when it is
    certain, and is never taken back: a character whose bytes are in several tokens comes with the
    last of them. What else is held back depends on the tokenizer: most often nothing, or the text
    of the last id. A few decoders, such as a SentencePiece denormalizer, must see all ids first;
    then the text comes with ``finish``.

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
        """Return the text that this id, or these, make certain; it may be empty.

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
