"""Many added tokens, hostile names among them, against tokenizers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.special_tokens import FEW
from tests.differential.small_tokenizers import Both, file
from tests.examples import scaled
from tests.tokenizer_files import FLAGS, added

ALPHABETS = st.sampled_from(["ab ", "a", "aé<|", "a\n]^-\\", "a\U0001f600\uffff "])


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[dict[str, Any]], str]:
    alphabet = draw(ALPHABETS)
    names = draw(st.sets(st.text(alphabet, min_size=1, max_size=5), min_size=1, max_size=20))
    # So many that no pattern of them all is made.
    names |= {f"x{number}" for number in range(FEW)}
    flags = st.sets(st.sampled_from(FLAGS)).map(lambda chosen: dict.fromkeys(chosen, True))
    tokens = [added(300 + at, name, **draw(flags)) for at, name in enumerate(sorted(names))]
    parts = st.one_of(st.text(alphabet + "Ax1", max_size=6), st.sampled_from(sorted(names)))
    return tokens, "".join(draw(st.lists(parts, max_size=8)))


@settings(max_examples=scaled(150))
@given(cases(), st.sampled_from([None, {"type": "Lowercase"}]))
def test_random_names(case: tuple[list[dict[str, Any]], str], normalizer: Any) -> None:
    tokens, text = case
    Both(file(added_tokens=tokens, normalizer=normalizer)).check(text)


BEGINNING = "<|reserved_special_token_"


@pytest.mark.parametrize("flag", ["special", "normalized", "single_word"])
@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([f"{BEGINNING}{at}|>" for at in range(2000)], f"{BEGINNING * 9}77|>{BEGINNING}2000|>"),
        ([f"a{at:04}" for at in range(2000)], "a" * 400 + "a1999a2000a0"),
        (["a" * length for length in range(1, 500)], ("a" * 520 + "b ") * 4),
        (["a" * length + "b" for length in range(800)], "a" * 4000),
        (["a" + "b" * length for length in range(800)], "ac" * 400 + "a" + "b" * 900),
        ([chr(at) for at in range(0x4E00, 0x5600)], "一丁x\u5600\u55ff"),
    ],
    ids=["one beginning", "one letter", "prefixes", "tails", "short in long", "many beginnings"],
)
def test_hostile_names(names: list[str], text: str, flag: str) -> None:
    tokens = [added(300 + at, name, **{flag: True}) for at, name in enumerate(names)]
    Both(file(added_tokens=tokens)).check(text)
