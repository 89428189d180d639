"""Stopping by convergence: each check is what the tokenizer so far gives on the held-out text."""

from __future__ import annotations

from typing import Any, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tokenizer_bpe import ListedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.formats.tokenizer_models import WordPiecePart
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy
from compat_bpe.train import (
    CharacterBpeSettings,
    Convergence,
    Trained,
    Trainer,
    TrainingSettings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
)
from compat_bpe.train.bpe.learner import Merge
from compat_bpe.train.bpe.merges_of_characters import GreedyWords
from tests.examples import scaled
from tests.train.hash_seeds import outputs

WORDS = "hug " * 10 + "pug " * 5 + "pun " * 12 + "bun " * 4 + "hugs " * 5

#: Three merges make abcd, seven others make the second word.
STEPS = "ab " * 9 + "abc " * 8 + "abcd " * 7 + "mnopqrst " * 3


def words_of(chars: str, last: str) -> st.SearchStrategy[list[str]]:
    """Texts of long words, and a last one that is not empty."""
    words = st.lists(st.sampled_from(chars), min_size=1, max_size=8).map("".join)
    lines = st.lists(words, min_size=2, max_size=8).map(" ".join)
    return st.lists(lines, min_size=1, max_size=3).map(lambda some: [*some, last])


texts = words_of("aaabbb#é", "a")
#: "x" and "é" may be unknown.
unseen = words_of("aaaaabbbbb##éx", "b")

Settings = Union[TrainingSettings, CharacterBpeSettings, WordPieceSettings]


def trained_by(make: Any, learned: list[str], held_out: list[str], **options: Any) -> Trained:
    with Trainer(make(**options), workers=1) as one:
        for text in learned:
            one.feed(text)
        if "convergence" in options:
            for text in held_out:
                one.hold_out(text)
        trained: Trained = one.train()
        return trained


def check_curve(make: Any, learned: list[str], held_out: list[str], **options: Any) -> None:
    """Compare each check with the tokenizer that is trained with as many merges."""
    measuring = Convergence(patience=None, check_every=1)
    found = trained_by(make, learned, held_out, num_merges=12, convergence=measuring, **options)
    steps = len(found.merges)
    assert [point.merges for point in found.curve] == [*range(steps + 1)]
    size = sum(len(text.encode()) for text in held_out)
    for tokens, merges, bytes_per_token in found.curve:
        enc = trained_by(make, learned, [], num_merges=merges, **options).encoding
        count = sum(len(enc.encode_ordinary(text)) for text in held_out)
        assert (tokens, bytes_per_token) == (enc.n_vocab, size / max(count, 1))


@settings(max_examples=scaled(15))
@given(texts, unseen, st.sampled_from(["gpt2", "deepseek", r"[a-z]+|\s|#+", r"[\s\S]+"]))
def test_checks_of_byte_level_bpe(learned: list[str], held_out: list[str], pattern: str) -> None:
    check_curve(TrainingSettings, learned, held_out, pattern=pattern, special_tokens=["<x>"])


@pytest.mark.parametrize("prefix", ["#", "##"])
def test_merges_that_make_a_token_again(prefix: str) -> None:
    learned, held_out = ["###### #### a## ##a ### #####"], ["#### ##### ###### ########"]
    own: Any = {"prefix": prefix, "suffix": "", "pre_tokenizer": "whitespace-split"}
    check_curve(CharacterBpeSettings, learned, held_out, **own)


marks = st.sampled_from(["", "#", "##", "a"])
splits = st.sampled_from(["bert", "whitespace-split", "byte-level", "metaspace", "none"])
rules = st.sampled_from(["frequency", "likelihood"])


@settings(max_examples=scaled(15))
@given(texts, unseen, marks, marks, splits, rules)
def test_checks_of_character_bpe(
    learned: list[str], held_out: list[str], prefix: str, suffix: str, split: str, rule: str
) -> None:
    own: Any = {"prefix": prefix, "suffix": suffix, "rule": rule}
    names = ["ab", "<x"]
    check_curve(
        CharacterBpeSettings, learned, held_out, pre_tokenizer=split, special_tokens=names, **own
    )


