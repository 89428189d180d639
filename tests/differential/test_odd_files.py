"""Odd files against tokenizers: what it loads is loaded, what it refuses is an error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
import tokenizers

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import parse_json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.save import save_tokenizer_json
from tests.differential.any_tokenizer import (
    MODELS,
    any_file,
    any_text,
    is_undefined_file,
    odd_places,
)
from tests.differential.odd_files import mutated, with_shared_ids, with_uneven_templates
from tests.differential.small_tokenizers import file
from tests.differential.tokenized import error_of, fields
from tests.tokenizer_files import added

#: What is refused here only: a part that is written as the list of its members' values, which
#: the reader of tokenizers takes by chance; an added token that is normalized to nothing, which
#: tokenizers finds everywhere; and patterns that ``re`` cannot match in the same way.
_REFUSED_HERE = re.compile(
    r"x: (normalizer|pre_tokenizer|post_processor|decoder)[^:]*: must be an object, not a list"
    r"|x: added_tokens: .* is normalized to nothing: "
    r"|x: .*(Regex|String): "
)


def ours(content: dict[str, Any]) -> Tokenizer:
    return Tokenizer("x", parse_tokenizer(parse_json(json.dumps(content).encode(), "x")))


def theirs(content: dict[str, Any]) -> Any:
    return tokenizers.Tokenizer.from_str(json.dumps(content))


def check_ids(content: dict[str, Any], text: str) -> None:
    """Compare the ids of a text; where tokenizers raises an error it is a ``ValueError`` here."""
    mine, other = ours(content), theirs(content)
    for add in (False, True):
        expected: list[Any] = []
        kind = error_of(
            lambda: expected.append(other.encode(text, add_special_tokens=add))  # noqa: B023
        )
        arguments: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": add}
        cut: dict[str, Any] = {"truncation": mine.truncation, "padding": mine.padding}
        if kind == "PanicException":
            continue
        if kind:
            with pytest.raises(ValueError, match=r"\w"):
                mine.encode_with_offsets(text, **arguments, **cut)
            continue
        found = mine.encode_with_offsets(text, **arguments, **cut)
        assert found.ids == expected[0].ids
        if mine.truncation is None and mine.padding is None:
            assert mine.encode(text, **arguments) == expected[0].ids


def check_mutated(seed: int) -> None:
    draw = Random(seed)
    content = mutated(draw, any_file(draw))
    model = content.get("model")
    if isinstance(model, dict) and model.get("continuing_subword_prefix"):
        return  # It may end the process.
    other, mine, message = error_of(lambda: theirs(content)), "", ""
    try:
        ours(content)
    except ValueError as error:
        mine, message = "ValueError", str(error)
    assert not message or message.startswith("x: ")
    assert other or not mine or _REFUSED_HERE.match(message), message


@pytest.mark.parametrize("seed", range(40))
def test_what_tokenizers_loads_is_loaded(seed: int) -> None:
    check_mutated(seed)


@pytest.mark.sweep
def test_what_tokenizers_loads_is_loaded_in_many_files() -> None:
    for seed in range(40, 4000):
        check_mutated(seed)


def untyped(**members: Any) -> dict[str, Any]:
    return file(model=members, pre_tokenizer=None, decoder=None)


WORDS: dict[str, Any] = {"vocab": {"a": 0}, "unk_token": "a"}
PREFIXED = {**WORDS, "continuing_subword_prefix": "##", "max_input_chars_per_word": 10}
SCORES: dict[str, Any] = {"vocab": [["a", -1.0], ["b", -2.0]]}


@pytest.mark.parametrize(
    "model",
    [
        {**WORDS, "merges": ["a"]},
        {**WORDS, "merges": "x"},
        {**WORDS, "merges": [["a", "z"]]},
        {**WORDS, "merges": [], "fuse_unk": 7},
        {**WORDS, "merges": [], "x": 1},
        PREFIXED,
        {**PREFIXED, "max_input_chars_per_word": "x"},
        {**PREFIXED, "continuing_subword_prefix": 5},
        {**PREFIXED, **SCORES},
        {**SCORES, "unk_token": "a"},
        {**SCORES, "unk_token": "a", "merges": []},
        {**SCORES, "unk_id": 0, "unk_token": "a"},
    ],
)
def test_a_model_without_a_type_is_of_the_first_that_fits(model: dict[str, Any]) -> None:
    content = untyped(**model)
    for text in ("a", "ab", "ba"):
        check_ids(content, text)


@pytest.mark.parametrize(
    "model",
    [
        {"vocab": {"a": 0}},
        {"vocab": {"a": 0}, "unk_token": None},
        {"vocab": {"a": 0}, "merges": [], "dropout": 7},
        *({**WORDS, "merges": [], "type": name} for name in (None, 5, "bpe", "X")),
    ],
)
def test_a_model_that_fits_no_type(model: dict[str, Any]) -> None:
    assert error_of(lambda: theirs(untyped(**model)))
    with pytest.raises(ValueError, match="x: model"):
        ours(untyped(**model))


@pytest.mark.parametrize("flag", [None, "lstrip", "rstrip", "single_word", "special"])
def test_an_added_token_that_is_normalized_to_nothing(flag: str | None) -> None:
    removed = {"type": "Replace", "pattern": {"String": "x"}, "content": ""}
    flags = {} if flag is None else {flag: True}
    token = added(9, "x", **{"normalized": True, **flags})
    content = file(added_tokens=[token], normalizer=removed)
    # It is found between any two bytes there, in the middle of a character, too.
    assert flag == "single_word" or error_of(lambda: theirs(content).encode("aé")) == (
        "PanicException"
    )
    with pytest.raises(ValueError, match="x: added_tokens: 'x' is normalized to nothing"):
        ours(content)


def test_nothing_before_a_text_takes_a_place_away() -> None:
    nothing, letter = ({"type": "Prepend", "prepend": text} for text in ("", "a"))
    double = {"type": "Replace", "pattern": {"String": "a"}, "content": "bb"}
    others = [nothing, letter, double, {"type": "NFD"}, {"type": "Lowercase"}, {"type": "NFC"}]
    chains = [[nothing], *([nothing, one] for one in others), *([one, nothing] for one in others)]
    chains += [[nothing, nothing, double], [double, nothing, letter], [letter, nothing, nothing]]
    compared = 0
    for chain in chains:
        steps = {"type": "Sequence", "normalizers": chain}
        # Before ByteLevel, tokenizers writes the text twice or fails.
        content = file(normalizer=steps, pre_tokenizer=None)
        mine, other = ours(content), theirs(content)
        for text in ("", "a", "ab", "é", "cAb", "Éa", " a"):
            if error_of(lambda: other.encode(text)) == "PanicException":  # noqa: B023
                continue
            found, expected = mine.encode_with_offsets(text), other.encode(text)
            assert (found.ids, found.offsets) == (expected.ids, expected.offsets), (chain, text)
            assert mine.encode(text) == expected.ids
            compared += 1
    assert compared > 80


def check_shared_ids(kind: str, seed: int) -> None:
    draw = Random(seed)
    content = with_shared_ids(draw, any_file(draw, kind))
    if error_of(lambda: theirs(content)) == "PanicException" or is_undefined_file(
        lambda: ours(content)
    ):
        return
    mine = ours(content)
    for _ in range(4):
        text = any_text(draw, content)
        check_ids(content, text)
        if not error_of(lambda: mine.encode(text, allowed_special="all")):  # noqa: B023
            located = mine.encode_with_offsets(text, allowed_special="all")
            assert located.ids == mine.encode(text, allowed_special="all")
            assert mine.count(text) == len(mine.encode_ordinary(text))
    names = {**content["model"]["vocab"], **{one.content: one.id for one in mine.added_tokens}}
    for number in set(names.values()):
        token = mine.id_to_token(number)
        assert token is not None
        assert mine.decode([number]) is not None


@pytest.mark.parametrize("kind", sorted(MODELS.keys() - {"unigram"}))
@pytest.mark.parametrize("seed", range(4))
def test_tokens_that_share_an_id(kind: str, seed: int) -> None:
    check_shared_ids(kind, seed)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", sorted(MODELS.keys() - {"unigram"}))
def test_tokens_that_share_an_id_in_many_files(kind: str) -> None:
    for seed in range(4, 80):
        check_shared_ids(kind, seed)


def test_a_merge_is_one_of_ids() -> None:
    vocab = {"a": 0, "b": 0, "c": 1, "ac": 2, "aca": 0, "d": 3, "bd": 3}
    merges = [["a", "c"], ["ac", "a"], ["b", "d"], ["a", "c"]]
    content = file(
        model={"type": "BPE", "vocab": vocab, "merges": merges}, pre_tokenizer=None, decoder=None
    )
    for text in ("acbcab", "bca", "acacac", "bdadd", "cabdac" * 20):
        check_ids(content, text)
    found = ours(content).encode_with_offsets("bcbd")
    assert found.offsets == theirs(content).encode("bcbd").offsets


def test_pieces_of_a_word_that_share_an_id_have_their_places() -> None:
    vocab = {"ab": 0, "##c": 0, "##cd": 1, "[UNK]": 0}
    model = {
        "type": "WordPiece",
        "vocab": vocab,
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 400,
    }
    content = file(model=model, pre_tokenizer=None, decoder=None)
    for text in ("abc", "abcdc", "x", "ab" + "c" * 300):
        expected = theirs(content).encode(text)
        found = ours(content).encode_with_offsets(text)
        assert (found.ids, found.tokens) == (expected.ids, expected.tokens)
        assert found.offsets == expected.offsets


EMPTY: dict[str, dict[str, Any]] = {
    "BPE": {"vocab": {}, "merges": []},
    "WordPiece": {
        "vocab": {},
        "unk_token": "x",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
    "WordLevel": {"vocab": {}, "unk_token": "x"},
    "Unigram": {"vocab": []},
}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("tokens", [[], [added(7, "ab", special=True), added(9, "c")]])
def test_an_empty_vocabulary(kind: str, tokens: list[Any], tmp_path: Path) -> None:
    model = {"type": kind, **EMPTY[kind]}
    for parts in ({}, {"pre_tokenizer": None, "decoder": None}):
        content = file(model=model, added_tokens=tokens, **parts)
        for text in ("", "ab", "abc", "x", "cab c"):
            check_ids(content, text)
        mine = ours(content)
        size: int = theirs(content).get_vocab_size(with_added_tokens=True)
        assert mine.n_vocab == size == len(tokens)
        assert (mine.count(""), mine.decode([])) == (0, "")
        assert mine.truncate("", 3).text == ""
        save_tokenizer_json(mine, tmp_path / "tokenizer.json")
        saved: Any = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        assert saved.get_vocab() == theirs(content).get_vocab()


@pytest.mark.parametrize("seed", range(6))
def test_templates_with_as_many_ids_as_they_like(seed: int) -> None:
    draw = Random(seed)
    content = any_file(draw)
    while (content["post_processor"] or {}).get("type") != "TemplateProcessing":
        content = any_file(draw)
    content = with_uneven_templates(draw, content)
    if error_of(lambda: theirs(content)) or is_undefined_file(lambda: ours(content)):
        return
    mine, other = ours(content), theirs(content)
    for _ in range(6):
        text = any_text(draw, content)
        check_ids(content, text)
        if not odd_places(content) and not error_of(lambda: other.encode(text)):  # noqa: B023
            cut: dict[str, Any] = {"truncation": mine.truncation, "padding": mine.padding}
            found: Any = mine.encode_with_offsets(
                text, allowed_special="all", add_special_tokens=True, **cut
            )
            assert fields(found) == fields(other.encode(text))


def with_dropout(dropout: float | None, **fields: Any) -> dict[str, Any]:
    model = {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2, "aba": 3},
        "merges": [["a", "b"], ["ab", "a"]],
        "dropout": dropout,
        **fields,
    }
    return file(model=model, pre_tokenizer=None, decoder=None)


@pytest.mark.parametrize("dropout", [0, 0.0, -1e-60, 1, 1.0, 0.99999999999, 1.00000001])
@pytest.mark.parametrize("ignore_merges", [False, True])
def test_dropout_that_leaves_nothing_to_chance(dropout: float, ignore_merges: bool) -> None:
    content = with_dropout(dropout, ignore_merges=ignore_merges)
    for text in ("aba", "ab", "abab" * 9):
        check_ids(content, text)


def test_dropout_of_any_kind_is_refused_alike() -> None:
    for dropout in (-0.1, 1.1, 1e300, "0.5", True, [0.5]):
        content = with_dropout(dropout)  # type: ignore[arg-type]
        assert error_of(lambda: theirs(content))  # noqa: B023
        with pytest.raises(ValueError, match=r"x: model\.dropout: must be "):
            ours(content)


def test_other_dropout_is_not_applied_unasked(tmp_path: Path) -> None:
    content = with_dropout(0.5)
    mine = ours(content)
    assert mine.encode("abaab") == ours(with_dropout(None)).encode("abaab") == [3, 2]
    save_tokenizer_json(mine, tmp_path / "tokenizer.json")
    assert json.loads((tmp_path / "tokenizer.json").read_bytes())["model"]["dropout"] == 0.5
    # tokenizers draws anew for each text, so that all it can give is among what may be left.
    assert theirs(content).encode("ab").ids in ([2], [0, 1])
