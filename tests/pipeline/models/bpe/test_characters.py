"""BPE over characters: the fast ways against the plain rule, cuts, and long chunks."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_bpe import read_bpe
from compat_bpe.pattern.ast import Chars, Sequence
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE, CharacterCuts, Cutter
from compat_bpe.pipeline.models.bpe.merging import Symbol, absent_from, merge
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import make_splitter
from compat_bpe.unicode.properties import CodePoints
from tests.examples import scaled
from tests.pipeline.models.drawn import BARE, CHARACTERS, character_models

texts = st.text(f"{CHARACTERS}x ü", max_size=40)


def built(model: dict[str, Any], steps: list[Split] | None = None) -> tuple[CharacterBPE, Any]:
    """A model, and the splitter of its spans."""
    definition = read_bpe(Json(model, "small", "model")).define(steps or [], "small")
    assert isinstance(definition.model, CharacterBPE)
    return definition.model, definition.splitter


def plain(model: CharacterBPE, chunk: str) -> list[str]:
    return [one.name for one in merge(model.first_symbols(chunk), model.rank, model.join)]


def names(model: CharacterBPE, ids: tuple[int, ...], vocabulary: dict[str, int]) -> list[str]:
    name_of = {number: name for name, number in vocabulary.items()}
    return [name_of[number] for number in ids]


@settings(max_examples=scaled(150))
@given(
    character_models(),
    st.lists(st.one_of(texts, st.text("ab▁", min_size=80, max_size=200)), max_size=4),
)
def test_each_way_gives_what_the_plain_rule_gives(
    content: dict[str, Any], several: list[str]
) -> None:
    # With such a merge it is not as plain; tests/differential has it.
    length = len((content["continuing_subword_prefix"] or "").encode())
    assume(not length or all(len(name.encode()) != length for name in content["vocab"]))
    content = {**content, "ignore_merges": False}
    assume(content["unk_token"] in {None, *content["vocab"]})
    model, _ = built(content)
    for text in several:
        expected = plain(model, text)
        assert names(model, model.encode(text), content["vocab"]) == expected
        found = model.find(text)
        assert [token.text for token in found] == expected
        assert [token.start for token in found[1:]] == [token.end for token in found[:-1]]


SPACES = Split(Sequence((Chars(CodePoints.of(" ")),)), "MergedWithPrevious")


#: A token of a full stop and a character above U+FFFF.
JOINED_STOP: dict[str, Any] = {
    **BARE,
    "unk_token": None,
    "vocab": {"。": 0, "😀": 1, "。😀": 2},
    "merges": [["。", "😀"]],
}


@settings(max_examples=scaled(250))
@given(character_models(decorated=False), st.lists(texts, min_size=3, max_size=5), st.booleans())
@example(JOINED_STOP, ["。😀"], False)
def test_words_have_the_ids_of_the_span(
    content: dict[str, Any], several: list[str], spaces: bool
) -> None:
    """The property of ``character_cuts``, by the splitter and in a long chunk."""
    assume(content["unk_token"] in {None, *content["vocab"]})
    steps = [SPACES] if spaces else []
    model, splitter = built(content, steps)
    for text in several:
        chunks = splitter.chunks(text)
        assert "".join(chunks) == text
        pieces = make_splitter(steps).chunks(text)
        whole = [number for piece in pieces for number in model.encode(piece)]
        assert [*chain.from_iterable(map(model.encode, chunks))] == whole
        if model.cuts.are_possible and text:
            cutter = Cutter(model.encode, model.cuts)
            assert tuple(cutter.ids(text)) == model.encode(text)


def test_a_long_chunk_is_cut_once_many_were_seen() -> None:
    content = {**BARE, "unk_token": "b", "vocab": {"a": 0, "▁": 1, "b": 2, "aa": 3}}
    model, _ = built({**content, "merges": ["a a"]})
    text = "aaa▁▁xaab" * 5
    expected = model.encode(text)
    for _ in range(400):
        assert model.encode(text) == expected
    assert model._cutter is not None
    model.clear_cache()
    assert model._cutter is None
    assert model.encode(text) == expected


CUT = {**BARE, "unk_token": "<unk>", "merges": ["▁ a", "▁a b", "▁ ▁", "a 。", "。 b"]}
VOCABULARY = ["<unk>", "▁", "a", "b", "。", "▁a", "▁ab", "▁▁", "a。", "。b", "\n"]


def cuts_of(*more: str, **options: Any) -> list[str]:
    """The chunks of a text for a model with more merges, or other options."""
    extra = [merge.replace(" ", "") for merge in more]
    parts = [part for merge in more for part in merge.split(" ")]
    vocabulary = {name: i for i, name in enumerate(dict.fromkeys([*VOCABULARY, *parts, *extra]))}
    content = {**CUT, "vocab": vocabulary, "merges": [*CUT["merges"], *more], **options}
    _, splitter = built(content)
    return list(splitter.chunks("a▁▁ab\n\nx。b。a▁"))


WORDS = ["a", "▁▁ab", "\n\n", "x。b。", "a", "▁"]
WHOLE = ["a▁▁ab\n\nx。b。a▁"]


@pytest.mark.parametrize(
    ("chunks", "more", "options"),
    [
        (WORDS, [], {}),
        (WORDS, ["x y"], {}),
        (["a", "▁▁ab", "\n\n", "x。b。a", "▁"], ["。 a"], {}),
        (["a▁▁ab", "\n\n", "x。b。", "a▁"], ["b ▁"], {}),
        (["a", "▁▁ab\n\nx。b。", "a", "▁"], ["b \n"], {}),
        (["a", "▁▁ab\n\nx。b。", "a", "▁"], ["\n b"], {}),
        (WORDS, ["\n \n"], {}),
        (WHOLE, ["b ▁", "b \n"], {}),
        (WHOLE, ["<unk> b"], {}),
        (WHOLE, [], {"unk_token": None}),
        (WHOLE, [], {"ignore_merges": True}),
        (WHOLE, [], {"end_of_word_suffix": "b"}),
        (WORDS, [], {"end_of_word_suffix": ""}),
        (WORDS, [], {"byte_fallback": True}),
        (WHOLE, ["<0x0A> b"], {"byte_fallback": True}),
        (WORDS, ["<0x0A> b"], {}),
    ],
)
def test_where_spans_are_cut(chunks: list[str], more: list[str], options: dict[str, Any]) -> None:
    assert cuts_of(*more, **options) == chunks


def test_what_is_no_token_is_cut_off_only_if_all_have_bytes() -> None:
    vocabulary = {"<unk>": 0, "a": 1, **{f"<0x{byte:02X}>": 2 + byte for byte in range(256)}}
    content = {**BARE, "vocab": vocabulary, "byte_fallback": True, "unk_token": "<unk>"}
    model, splitter = built(content)
    assert splitter.chunks("a▁\n▁。\n") == ["a", "▁", "\n", "▁。", "\n"]
    assert model.is_complete
    del vocabulary["<0x41>"]
    model, splitter = built(content)
    assert splitter.chunks("a▁\n▁。\n") == ["a▁\n▁。\n"]
    assert not model.is_complete


@pytest.mark.sweep
@pytest.mark.parametrize("text", ["a" * 24_000, "ab▁" * 8_000, "中文" * 12_000])
@pytest.mark.parametrize("merges", [["a a", "aa aa", "aaaa aaaa"], []])
def test_long_chunks(text: str, merges: list[str]) -> None:
    vocabulary = {name: i for i, name in enumerate(["a", "b", "aa", "aaaa", "a" * 8, "<unk>"])}
    content = {**BARE, "unk_token": "<unk>", "vocab": vocabulary, "merges": merges}
    model, _ = built({**content, "fuse_unk": False})
    ids = model.encode(text)
    if text[0] == "a" == text[1]:
        assert ids == ((4,) * (len(text) // 8) if merges else (0,) * len(text))
    else:
        assert len(ids) == len(text)
    found = model.find(text)
    assert found[-1].end == len(text.encode())
    assert tuple(token.id for token in found) == ids


@pytest.mark.sweep
@pytest.mark.parametrize("options", [{"end_of_word_suffix": "</w>"}, {"unk_token": None}, {}])
def test_a_long_chunk_that_cannot_be_cut(options: dict[str, Any]) -> None:
    vocabulary = {name: i for i, name in enumerate(["a", "b", "ab", "aba", "<unk>", "b</w>"])}
    merges = ["a b", "ab a", "<unk> a"] if not options else ["a b", "ab a"]
    vocabulary["<unk>a"] = 7
    content = {**BARE, "unk_token": "<unk>", "vocab": vocabulary, "merges": merges, **options}
    model, _ = built(content)
    ids = model.encode("ababx" * 20_000)
    assert len(ids) >= 40_000


def test_places_are_those_of_the_bytes() -> None:
    model, _ = built({**BARE, "unk_token": "?", "vocab": {"?": 0, "é": 1, "中": 2, "é中": 3}})
    assert [tuple(token) for token in model.find("x中é")] == [
        (0, "?", 0, 1),
        (2, "中", 1, 4),
        (1, "é", 4, 6),
    ]
    assert model.find("") == []
    assert model.encode("") == ()


def test_a_character_that_is_absent() -> None:
    assert absent_from("") == absent_from("a\x00") == " "
    assert absent_from("a b") == "\x00"
    assert absent_from("\x00\x01 ") == "\x02"


def test_neighbours_in_a_token() -> None:
    cuts = CharacterCuts({"abc": 0, "c": 1, "d": 2, "?": 3}, ([], []), UnknownPolicy("?"))
    assert not cuts.are_between("a", "b")
    assert not cuts.are_between("b", "c")
    assert cuts.are_between("c", "d")
    assert cuts.are_between("x", "d")
    assert cuts.are_between("d", "x")
    assert not cuts.are_between("x", "y")


def test_the_plain_rule_takes_the_leftmost_of_equals() -> None:
    ranks = {("a", "a"): 0}
    found = merge([Symbol("a", 1)] * 3, lambda *pair: ranks.get(pair))
    assert found == [Symbol("aa", 2), Symbol("a", 1)]
