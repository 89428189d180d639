"""The chunks that a tokenizer's core splits a text into before it merges each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Set

from .core_bpe import CoreBPE
from .models.bpe.by_rank import Ids


def chunks_of(
    core: CoreBPE, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[bytes | int]:
    r"""Yield the bytes of each chunk, and between them the ids of special and other added tokens.

    Args:
        core: the core of an encoding.
        text: any text without surrogates.
        allowed_special: the names of special tokens that are tokens in the text.

    Raises:
        UnicodeEncodeError: the text has surrogates.

    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r" ?\w+|\W")
    >>> list(chunks_of(core, "to be<|end|>", {"<|end|>"}))
    [b'to', b' be', 256]
    """
    for plain, special in core._stretches(text, allowed_special):
        yield from map(core._to_bytes, core._splitter.chunks(plain))
        if special is not None:
            yield special


def texts_of_chunks(core: CoreBPE, text: str) -> Iterator[list[str]]:
    r"""Yield the chunks of a text without special tokens, as text, one list a span.

    A span lies between two added tokens that are tokens everywhere.  It is normalized if the
    tokenizer normalizes.  ``chunk_bytes`` gives the bytes of a chunk.

    Raises:
        UnicodeEncodeError: the text has surrogates.

    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {}, r" ?[a-z]+|\W")
    >>> list(texts_of_chunks(core, "the dog"))
    [['the', ' dog']]
    """
    for plain, _ in core._stretches(text, frozenset()):
        yield core._splitter.chunks(plain)


def chunk_bytes(core: CoreBPE, chunk: str) -> bytes:
    """Return the bytes of a chunk of ``texts_of_chunks``."""
    return core._to_bytes(chunk)


def ids_by_chunk(core: CoreBPE, text: str) -> Iterator[Ids]:
    """Yield the ids of each chunk of a text without special tokens, in order.

    Joined, they are what ``encode_ordinary`` gives.  An added token that is a token everywhere is a
    chunk of its own.  The ids are cached, as when a text is encoded.

    Raises:
        UnicodeEncodeError: the text has surrogates.

    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {}, r" ?[a-z]+")
    >>> list(ids_by_chunk(core, "a bc"))
    [(97,), (32, 98, 99)]
    """
    for plain, token in core._stretches(text, frozenset()):
        yield from core._ids_by_chunk(plain)
        if token is not None:
            yield (token,)


def is_whole(core: CoreBPE, chunk: bytes) -> bool:
    """Return True if a chunk is a token before any merging."""
    return chunk in core._whole


def ids_of(core: CoreBPE, chunk: bytes) -> list[int]:
    """Return the ids of a chunk of ``chunks_of``.

    Raises:
        ValueError: a byte of the chunk is not a token.
    """
    whole = core._whole.get(chunk)
    return core._byte_pair.merge(chunk) if whole is None else [whole]
