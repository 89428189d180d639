"""The chunks of a text, as an encoding's core cuts them before it merges each for itself."""

from __future__ import annotations

from collections.abc import Iterator, Set

from compat_bpe.engine.core_bpe import CoreBPE


def chunks_of(
    core: CoreBPE, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[bytes | int]:
    r"""The bytes of each chunk, and between them the ids of special and other added tokens.

    Args:
        core: of an encoding.
        text: any text without surrogates.
        allowed_special: the names of special tokens that are tokens in it.

    Raises:
        UnicodeEncodeError: the text has surrogates in it.

    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r" ?\w+|\W")
    >>> list(chunks_of(core, "to be<|end|>", {"<|end|>"}))
    [b'to', b' be', 256]
    """
    for plain, special in core._stretches(text, allowed_special):
        yield from map(core._to_bytes, core._splitter.chunks(plain))
        if special is not None:
            yield special


def is_whole(core: CoreBPE, chunk: bytes) -> bool:
    """Whether a chunk is a token before any merging."""
    return chunk in core._whole


def ids_of(core: CoreBPE, chunk: bytes) -> list[int]:
    """The ids of a chunk of ``chunks_of``.

    Raises:
        ValueError: a byte of it is no token.
    """
    whole = core._whole.get(chunk)
    return core._byte_pair.merge(chunk) if whole is None else [whole]
