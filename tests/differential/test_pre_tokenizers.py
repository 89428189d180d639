"""Pre-tokenizers, added tokens and decoders of a ``tokenizer.json``, against tokenizers."""

from __future__ import annotations

import json
import re
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.formats.tokenizer_parts import read_decoder
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.decoders.pieces import PieceDecoder
from compat_bpe.pipeline.decoders.steps import ESCAPED
from compat_bpe.pipeline.offsets import Located, locate
from compat_bpe.pipeline.special_tokens import FEW
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests.differential.any_tokenizer import (
    DECODERS,
    METASPACE,
    STEPS,
    decoder,
    decoder_step,
    pre_tokenizers,
)
from tests.differential.small_tokenizers import Both, answer, error_of, file, small_model
from tests.examples import drawn
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, FLAGS, added

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
    *("split llama3", "split boundary", "digit", "whitespace", "punctuation Isolated"),
    *("whitespace split", "bert", "scripts"),
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


# Added tokens


plain_texts = any_texts.map(repair)


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

    @given(plain_texts)
    def check(text: str) -> None:
        assert ours.encode_ordinary(text) == theirs.encode(text).ids

    check()


# Decoders of pieces: alone, in sequences, and those of whole tokenizers


def sequence(*steps: Any) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(steps)}


randoms = st.randoms(use_true_random=False)
LLAMA = [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
]
REAL = [
    *(sequence(*LLAMA[:count]) for count in (4, 3, 2)),
    sequence(LLAMA[1], sequence(LLAMA[2])),
]
PIECES = [
    *("", "a", "▁", "▁▁a", "▁ab", "##b", "##", "a</w>", "</w>", " ", "  ", "<pad>", "|", "'"),
    *(".", "?", "n't", "'m", "do", "not", "do not", "'s", "'ve", "'re", " ' ", "!"),
    *("<0x61>", "<0xC3>", "<0xA9>", "<0xc3>", "<0xE4>", "<0x+1>", "<0xZZ>", "<0x20>", "<0x-1>"),
    *("<0x 1>", "<0xé>", "<0x61", "Ġa", "Ã", "©", "中", "é"),
]
pieces = st.one_of(
    st.sampled_from(PIECES),
    st.text("ab▁ #é<>", max_size=6),
    any_texts.filter(lambda text: text.isascii()),
)
lists = st.lists(pieces, max_size=8)


def check(part: Any, given_pieces: list[str]) -> None:
    theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(file(decoder=part))).decoder
    by_id = dict(enumerate(given_pieces))
    decoder = PieceDecoder(by_id, read_decoder(Json(part, "x", "decoder")))
    ids = list(by_id)
    plain = decoder.plain(ids, "replace")
    assert decoder.decode_text(ids, "replace") == plain
    assert decoder.decode_text(ids, ESCAPED) == decoder.plain(ids, ESCAPED)
    # It panics where a piece is shorter than what Strip looks at.
    expected, kind = answer(lambda: theirs.decode(given_pieces))
    assert kind or plain == expected
    for number in ids:
        decoder.decode_one(number)


@pytest.mark.parametrize("name", DECODERS)
@drawn(300, draw=randoms, given_pieces=lists)
def test_each_kind(name: str, draw: Random, given_pieces: list[str]) -> None:
    check(decoder_step(draw, name), given_pieces)


some_parts = st.one_of(randoms.map(decoder).filter(bool), st.sampled_from(REAL))
runs_of_bytes = st.lists(st.sampled_from(["<0xE4>", "<0xB8>", "<0xAD>", "", "▁a"]))


@drawn(600, some_parts, lists | runs_of_bytes)
def test_sequences(part: Any, given_pieces: list[str]) -> None:
    check(part, given_pieces)


@drawn(300, randoms.map(decoder), st.lists(pieces, min_size=1, unique=True), st.data())
def test_pieces_of_byte_level_models(part: Any, names: list[str], data: Any) -> None:
    """Whatever the decoder is: pieces of the vocabulary and added tokens, special ones skipped."""
    names = [name for name in names if name and name != "[UNK]"]
    assume(names)
    model = file()["model"]
    vocabulary = {**model["vocab"]}
    for name in names[::2]:
        vocabulary.setdefault(name, len(vocabulary))
    listed = [
        added(5000 + at, name, special=data.draw(st.booleans()), normalized=at % 2 == 0)
        for at, name in enumerate(names[len(names) // 3 :])
    ]
    parts = {"model": {**model, "vocab": vocabulary}, "decoder": part, "added_tokens": listed}
    parts["normalizer"] = data.draw(st.sampled_from([None, {"type": "Lowercase"}]))
    both = Both(file(**parts))
    known = [*vocabulary.values(), *(token.id for token in both.ours.added_tokens)]
    ids = data.draw(st.lists(st.sampled_from(known), max_size=12))
    for number in ids:
        assert both.ours.id_to_token(number) == both.theirs.id_to_token(number)
    for skip in (False, True):
        expected, kind = answer(partial(both.theirs.decode, ids, skip_special_tokens=skip))
        if not kind:
            assert both.ours.decode(ids, skip_special_tokens=skip) == expected
            assert both.ours.decode_batch([ids, ids], skip_special_tokens=skip) == [expected] * 2


METASPACE_STEP = {"type": "Metaspace", "replacement": "▁"}
SPELLINGS: list[Any] = [
    *({"type": "Nothing"}, {"type": "Nothing", "suffix": "</w>"}, {"suffix": "a"}, {}, []),
    *({"prefix": "##", "cleanup": True}, {"prefix": "##"}, {"type": "WordPiece", "prefix": "##"}),
    *({"type": "BPEDecoder"}, {"pad_token": "a", "word_delimiter_token": "|", "cleanup": True}),
    {"pattern": {"String": "a"}, "content": "b"},
    {"content": "a", "start": 1, "stop": 0},
    {"type": "Strip", "content": "ab", "start": 1, "stop": 0},
    {"type": "Strip", "content": "a", "start": -1, "stop": 0},
    *(
        METASPACE_STEP,
        *({**METASPACE_STEP, "add_prefix_space": flag} for flag in (True, False)),
    ),
    {**METASPACE_STEP, "prepend_scheme": "never"},
    {**METASPACE_STEP, "add_prefix_space": False, "prepend_scheme": "never"},
    {**METASPACE_STEP, "str_rep": "▁", "prepend_scheme": "none"},
    {"replacement": "▁", "prepend_scheme": "never", "split": True},
    *({"decoders": []}, {"type": "Sequence", "decoders": []}, {"type": "Sequence"}),
]


@pytest.mark.parametrize("part", SPELLINGS, ids=str)
def test_spellings(part: Any) -> None:
    if error_of(lambda: tokenizers.Tokenizer.from_str(json.dumps(file(decoder=part)))):
        with pytest.raises(ValueError, match="decoder"):
            read_decoder(Json(part, "x", "decoder"))
    else:
        check(part, ["▁a", "▁b▁", "##a", "aa", "b"])
