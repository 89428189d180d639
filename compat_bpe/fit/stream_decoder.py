"""Ids that come one after the other, as a language model gives them, into text."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Union

from ..unicode.utf8 import Utf8Decoder
from .text_encoder import TextEncoder

#: One id, or several.
Tokens = Union[int, Iterable[int]]


class StreamDecoder:
    """Turns ids into text as they come.

    The text of all ids is what ``encoding.decode`` gives.  None of it is given out before it is
    certain: a character whose bytes are in several tokens comes with the last of them.

    Args:
        encoding: whose ids they are.
        errors: what to do with bytes that are not UTF-8, as in ``Encoding.decode``.

    >>> from compat_bpe import get_encoding
    >>> decoder = StreamDecoder(get_encoding("gpt2"))
    >>> [decoder.feed(token) for token in [31373, 12520, 246, 222]], decoder.finish()
    (['hello', ' ', '', '😀'], '')
    """

    def __init__(self, encoding: TextEncoder, errors: str = "replace") -> None:
        self._decode_bytes = encoding.decode_bytes
        self._utf8 = Utf8Decoder(errors)

    def feed(self, tokens: Tokens) -> str:
        """The text that is certain with this id, or these, and was not before; it may be empty.

        Raises:
            KeyError, OverflowError: as in ``Encoding.decode``.
            StreamDecodeError: with ``errors="strict"``, the bytes are not UTF-8.  It is a
                ``UnicodeDecodeError``; its ``offset`` counts the bytes from the first id on.

        After an error the decoder is as it was before.
        """
        ids = list(tokens) if isinstance(tokens, Iterable) else [tokens]
        return self._utf8.feed(self._decode_bytes(ids))

    def finish(self) -> str:
        """What is left when no id follows; then the decoder is as new.

        That is the beginning of a character whose rest did not come, treated as ``errors`` says.

        Raises:
            StreamDecodeError: with ``errors="strict"``, there is such a beginning.
        """
        return self._utf8.finish()


def decode_iter(
    encoding: TextEncoder, tokens: Iterable[Tokens], errors: str = "replace"
) -> Iterator[str]:
    """The text of ids as they come, in pieces of which none is empty; see ``StreamDecoder``.

    Args:
        encoding: whose ids they are.
        tokens: ids, or lists of ids.
        errors: as in ``Encoding.decode``.

    Raises:
        KeyError, OverflowError, UnicodeDecodeError: as ``StreamDecoder``, when it comes to it.

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
    """``decode_iter`` for ids that come asynchronously.

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
