"""BPE over characters, against tokenizers: ids, tokens and places, with every option."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json, read_json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.unicode.surrogates import repair
from tests.corpora import TEXTS
from tests.differential.corpora import PARTS, read, standard_library
from tests.differential.reference import sample
from tests.differential.small_tokenizers import file
from tests.examples import scaled
from tests.pipeline.models.drawn import BARE, CHARACTERS, character_models
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL
from tools.reference_files import reference_file
from tools.reference_tokenizers import reference_tokenizer

texts = st.one_of(st.text(f"{CHARACTERS}x ü", max_size=40), any_texts.map(repair))


class Both:
    """One tokenizer in both packages."""

    def __init__(self, model: dict[str, Any], pre_tokenizer: Any = None) -> None:
        content = file(model=model, pre_tokenizer=pre_tokenizer, decoder=None)
        self.theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(content))
        self.ours = Tokenizer("small", parse_tokenizer(Json(content, "small")))

    def check(self, text: str) -> None:
        """Compare the ids of a text."""
        expected = self.expected(lambda: self.theirs.encode(text).ids)
        if expected is None:
            with pytest.raises(ValueError, match="not the token for unknown characters, 'absent'"):
                self.ours.encode_ordinary(text)
        else:
            assert self.ours.encode_ordinary(text) == expected
            assert self.ours.count(text) == len(expected)

    def expected(self, ask: Callable[[], Any]) -> Any:
        """Return an answer of tokenizers; None if it lacks the token for unknown characters."""
        try:
            return ask()
        except Exception as error:
            if "Unk" not in str(error):
                raise
            return None

    def check_places(self, chunk: str) -> None:
        """Compare the tokens of a chunk, with their places, and the two ways to the ids."""
        model = self.ours.core.model
        assert isinstance(model, CharacterBPE)
        expected = self.expected(lambda: self.theirs.model.tokenize(chunk))
        if expected is not None:
            found = model.find(chunk)
            assert list(map(tuple, found)) == [
                (token.id, token.value, *token.offsets) for token in expected
            ]
            assert tuple(token.id for token in found) == model.encode(chunk)


@settings(max_examples=scaled(250))
@given(character_models(), st.lists(texts, max_size=5))
def test_any_options(model: dict[str, Any], several: list[str]) -> None:
    made = Both(model)
    for text in several:
        made.check(text)


@settings(max_examples=scaled(200))
@given(character_models(), st.lists(texts, max_size=5))
def test_tokens_and_places_in_a_chunk(model: dict[str, Any], several: list[str]) -> None:
    made = Both(model)
    for text in several:
        made.check_places(text)


def tokens(made: Both, text: str) -> list[tuple[int, str, tuple[int, int]]]:
    encoding = made.theirs.encode(text)
    return list(zip(encoding.ids, encoding.tokens, encoding.offsets))


@settings(max_examples=scaled(200))
@given(character_models("aĠĊbÃ©ä¸Ń"), st.lists(st.text("ab é中\n", max_size=30), max_size=5))
def test_the_byte_alphabet(model: dict[str, Any], several: list[str]) -> None:
    """ByteLevel with a prefix or a suffix, as in CLIP, or without its token for unknown bytes."""
    made = Both(model, BYTE_LEVEL)
    for text in several:
        made.check(text)


@settings(max_examples=scaled(150))
@given(character_models("aĠĊbÃ©ä¸Ń"), st.lists(st.text("ab é中\n", max_size=30), max_size=5))
def test_places_of_bytes(model: dict[str, Any], several: list[str]) -> None:
    made = Both(model, {**BYTE_LEVEL, "trim_offsets": False})
    byte_pair = made.ours.core.model
    for text in several:
        expected = made.expected(partial(tokens, made, text))
        if not isinstance(byte_pair, CharacterBPE) or expected is None:
            continue
        # tokenizers gives the characters that have some of a token's bytes.
        owner = [number for number, char in enumerate(text) for _ in char.encode()]
        for token, (number, name, (start, end)) in zip(byte_pair.find(text), expected):
            assert (token.id, token.text) == (number, name)
            if token.end <= len(owner):
                assert (owner[token.start], owner[token.end - 1] + 1) == (start, end)


def test_the_later_of_two_merges_of_a_pair_counts() -> None:
    vocabulary = {name: number for number, name in enumerate(["a", "b", "c", "ab", "bc"])}
    made = Both({**BARE, "vocab": vocabulary, "merges": ["a b", "b c", "a b"]})
    made.check("abc")
    assert made.ours.encode("abc") == [0, 4]


def test_an_unknown_character_waits_while_the_bytes_of_another_do_not() -> None:
    vocabulary = {"<unk>": 0, "<0xC3>": 1, "<0xA9>": 2, "a": 3}
    options = {"unk_token": "<unk>", "byte_fallback": True}
    made = Both({**BARE, **options, "vocab": vocabulary})
    made.check_places("xyéa")
    assert made.ours.encode("xyéa") == [0, 1, 2, 0, 3]


def test_characters_that_vanish_let_others_meet() -> None:
    made = Both({**BARE, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]})
    made.check_places("axb")
    assert made.ours.encode("axb") == [2]


def test_a_merge_out_of_date_counts_if_it_makes_the_same_token() -> None:
    """A merge whose right part is as long as the prefix makes its left part again.

    So a merge may wait twice, and the second time it is taken for another that makes its token.
    """
    prefix = "######"
    names = ["a", f"{prefix}b", "ab", "<0x23>", "<0x41>", "<0x42>"]
    merges = [[names[1], "<0x23>"], ["a", names[1]], ["<0x41>", "<0x23>"], ["ab", "<0x41>"]]
    options = {"continuing_subword_prefix": prefix, "byte_fallback": True, "merges": merges}
    vocabulary = {name: number for number, name in enumerate(names)}
    made = Both({**BARE, **options, "vocab": vocabulary})
    made.check_places("abAB")
    assert made.ours.encode("abAB") == [2, *[3] * 6, 5]


#: Where each of these vocabularies is from.
PUBLISHED: dict[str, Callable[[str], Path]] = {
    **dict.fromkeys(["llama_2", "mistral_v1", "clip"], reference_tokenizer),
    **dict.fromkeys(["moonshine", "gemma_json"], reference_file),
}


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.sweep) if name == "gemma_json" else name
        for name in PUBLISHED
    ]
)
def published(request: pytest.FixtureRequest) -> tuple[Any, Tokenizer]:
    """A published vocabulary in both packages."""
    path = PUBLISHED[request.param](request.param)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    return theirs, Tokenizer(request.param, parse_tokenizer(read_json(path)))


@pytest.mark.sweep
@pytest.mark.parametrize("length", PARTS)
def test_published_vocabularies(published: tuple[Any, Tokenizer], length: int | None) -> None:
    """Natural text and all kinds of characters, line by line, and all of it at once."""
    theirs, ours = published
    theirs.encode_special_tokens = True
    several = [*standard_library(4), sample(), *HARD_TEXTS]
    several += [read(path)[:length] for path in TEXTS]
    for text in map(repair, several):
        for part in (*text[:length].splitlines(keepends=True), text[:length]):
            ids = theirs.encode(part, add_special_tokens=False).ids
            assert ours.encode_ordinary(part) == ids, part


#: Repetitions, spaces and full stops beside all sorts of things.
HARD_TEXTS = [
    "",
    " ",
    "  a  b ",
    "a" * 5_000,
    " " * 5_000,
    "\n" * 3_000,
    "▁ ▁a▁",
    "中。”。。 a。\n。\u3000。",
    "中华人民共和国" * 500,
    "<0x0A><unk>",
    "\x00\ufffd\U0010ffff" * 100,
]
