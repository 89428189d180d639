"""Added tokens, against tokenizers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.pipeline.special_tokens import FEW
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests.differential.any_tokenizer import pre_tokenizers
from tests.differential.small_tokenizers import Both, file, small_model
from tests.examples import drawn
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, FLAGS, added

texts = any_texts.map(repair)


def test_ids_of_added_tokens_are_those_that_tokenizers_gives() -> None:
    model = small_model()
    size = len(model["vocab"])
    listed = [added(7000, "<a>"), added(model["vocab"]["he"], "he"), added(6000, "<b>")]
    made = Both(file(added_tokens=listed))
    made.check("<a>the<b>")
    assert made.ours.encode("<a><b>") == [size, size + 1]


def test_added_tokens_that_come_twice() -> None:
    listed = [
        added(1000, "<a>", special=True),
        added(1000, "<b>"),  # the id of another
        *[added(1001, "<a>", rstrip=True, normalized=True)] * 2,
        added(1002, "he", special=True),
        added(1003, "he", lstrip=True),
    ]
    made = Both(file(added_tokens=listed))
    for text in ("<a>  the <b> he", "he<a> ", "<a><b>"):
        made.check(text)
    size = len(small_model()["vocab"])
    assert made.ours.encode("<a> <b>", allowed_special="all") == [size, size + 1]
    assert [token.special for token in made.ours.added_tokens] == [True, False, True]


def test_added_tokens_numbered_onto_ids_of_the_vocabulary(tmp_path: Path) -> None:
    model = small_model()
    size = len(model["vocab"])
    model = {**model, "vocab": {**model["vocab"], "zzz": size + 3}}
    listed = [added(1, "<a>"), added(2, "<b>"), added(3, "<c>"), added(4, "zzz")]
    # In the last two the token of the vocabulary comes first, or is no added one, and the id is
    # the other's.
    for tokens in (listed, listed[3:] + listed[:3], listed[:3]):
        made = Both(file(added_tokens=tokens, model=model))
        for text in ("<a><b><c>", "zzz he<c>", "the"):
            made.check(text)
        for name in ("<a>", "<c>", "zzz", "he", "?", "??") if tokens is not listed else ():
            assert made.ours.token_to_id(name) == made.theirs.token_to_id(name)
    assert made.ours.id_to_token(size + 3) == made.theirs.id_to_token(size + 3) == "<c>"
    assert made.ours.token_to_id("<c>") == made.ours.token_to_id("zzz") == size + 3
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(made.ours, path)
    saved = tokenizers.Tokenizer.from_file(str(path))
    assert saved.encode("<a><b><c>").ids == made.theirs.encode("<a><b><c>").ids


@st.composite
def many_names(draw: st.DrawFn) -> tuple[list[dict[str, Any]], str]:
    """So many names that no pattern of them all is made, and a text."""
    alphabet = draw(st.sampled_from(["ab ", "a", "aé<|", "a\n]^-\\", "a\U0001f600\uffff "]))
    names = draw(st.sets(st.text(alphabet, min_size=1, max_size=5), min_size=1, max_size=20))
    names |= {f"x{number}" for number in range(FEW)}
    some_flags = st.sets(st.sampled_from(FLAGS)).map(lambda chosen: dict.fromkeys(chosen, True))
    tokens = [added(300 + at, name, **draw(some_flags)) for at, name in enumerate(sorted(names))]
    parts = st.one_of(st.text(alphabet + "Ax1", max_size=6), st.sampled_from(sorted(names)))
    return tokens, "".join(draw(st.lists(parts, max_size=8)))


@drawn(150, many_names(), st.sampled_from([None, {"type": "Lowercase"}]))
def test_many_random_names(case: tuple[list[dict[str, Any]], str], normalizer: Any) -> None:
    Both(file(added_tokens=case[0], normalizer=normalizer)).check(case[1])


BEGINNING = "<|reserved_special_token_"
HOSTILE = {
    "one beginning": (
        [f"{BEGINNING}{at}|>" for at in range(2000)],
        f"{BEGINNING * 9}77|>{BEGINNING}2000|>",
    ),
    "one letter": ([f"a{at:04}" for at in range(2000)], "a" * 400 + "a1999a2000a0"),
    "prefixes": (["a" * length for length in range(1, 500)], ("a" * 520 + "b ") * 4),
    "tails": (["a" * length + "b" for length in range(800)], "a" * 4000),
    "short in long": (["a" + "b" * n for n in range(800)], "ac" * 400 + "a" + "b" * 900),
    "many beginnings": ([chr(at) for at in range(0x4E00, 0x5600)], "一丁x\u5600\u55ff"),
}


@pytest.mark.parametrize("flag", ["special", "normalized", "single_word"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str, flag: str) -> None:
    names, text = HOSTILE[name]
    tokens = [added(300 + at, name, **{flag: True}) for at, name in enumerate(names)]
    Both(file(added_tokens=tokens)).check(text)


def test_an_unknown_id_is_an_error_here() -> None:
    with pytest.raises(KeyError, match=re.escape("4000 is not in the vocabulary")):
        Both(file()).ours.decode([4000])


@pytest.mark.parametrize("pre_tokenizer", [BYTE_LEVEL, pre_tokenizers(BYTE_LEVEL)])
def test_a_long_text_in_one_piece(pre_tokenizer: dict[str, Any]) -> None:
    Both(file(pre_tokenizer=pre_tokenizer)).check("the hat " * 2000 + "中文" * 500)


@pytest.mark.hypothesis
@pytest.mark.parametrize("prefix", [False, True])
def test_vocab_json_and_merges_txt(tmp_path: Path, prefix: bool) -> None:
    model = small_model()
    vocab, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
    vocab.write_text(json.dumps(model["vocab"]), "utf-8")
    merges.write_text("\n".join(["#version: 0.2", *model["merges"], ""]), "utf-8")
    config = {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": prefix}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    # It has no added tokens, and transformers gives this class <|endoftext|>.
    theirs = tokenizers.ByteLevelBPETokenizer.from_file(
        str(vocab), str(merges), add_prefix_space=prefix
    )
    ours = compat_bpe.load(tmp_path)

    @given(texts)
    def check(text: str) -> None:
        assert ours.encode_ordinary(text) == theirs.encode(text).ids

    check()
