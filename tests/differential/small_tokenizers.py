"""Small tokenizers, and what both packages make of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import tokenizers

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.pipeline.byte_level import encode_bytes
from compat_bpe.pipeline.tokenized import Tokenized
from tests.tokenizer_files import BYTE_LEVEL, bpe_model, tokenizer_file

_SMALL = Path(__file__).parents[2] / "fixtures" / "gpt2_small"


@cache
def small_model() -> dict[str, Any]:
    """A model of 384 tokens, as it stands in a ``tokenizer.json``."""
    ids = json.loads((_SMALL / "encoder.json").read_bytes())
    merges = (_SMALL / "vocab.bpe").read_text("utf-8").splitlines()[1:]
    del ids["<|endoftext|>"]
    return bpe_model(ids, merges)


def file(**parts: Any) -> dict[str, Any]:
    """A ``tokenizer.json``, with some of its parts given."""
    usual = {"pre_tokenizer": BYTE_LEVEL, "decoder": BYTE_LEVEL, "model": small_model()}
    return tokenizer_file(**{**usual, **parts})


class Both:
    """One tokenizer in both packages."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.ours = Tokenizer("small", parse_tokenizer(Json(content, "small")))

    def check(self, text: str) -> None:
        """Compare all that can be asked of a text without surrogates."""
        self.theirs.encode_special_tokens = False
        ids = self.theirs.encode(text, add_special_tokens=False).ids
        assert self.ours.encode(text, allowed_special="all") == ids
        assert self.ours.encode(text, allowed_special="all", add_special_tokens=True) == (
            self.theirs.encode(text).ids
        )
        for skip in (False, True):
            expected = self.theirs.decode(ids, skip_special_tokens=skip)
            assert self.ours.decode(ids, skip_special_tokens=skip) == expected
        self.theirs.encode_special_tokens = True
        ids = self.theirs.encode(text, add_special_tokens=False).ids
        assert self.ours.encode_ordinary(text) == ids
        assert self.ours.encode(text, disallowed_special=()) == ids
        assert self.ours.count(text) == len(ids)

    def panics(self, text: str) -> bool:
        """Whether tokenizers panics; then here it must work all the same."""
        kind = error_of(lambda: self.theirs.encode(text))
        assert kind in ("", PANIC)
        if kind:
            self.ours.encode(text, allowed_special="all")
        return bool(kind)

    def check_pieces(self, text: str) -> None:
        """Compare the pieces that the pre-tokenizer leaves, in the byte alphabet."""
        core = self.ours.core
        pieces = [
            encode_bytes(core.model.to_bytes(chunk))
            for plain, _ in core.spans(text, frozenset())
            for chunk in core.splitter.chunks(plain)
        ]
        assert pieces == [piece for piece, _ in self.theirs.pre_tokenizer.pre_tokenize_str(text)]


FIELDS = """
    ids tokens offsets type_ids special_tokens_mask attention_mask word_ids sequence_ids n_sequences
""".split()


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


PANIC = "PanicException"


def answer(call: Callable[[], Any]) -> tuple[Any, str]:
    """What a call returns, and the kind of the error that it raises, panics included, or ""."""
    try:
        return call(), ""
    except BaseException as error:
        if type(error).__name__ != PANIC and not isinstance(error, Exception):
            raise
        return None, type(error).__name__


def error_of(call: Callable[[], Any]) -> str:
    return answer(call)[1]


def same(ours: Callable[[], Any], theirs: Callable[[], Any]) -> bool:
    """Compare two calls; False if tokenizers raises an error, which is one here, or panics."""
    expected, kind = answer(theirs)
    if kind:
        assert error_of(ours) in (("", "ValueError") if kind == PANIC else ("ValueError",))
        return False
    assert ours() == expected
    return True
