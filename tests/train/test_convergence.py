"""Stopping by convergence: each check is what the tokenizer so far gives on the held-out text."""

from __future__ import annotations

import json
from functools import cache, partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tokenizer_bpe import ListedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.formats.tokenizer_models import WordPiecePart
from compat_bpe.pipeline.models.bpe.by_merges import UnknownPolicy
from compat_bpe.train import (
    ByteSettings,
    CharacterBpeSettings,
    CharacterSettings,
    Convergence,
    SentencePieceSettings,
    Trained,
    TrainingSettings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
)
from compat_bpe.train.bpe.held_out import GreedyWords
from compat_bpe.train.bpe.learner import Merge
from compat_bpe.train.convergence import Watch
from compat_bpe.train.sentencepiece.corpus import corpus_of_texts
from compat_bpe.train.sentencepiece.trainer import learn_from_corpus
from compat_bpe.train.sentencepiece.unigram import goal_of, least_size
from compat_bpe.train.trainer import trainer_of
from tests.examples import scaled
from tests.train.plain import HUGS, trained

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


def trained_by(make: Any, learned: list[str], held_out: list[str], **options: Any) -> Trained:
    found = trained(make(**options), learned, held_out if "convergence" in options else [])
    assert isinstance(found, Trained)
    return found


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


marks = st.sampled_from(["", "#", "##", "a"])
rules = st.sampled_from(["frequency", "likelihood"])
splits = ["bert", "whitespace-split", "none", "byte-level", "metaspace"]
#: The settings that play a part in how text is held against a vocabulary.
OPTIONS: dict[Any, dict[str, st.SearchStrategy[Any]]] = {
    TrainingSettings: {
        "pattern": st.sampled_from(["gpt2", "deepseek", r"[a-z]+|\s|#+", r"[\s\S]+"]),
        "special_tokens": st.just(["<x>"]),
    },
    CharacterBpeSettings: {
        "prefix": marks,
        "suffix": marks,
        "rule": rules,
        "pre_tokenizer": st.sampled_from(splits),
        "special_tokens": st.just(["ab", "<x"]),
    },
    WordPieceSettings: {
        "prefix": marks,
        "rule": rules,
        "special_tokens": st.just(["ab", "#"]),
        "pre_tokenizer": st.sampled_from(splits[:3]),
    },
}


@pytest.mark.parametrize("make", OPTIONS)
@settings(max_examples=scaled(15))
@given(learned=texts, held_out=unseen, data=st.data())
def test_checks(make: Any, learned: list[str], held_out: list[str], data: st.DataObject) -> None:
    options = data.draw(st.fixed_dictionaries(OPTIONS[make]))
    check_curve(make, learned, held_out, **options)


@pytest.mark.parametrize("prefix", ["#", "##"])
def test_merges_that_make_a_token_again(prefix: str) -> None:
    learned, held_out = ["###### #### a## ##a ### #####"], ["#### ##### ###### ########"]
    own: Any = {"prefix": prefix, "suffix": "", "pre_tokenizer": "whitespace-split"}
    check_curve(CharacterBpeSettings, learned, held_out, **own)


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
    own: Any = {"pre_tokenizer": "whitespace-split", "special_tokens": ["ab"], "like": like}
    check_curve(CharacterBpeSettings, learned, held_out, **own)


def test_a_word_that_is_a_special_token_is_looked_up() -> None:
    part = ListedModel({"a": 0}, ([], []), True, UnknownPolicy(None))
    like = Tokenizer("like", TokenizerDefinition(part, (), dict.fromkeys(PARTS), "like"))
    own: Any = {"pre_tokenizer": "whitespace-split", "special_tokens": ["ab"], "like": like}
    check_curve(CharacterBpeSettings, ["ba ba ab abc"], ["ab abc"], **own)


PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


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


def stopped(*stop: Any, **options: Any) -> Trained:
    convergence = Convergence(*stop)
    own: Any = {"pattern": r"\w+| ", "convergence": convergence, **options}
    return trained_by(TrainingSettings, [STEPS], ["abcd abcd"], **own)


def test_learning_stops_after_checks_without_improvement() -> None:
    every = stopped(None, 0.0, 1, num_merges=9)
    curve = [point.bytes_per_token for point in every.curve]
    assert curve == [1.0, 9 / 7, 9 / 5, *[9 / 3] * 7]
    for patience in (1, 2, 4):
        found = stopped(patience, 0.0, 1)
        assert found.stopped == "convergence"
        assert len(found.merges) == 3 + patience
        assert found.curve == every.curve[: 4 + patience]
    # The first improvement is the smallest.
    for least, merges in ((9 / 7 - 1, 4), (9 / 7 - 0.99, 1)):
        assert len(stopped(1, least, 1).merges) == merges
    # 9/7 is no improvement by a half of 1, but 9/5 is: small ones add up.
    assert [point.merges for point in stopped(2, 0.5, 1).curve] == [0, 1, 2, 3, 4, 5]


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
            found = trained_by(make, [HUGS], ["pug hugs"], num_merges=most, convergence=stop)
            assert found.stopped == "size"
            assert [point.merges for point in found.curve] == checks
            assert found.metrics()["curve"][-1] == found.curve[-1]._asdict()


