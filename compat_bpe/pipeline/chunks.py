"""The chunks that a tokenizer's core splits a text into before it merges each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Set

from .core import Core
from .models.bpe.by_rank import ByteLevelBPE


def chunks_of(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[bytes | int]:
    r"""Yield the bytes of each chunk, and between them the ids of special and other added tokens.

    Args:
        core: the core of an encoding.
        text: any text without surrogates.
        allowed_special: the names of special tokens that are tokens in the text.

    Raises:
        UnicodeEncodeError: the text has surrogates.

    >>> from compat_bpe.encodings.core import CoreBPE
    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r" ?\w+|\W")
    >>> list(chunks_of(core, "to be<|end|>", {"<|end|>"}))
    [b'to', b' be', 256]
    """
    for plain, special in core.spans(text, allowed_special):
        yield from map(core.model.to_bytes, core.splitter.chunks(plain))
        if special is not None:
            yield special


def parts_of_text(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[str | int]:
    """Yield what ``chunks_of`` does, with each chunk as the text that the model gets.

    Raises:
        UnicodeEncodeError: the text has surrogates.
    """
    for plain, special in core.spans(text, allowed_special):
        yield from core.splitter.chunks(plain)
        if special is not None:
            yield special


def joins_to_text(core: Core) -> bool:
    """Return True if the tokens of any text, joined, certainly are its UTF-8.

    >>> from compat_bpe import get_encoding
    >>> joins_to_text(get_encoding("gpt2").core), joins_to_text(get_encoding("words").core)
    (True, False)
    """
    definition = core.definition
    return (
        definition.model.is_text
        and definition.make_decoder is None
        and not definition.added.changes_text
        and core.leaves_nothing_out
    )


def is_byte_level(core: Core) -> bool:
    """Return True if the model merges bytes: only such a model can be extended, for instance."""
    return isinstance(core.model, ByteLevelBPE)


def texts_of_chunks(core: Core, text: str) -> Iterator[tuple[list[str], int | None]]:
    r"""Yield the chunks of a text without special tokens, as text, one list a span.

    A span lies between two added tokens that are tokens everywhere; the id of the one after it, or
    None, stands beside it. It is normalized if the tokenizer normalizes. ``chunk_bytes`` gives
    the bytes of a chunk.

    Raises:
        UnicodeEncodeError: the text has surrogates.

    >>> from compat_bpe.encodings.core import CoreBPE
    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {}, r" ?[a-z]+|\W")
    >>> list(texts_of_chunks(core, "the dog"))
    [(['the', ' dog'], None)]
    """
    for plain, token in core.spans(text, frozenset()):
        yield core.splitter.chunks(plain), token


def chunk_bytes(core: Core, chunk: str) -> bytes:
    """Return the bytes of a chunk of ``texts_of_chunks``."""
    return core.model.to_bytes(chunk)