@settings(max_examples=scaled(15))
@given(texts, unseen, st.booleans(), st.booleans(), st.sampled_from([None, "<unk>"]), marks)
def test_checks_of_a_tokenizer_trained_anew(
    learned: list[str],
    held_out: list[str],
    ignore_merges: bool,
    byte_fallback: bool,
    token: str | None,
    suffix: str,
) -> None:
    vocabulary = {"<unk>": 0, "a": 1} if token else {"a": 0}
    unknown = UnknownPolicy(token, byte_fallback=byte_fallback)
    part = ListedModel(vocabulary, ([], []), ignore_merges, unknown, None, suffix or None)
    like = Tokenizer("like", TokenizerDefinition(part, (), dict.fromkeys(PARTS), "like"))
    check_curve(
        CharacterBpeSettings,
        learned,
        held_out,
        like=like,
        pre_tokenizer="whitespace-split",
        special_tokens=["ab"],
    )


def test_a_word_that_is_a_special_token_is_looked_up() -> None:
    part = ListedModel({"a": 0}, ([], []), True, UnknownPolicy(None))
    like = Tokenizer("like", TokenizerDefinition(part, (), dict.fromkeys(PARTS), "like"))
    own: Any = {"pre_tokenizer": "whitespace-split", "special_tokens": ["ab"], "like": like}
    check_curve(CharacterBpeSettings, ["ba ba ab abc"], ["ab abc"], **own)


PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


@settings(max_examples=scaled(15))
@given(texts, unseen, marks, st.sampled_from(["bert", "whitespace-split", "none"]), rules)
def test_checks_of_wordpiece(
    learned: list[str], held_out: list[str], prefix: str, split: str, rule: str
) -> None:
    own: Any = {"prefix": prefix, "rule": rule, "pre_tokenizer": split}
    check_curve(WordPieceSettings, learned, held_out, special_tokens=["ab", "#"], **own)


pieces = st.lists(st.text("ab#", min_size=1, max_size=5), max_size=12)


@given(words_of("aab#", "b"), pieces, pieces, st.sampled_from(["", "#", "##"]))
def test_pieces_that_no_merge_makes(
    lines: list[str], first: list[str], added: list[str], prefix: str
) -> None:
    counts = {word: number for number, word in enumerate(" ".join(lines).split())}
    vocabulary = {piece: number for number, piece in enumerate(["[UNK]", *first])}
    words = GreedyWords(counts, vocabulary, prefix, 9)
    for piece in ["a", *added]:
        is_new = piece not in vocabulary
        vocabulary.setdefault(piece, len(vocabulary))
        words.learn(Merge(0, 0, 0, 0), piece, is_new=is_new)
        model = WordPiecePart(vocabulary, "[UNK]", prefix, 9).define((), "test").model
        expected = sum(len(model.encode(word)) * count for word, count in counts.items())
        assert words.size([], []) == expected


def test_long_words_are_one_unknown_token() -> None:
    held_out = ["ab" * 50, "ab" * 51, "abx"]
    check_curve(WordPieceSettings, ["abab aba b"], held_out, pre_tokenizer="whitespace-split")


def test_learning_stops_after_checks_without_improvement() -> None:
    learned, held_out = [STEPS], ["abcd abcd"]
    options: Any = {"pattern": r"\w+| "}
    every = trained_by(
        *(TrainingSettings, learned, held_out),
        num_merges=9,
        convergence=Convergence(None, 0.0, 1),
        **options,
    )
    curve = [point.bytes_per_token for point in every.curve]
    assert curve == [1.0, 9 / 7, 9 / 5, *[9 / 3] * 7]
    for patience in (1, 2, 4):
        found = trained_by(
            TrainingSettings,
            learned,
            held_out,
            convergence=Convergence(patience, 0.0, 1),
            **options,
        )
        assert found.stopped == "convergence"
        assert len(found.merges) == 3 + patience
        assert found.curve == every.curve[: 4 + patience]
    # The first improvement is the smallest.
    for least, merges in ((9 / 7 - 1, 4), (9 / 7 - 0.99, 1)):
        stop = Convergence(1, least, 1)
        found = trained_by(TrainingSettings, learned, held_out, convergence=stop, **options)
        assert len(found.merges) == merges


