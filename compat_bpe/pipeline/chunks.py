"""The chunks that a text is split into before each is encoded by itself; imported late."""

from __future__ import annotations

from .models.bpe.by_rank import ByteLevelBPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from .core import Core


def texts_of_chunks(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[tuple[list[str], int | None]]:
    r"""Yield the chunks of a text, as the text that the model gets, one list a span.

    A span lies between two added tokens; the id of the one after it, or None, stands beside it. It
    is normalized if the tokenizer normalizes. The model's ``to_bytes`` gives the bytes of a chunk.

    Args:
        core: the core of an encoding.
        text: any text without surrogates.
        allowed_special: the names of special tokens that are tokens in the text.

    Raises:
        UnicodeEncodeError: the text has surrogates.

    >>> from compat_bpe.encodings.core import CoreBPE
    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r" ?[a-z]+|\W")
    >>> list(texts_of_chunks(core, "the dog<|end|>", {"<|end|>"}))
    [(['the', ' dog'], 256), ([], None)]
    """
    for span, token in core.spans(text, allowed_special):
        yield core.splitter.chunks(span), token


def parts_of_text(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[str | int]:
    """Yield the chunks and ids of ``texts_of_chunks``, one by one."""
    for chunks, token in texts_of_chunks(core, text, allowed_special):
        yield from chunks
        if token is not None:
            yield token


def chunks_of(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[bytes | int]:
    """Yield what ``parts_of_text`` does, with each chunk as bytes."""
    to_bytes = core.model.to_bytes
    for part in parts_of_text(core, text, allowed_special):
        yield part if isinstance(part, int) else to_bytes(part)


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
