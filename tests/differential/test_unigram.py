"""Unigram against tokenizers: small random vocabularies, hard texts, and published vocabularies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import parse_json, read_float
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.formats.tokenizer_models import read_unigram, written_float
from compat_bpe.pipeline.models import unigram as unigram_module
from compat_bpe.pipeline.models.unigram import Unigram
from compat_bpe.unicode.surrogates import repair
from tests.examples import scaled
from tests.strategies import texts as any_texts
from tests.tokenizer_files import added, tokenizer_file
from tools.reference_tokenizers import reference_tokenizer

EMPTY = tokenizer_file()


def file(model: str, **parts: Any) -> str:
    """A ``tokenizer.json`` with a model as it is written, since numbers are the matter here."""
    content = json.dumps({**EMPTY, **parts})
    return f'{content[:-1]}, "model": {model}}}'


def model(vocab: list[tuple[str, str]], unknown: int | None, fallback: bool = False) -> str:
    """A model of pieces and of scores, as they are written."""
    listed = ", ".join(f"[{json.dumps(piece)}, {score}]" for piece, score in vocab)
    flags = f'"unk_id": {json.dumps(unknown)}, "byte_fallback": {json.dumps(fallback)}'
    return f'{{"type": "Unigram", {flags}, "vocab": [{listed}]}}'


def ours(text: str) -> Unigram:
    part = read_unigram(parse_json(text.encode(), "small")["model"])
    built = part.define([], "small").model
    assert isinstance(built, Unigram)
    return built


def check(here: Unigram, there: Any, chunk: str) -> None:
    """Compare the tokens of a chunk, or the error, in the fast way and by the plain rule."""
    try:
        expected = [(it.id, it.value, *it.offsets) for it in there.tokenize(chunk)]
    except Exception as error:
        if "unk_id` is missing" not in str(error):
            raise
        for encode in (here.encode, here.find):
            with pytest.raises(ValueError, match="is no piece of the vocabulary"):
                encode(chunk)
        return
    assert list(map(tuple, here.find(chunk))) == expected
    assert here.encode(chunk) == tuple(number for number, *_ in expected)
    with pytest.MonkeyPatch.context() as patch:
        # Part by part, as long chunks go.
        patch.setattr(unigram_module, "_LONG", 0)
        patch.setattr(unigram_module, "_WORTH_PARTS", 0)
        assert here.encode(chunk) == tuple(number for number, *_ in expected)


ALPHABET = "ab中😀"
SCORES = st.one_of(
    st.sampled_from(["-1.0", "-2.0", "-3", "0.0", "1", "-0.0"]),
    st.sampled_from(["-0.1", "-0.2", "-0.3", "-0.7", "-1e16", "1e16", "3e-17", "-1e308", "1e308"]),
    st.floats(-20, 0).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
PIECES = st.one_of(
    st.text(ALPHABET, max_size=5),
    st.sampled_from(["<unk>", "<0x61>", "<0xE4>", "<0xB8>", "<0xAD>", "<0xe4>", "<", "", "xé"]),
    st.integers(30, 36).map(lambda length: "a" * length),
)
CHUNKS = st.one_of(
    st.text(ALPHABET, max_size=40),
    st.lists(st.sampled_from(["a", "b", "<unk>", "<0x61>", "中", "x", "é", "ab"]), max_size=12).map(
        "".join
    ),
    st.integers(30, 120).map(lambda length: "a" * length),
    any_texts.map(repair),
)


@settings(max_examples=scaled(500))
@given(
    st.lists(st.tuples(PIECES, SCORES), min_size=1, max_size=16),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_random_vocabularies(
    vocab: list[tuple[str, str]], with_unknown: bool, fallback: bool, data: st.DataObject
) -> None:
    unknown = data.draw(st.integers(0, len(vocab) - 1)) if with_unknown else None
    text = file(model(vocab, unknown, fallback))
    there = tokenizers.Tokenizer.from_str(text).model
    here = ours(text)
    for chunk in data.draw(st.lists(CHUNKS, max_size=4)):
        check(here, there, chunk)


@settings(max_examples=scaled(300))
@given(st.lists(st.integers(-8, -1), min_size=14, max_size=14), st.integers(1, 7), st.data())
def test_ties(scores: list[int], parts: int, data: st.DataObject) -> None:
    """Scores that are added to the same sums in many orders, rounded or not."""
    pieces = [*"ab", "aa", "ab", "ba", "bb"] + [
        f"{x}{y}{z}" for x in "ab" for y in "ab" for z in "ab"
    ]
    text = file(model([(it, repr(-s / parts)) for it, s in zip(pieces, scores)], None))
    here, there = ours(text), tokenizers.Tokenizer.from_str(text).model
    for chunk in data.draw(st.lists(st.text("ab", max_size=60), max_size=4)):
        check(here, there, chunk)


def test_an_empty_vocabulary() -> None:
    text = file(model([], None))
    check(ours(text), tokenizers.Tokenizer.from_str(text).model, "a")
    check(ours(text), tokenizers.Tokenizer.from_str(text).model, "")


def test_a_long_text_in_one_piece() -> None:
    vocab = [("<unk>", "0"), ("a", "-1.3"), ("aaa", "-3.9"), ("ba", "-1.1"), ("b", "-2.7")]
    text = file(model(vocab, 0))
    here, there = ours(text), tokenizers.Tokenizer.from_str(text).model
    for chunk in ("a" * 30_000, "ab" * 15_000, "中" * 30_000, "aab中" * 10_000):
        check(here, there, chunk)


# Scores as they are written


@st.composite
def numbers(draw: Any) -> str:
    digits = st.text("0123456789", min_size=1, max_size=24)
    whole = draw(st.one_of(st.just("0"), digits.map(lambda it: "1" + it), digits.map("7".__add__)))
    fraction = draw(
        st.one_of(st.just(""), digits.map(".".__add__), digits.map(f".{'0' * 300}{{}}".format))
    )
    exponent = draw(
        st.one_of(
            st.just(""),
            st.integers(-400, 320).map("e{}".format),
            st.sampled_from(["E+5", "e-0007", "e2147483647", "e-2147483648", "e99999999999"]),
        )
    )
    return f"{draw(st.sampled_from(['', '-']))}{whole}{fraction}{exponent}"


def scores_there(texts: list[str]) -> list[float]:
    """The scores that tokenizers reads."""
    made = tokenizers.Tokenizer.from_str(file(model([("a", text) for text in texts], None)))
    return [score for _, score in json.loads(made.to_str())["model"]["vocab"]]


@settings(max_examples=scaled(500))
@given(numbers())
def test_numbers(text: str) -> None:
    try:
        expected = scores_there([text])
    except Exception as error:
        if "out of range" not in str(error):
            raise
        with pytest.raises(ValueError, match="is out of range"):
            read_float(text)
        return
    assert list(map(repr, expected)) == [repr(read_float(text))]


@given(st.lists(st.floats(-20, 0), max_size=50))
def test_numbers_that_are_written(values: list[float]) -> None:
    scores = [read_float(repr(value)) for value in values]
    assert scores_there([repr(written_float(score)) for score in scores]) == scores


# Files


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "Unigram"}',
        '{"type": "Unigram", "vocab": {}}',
        '{"type": "Unigram", "vocab": [], "unk_id": 0}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": -1}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": 0.0}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": "0"}',
        '{"type": "Unigram", "vocab": [["a", 0]], "unk_id": true}',
        '{"type": "Unigram", "vocab": [["a", "0"]]}',
        '{"type": "Unigram", "vocab": [["a", null]]}',
        '{"type": "Unigram", "vocab": [["a", false]]}',
        '{"type": "Unigram", "vocab": [["a", NaN]]}',
        '{"type": "Unigram", "vocab": [["a", Infinity]]}',
        '{"type": "Unigram", "vocab": [["a", 1e999]]}',
        '{"type": "Unigram", "vocab": [["a"]]}',
        '{"type": "Unigram", "vocab": [["a", 0, 0]]}',
        '{"type": "Unigram", "vocab": [[0, "a"]]}',
        '{"type": "Unigram", "vocab": [["\\ud800", 0]]}',
        '{"type": "Unigram", "vocab": [["a", 0]], "byte_fallback": null}',
        '{"type": "Unigram", "vocab": [["a", 0]], "byte_fallback": 0}',
        '{"type": null, "vocab": [["a", 0]]}',
        '{"type": "unigram", "vocab": [["a", 0]]}',
        "{}",
    ],
)
def test_what_neither_reads(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011  # it has no class of its own
        tokenizers.Tokenizer.from_str(file(text))
    with pytest.raises(ValueError, match=r"^small: "):
        parse_tokenizer(parse_json(file(text).encode(), "small"))


@pytest.mark.parametrize(
    "text",
    [
        '{"vocab": [["a", -1], ["b", -2.5]]}',
        '{"vocab": [["a", -1], ["b", -2.5]], "unk_id": null}',
        '{"vocab": [["a", -1], ["b", -2.5]], "unk_id": 1, "other": 5}',
        '{"type": "Unigram", "vocab": []}',
        '{"vocab": {"a": 0, "b": 1}, "unk_token": "a"}',
        '{"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "unk_token": "a"}',
        '{"vocab": {"a": 0, "b": 1, "##b": 2}, "unk_token": "a",'
        ' "continuing_subword_prefix": "##", "max_input_chars_per_word": 9}',
    ],
)
def test_what_both_read_as_the_same_model(text: str) -> None:
    there = type(tokenizers.Tokenizer.from_str(file(text)).model).__name__
    here = type(parse_tokenizer(parse_json(file(text).encode(), "small")).model).__name__
    assert here == {"BPE": "ListedModel"}.get(there, f"{there}Part")


@pytest.mark.parametrize("twice", [False, True])
def test_ids_of_added_tokens(twice: bool) -> None:
    """They are numbered on from the number of ids, not from that of different pieces."""
    vocab = [("<unk>", "0"), ("a", "-1"), ("b", "-2"), ("a" if twice else "c", "-3")]
    tokens = [added(90, "<x>"), added(1, "b"), added(91, "<y>")]
    text = file(model(vocab, 0), added_tokens=tokens)
    there = tokenizers.Tokenizer.from_str(text)
    here = Tokenizer("small", parse_tokenizer(parse_json(text.encode(), "small")))
    for part in ("ab<x>ba<y>", "<y>abc", "", "aé<x>é"):
        assert here.encode(part, allowed_special="all") == there.encode(part).ids
        assert here.encode_ordinary("ab") == there.encode("ab").ids


# Published vocabularies

CORPORA = Path(__file__).parents[2] / "fixtures"
FILES = ["t5_like", "kyoto_unigram", "albert_like", "xlnet_like"]
LARGE = ["xlm_r", "j2"]
EVERY = [*FILES, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]


@cache
def published(name: str) -> tuple[Unigram, Any]:
    text = reference_tokenizer(name).read_bytes()
    return ours(text.decode()), tokenizers.Tokenizer.from_str(text.decode())


def chunks_of(there: Any, text: str) -> Iterator[str]:
    """The chunks that the reference's own normalizer and pre-tokenizer give its model."""
    if there.normalizer is not None:
        text = there.normalizer.normalize_str(text)
    for chunk, _ in there.pre_tokenizer.pre_tokenize_str(text):
        yield chunk


@pytest.mark.parametrize("name", EVERY)
def test_published_scores(name: str) -> None:
    here, there = published(name)
    vocab = json.loads(there.to_str())["model"]["vocab"]
    assert here.table.scores == dict(map(tuple, vocab))


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", EVERY)
def test_published_vocabularies(name: str) -> None:
    here, there = published(name)

    @settings(max_examples=scaled(200))
    @given(any_texts.map(repair))
    def check_all(text: str) -> None:
        # tokenizers panics at some texts while it normalizes them.
        try:
            chunks = list(chunks_of(there, text))
        except BaseException as error:
            assume(type(error).__name__ != "PanicException")
            raise
        for chunk in chunks:
            check(here, there.model, chunk)
        check(here, there.model, text)

    check_all()


@pytest.mark.sweep
@pytest.mark.parametrize("name", EVERY)
def test_pages_in_many_languages(name: str) -> None:
    here, there = published(name)
    pages = sorted(CORPORA.rglob("*.txt"))
    assert pages
    for page in islice(pages, 20):
        text = page.read_text("utf-8", "replace")[:20_000]
        for chunk in dict.fromkeys(chunks_of(there, text)):
            check(here, there.model, chunk)
        check(here, there.model, text)
