"""Settings are checked where they are made; names that are there for one more release."""

from __future__ import annotations

import inspect
import re
from dataclasses import FrozenInstanceError, fields
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import compat_bpe.train
from compat_bpe import get_encoding
from compat_bpe.corpus.chunk_counts import NotAChunkError
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
from compat_bpe.train.extend import changes, extend
from compat_bpe.train.kind import Kind
from compat_bpe.train.kinds import KINDS, PARAMETERS
from compat_bpe.train.options import fields_with_options
from compat_bpe.train.unigram import learn_unigram
from compat_bpe.train.word_level import Bytes, Characters
from tests.examples import rows
from tests.train.plain import HUGS


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


def spm(vocab_size: int = 20, texts: Any = (HUGS,), **options: Any) -> object:
    """Train a model of SentencePiece."""
    return train([*texts], SentencePieceSettings(vocab_size, **options))


def counted(*row: Any) -> object:
    """Train from a row of counts, after one that is right."""
    return train_bpe(counts=[("ok", 1), row], num_merges=1)


#: A call, what is said, and the type of the error where it is no ``ValueError``.
REFUSED = r"""
train_bpe([], 300) → there is no text to learn from
train_bpe(["", ""], 300) → there is no text to learn from
train_bpe(["a"], 300, pattern="b") → there is no text to learn from
train_bpe("settings come before texts") → give vocab_size, num_merges or convergence
train_bpe("one text", 255) → a vocabulary of 255 is too small: with all single bytes and special
    tokens it has 256 tokens or more
TrainingSettings(257, special_tokens=["<a>", "<b>"]) → a vocabulary of 257 is too small: with all
    single bytes and special tokens it has 258 tokens or more
TrainingSettings(1114113) → a vocabulary of 1114113 is too large: 1114112 at most
TrainingSettings(num_merges=-1) → num_merges is -1; it must be 0 or more
TrainingSettings(300, min_frequency=-1) → min_frequency is -1; it must be 0 or more
TrainingSettings(300, max_token_length=0) → max_token_length is 0; it must be 1 or more
TrainingSettings(300, special_tokens=[""]) → a special token has an empty name
TrainingSettings(300, special_tokens=["<a>", "<a>"]) → the special token '<a>' is named twice
TrainingSettings(300, special_tokens=["a"]) → 'a' is written like a single byte's token
TrainingSettings(300, special_tokens=["Ġ"]) → 'Ġ' is written like a single byte's token
TrainingSettings(300, special_tokens=["\ud800"]) → the special token '\\ud800' has a lone surrogate
train_bpe("one text", 300, special_tokens="<s>") →
    special_tokens is the str '<s>'; pass a list of names → TypeError
TrainingSettings(300, weights={"zh": 0}) → the weight of 'zh' is 0; it must be positive
TrainingSettings(300, weights={"": inf}) → the weight of '' is inf; it must be positive
TrainingSettings(300, max_words=0) → max_words is 0
TrainingSettings(300, not_joined=[""]) → is empty: every token contains that
TrainingSettings(300, not_joined="ab") → pass a list → TypeError
TrainingSettings(num_merges=1, start=get_encoding("words")) →
    'words' is not byte-level BPE and cannot be continued
TrainingSettings(50256, start=get_encoding("gpt2")) →
    'gpt2' has 50257 tokens, and the size includes them
train_bpe(["the the"], 300, special_tokens=["the"]) → 'the' is also the result of merge 2
train_bpe([" a a"], 300, special_tokens=["Ġa"]) → 'Ġa' is also the result of merge 1:
train_bpe(["a"], 300, pattern="(") → the pattern cannot be used:
train_bpe(["a"], 300, pattern="cl100k") → unknown pattern 'cl100k' (did you mean
train_bpe({"x": ["a"]}, 300, weights={"y": 1}) → for 'y', but no such text; the groups
train_bpe(["a"], 300, workers=0) → workers is 0
train_bpe("abc", 300) → texts is a str; pass a list → TypeError
train_bpe([b"abc"], 300) → text must be a str, not bytes → TypeError
counted("a", -1) → row 2: the count of 'a' is -1; it must be 0 or more
counted("a", 1.0) → row 2: the count of 'a' is 1.0; it must be an integer
counted("a", nan) → is nan; it must be an integer
counted("a", None) → is None; it must be an integer
counted("a", True) → is True; it must be an integer
counted("a", "3") → is '3'; it must be an integer
counted("", 3) → row 2: the chunk is empty
counted("\ud800", 3) → row 2: the chunk '\\ud800' has a surrogate
counted("\ud83d\ude00", 3) → has a surrogate
counted(b"a", 3) → row 2: a chunk must be a str, not bytes → TypeError
counted("a", 1, "g", 2) → row 2 must be a chunk and a count → TypeError
counted("a") → row 2 must be a chunk and a count → TypeError
train_bpe(counts=["abcd"], num_merges=1) → row 1 must be a chunk and a count → TypeError
train_bpe(counts=[7], num_merges=1) → row 1 must be a chunk and a count → TypeError
train_bpe(counts={}, num_merges=1) → there is no text to learn from
train_bpe(counts=[], num_merges=1) → there is no text to learn from
train_bpe(counts={"a": 0}, num_merges=1) → there is no text to learn from
train_bpe(counts={"g": {}}, num_merges=1) → there is no text to learn from
train_bpe(counts="abc", num_merges=1) → counts is a text → TypeError
train_bpe(counts={"one": 1, "two words": 1}, num_merges=1) →
    'two words' is not one chunk of the pattern 'gpt2' → NotAChunkError
train_bpe(counts={"!": 1}, num_merges=1, pattern=r"\w+") → '!' is not one chunk → NotAChunkError
train_bpe(counts={"!": 1}, num_merges=1, pattern=r"\w+") → : it is left out → NotAChunkError
train_bpe(counts={"x!": 1}, num_merges=1, pattern=r"\w+") → : it splits into 'x' → NotAChunkError
train_bpe(counts={"世ab": 1}, num_merges=1, pattern="deepseek") →
    '世ab' is not one chunk of the pattern 'deepseek' → NotAChunkError
train((), WordPieceSettings(9), counts={"don't": 1}) →
    "don't" is not one word of the pre-tokenizer → NotAChunkError
train((), UnigramSettings(9, pre_tokenizer="byte-level"), counts={" a": 1}) →
    its byte alphabet has no ' ' → NotAChunkError
Convergence(patience=0) → patience is 0; it must be 1 or more
Convergence(check_every=0) → check_every is 0; it must be 1 or more
Convergence(min_improvement=-0.1) → min_improvement is -0.1; it must be 0 or more
Convergence(min_improvement=nan) → min_improvement is nan; it must be 0 or more
WordPieceSettings() → give vocab_size, num_merges or convergence
WordPieceSettings(0) → vocab_size is 0; it must be 1 or more
WordPieceSettings(9, rule="x") → no rule 'x'; the rules are frequency, likelihood
WordPieceSettings(9, suffix="</w>") → no mark for the end of a word
WordPieceSettings(9, special_tokens=["a", "a"]) → 'a' is named twice
WordPieceSettings(9, special_tokens=[""]) → a special token has an empty name
WordPieceSettings(9, special_tokens="ab") → special_tokens is the str 'ab' → TypeError
WordPieceSettings(9, unknown="\ud800") → has a lone surrogate
WordPieceSettings(9, weights={"a": 0}) → the weight of 'a' is 0; it must be pos
WordPieceSettings(9, min_frequency=-1) → min_frequency is -1
WordPieceSettings(9, num_merges=-1) → num_merges is -1
WordPieceSettings(9, limit_alphabet=-1) → limit_alphabet is -1
WordPieceSettings(9, max_token_length=0) → max_token_length is 0
WordPieceSettings(9, like=get_encoding("gpt2")) → a tokenizer.json cannot describe
Trainer(WordPieceSettings(9, post_processor="bert")) → needs '[CLS]': name it as a special token
train(["a"], WordPieceSettings(9, normalizer="x")) → there is no normalizer 'x'; the
train(["a"], WordPieceSettings(9, pre_tokenizer={})) → there is no 'type'
train([""], WordPieceSettings(9)) → there is no text to learn from
train("text", WordPieceSettings(9)) → texts is a str → TypeError
train([b"text"], WordLevelSettings()) → must be a str → TypeError
ByteSettings(300) → vocab_size is not for bytes: all 256 of them are tokens
ByteSettings(unknown="x") → unknown is not for bytes
UnigramSettings() → give vocab_size
UnigramSettings(special_tokens="<s>") → special_tokens is the str '<s>' → TypeError
UnigramSettings(0) → vocab_size is 0; it must be 1 or more
UnigramSettings(1 << 21) → vocabulary of 2097152 is too large
UnigramSettings(2, special_tokens=["a", "b", "c"]) → 2 is too small for 4
UnigramSettings(8000, n_sub_iterations=0) → n_sub_iterations is 0
UnigramSettings(8000, max_piece_length=0) → max_piece_length is 0
UnigramSettings(8000, max_piece_length=1025) → max_piece_length is 1025; it must be 1 to 1024
UnigramSettings(8000, seed_size=0) → seed_size is 0
UnigramSettings(8000, shrinking_factor=1) → shrinking_factor is 1; it must be 0 or more and less
UnigramSettings(8000, shrinking_factor=-0.1) → shrinking_factor is -0.1
UnigramSettings(8000, shrinking_factor=nan) → shrinking_factor is nan
UnigramSettings(8000, special_tokens=["a", "a"]) → 'a' is named twice
UnigramSettings(8000, special_tokens=[""]) → empty name
UnigramSettings(8000, unknown="\ud800") → lone surrogate
UnigramSettings(8000, initial_alphabet="a\ud800") → initial_alphabet has a lone surrogate
learn_unigram({}, UnigramSettings(6)) → no text to learn from
learn_unigram({"": 3}, UnigramSettings(6)) → no text to learn from
learn_unigram({"a": 0}, UnigramSettings(6)) → no text to learn from
learn_unigram({"\0": 2}, UnigramSettings(6)) → no text to learn from
learn_unigram({"abcd": 2, "efg": 1}, UnigramSettings(6)) → 6 is too small:
learn_unigram({"abcd": 2, "efg": 1}, UnigramSettings(6)) → 7 different characters
learn_unigram({"abc": 2}, UnigramSettings(6, initial_alphabet="defg")) → 7 different characters
spm(5000) → the texts have only
spm(8) → raise it, or lower character_coverage
spm(2) → eos_id is 2, which is too large
spm(model_type="wordpiece") → model_type is 'wordpiece'
spm(character_coverage=0.5) → character_coverage is 0.5; it must be 0.98 to 1
spm(character_coverage=nan) → character_coverage is nan
spm(required_chars="a b") → required_chars
spm(required_chars="a", user_defined_symbols=["a"], hard_vocab_limit=False) → 'a' is learned, too
spm(user_defined_symbols=["<unk>"]) → '<unk>' is a piece already
spm(user_defined_symbols=["a", "a"]) → 'a' is a piece already
spm(user_defined_symbols="ab") → pass a list
spm(user_defined_symbols=["\ud800"]) → is not a text
spm(user_defined_symbols=[*"abcdefghijklmnopqrst"]) → the reserved pieces alone
spm(bos_id=0) → bos_id is 0, which is the id of '<unk>'
spm(bos_piece="</s>") → eos_piece is '</s>'; another piece has that name
spm(bos_piece="") → bos_piece is ''
spm(unk_id=-1) → without byte_fallback
spm(pad_id=16, hard_vocab_limit=False, model_type="char") → has the id 16
spm(normalization_rule_name="nfkc") → 'nfkc' is not included
spm(charsmap=b"1234") → the character map is shorter
spm(use_all_vocab=True) → use_all_vocab
spm(seed_sentencepiece_size=-1) → seed_sentencepiece_size is -1
spm(max_sentencepiece_length=513) → max_sentencepiece_length is 513; it must be 1 to 512
spm(input_sentence_size=-1) → input_sentence_size is -1; it must be 0 or more
spm(input_sentence_size=1) → input_sentence_size is 1; it must be 0 or more
spm(input_sentence_size=100) → input_sentence_size is 100; it must be 0 or more
spm(texts=["", "  "]) → there is no text
spm(texts=[]) → there is no text
spm(texts=[b"text"]) → text must be a str, not bytes → TypeError
spm(sampling=1) → sampling → TypeError
train("text", SentencePieceSettings(20)) → texts is a str → TypeError
extend(OLD, ["a"], number=-1) → number is -1; it must be 0 or more
extend(OLD, ["a"], min_frequency=-1) → min_frequency is -1; it must be 0 or more
extend(OLD, ["a"], max_token_length=0) → max_token_length is 0; it must be 1 or more
extend(OLD, "text") → str → TypeError
extend(OLD, terms="term") → str → TypeError
changes(OLD, OLD, "text") → str → TypeError
"""


