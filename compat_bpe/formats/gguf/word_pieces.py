"""Vocabularies of BERT in a GGUF file: ``▁`` marks what begins a word, nothing what goes on."""

from __future__ import annotations

import re
from typing import Any

from ..models.wordpiece import WordPiecePart
from ..parts.transformers import (
    BERT_PRE_TOKENIZER,
    bert_normalizer_part,
    template_part,
    text_item,
    token_item,
)
from ..tokenizer_json import TokenizerDefinition
from .vocabulary import CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Vocabulary

_BEGIN, _GOES_ON = "▁", "##"
#: The ids of a file that does not say them: those of the first BERT, as in llama.cpp.
_UNKNOWN, _FIRST, _LAST = 100, 101, 102
_CAPITAL = re.compile("[A-Z]").search


def read_word_pieces(vocabulary: Vocabulary) -> TokenizerDefinition:
    """Return the tokenizer of a file of the model ``bert``.

    Raises:
        ValueError: the file is damaged.
    """
    metadata, types = vocabulary.metadata, vocabulary.types
    unknown = _id(vocabulary, "unk_token", _UNKNOWN)
    first = _id(vocabulary, "bos_token", _id(vocabulary, "cls_token", _FIRST))
    last = _id(vocabulary, "sep_token", _LAST)
    for number in (unknown, first, last):
        if types[number] == NORMAL:
            types[number] = CONTROL
    lower = metadata.truth("normalizer.lowercase")
    if lower is None:
        lower = not _has_capitals(vocabulary)
    tokens = [_written(token, kind) for token, kind in zip(vocabulary.tokens, types)]
    written = vocabulary._replace(tokens=tokens)
    names = {role: tokens[number] for role, number in (("first", first), ("last", last))}
    begin, end = token_item(names["first"]), token_item(names["last"])
    parts: dict[str, Any] = {
        "normalizer": bert_normalizer_part(
            lowercase=lower, strip_accents=metadata.truth("normalizer.strip_accents")
        ),
        "pre_tokenizer": BERT_PRE_TOKENIZER,
        "post_processor": template_part(
            [begin, text_item("A"), end],
            [begin, text_item("A"), end, text_item("B", 1), token_item(names["last"], 1)],
            {names["first"]: first, names["last"]: last},
        ),
        "decoder": {"type": "WordPiece", "prefix": _GOES_ON, "cleanup": True},
    }
    model = WordPiecePart(written.ids(), tokens[unknown])
    return TokenizerDefinition(model, written.added_tokens(), parts, metadata.source)


def _id(vocabulary: Vocabulary, role: str, default: int) -> int:
    number = vocabulary.id_of_role(role)
    number = default if number is None else number
    if number >= len(vocabulary.tokens):
        vocabulary.metadata.fail("tokens", f"there is no {role}")
    return number


def _has_capitals(vocabulary: Vocabulary) -> bool:
    """Return True if some piece has a capital letter, so that text is not put in lower case."""
    return any(
        kind == NORMAL and not _is_name(token)
        for token, kind in zip(vocabulary.tokens, vocabulary.types)
        if _CAPITAL(token)
    )


def _written(token: str, kind: int) -> str:
    """Return a token as in a ``vocab.txt``."""
    if kind in (CONTROL, UNKNOWN):
        return token
    if token.startswith(_BEGIN):
        return token[1:]
    # Old files have reserved tokens as they are.
    is_kept = kind == USER_DEFINED or (token.endswith("]") and _is_name(token))
    return token if is_kept else _GOES_ON + token


def _is_name(token: str) -> bool:
    token = token[1:] if token.startswith(_BEGIN) else token
    return len(token) > 2 and token.startswith("[") and token.endswith("]")