def test_small_improvements_add_up() -> None:
    held_out = ["abcd abcd"]
    options: Any = {"pattern": r"\w+| "}
    # 9/7 is no improvement by a half of 1, but 9/5 is.
    stop = Convergence(2, 0.5, 1)
    found = trained_by(TrainingSettings, [STEPS], held_out, convergence=stop, **options)
    assert [point.merges for point in found.curve] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("every", [1, 3, 4])
@pytest.mark.parametrize("make", [TrainingSettings, CharacterBpeSettings, WordPieceSettings])
def test_the_vocabulary_is_that_of_as_many_merges(make: Any, every: int) -> None:
    stop = Convergence(1, 0.2, every)
    found = trained_by(make, [STEPS], ["abcd abcd"], convergence=stop)
    assert found.stopped == "convergence"
    assert len(found.merges) % every == 0
    same = trained_by(make, [STEPS], [], num_merges=len(found.merges))
    assert found.merges == same.merges
    assert found.tokens == same.tokens
    if isinstance(same.encoding, Tokenizer):
        assert isinstance(found.encoding, Tokenizer)
        assert found.encoding.definition.model == same.encoding.definition.model
    else:
        assert found.encoding.core.encoder == same.encoding.core.encoder
    of_size = trained_by(make, [STEPS], [], vocab_size=same.encoding.n_vocab)
    assert of_size.merges == same.merges


def test_the_last_check_is_at_the_end() -> None:
    for most, checks in ((5, [0, 3, 5]), (6, [0, 3, 6])):
        for make in (TrainingSettings, WordPieceSettings):
            stop = Convergence(9, 0.0, 3)
            found = trained_by(make, [WORDS], ["pug hugs"], num_merges=most, convergence=stop)
            assert found.stopped == "size"
            assert [point.merges for point in found.curve] == checks
            assert found.metrics()["curve"][-1] == found.curve[-1]._asdict()


def test_from_functions() -> None:
    stop = Convergence(1, 0.2, 2)
    for make in (TrainingSettings, CharacterBpeSettings, WordPieceSettings):
        enc = train([WORDS], make(convergence=stop), validation=["pug hugs"])
        assert enc.count("pug hugs") < 8
        with pytest.raises(ValueError, match="there is no held-out text by which learning could"):
            train([WORDS], make(convergence=stop))
        with pytest.raises(ValueError, match="held-out text is of no use: the settings have no"):
            train([WORDS], make(num_merges=1), validation=["pug"])
        with pytest.raises(ValueError, match="give vocab_size, num_merges or convergence"):
            train([WORDS], make(convergence=Convergence(None)), validation=["pug"])


@pytest.mark.parametrize("settings", [UnigramSettings(20), WordLevelSettings(20)])
def test_other_kinds_take_no_held_out_text(settings: Any) -> None:
    with Trainer(settings) as trainer, pytest.raises(ValueError, match="is of no use"):
        trainer.hold_out("pug")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patience": 0}, "patience is 0; it must be 1 or more"),
        ({"check_every": 0}, "check_every is 0; it must be 1 or more"),
        ({"min_improvement": -0.1}, "min_improvement is -0.1; it must be 0 or more"),
        ({"min_improvement": float("nan")}, "min_improvement is nan; it must be 0 or more"),
    ],
)
def test_impossible_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Convergence(**options)


_PROGRAM = """
import sys
from compat_bpe.train import Convergence, TrainingSettings, WordPieceSettings, train
text = open("README.md", encoding="utf-8").read().splitlines()
for make in (TrainingSettings, WordPieceSettings):
    own, workers = make(convergence=Convergence(2, 0.01, 20)), int(sys.argv[1])
    enc = train(text[::2], own, validation=text[1::2], workers=workers)
    print(enc.n_vocab, enc.encode(text[0]))
"""


def test_it_is_the_same_over_hash_seeds_and_processes() -> None:
    assert len(outputs(_PROGRAM, workers=(1, 2))) == 1
