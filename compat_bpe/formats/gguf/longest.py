"""RWKV's list of tokens in a GGUF file, each written as Python's ``repr`` writes bytes."""

from __future__ import annotations

from .. import missing_byte
from ..rwkv import RwkvVocabulary, token_written
from .vocabulary import Vocabulary


def read_longest(vocabulary: Vocabulary) -> RwkvVocabulary:
    """Return the tokenizer of a file of the model ``rwkv``.

    The first token is the end of a text, whatever it is called; the others are the list's.

    Raises:
        ValueError: a token is damaged, or occurs twice, or a byte has none.
    """
    metadata = vocabulary.metadata
    tokens: dict[bytes, int] = {}
    for id_, written in enumerate(vocabulary.tokens[1:], 1):
        try:
            token = token_written(written, is_bytes=True)
        except ValueError as error:
            metadata.fail_item("tokens", id_, str(error))
        if token in tokens:
            metadata.fail_item("tokens", id_, f"{token!r} is [{tokens[token]}], too")
        tokens[token] = id_
    byte = missing_byte(tokens)
    if byte is not None:
        metadata.fail("tokens", f"there is no token for the single byte 0x{byte:02X}")
    return RwkvVocabulary(tokens, metadata.source)
