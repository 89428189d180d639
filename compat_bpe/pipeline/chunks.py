"""The chunks of a text, as an encoding's core cuts them before it merges each for itself."""

from __future__ import annotations

from collections.abc import Iterator, Set

from .core import Core


def chunks_of(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[bytes | int]:
    r"""The bytes of each chunk, and between them the ids of special and other added tokens.

    Args:
        core: of an encoding.
        text: any text without surrogates.
        allowed_special: the names of special tokens that are tokens in it.

    Raises:
        UnicodeEncodeError: the text has surrogates in it.

    >>> from compat_bpe.encodings.core_bpe import CoreBPE
    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r" ?\w+|\W")
    >>> list(chunks_of(core, "to be<|end|>", {"<|end|>"}))
    [b'to', b' be', 256]
    """
    for plain, special in core.spans(text, allowed_special):
        yield from map(core.model.to_bytes, core.splitter.chunks(plain))
        if special is not None:
            yield special


def texts_of_chunks(core: Core, text: str) -> Iterator[list[str]]:
    r"""The chunks of a text in which nothing is special, as text, stretch by stretch.

    A stretch is what lies between two tokens that are tokens everywhere, and is normalized if the
    tokenizer does that.  ``chunk_bytes`` gives the bytes of a chunk.

    Raises:
        UnicodeEncodeError: the text has surrogates in it.

    >>> from compat_bpe.encodings.core_bpe import CoreBPE
    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {}, r" ?[a-z]+|\W")
    >>> list(texts_of_chunks(core, "the dog"))
    [['the', ' dog']]
    """
    for plain, _ in core.spans(text, frozenset()):
        yield core.splitter.chunks(plain)


def chunk_bytes(core: Core, chunk: str) -> bytes:
    """The bytes that a chunk of ``texts_of_chunks`` stands for."""
    return core.model.to_bytes(chunk)