_random = Random(1)
STEMS = [
    "".join(_random.choice("aeiou" if n % 2 else "bdklmnrst") for n in range(3 + at % 4))
    for at in range(40)
]
#: Text whose words recur, with endings that recur, too.
LEARNED = [
    " ".join(
        f"{'un' * (n % 2)}{stem}{end}"
        for n in range(3)
        for end in ("", "s", "ed", "ing", "er", "ers")
        for _ in range(1 + at % 3)
    )
    for at, stem in enumerate(STEMS)
]
HELD_OUT = [" ".join(f"{stem}ing {stem}s" for stem in STEMS[::3]), "works and é"]


def bytes_per_token(encoding: Any) -> float:
    size = sum(len(text.encode()) for text in HELD_OUT)
    tokens: int = sum(encoding.count(text) for text in HELD_OUT)
    return size / tokens


numbers = st.lists(st.integers(1, 30), min_size=1, max_size=12)


@given(numbers, st.integers(1, 3), st.sampled_from([0.0, 0.1, 0.5]))
def test_the_rule_for_a_vocabulary_that_shrinks(
    sizes: list[int], patience: int, least: float
) -> None:
    curve = Watch(Convergence(patience, least), 60, shrinks=True)
    ended = next((n for n, size in enumerate(sizes) if curve.add(99 - n, 0, size, n)), None)
    values = [60 / size for size in sizes]

    def is_loss(number: int) -> bool:
        before, now = values[number - 1 : number + 1]
        return before > now and before >= now * (1 + least)

    expected = next(
        (
            end
            for end in range(patience, len(sizes))
            if all(map(is_loss, range(end - patience + 1, end + 1)))
        ),
        None,
    )
    assert ended == expected
    assert curve.model == (len(sizes) - 1 if ended is None else ended - patience)
    assert [point.bytes_per_token for point in curve.points] == values[: len(curve.points)]


@pytest.mark.parametrize("pieces", [*range(1, 300), 1_000_000])
def test_the_least_size_with_a_goal(pieces: int) -> None:
    size = least_size(pieces)
    assert goal_of(size) >= pieces
    assert goal_of(size - 1) < pieces


def unigram(size: int, **options: Any) -> UnigramSettings:
    return UnigramSettings(size, shrinking_factor=0.8, **options)


def sentencepiece(size: int, **options: Any) -> SentencePieceSettings:
    options = {"hard_vocab_limit": False, "character_coverage": 1.0, **options}
    return SentencePieceSettings(size, "unigram", shrinking_factor=0.8, **options)


def pieces_of(encoding: Any) -> list[Any]:
    if isinstance(encoding, SentencePiece):
        return [*zip(encoding.definition.texts, encoding.definition.scores)]
    return [*zip(encoding.definition.model.pieces, encoding.definition.model.scores)]


@cache
def measured_by(make: Any) -> Any:
    return trained(make(60, convergence=Convergence(None)), LEARNED, HELD_OUT)


@pytest.mark.sweep
@pytest.mark.parametrize("make", [unigram, sentencepiece])
def test_a_vocabulary_that_is_pruned(make: Any) -> None:
    measured = measured_by(make)
    plain = trained(make(60), LEARNED, [])
    assert pieces_of(measured.encoding) == pieces_of(plain.encoding)
    points = measured.curve
    assert len(points) > 4
    assert [point.tokens for point in points] == sorted(
        {point.tokens for point in points}, reverse=True
    )
    assert points[-1].tokens == plain.encoding.n_vocab
    assert measured.stopped == plain.stopped
    # A check is a training that ends there: it may end a round later, by one piece of rounding.
    alike = 0
    for point in points:
        other = trained(make(point.tokens), LEARNED, []).encoding
        alike += (other.n_vocab, bytes_per_token(other)) == (
            point.tokens,
            point.bytes_per_token,
        )
    assert alike >= len(points) - 2


@pytest.mark.parametrize(("make", "patience"), [(unigram, 1), (unigram, 2), (sentencepiece, 1)])
def test_pruning_stops_before_it_costs(make: Any, patience: int) -> None:
    points = measured_by(make).curve
    least = 0.02 if patience == 1 else 0.002
    stop = Convergence(patience, least)
    found = trained(make(60, convergence=stop), LEARNED, HELD_OUT)
    assert found.stopped == "convergence"
    values = [point.bytes_per_token for point in points]
    losses = [
        before > now and before >= (1 + least) * now for before, now in zip(values, values[1:])
    ]
    first = next(n for n in range(len(losses)) if all(losses[n : n + patience]))
    assert found.encoding.n_vocab == points[first].tokens > 60
    assert [*found.curve] == [*points[: first + 1 + patience]]
    assert bytes_per_token(found.encoding) == points[first].bytes_per_token
    assert json.loads(json.dumps(found.metrics()))["stopped"] == "convergence"
    # Losses that are small enough do not stop it.
    found = trained(make(60, convergence=Convergence(patience, 9.0)), LEARNED, HELD_OUT)
    assert found.stopped != "convergence"
    assert found.encoding.n_vocab == points[-1].tokens


