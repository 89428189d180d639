"""Baselines: bytes, characters and words by a rule."""

from __future__ import annotations

import pickle
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.baselines import Baseline
from compat_bpe.encodings.published import BASELINES
from compat_bpe.unicode.surrogates import repair
from tests.strategies import texts

TEXT = "The héllo, wörld!  to be\nor to 12"


def words(name: str, text: str) -> list[str]:
    encoding = compat_bpe.get_encoding(name)
    return [encoding.decode([number]) for number in encoding.encode_ordinary(text)]


def test_bytes_are_their_values_and_characters_their_code_points() -> None:
    assert compat_bpe.get_encoding("bytes").encode(TEXT) == list(TEXT.encode())
    assert compat_bpe.get_encoding("characters").encode(TEXT) == list(map(ord, TEXT))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("words", "The|héllo,|wörld!|to|be|or|to|12"),
        ("words_and_punctuation", "The|héllo|,|wörld|!|to|be|or|to|12"),
        ("categories", "The| |héllo|,| |wörld|!|  |to| |be|\n|or| |to| |12"),
    ],
)
def test_words_by_each_rule(name: str, expected: str) -> None:
    assert words(name, TEXT) == expected.split("|")


@given(texts.map(repair))
def test_rules_say_what_a_token_is(text: str) -> None:
    single = [bytes([byte]).decode("utf-8", "replace") for byte in text.encode()]
    assert words("bytes", text) == single
    assert words("characters", text) == list(text)
    assert "".join(words("categories", text)) == text
    categories = compat_bpe.get_encoding("categories")
    assert categories.decode(categories.encode(text)) == text
    for word in words("words", text):
        assert word
        assert not re.search(r"[ \n\t\u3000]", word)
    for name in BASELINES:
        encoding = compat_bpe.get_encoding(name)
        assert encoding.count(text) == len(encoding.encode(text))


@given(st.text(st.sampled_from("aé1.+ \n\u0301"), max_size=20))
def test_categories_are_runs_of_one_category(text: str) -> None:
    for word in words("categories", text):
        assert len({unicodedata.category(char)[0] for char in word}) == 1


@pytest.mark.parametrize("name", BASELINES)
def test_words_keep_their_numbers(name: str) -> None:
    encoding = compat_bpe.get_encoding(name)
    ids = encoding.encode(TEXT)
    assert encoding.encode(TEXT) == ids
    assert encoding.encode_batch([TEXT] * 3) == [ids] * 3
    again = pickle.loads(pickle.dumps(encoding))
    assert again.encode(TEXT) == ids
    make, arguments = encoding.recipe()
    assert make(**arguments).count(TEXT) == len(ids)


@given(texts.map(repair), st.integers(0, 12))
def test_truncated_text_fits(text: str, limit: int) -> None:
    for name in BASELINES:
        encoding = compat_bpe.get_encoding(name)
        cut = encoding.truncate(text, limit)
        assert cut.count == encoding.count(cut.text) <= limit
        assert text.startswith(cut.text)
        if cut.was_cut:
            assert encoding.count(text[: len(cut.text) + 1]) > limit


@pytest.mark.parametrize(
    ("name", "unknown"), [("characters", [0xD800, 0xDFFF, 0x110000]), ("words", [4_000_000])]
)
def test_impossible_ids(name: str, unknown: list[int]) -> None:
    encoding = compat_bpe.get_encoding(name)
    for token in unknown:
        with pytest.raises(KeyError):
            encoding.decode([token])
    with pytest.raises(OverflowError):
        encoding.decode([-1])
    with pytest.raises(TypeError):
        encoding.decode("no")  # type: ignore[arg-type]


def test_an_unknown_name_is_told_the_baselines() -> None:
    with pytest.raises(ValueError, match="characters"):
        compat_bpe.get_encoding("letters")
    with pytest.raises(KeyError):
        Baseline.shipped("letters")
    assert not set(BASELINES) & set(compat_bpe.list_encoding_names())
