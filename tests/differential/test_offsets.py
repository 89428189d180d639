"""Tokens and their places in the original text, against tokenizers."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.pipeline.offsets import Located, locate
from compat_bpe.unicode.surrogates import repair
from tests.differential.small_tokenizers import Both, file, small_model
from tests.differential.steps import METASPACE, STEPS
from tests.examples import scaled
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, added

#: The normalizers that know places.
NORMALIZERS: list[dict[str, Any]] = [
    {"type": "Lowercase"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "xé"},
    {"type": "Replace", "pattern": {"Regex": r"\s+|ll?"}, "content": ""},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Prepend", "prepend": " ab"},
]
ADDED = [
    added(384, "<b>"),
    added(385, "A", normalized=True),
    added(386, "b ", lstrip=True, rstrip=True),
    added(387, "<|é|>", special=True, lstrip=True),
    added(388, "el", single_word=True),
    added(389, "▁l", normalized=True, rstrip=True),
    added(390, "1", special=True),
]

#: A model in which some bytes are unknown: dropped, one token each, fused, or spelled.
UNKNOWN: dict[str, dict[str, Any]] = {
    "dropped": {},
    "one each": {"unk_token": "<unk>"},
    "fused": {"unk_token": "<unk>", "fuse_unk": True},
    "spelled": {"unk_token": "<unk>", "byte_fallback": True},
}


def model_with_gaps(flags: dict[str, Any]) -> dict[str, Any]:
    model = small_model()
    missing = ["e", "Ġ", "Ã", "Ì", "▁", "1"]
    vocabulary = {name: 0 for name in model["vocab"] if not any(char in name for char in missing)}
    vocabulary.update(dict.fromkeys(["<unk>", "<0xC4>", "<0xA0>", "<0x65>"], 0))
    merges = [merge for merge in model["merges"] if not any(char in merge for char in missing)]
    return {
        **model,
        "vocab": {name: number for number, name in enumerate(vocabulary)},
        "merges": merges,
        **flags,
    }


texts = st.one_of(
    any_texts,
    st.lists(
        st.one_of(
            st.text("aAbelé ▁\n1中İ😀\u0301", max_size=6),
            st.sampled_from(["<b>", "b ", "<|é|>", " el ", "▁l", "hello", "  "]),
        ),
        max_size=8,
    ).map("".join),
).map(repair)


def found_there(theirs: Any, text: str) -> list[Located]:
    found = theirs.encode(text, add_special_tokens=False)
    return [
        Located(number, token, start, end, word)
        for number, token, (start, end), word in zip(
            found.ids, found.tokens, found.offsets, found.word_ids
        )
    ]


def check(made: Both, text: str) -> None:
    definition = made.ours.core.definition
    for theirs_is_special, allowed in ((False, set(made.ours.core.special)), (True, set())):
        made.theirs.encode_special_tokens = theirs_is_special
        tokens = locate(definition, text, allowed)
        assert tokens == found_there(made.theirs, text)
        assert [token.id for token in tokens] == made.ours.core.encode(text, allowed)


@cache
def single(name: str) -> Both:
    parts = {"type": "Sequence", "pretokenizers": [STEPS[name], BYTE_LEVEL]}
    if "byte level" in name:
        parts = STEPS[name]
    return Both(file(pre_tokenizer=parts, added_tokens=ADDED, post_processor=None))


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", STEPS)
def test_each_step(name: str, thorough: settings) -> None:
    @thorough
    @given(texts)
    @example("")
    @example(" é\U0001f600 <b>b  A")
    def run(text: str) -> None:
        check(single(name), text)

    run()


@settings(max_examples=scaled(150))
@given(
    st.lists(st.sampled_from(NORMALIZERS), max_size=3),
    st.lists(st.sampled_from(sorted(STEPS)), max_size=3),
    st.lists(st.sampled_from(range(len(ADDED))), unique=True, max_size=4),
    st.lists(texts, min_size=1, max_size=4),
)
def test_any_combination(
    normalizers: list[dict[str, Any]], names: list[str], numbers: list[int], several: list[str]
) -> None:
    assume(not any("byte level" in name for name in names))
    steps = [*(STEPS[name] for name in names), BYTE_LEVEL]
    made = Both(
        file(
            normalizer={"type": "Sequence", "normalizers": normalizers},
            pre_tokenizer={"type": "Sequence", "pretokenizers": steps},
            added_tokens=[ADDED[number] for number in numbers],
        )
    )
    for text in several:
        if not made.panics(text):
            check(made, text)


@pytest.mark.hypothesis
@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("steps", ["bytes", "words", "bytes first"])
def test_bytes_that_are_no_tokens(unknown: str, steps: str) -> None:
    parts = {
        "bytes": [BYTE_LEVEL],
        "words": [STEPS["whitespace split"], {**METASPACE, "prepend_scheme": "first"}, BYTE_LEVEL],
        "bytes first": [BYTE_LEVEL, STEPS["split letters"]],
    }
    made = Both(
        file(
            model=model_with_gaps(UNKNOWN[unknown]),
            pre_tokenizer={"type": "Sequence", "pretokenizers": parts[steps]},
        )
    )

    @given(texts)
    @example("e hello é 1e")
    def run(text: str) -> None:
        check(made, text)

    run()


@pytest.mark.parametrize("ignore", [False, True])
def test_a_chunk_that_is_a_token(ignore: bool) -> None:
    model = small_model()
    model["vocab"] = {**model["vocab"], "ĠhelloÃ©": 384}
    made = Both(file(model={**model, "ignore_merges": ignore}, pre_tokenizer=STEPS["byte level"]))
    for text in (" helloé", "x helloé helloé!"):
        check(made, text)


@pytest.mark.hypothesis
@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_trimmed_places(prefix: bool, first: bool) -> None:
    byte_level = {**STEPS["byte level"], "add_prefix_space": first}
    made = Both(
        file(
            pre_tokenizer=byte_level,
            added_tokens=ADDED,
            post_processor={**byte_level, "add_prefix_space": prefix},
        )
    )
    made.theirs.encode_special_tokens = False

    @given(texts)
    @example("  a b\n  c<b>  ")
    @example("\u3000\u3000")
    def run(text: str) -> None:
        ours = made.ours.encode_with_offsets(text, allowed_special="all")
        theirs = made.theirs.encode(text)
        assert (ours.ids, ours.offsets) == (theirs.ids, theirs.offsets)

    run()


@given(any_texts)
@example("\ud83d\ude00\U0001f600 a\ud83d\ude00b\ud83d")
def test_places_are_those_of_the_text_as_given(text: str) -> None:
    definition = compat_bpe.get_encoding("cl100k_base").core.definition
    repaired = repair(text)
    tokens = locate(definition, text, set())
    for token, other in zip(tokens, locate(definition, repaired, set())):
        assert token.id == other.id
        assert 0 <= token.start < token.end <= len(text)
        assert repair(text[token.start : token.end]) == repaired[other.start : other.end]


def test_special_tokens_of_a_shipped_encoding() -> None:
    definition = compat_bpe.get_encoding("gpt2").core.definition
    assert locate(definition, "a<|endoftext|> é", {"<|endoftext|>"}) == [
        Located(64, "a", 0, 1, 0),
        Located(50256, "<|endoftext|>", 1, 14, 1),
        Located(38251, "ĠÃ©", 14, 16, 2),
    ]
