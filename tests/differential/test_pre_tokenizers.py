"""Every pre-tokenizer of a tokenizer.json: its pieces, ids and places, against tokenizers."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.offsets import Located, locate
from compat_bpe.unicode.surrogates import repair
from tests.differential.any_tokenizer import METASPACE, STEPS, pre_tokenizers
from tests.differential.small_tokenizers import Both, file, small_model
from tests.examples import drawn
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, added

#: Some with what stands for a space, and with blanks at the beginning.
texts = st.builds(
    "{}{}".format, st.sampled_from(["", "", "", " ", "▁", "\n", "e\u0301"]), any_texts
).map(repair)
texts = st.one_of(texts, texts, st.text(" ▁eab1.\né\u0301中アー\u3000", max_size=12))

#: What real tokenizers have, besides DeepSeek's.
SEQUENCES: dict[str, list[Any]] = {
    "starcoder": ["digit", "byte level"],
    "falcon": ["punctuation Contiguous", "byte level", "digits", "split three digits"],
    "command-r": ["digit", "byte level, prefix space"],
    "xlm-r": ["whitespace split", "metaspace always True", BYTE_LEVEL],
    "first word": ["whitespace split", "metaspace first True", BYTE_LEVEL],
    "words and digits": ["whitespace", "digit", BYTE_LEVEL],
    "scripts of words": ["scripts", "whitespace split", BYTE_LEVEL],
    "mistral": ["metaspace first False", BYTE_LEVEL],
    "digits, bert": ["digits", "bert", BYTE_LEVEL],
}


def of_steps(*steps: Any, **parts: Any) -> Both:
    return Both(file(pre_tokenizer=pre_tokenizers(*steps), **parts))


@cache
def both(*names: str) -> Both:
    return of_steps(*names, BYTE_LEVEL)


@cache
def known(name: str) -> Both:
    return of_steps(*SEQUENCES[name])


#: One for each of the sets of characters that steps go by.
CLASSES = [
    "split llama3",
    "split boundary",
    "digit",
    "whitespace",
    "punctuation Isolated",
    "whitespace split",
    "bert",
    "scripts",
]


@pytest.mark.parametrize("name", CLASSES)
def test_every_code_point(name: str, code_points: str) -> None:
    for start in range(0, len(code_points), 1 << 12):
        both(name).check_pieces("a".join(code_points[start : start + (1 << 12)]))


@pytest.mark.parametrize("name", SEQUENCES)
@given(text=texts)
def test_texts_in_the_sequences_of_known_models(name: str, text: str) -> None:
    known(name).check_pieces(text)
    known(name).check(text)


@drawn(400, st.lists(st.sampled_from([*STEPS]), max_size=4), st.lists(texts, max_size=4))
def test_texts_in_any_sequence(names: list[str], several: list[str]) -> None:
    # A second time to bytes is of what is no text any more; nobody has that.
    assume(sum("byte level" in name for name in names) < 2)
    for text in several:
        both(*names).check_pieces(text)


NORMALIZERS: dict[str, dict[str, Any] | None] = {
    "none": None,
    "strip": {"type": "Strip", "strip_left": True, "strip_right": False},
    "lower": {"type": "Lowercase"},
    "prepend": {"type": "Prepend", "prepend": " "},
    "longer": {"type": "Replace", "pattern": {"String": "x"}, "content": "ab c" * 200},
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_a_text_of_many_segments_and_its_beginning(name: str, normalizer: str) -> None:
    tokens = [added(384, "<b>"), added(385, "C", normalized=True, lstrip=True)]
    made = of_steps(*SEQUENCES[name], normalizer=NORMALIZERS[normalizer], added_tokens=tokens)
    for start in ("", " ", "x", "İ", "<b>", "C", "  C", "\n<b> "):
        # One that begins with the beginning of a text is no other one when it comes again.
        for text in (start + "some words 12.\n", start + "sie, and Čapek 中文アー 1.\n" * 60):
            made.check(text + "<b> end")


def test_characters_that_have_got_another_script_since_unicode_9() -> None:
    for char in "\u0589\u061c\u0953\u0954ー ":
        for beside in "a1\u0301\u0561\u0627\u0915中ア":
            both("scripts").check_pieces(beside + char + beside)


def test_a_long_text_of_wide_characters_and_its_beginning() -> None:
    """After some of them, the model has a faster way, which takes segments as they are."""
    made = of_steps(*SEQUENCES["first word"])
    text = " ".join(chr(0x4E00 + number) * 5 for number in range(2000))
    for beginning in ("", "a", "一二三", " 一"):
        made.check(beginning + text)


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"type": "Metaspace"}, "there is no 'replacement'"),
        ({**METASPACE, "replacement": "ab"}, "must be one character, not 'ab'"),
        ({**METASPACE, "prepend_scheme": "last"}, "must be one of always, first, never"),
        ({**METASPACE, "prepend_scheme": None}, "must be a string, not null"),
        ({**METASPACE, "add_prefix_space": False}, 'must be "never"'),
        ({**METASPACE, "split": 1}, "must be true or false, not an integer"),
        ({"type": "FixedLength", "length": -1}, "must be at least 1"),
        ({"type": "FixedLength", "length": None}, "must be an integer, not null"),
        ({"type": "FixedLength", "length": 2.5}, "must be an integer, not a float"),
        ({"type": "Punctuation", "behavior": None}, "must be a string, not null"),
        ({"type": "Digits"}, "there is no 'individual_digits'"),
        ({"type": "ByteLevel", "add_prefix_space": True}, "there is no 'trim_offsets'"),
        ({**BYTE_LEVEL, "use_regex": None}, "must be true or false, not null"),
        # Of this one, tokenizers panics once it encodes.
        ({"type": "FixedLength", "length": 0}, r"\[0\].length: must be at least 1, not 0"),
    ],
)
def test_what_tokenizers_refuses_is_refused(part: dict[str, Any], reason: str) -> None:
    content = file(pre_tokenizer=pre_tokenizers(part, BYTE_LEVEL))
    if part.get("length") != 0:
        with pytest.raises(Exception, match=r"untagged|expected|missing|match"):
            tokenizers.Tokenizer.from_str(json.dumps(content))
    with pytest.raises(ValueError, match=reason):
        Tokenizer("small", parse_tokenizer(Json(content, "small")))


@pytest.mark.parametrize(
    "part",
    [
        METASPACE,
        {**METASPACE, "add_prefix_space": True},
        {**METASPACE, "add_prefix_space": False, "prepend_scheme": "never"},
        {**METASPACE, "add_prefix_space": True, "prepend_scheme": "never", "split": None},
        {**METASPACE, "add_prefix_space": None, "str_rep": "x"},
    ],
    ids=repr,
)
def test_old_and_new_fields_of_metaspace(part: dict[str, Any]) -> None:
    made = of_steps(part, BYTE_LEVEL)
    for text in ("Hey  friend ", " ▁a", "", "<b> x"):
        made.check_pieces(text)
        made.check(text)


def test_the_steps_of_known_models_are_joined() -> None:
    for names in (
        ["bert"],
        ["whitespace"],
        ["whitespace split"],
        ["metaspace first True"],
        ["metaspace always False"],
        ["split llama3"],
        ["digit", "split gpt2"],
        ["split three at most", "split gpt2"],
    ):
        assert isinstance(both(*names).ours.core.splitter, Splitter)
    assert not isinstance(both("split behind", "digit").ours.core.splitter, Splitter)


# Tokens and their places in the original text

ADDED = [
    added(384, "<b>"),
    added(385, "A", normalized=True),
    added(386, "b ", lstrip=True, rstrip=True),
    added(387, "<|é|>", special=True, lstrip=True),
    added(388, "el", single_word=True),
    added(389, "▁l", normalized=True, rstrip=True),
    added(390, "1", special=True),
]
_named = st.sampled_from(["<b>", "b ", "<|é|>", " el ", "▁l", "hello", "  "])
texts_with_names = st.one_of(
    any_texts,
    st.lists(st.text("aAbelé ▁\n1中İ😀\u0301", max_size=6) | _named, max_size=8).map("".join),
).map(repair)


def check_places(made: Both, text: str) -> None:
    definition = made.ours.core.definition
    for theirs_is_special, allowed in ((False, set(made.ours.core.special)), (True, set())):
        made.theirs.encode_special_tokens = theirs_is_special
        there = made.theirs.encode(text, add_special_tokens=False)
        tokens = locate(definition, text, allowed)
        assert [(one.id, one.text, (one.start, one.end), one.word) for one in tokens] == list(
            zip(there.ids, there.tokens, there.offsets, there.word_ids)
        )
        assert [token.id for token in tokens] == made.ours.core.encode(text, allowed)


@cache
def placed(name: str) -> Both:
    parts = STEPS[name] if "byte level" in name else pre_tokenizers(name, BYTE_LEVEL)
    return Both(file(pre_tokenizer=parts, added_tokens=ADDED, post_processor=None))


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", STEPS)
def test_each_step(name: str, thorough: settings) -> None:
    @thorough
    @given(texts, texts_with_names)
    @example("", "")
    @example(" a.", " é\U0001f600 <b>b  A")
    def run(text: str, with_names: str) -> None:
        both(name).check_pieces(text)
        both(name).check(text)
        check_places(placed(name), with_names)

    run()


@pytest.mark.parametrize("ignore", [False, True])
def test_a_chunk_that_is_a_token(ignore: bool) -> None:
    model = small_model()
    vocab = {**model["vocab"], "ĠhelloÃ©": 384}
    model = {**model, "vocab": vocab, "ignore_merges": ignore}
    made = Both(file(model=model, pre_tokenizer=STEPS["byte level"]))
    for text in (" helloé", "x helloé helloé!"):
        check_places(made, text)


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
