"""``Tokenized`` and tokenizers' ``Encoding``, to compare one with the other."""

from __future__ import annotations

from typing import Any

from compat_bpe.pipeline.tokenized.tokenized import Tokenized

FIELDS = (
    *("ids", "tokens", "offsets", "type_ids", "special_tokens_mask", "attention_mask"),
    *("word_ids", "sequence_ids", "n_sequences"),
)


def fields(found: Any) -> dict[str, Any]:
    """All that is known about some tokens, here or in tokenizers."""
    known = {name: getattr(found, name) for name in FIELDS}
    return {**known, "overflowing": [fields(part) for part in found.overflowing]}


def of_theirs(encoding: Any) -> Tokenized:
    """The tokens of a text that no post-processor has seen."""
    return Tokenized(encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids)


def error_of(call: Any) -> str:
    """The kind of the error that a call raises, panics included; "" if it raises none."""
    try:
        call()
    except BaseException as error:
        if type(error).__name__ != "PanicException" and not isinstance(error, Exception):
            raise
        return type(error).__name__
    return ""
