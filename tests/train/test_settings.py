"""Settings are checked where they are made; names that are there for one more release."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import compat_bpe.train
from compat_bpe.train import (
    CharacterBpeSettings,
    SentencePieceSettings,
    Settings,
    TrainingSettings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
    train_bpe,
)
from compat_bpe.train.bpe.learner import MOST_TOKENS
from compat_bpe.train.bpe.merge_kinds import WordPiece
from compat_bpe.train.kind import Kind
from compat_bpe.train.kinds import KINDS, PARAMETERS
from compat_bpe.train.options import check_least, fields_with_options
from compat_bpe.train.word_level import Bytes, Characters


@pytest.mark.parametrize("kind", KINDS.values())
def test_each_setting_is_described(kind: type[Kind]) -> None:
    """The reference has each field, and an option has all that a help needs."""
    if issubclass(kind, (Characters, Bytes)):
        return  # they have those of words
    _, _, described = (inspect.getdoc(kind.makes) or "").partition("Args:")
    for field in fields(kind.makes):
        is_there = re.search(rf"^(    |.*, ){field.name}[,:]", described, re.MULTILINE)
        assert is_there or (kind is WordPiece and field.name == "suffix"), field.name
    for field, name, option in fields_with_options(kind.makes):
        assert option.help.endswith((".", ".  [default: all]")), field.name
        assert PARAMETERS[name].option.help == option.help
        assert PARAMETERS[name].option.flags == option.flags


def test_the_bounds_of_an_option_let_through_what_any_kind_takes() -> None:
    pieces = PARAMETERS["max_piece_length"].option
    assert (pieces.least, pieces.most) == (1, 1024)  # for Unigram; 512 for SentencePiece
    assert PARAMETERS["seed_size"].option.least == 0
    with pytest.raises(ValueError, match="max_sentencepiece_length is 513; it must be 1 to 512"):
        SentencePieceSettings(300, max_sentencepiece_length=513)
    with pytest.raises(ValueError, match="max_piece_length is 1025; it must be 1 to 1024"):
        UnigramSettings(300, max_piece_length=1025)
    with pytest.raises(ValueError, match="shrinking_factor is 1; it must be 0 or more and less"):
        UnigramSettings(300, shrinking_factor=1)


def test_train_bpe_is_train() -> None:
    texts = ["low lower lowest"] * 3
    more: dict[str, Any] = {"min_frequency": 2, "max_token_length": 4}
    enc = train_bpe(texts, 262, special_tokens=["<s>"], name="own", **more)
    settings = TrainingSettings(262, special_tokens=["<s>"], **more)
    same = train(texts, settings, name="own")
    assert (enc.name, enc._mergeable_ranks) == ("own", same._mergeable_ranks)
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        train_bpe(texts, size=300)
    with pytest.raises(TypeError, match="the settings are a int; they must be TrainingSettings"):
        train(texts, 300)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "give vocab_size, num_merges or convergence"),
        (
            {"vocab_size": 255},
            ValueError,
            "a vocabulary of 255 is too small: with all single bytes and special tokens it has 256 "
            "tokens or more",
        ),
        (
            {"vocab_size": 257, "special_tokens": ["<a>", "<b>"]},
            ValueError,
            "a vocabulary of 257 is too small: with all single bytes and special tokens it has 258 "
            "tokens or more",
        ),
        (
            {"vocab_size": MOST_TOKENS + 1},
            ValueError,
            "a vocabulary of 1114113 is too large: 1114112 at most",
        ),
        ({"num_merges": -1}, ValueError, "num_merges is -1; it must be 0 or more"),
        ({"min_frequency": -1}, ValueError, "min_frequency is -1; it must be 0 or more"),
        ({"max_token_length": 0}, ValueError, "max_token_length is 0; it must be 1 or more"),
        ({"special_tokens": [""]}, ValueError, "a special token has an empty name"),
        ({"special_tokens": ["<a>", "<a>"]}, ValueError, "the special token '<a>' is named twice"),
        (
            {"special_tokens": ["Ġ"]},
            ValueError,
            "the special token 'Ġ' is written like a single byte's token",
        ),
        (
            {"special_tokens": ["\ud800"]},
            ValueError,
            "the special token '\\ud800' has a lone surrogate",
        ),
        (
            {"special_tokens": "<s>"},
            TypeError,
            "special_tokens is the str '<s>'; pass a list of names",
        ),
        ({"weights": {"zh": 0}}, ValueError, "the weight of 'zh' is 0; it must be positive"),
        (
            {"weights": {"zh": float("inf")}},
            ValueError,
            "the weight of 'zh' is inf; it must be positive",
        ),
    ],
)
def test_settings_that_are_impossible(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    calls: list[Callable[..., object]] = [
        TrainingSettings,
        # Settings come before texts.
        lambda **options: train_bpe("one text", **options),
    ]
    if options and options.keys().isdisjoint({"vocab_size", "num_merges"}):
        options = {"vocab_size": 300, **options}
    for call in calls:
        with pytest.raises(error) as caught:
            call(**options)
        assert str(caught.value) == message


@given(
    st.none() | st.integers(256, 1000) | st.just(MOST_TOKENS),
    st.none() | st.integers(0, 800) | st.just(2 * MOST_TOKENS),
    st.lists(st.sampled_from(["<a>", "<b>", "<c>"]), unique=True),
)
def test_most_merges(vocab_size: int | None, num_merges: int | None, names: list[str]) -> None:
    assume((vocab_size, num_merges) != (None, None))
    assume(vocab_size is None or vocab_size >= 256 + len(names))
    settings = TrainingSettings(vocab_size, num_merges=num_merges, special_tokens=names)
    most = settings.kind.most_merges
    # Single bytes and merges alone are numbered by characters.
    assert 0 <= most <= MOST_TOKENS - 256
    assert num_merges is None or most <= num_merges
    assert vocab_size is None or 256 + most + len(names) <= vocab_size
    assert most in (num_merges, MOST_TOKENS - 256) or 256 + most + len(names) == vocab_size


def test_settings_stay_as_they_were_checked() -> None:
    names, weights = ["<a>"], {"zh": 2.0}
    settings = TrainingSettings(300, special_tokens=iter(names), weights=weights)
    same = TrainingSettings(300, special_tokens=["<a>"], weights={"zh": 2})
    names.append("")
    weights["zh"] = -1
    assert settings == same
    assert settings.special_tokens == ("<a>",)
    assert settings.weights == {"zh": 2}
    assert TrainingSettings(300).weights is None
    with pytest.raises(FrozenInstanceError):
        settings.vocab_size = 0  # type: ignore[misc]


def test_a_number_is_compared_with_the_least() -> None:
    check_least("n", 1, 1)
    check_least("n", None, 1)
    with pytest.raises(ValueError, match="n is 0; it must be 1 or more"):
        check_least("n", 0, 1)


NUMBERS = [
    *("vocab_size", "num_merges", "min_frequency", "max_token_length", "limit_alphabet"),
    *("n_sub_iterations", "max_piece_length", "seed_size", "num_sub_iterations"),
    *("max_sentence_length", "input_sentence_size", "seed_sentencepiece_size"),
]
ALL_SETTINGS = [
    *(TrainingSettings, WordPieceSettings, CharacterBpeSettings, WordLevelSettings),
    *(UnigramSettings, SentencePieceSettings),
]


@pytest.mark.parametrize("value", [float("nan"), 300.5, True, "300", 1e300])
@pytest.mark.parametrize("settings", ALL_SETTINGS)
def test_what_is_no_integer_is_refused_at_once(settings: Any, value: Any) -> None:
    """Learning would not end at a size that no number of merges is equal to."""
    names = [field.name for field in fields(settings) if field.name in NUMBERS]
    assert "vocab_size" in names
    for name in names:
        options = {"vocab_size": 300, name: value}
        with pytest.raises(ValueError, match=rf"{name} is .+; it must be an integer"):
            settings(**options)


@pytest.mark.parametrize("weight", [float("nan"), 0, -1, 1e308, 1e-308, 10**400, "2", None])
def test_a_weight_is_a_number_in_some_proportion(weight: Any) -> None:
    for make in (TrainingSettings, WordLevelSettings):
        with pytest.raises(ValueError, match=r"the weight of 'a' is .+; it must be"):
            make(300, weights={"a": weight})
    # The extremes do not overflow.
    for weight in (1e9, 1e-9):
        train_bpe({"a": ["x xy xy"], "b": ["y xy"]}, 300, weights={"a": weight, "b": 1 / weight})


def test_counts_of_64_bits() -> None:
    """Sums are exact beyond the 31 and 64 bits of the reference; a row beyond 63 is refused."""
    most = 2**63 - 1
    counts = {"ab": most, "abc": most, "cd": 2 * (most // 3)}
    enc = train_bpe(counts=counts, vocab_size=258)
    assert [enc.decode([token]) for token in (256, 257)] == ["ab", "abc"]
    assert train((), WordLevelSettings(vocab_size=9), counts=counts).encode("abc ab") == [2, 1]
    assert train((), UnigramSettings(vocab_size=9), counts=counts).n_vocab == 6
    for count in (2**63, 10**400, -(10**400)):
        with pytest.raises(
            ValueError, match="the count of 'ab' is beyond 9,223,372,036,854,775,807"
        ):
            train_bpe(counts={"ab": count}, vocab_size=300)


SOME_TEXTS = ["hug " * 10 + "pug " * 5 + "pun " * 12]
FUNCTIONS: dict[str, type[Settings[Any]]] = {
    "train_wordpiece": WordPieceSettings,
    "train_character_bpe": CharacterBpeSettings,
    "train_unigram": UnigramSettings,
    "train_word_level": WordLevelSettings,
    "train_sentencepiece": SentencePieceSettings,
}


def deprecated(name: str) -> Any:
    with pytest.warns(DeprecationWarning, match=rf"train\.{name} is deprecated: use ") as caught:
        found = getattr(compat_bpe.train, name)
    assert caught[0].filename == __file__
    return found


@pytest.mark.parametrize(("name", "make"), FUNCTIONS.items())
def test_a_function_of_one_kind(name: str, make: Any) -> None:
    function = deprecated(name)
    enc = function(SOME_TEXTS, 14, name="own")
    assert (enc.name, enc.definition) == ("own", train(SOME_TEXTS, make(14), name="own").definition)
    with pytest.raises(TypeError):
        function(SOME_TEXTS, 14, unheard_of=1)


def test_arguments_about_texts() -> None:
    counts = {"hug": 2, "pug": 1}
    enc = deprecated("train_wordpiece")(counts=counts, num_merges=2, workers=1)
    assert enc.n_vocab == train([], WordPieceSettings(num_merges=2), counts=counts).n_vocab == 9


def test_settings_and_train_tokenizer() -> None:
    settings = WordPieceSettings(14)
    assert isinstance(settings, (deprecated("TokenizerSettings"), deprecated("MergeSettings")))
    enc = deprecated("train_tokenizer")(SOME_TEXTS, settings, workers=1)
    assert enc.definition == train(SOME_TEXTS, settings).definition


def test_the_character_map_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    like = SimpleNamespace(normalizer=SimpleNamespace(name="nmt_nfkc", charsmap=b"the map"))
    monkeypatch.setattr("compat_bpe.train._read_sentencepiece", lambda path: like)
    monkeypatch.setattr("compat_bpe.train.train", lambda texts, made, **_: given.append(made))
    deprecated("train_sentencepiece")(SOME_TEXTS, 14, "unigram", like="old.model", bos_piece="<b>")
    options: Any = {"normalization_rule_name": "nmt_nfkc", "charsmap": b"the map"}
    assert given == [SentencePieceSettings(14, "unigram", bos_piece="<b>", **options)]


def test_what_there_never_was() -> None:
    with pytest.raises(AttributeError, match=r"'compat_bpe\.train' has no attribute 'train_all'"):
        compat_bpe.train.train_all  # noqa: B018
