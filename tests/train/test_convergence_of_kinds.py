"""Stopping by convergence of kinds without merges: each check is a training of that size."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.train import (
    ByteSettings,
    CharacterSettings,
    Convergence,
    SentencePieceSettings,
    SentencePieceTrainer,
    Settings,
    Trainer,
    UnigramSettings,
    WordLevelSettings,
    train,
)
from compat_bpe.train.convergence import Watch
from compat_bpe.train.sentencepiece.corpus import read_corpus
from compat_bpe.train.sentencepiece.trainer import learn_from_corpus
from compat_bpe.train.sentencepiece.unigram import goal_of, least_size
from compat_bpe.train.trainer import trainer_of

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


def trained_by(settings: Any, learned: list[str], held_out: list[str]) -> Any:
    with trainer_of(settings, workers=1) as one:
        for text in learned:
            one.feed(text)
        for text in held_out:
            one.hold_out(text)
        return one.train()


def bytes_per_token(encoding: Any, held_out: list[str]) -> float:
    size = sum(len(text.encode()) for text in held_out)
    tokens: int = sum(encoding.count(text) for text in held_out)
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


@pytest.mark.sweep
@pytest.mark.parametrize("make", [unigram, sentencepiece])
def test_a_vocabulary_that_is_pruned(make: Any) -> None:
    measured = trained_by(make(60, convergence=Convergence(None)), LEARNED, HELD_OUT)
    plain = trained_by(make(60), LEARNED, [])
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
        other = trained_by(make(point.tokens), LEARNED, []).encoding
        alike += (other.n_vocab, bytes_per_token(other, HELD_OUT)) == (
            point.tokens,
            point.bytes_per_token,
        )
    assert alike >= len(points) - 2


@pytest.mark.parametrize(("make", "patience"), [(unigram, 1), (unigram, 2), (sentencepiece, 1)])
def test_pruning_stops_before_it_costs(make: Any, patience: int) -> None:
    points = trained_by(make(60, convergence=Convergence(None)), LEARNED, HELD_OUT).curve
    least = 0.02 if patience == 1 else 0.002
    stop = Convergence(patience, least)
    found = trained_by(make(60, convergence=stop), LEARNED, HELD_OUT)
    assert found.stopped == "convergence"
    values = [point.bytes_per_token for point in points]
    losses = [
        before > now and before >= (1 + least) * now for before, now in zip(values, values[1:])
    ]
    first = next(n for n in range(len(losses)) if all(losses[n : n + patience]))
    assert found.encoding.n_vocab == points[first].tokens > 60
    assert [*found.curve] == [*points[: first + 1 + patience]]
    assert bytes_per_token(found.encoding, HELD_OUT) == points[first].bytes_per_token
    assert json.loads(json.dumps(found.metrics()))["stopped"] == "convergence"
    # Losses that are small enough do not stop it.
    found = trained_by(make(60, convergence=Convergence(patience, 9.0)), LEARNED, HELD_OUT)
    assert found.stopped != "convergence"
    assert found.encoding.n_vocab == points[-1].tokens


def bpe(size: int, **options: Any) -> SentencePieceSettings:
    return SentencePieceSettings(size, "bpe", character_coverage=1.0, **options)


@pytest.mark.parametrize("every", [4, 9])
def test_bpe_of_sentencepiece(every: int) -> None:
    size = 120
    plain = trained_by(bpe(size), LEARNED, []).encoding
    measured = trained_by(bpe(size, convergence=Convergence(None, 0.0, every)), LEARNED, HELD_OUT)
    assert pieces_of(measured.encoding) == pieces_of(plain)
    assert (measured.stopped, measured.curve[-1].tokens) == ("nothing left", size)
    first = measured.curve[0].tokens
    for point in measured.curve:
        assert (point.tokens - first) % every == 0 or point.tokens == size
        other = trained_by(bpe(point.tokens), LEARNED, []).encoding
        assert bytes_per_token(other, HELD_OUT) == point.bytes_per_token
    stop = Convergence(1, 0.0, every)
    found = trained_by(bpe(size, convergence=stop), LEARNED, HELD_OUT)
    assert found.stopped == "convergence"
    assert [*found.curve] == [*measured.curve[: len(found.curve)]]
    *_, before, last = [point.bytes_per_token for point in found.curve]
    assert last <= before
    size = found.encoding.n_vocab
    assert size == found.curve[-1].tokens < 120
    assert pieces_of(found.encoding) == pieces_of(trained_by(bpe(size), LEARNED, []).encoding)
    assert found.metrics()["stopped"] == "convergence"


@pytest.mark.parametrize("make", [WordLevelSettings, CharacterSettings])
def test_words_and_characters(make: Any) -> None:
    measured = trained_by(make(convergence=Convergence(None, 0.0, 9)), LEARNED, HELD_OUT)
    plain = trained_by(make(), LEARNED, [])
    assert measured.encoding.definition.model == plain.encoding.definition.model
    for point in measured.curve[::6]:
        encoding = trained_by(make(point.tokens), LEARNED, []).encoding
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
    found = trained_by(make(convergence=stop), LEARNED, HELD_OUT)
    if make is WordLevelSettings:
        assert found.stopped == "convergence"
        size = found.encoding.n_vocab
        assert size == found.curve[-1].tokens < plain.encoding.n_vocab
        alike = trained_by(make(size), LEARNED, []).encoding
        assert found.encoding.definition.model == alike.definition.model
    assert all((point.tokens - found.curve[0].tokens) % 3 == 0 for point in found.curve[:-1])


def test_from_python() -> None:
    def size(settings: Settings[Any], held_out: list[str] = HELD_OUT) -> int:
        return int(train(LEARNED, settings, validation=held_out).n_vocab)

    stop = Convergence(1, 0.02)
    assert size(UnigramSettings(60, convergence=stop)) > 60
    own = SentencePieceSettings(60, "unigram", hard_vocab_limit=False, convergence=stop)
    assert size(own) > 60
    stop = Convergence(1, 0.0, 4)
    assert size(SentencePieceSettings(300, convergence=stop)) < 300
    assert size(WordLevelSettings(convergence=stop)) < size(WordLevelSettings(), [])


@pytest.mark.parametrize(
    "settings",
    [
        unigram(60, convergence=Convergence()),
        sentencepiece(60, convergence=Convergence()),
        bpe(60, convergence=Convergence()),
        WordLevelSettings(convergence=Convergence()),
    ],
)
def test_without_held_out_text(settings: Any) -> None:
    with pytest.raises(ValueError, match="there is no held-out text by which learning could stop"):
        trained_by(settings, LEARNED, [])


def test_words_alone_have_no_held_out_text() -> None:
    settings = bpe(60, convergence=Convergence())
    with pytest.raises(ValueError, match="there is no held-out text by which learning could stop"):
        learn_from_corpus(read_corpus(LEARNED, settings), settings)


def test_what_has_no_convergence() -> None:
    with pytest.raises(ValueError, match="convergence is not for bytes: all 256 of them are"):
        ByteSettings(convergence=Convergence())
    for kind in ("word", "char"):
        with pytest.raises(ValueError, match="convergence is for BPE and Unigram"):
            SentencePieceSettings(60, kind, convergence=Convergence())
    for make in (Trainer, SentencePieceTrainer):
        settings: Any = bpe(60) if make is SentencePieceTrainer else unigram(60)
        with make(settings) as trainer, pytest.raises(ValueError, match="no convergence"):
            trainer.hold_out("text")
