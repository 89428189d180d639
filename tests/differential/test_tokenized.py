"""``encode_with_offsets`` against tokenizers: all fields of all that is encoded."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.tokenized import Padding, Truncation
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests.differential.parts import BERT
from tests.differential.small_tokenizers import Both, file
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, added

texts = st.one_of(any_texts.map(repair), st.text("ab \né<s>hte", max_size=12))
LISTED = [added(900, "<s>", special=True), added(901, "he"), added(902, "t", rstrip=True)]
SPLIT = {**BYTE_LEVEL, "use_regex": True}


def small(**parts: Any) -> Both:
    return Both(file(added_tokens=LISTED, **parts))


def test_texts_of_tokens() -> None:
    both = small(post_processor=BERT)
    for pair, add in ((None, True), ("he", True), (None, False)):
        found = both.ours.encode_with_offsets("a he", pair, add_special_tokens=add)
        expected = both.theirs.encode("a he", pair, False, add)
        for place in range(len(found) + 2):
            assert found.token_to_sequence(place) == expected.token_to_sequence(place)


@pytest.mark.parametrize(
    "name", ["char_to_token", "char_to_word", "word_to_tokens", "word_to_chars", "token_to_word"]
)
def test_negative_places_are_refused(name: str) -> None:
    both = small()
    for found in (both.ours.encode_with_offsets("a"), both.theirs.encode("a")):
        with pytest.raises(OverflowError, match=r"negative|too small"):
            getattr(found, name)(-1)


@pytest.mark.parametrize(
    ("text", "is_pretokenized"), [(["a"], False), ("a", True), (["a", 1], True), (None, True)]
)
def test_what_is_neither_a_text_nor_words(text: Any, is_pretokenized: bool) -> None:
    both = small()
    for encode in (both.ours.encode, both.ours.encode_with_offsets, both.theirs.encode):
        with pytest.raises(TypeError):
            encode(text, is_pretokenized=is_pretokenized)


def test_pairs_in_a_batch() -> None:
    both = small(post_processor=BERT)
    batch: list[Any] = ["a", ("a", "he"), ["he", "a"]]
    found = both.ours.encode_batch(batch, add_special_tokens=True)
    assert found == [one.ids for one in both.theirs.encode_batch(batch)]


def test_a_shared_tokenizer_takes_no_tokens() -> None:
    shipped = compat_bpe.get_encoding("deepseek_v3")
    assert isinstance(shipped, Tokenizer)
    for one in (shipped, pickle.loads(pickle.dumps(shipped))):
        with pytest.raises(ValueError, match="shared by all"):
            one.add_tokens(["<tool>"])
    assert shipped.token_to_id("<tool>") is None


def test_added_tokens_reach_all_that_is_made_of_a_tokenizer() -> None:
    both = small()
    ours = both.ours
    ours.cache_limit = 77
    assert ours.encode("<x> <x>") == both.theirs.encode("<x> <x>").ids
    definition = ours.definition
    for token, name in (("<x>", "add_tokens"), ("<y>", "add_special_tokens")):
        assert getattr(ours, name)([token]) == getattr(both.theirs, name)([token])
    copy = pickle.loads(pickle.dumps(ours))
    for one in (ours, copy, ours.with_special({"he"})):
        found = one.encode("<x> <y>", allowed_special="all")
        assert found == both.theirs.encode("<x> <y>").ids
    assert ours.cache_limit == 77
    assert "<y>" in ours.special_tokens_set
    assert Tokenizer("before", definition).token_to_id("<x>") is None
    with pytest.raises(TypeError, match="list of tokens"):
        ours.add_tokens("<x>")


def test_special_tokens_are_as_in_encode() -> None:
    ours = small().ours
    for texts in (["a<s>"], ["a", "<s>"]):
        with pytest.raises(ValueError, match="<s>"):
            ours.encode_with_offsets(*texts)
    plain = ours.encode_with_offsets("a<s>", disallowed_special=())
    assert plain.ids == ours.encode_ordinary("a<s>")
    found = ours.encode_with_offsets("a<s>", allowed_special={"<s>"})
    assert (found.tokens, found.offsets) == (["a", "<s>"], [(0, 1), (1, 4)])


def test_places_are_those_of_the_text_as_given() -> None:
    found = small().ours.encode_with_offsets("\ud83d\ude00a\udc00b")
    assert found.offsets[-1] == (4, 5)
    assert {place for place in found.offsets if place[0] == 0} == {(0, 2)}


def test_settings_of_ones_own() -> None:
    ours = small().ours
    found = ours.encode_with_offsets("a b c", truncation=Truncation(2), padding=Padding(4))
    assert found.attention_mask == [1, 1, 0, 0]
    assert ours.truncation is None
    assert ours.padding is None


@given(any_texts.map(repair))
def test_names_of_tokens(token: str) -> None:
    both = small()
    assert both.ours.token_to_id(token) == both.theirs.token_to_id(token)
    for name in ("<s>", "he", "Ġt", "!"):
        number = both.theirs.token_to_id(name)
        assert both.ours.token_to_id(name) == number
        assert both.ours.id_to_token(number) == both.theirs.id_to_token(number) == name
    assert both.ours.id_to_token(5000) is both.theirs.id_to_token(5000) is None


def saved(folder: Path, both: Both) -> tuple[Any, Any]:
    """A tokenizer written to a file, read by both packages."""
    path = folder / "tokenizer.json"
    save_tokenizer_json(both.ours, path)
    return compat_bpe.load(path), tokenizers.Tokenizer.from_file(str(path))


def test_a_model_that_has_a_piece_twice_is_saved(tmp_path: Path) -> None:
    pieces = [["<unk>", 0.0], ["a", -1.0], ["b", -2.0], ["a", -3.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False}
    parts = {"pre_tokenizer": None, "decoder": {"type": "Fuse"}}
    both = Both(file(model=model, added_tokens=[added(4, "<s>", special=True)], **parts))
    ours, theirs = saved(tmp_path, both)
    expected = both.theirs.encode("ab<s>ba").ids
    assert 4 in expected
    for ids in (theirs.encode("ab<s>ba").ids, ours.encode("ab<s>ba", allowed_special="all")):
        assert ids == expected
    for number in range(6):
        assert both.ours.id_to_token(number) == both.theirs.id_to_token(number)
    assert both.ours.decode([1, 3, 4]) == both.theirs.decode([1, 3, 4], skip_special_tokens=False)
