"""``Tokenized`` and tokenizers' ``Encoding``, to compare one with the other."""

from __future__ import annotations

from typing import Any

from compat_bpe.pipeline.tokenized import Tokenized

FIELDS = (
    *("ids", "tokens", "offsets", "type_ids", "special_tokens_mask", "attention_mask"),
    *("word_ids", "sequence_ids", "n_sequences"),
)


def fields(found: Any) -> dict[str, Any]:
    """All that is known about some tokens, here or in tokenizers."""
    known = {name: getattr(found, name) for name in FIELDS}
    return {**known, "overflowing": [fields(part) for part in found.overflowing]}


def lookups(found: Any, length: int) -> dict[str, Any]:
    """What all lookups give, here or in tokenizers, at places up to a length and beyond the end."""
    places = range(max(length, len(found)) + 2)
    answers: dict[str, Any] = {
        name: [getattr(found, name)(place) for place in places]
        for name in ("token_to_chars", "token_to_word")
    }
    # If a token is of several texts, tokenizers has now one and now the other.
    answers["is_in_text"] = [found.token_to_sequence(place) is not None for place in places]
    for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
        find = getattr(found, name)
        answers[name] = [[find(place, text) for place in places] for text in range(3)]
        assert answers[name][0] == list(map(find, places))
    return {**answers, "overflowing": [lookups(part, length) for part in found.overflowing]}


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