def bpe(size: int, **options: Any) -> SentencePieceSettings:
    return SentencePieceSettings(size, "bpe", character_coverage=1.0, **options)


@pytest.mark.parametrize("every", [4, 9])
def test_bpe_of_sentencepiece(every: int) -> None:
    size = 120
    plain = trained(bpe(size), LEARNED, []).encoding
    measured = trained(bpe(size, convergence=Convergence(None, 0.0, every)), LEARNED, HELD_OUT)
    assert pieces_of(measured.encoding) == pieces_of(plain)
    assert (measured.stopped, measured.curve[-1].tokens) == ("nothing left", size)
    first = measured.curve[0].tokens
    for point in measured.curve:
        assert (point.tokens - first) % every == 0 or point.tokens == size
        other = trained(bpe(point.tokens), LEARNED, []).encoding
        assert bytes_per_token(other) == point.bytes_per_token
    stop = Convergence(1, 0.0, every)
    found = trained(bpe(size, convergence=stop), LEARNED, HELD_OUT)
    assert found.stopped == "convergence"
    assert [*found.curve] == [*measured.curve[: len(found.curve)]]
    *_, before, last = [point.bytes_per_token for point in found.curve]
    assert last <= before
    size = found.encoding.n_vocab
    assert size == found.curve[-1].tokens < 120
    assert pieces_of(found.encoding) == pieces_of(trained(bpe(size), LEARNED, []).encoding)
    assert found.metrics()["stopped"] == "convergence"


@pytest.mark.parametrize("make", [WordLevelSettings, CharacterSettings])
def test_words_and_characters(make: Any) -> None:
    measured = trained(make(convergence=Convergence(None, 0.0, 9)), LEARNED, HELD_OUT)
    plain = trained(make(), LEARNED, [])
    assert measured.encoding.definition.model == plain.encoding.definition.model
    for point in measured.curve[::6]:
        encoding = trained(make(point.tokens), LEARNED, []).encoding
        unknown = encoding.definition.model.unknown
        tokens = 0
        for text in HELD_OUT:
            for word in encoding.core.splitter.chunks(text):
                is_known = word in encoding.definition.model.vocabulary and word != unknown
                tokens += 1 if is_known else len(word.encode())
        size = sum(len(text.encode()) for text in HELD_OUT)
        assert point.bytes_per_token == size / tokens
        assert point.merges == 0
    stop = Convergence(2, 0.0, 3)
    found = trained(make(convergence=stop), LEARNED, HELD_OUT)
    if make is WordLevelSettings:
        assert found.stopped == "convergence"
        size = found.encoding.n_vocab
        assert size == found.curve[-1].tokens < plain.encoding.n_vocab
        alike = trained(make(size), LEARNED, []).encoding
        assert found.encoding.definition.model == alike.definition.model
    assert all((point.tokens - found.curve[0].tokens) % 3 == 0 for point in found.curve[:-1])


#: Settings of each kind that may stop by convergence before it has its size.
SIZED: dict[str, Any] = {
    "byte-level": partial(TrainingSettings, 400),
    "characters": partial(CharacterBpeSettings, 120),
    "wordpiece": partial(WordPieceSettings, 120),
    "unigram": partial(unigram, 60),
    "sentencepiece": partial(sentencepiece, 60),
    "sentencepiece, bpe": partial(bpe, 300),
    "words": WordLevelSettings,
}


@pytest.mark.parametrize("kind", SIZED)
def test_from_python(kind: str) -> None:
    make = SIZED[kind]
    own = make(convergence=Convergence(1, 0.02 if kind in ("unigram", "sentencepiece") else 0.0, 4))
    size = train(LEARNED, own, validation=HELD_OUT).n_vocab
    assert size != train(LEARNED, make()).n_vocab
    with pytest.raises(ValueError, match="convergence needs held-out text, and there is none"):
        train(LEARNED, own)
    with pytest.raises(ValueError, match="held-out text needs the setting convergence"):
        train(LEARNED, make(), validation=HELD_OUT)
    with trainer_of(make()) as trainer, pytest.raises(ValueError, match="needs the setting"):
        trainer.hold_out("text")


def test_words_alone_have_no_held_out_text() -> None:
    settings = bpe(60, convergence=Convergence())
    with pytest.raises(ValueError, match="convergence needs held-out text, and there is none"):
        learn_from_corpus(corpus_of_texts(LEARNED, settings), settings)


def test_what_has_no_convergence() -> None:
    with pytest.raises(ValueError, match="convergence is not for bytes: all 256 of them are"):
        ByteSettings(convergence=Convergence())
    for kind in ("word", "char"):
        with pytest.raises(ValueError, match="convergence is for BPE and Unigram"):
            SentencePieceSettings(60, kind, convergence=Convergence())
    for make in (TrainingSettings, CharacterBpeSettings, WordPieceSettings):
        with pytest.raises(ValueError, match="give vocab_size, num_merges or convergence"):
            train([HUGS], make(convergence=Convergence(None)), validation=["pug"])
