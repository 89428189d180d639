"""Merging by runs, against the rule, with so few slots that all of them are shared."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from compat_bpe.pipeline.pypy import unspaced
from compat_bpe.pipeline.pypy.unspaced import RunMerger

#: Characters of each length in UTF-8, among them the first and the last.
LETTERS = "a\x7f\x80é\u07ff\u0800国囷乭\uffff\U00010000𐐁\U000fffff\U0010fffe\U0010ffff"
_words = st.text(LETTERS, min_size=2, max_size=3).map(str.encode)
_tokens = st.builds(lambda data, start, end: data[start:end], _words, *[st.integers(-3, 9)] * 2)
texts = st.text(LETTERS, min_size=1, max_size=30)


@pytest.fixture(autouse=True, scope="module")
def _few_slots() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unspaced, "_CHARS", 4)
        patch.setattr(unspaced, "_PAIRS", 2)
        patch.setattr(unspaced, "_LONG", 12)
        yield


def encoder_of(tokens: list[bytes]) -> BytePairEncoder:
    singles = [bytes((byte,)) for byte in range(256)]
    return BytePairEncoder({token: i for i, token in enumerate(dict.fromkeys(singles + tokens))})


@given(st.lists(_tokens.filter(bool), max_size=20), texts)
@example(["国国".encode()[2:4]], "国国中国国")
@example(["\U0010ffff\U000fffff".encode()], "\U0010ffff\U000fffff\U000fffff\U0010ffff" * 2)
def test_the_ids_are_those_of_the_rule(tokens: list[bytes], text: str) -> None:
    encoder = encoder_of(tokens)
    runs = RunMerger(encoder.ranks, encoder.merge)
    for chunk in (text, text[::-1], text):
        assert runs.merge(chunk.encode()) == encoder.merge(chunk.encode())