def test_what_is_refused() -> None:
    own = (NotAChunkError, changes, counted, extend, get_encoding, learn_unigram, spm)
    names = {**vars(compat_bpe.train), **{one.__name__: one for one in own}}
    names.update(inf=inf, nan=nan, OLD=get_encoding("bytes"))
    for call, said, error in rows(REFUSED, 3):
        with pytest.raises(eval(error or "ValueError", names)) as caught:
            eval(call, names)
        assert said.strip() in str(caught.value), call


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


NUMBERS = """
    vocab_size num_merges min_frequency max_token_length limit_alphabet n_sub_iterations
    max_piece_length seed_size num_sub_iterations max_sentence_length input_sentence_size
    seed_sentencepiece_size
""".split()
ALL_SETTINGS = [
    TrainingSettings,
    WordPieceSettings,
    CharacterBpeSettings,
    WordLevelSettings,
    UnigramSettings,
    SentencePieceSettings,
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
    enc = function([HUGS], 14, name="own")
    assert (enc.name, enc.definition) == ("own", train([HUGS], make(14), name="own").definition)
    with pytest.raises(TypeError):
        function([HUGS], 14, unheard_of=1)


def test_arguments_about_texts() -> None:
    counts = {"hug": 2, "pug": 1}
    enc = deprecated("train_wordpiece")(counts=counts, num_merges=2, workers=1)
    assert enc.n_vocab == train([], WordPieceSettings(num_merges=2), counts=counts).n_vocab == 9


def test_settings_and_train_tokenizer() -> None:
    settings = WordPieceSettings(14)
    assert isinstance(settings, (deprecated("TokenizerSettings"), deprecated("MergeSettings")))
    enc = deprecated("train_tokenizer")([HUGS], settings, workers=1)
    assert enc.definition == train([HUGS], settings).definition


def test_the_character_map_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    like = SimpleNamespace(normalizer=SimpleNamespace(name="nmt_nfkc", charsmap=b"the map"))
    monkeypatch.setattr("compat_bpe.train._read_sentencepiece", lambda path: like)
    monkeypatch.setattr("compat_bpe.train.train", lambda texts, made, **_: given.append(made))
    deprecated("train_sentencepiece")([HUGS], 14, "unigram", like="old.model", bos_piece="<b>")
    options: Any = {"normalization_rule_name": "nmt_nfkc", "charsmap": b"the map"}
    assert given == [SentencePieceSettings(14, "unigram", bos_piece="<b>", **options)]


def test_what_there_never_was() -> None:
    with pytest.raises(AttributeError, match=r"'compat_bpe\.train' has no attribute 'train_all'"):
        compat_bpe.train.train_all  # noqa: B018
