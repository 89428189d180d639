"""Learning a Unigram vocabulary against ``UnigramTrainer`` of Hugging Face tokenizers.

The pieces are the same, and the scores to 1e-9. The reference goes through words in an order that
depends on a random hash, which decides the last bits of its sums, and which of its characters that
were dropped gets which score.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

from compat_bpe import load
from compat_bpe.formats.tokenizer_models import UnigramPart
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import UnigramSettings, train
from compat_bpe.train.unigram import learn_unigram
from tests.corpora import SOURCES, TEXTS
from tests.differential.reference import repaired
from tests.examples import drawn
from tests.strategies import texts

PROSE = Path(__file__).resolve().parents[2] / "docs"
NEAR = 1e-9


def sources(start: int, stop: int, size: int | None = None) -> list[str]:
    """Sources of Python, or the beginning of each."""
    return [path.read_text("utf-8")[:size] for path in SOURCES[start:stop]]


def prose(size: int | None = None) -> list[str]:
    return [path.read_text("utf-8")[:size] for path in sorted(PROSE.glob("*.md"))]


#: Texts without spaces: what is long there is split at joints.
CHINESE = [
    "天地玄黃宇宙洪荒日月盈昃辰宿列張",
    "天地不仁以萬物為芻狗",
    "日月星辰之行若出其中天地玄黃",
]

CORPORA: dict[str, tuple[Any, Any, int]] = {
    "sources, words": (lambda: sources(0, 5, 5000), pre_tokenizers.Metaspace(), 400),
    "sources, small": (lambda: sources(20, 24, 3000), pre_tokenizers.Whitespace(), 130),
    "prose, bytes": (lambda: prose(800), pre_tokenizers.ByteLevel(), 400),
    "lines": (lambda: "".join(sources(3, 5, 6000)).splitlines(), None, 300),
    "whole texts": (lambda: sources(5, 8, 2500), None, 200),
    "no spaces": (lambda: [one + two for one in CHINESE for two in CHINESE], None, 60),
}
LARGE: dict[str, tuple[Any, Any, int]] = {
    "large: sources, words": (lambda: sources(0, 5), pre_tokenizers.Metaspace(), 900),
    "large: sources, small": (lambda: sources(20, 24), pre_tokenizers.Whitespace(), 130),
    "large: prose": (prose, pre_tokenizers.Metaspace(), 1500),
    "large: prose, bytes": (prose, pre_tokenizers.ByteLevel(), 700),
    "large: lines": (lambda: "".join(sources(3, 5)).splitlines(), None, 300),
    "large: whole texts": (lambda: sources(5, 8, 6000), None, 200),
}


def reference(counts: Mapping[str, int], vocab_size: int, **options: Any) -> Any:
    """The model that the reference learns from words."""
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    trainer = trainers.UnigramTrainer(vocab_size=vocab_size, show_progress=False, **options)
    tokenizer.train_from_iterator((word for word, n in counts.items() for _ in range(n)), trainer)
    return json.loads(tokenizer.to_str())["model"]


def learned(
    counts: Mapping[str, int],
    vocab_size: int,
    unk_token: str | None = None,
    special_tokens: Sequence[str] = (),
    **options: Any,
) -> UnigramPart:
    """The model that is learned here, with the options of the reference."""
    first = [*special_tokens]
    if unk_token is not None and unk_token not in first:
        first.insert(0, unk_token)
    unknown = None if unk_token is None else first.index(unk_token)
    return learn_unigram(counts, UnigramSettings(vocab_size, **options), first, unknown)


def assert_same(counts: Mapping[str, int], vocab_size: int, **options: Any) -> None:
    there = reference(counts, vocab_size, **options)
    here = learned(counts, vocab_size, **options)
    assert here.unknown == there["unk_id"]
    assert len(here.pieces) == len(there["vocab"])
    scores = dict(map(tuple, there["vocab"]))
    assert set(here.pieces) == set(scores)
    assert list(here.scores) == pytest.approx([score for _, score in there["vocab"]], abs=NEAR)
    first = len({*options.get("special_tokens", ()), options.get("unk_token")} - {None})
    assert list(here.pieces[:first]) == [piece for piece, _ in there["vocab"][:first]]
    # The scores of dropped characters change places.
    least = min(scores.values()) + 0.0001 * len(scores) + NEAR
    for piece, score in zip(here.pieces[first:], here.scores[first:]):
        if len(piece) > 1 or score > least:
            assert score == pytest.approx(scores[piece], abs=NEAR)


def is_random(counts: Mapping[str, int], vocab_size: int, **options: Any) -> bool:
    """Return True if the reference's result differs from run to run."""
    runs = [dict(map(tuple, reference(counts, vocab_size, **options)["vocab"])) for _ in range(40)]
    if any(run.keys() != runs[0].keys() for run in runs):
        return True
    scores = [sorted(run.values()) for run in runs]
    return any(abs(a - b) > NEAR for run in scores for a, b in zip(run, scores[0]))


def words_of(corpus: list[str], pre_tokenizer: Any) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in corpus:
        words = [(text, None)]
        if pre_tokenizer is not None:
            words = pre_tokenizer.pre_tokenize_str(text)
        counts.update(word for word, _ in words)
    return counts


@cache
def words(start: int, stop: int, size: int | None = None) -> Counter[str]:
    return words_of(sources(start, stop, size), pre_tokenizers.Metaspace())


@pytest.mark.parametrize(
    "name", [*CORPORA, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]
)
def test_pieces_and_scores_are_the_reference_s(name: str) -> None:
    make, pre_tokenizer, vocab_size = {**CORPORA, **LARGE}[name]
    assert_same(words_of(make(), pre_tokenizer), vocab_size)


#: Options that each play a part.
OPTIONS: list[dict[str, Any]] = [
    {"shrinking_factor": 0.5},
    {"shrinking_factor": 0.0},
    {"shrinking_factor": 0.97, "n_sub_iterations": 1},
    {"n_sub_iterations": 5},
    {"max_piece_length": 3},
    {"max_piece_length": 1},
    {"max_piece_length": 60},
    {"unk_token": "<unk>", "special_tokens": ["<s>", "</s>", "the"]},
    {"unk_token": "</s>", "special_tokens": ["<s>", "</s>"]},
    {"special_tokens": ["a", "b"]},
    {"initial_alphabet": ["世", "a", "é", "😀"]},
]


@pytest.mark.parametrize("options", OPTIONS[::3], ids=str)  # all, below
def test_options(options: dict[str, Any]) -> None:
    assert_same(words(30, 32, 6000), 250, **options)


@pytest.mark.sweep
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_on_a_larger_corpus(options: dict[str, Any]) -> None:
    assert_same(words(30, 32), 600, **options)


@pytest.mark.parametrize("size", [3000, pytest.param(None, marks=pytest.mark.sweep)])
def test_sizes_at_the_edge(size: int | None) -> None:
    """As many pieces as characters, one more, and so many that nothing is pruned."""
    counts = words(30, 31, size)
    chars = len(set("".join(counts)))
    for vocab_size in (chars, chars + 1, 30_000):
        assert_same(counts, vocab_size)
    for vocab_size in (chars + 1, chars + 2, chars + 3):
        assert_same(counts, vocab_size, special_tokens=["<s>", "</s>"])


def test_the_seeds_can_be_few() -> None:
    """The reference's Python class has no such option; its JSON has."""
    counts = words(30, 32, 9000)
    few = learn_unigram(counts, UnigramSettings(30_000, seed_size=300))
    assert len(few.pieces) < 300 < len(learn_unigram(counts, UnigramSettings(30_000)).pieces)


def test_the_name_of_the_placeholder_in_words() -> None:
    assert_same({f"{end}<UNK>{mid}": 3 for end in "abcde" for mid in "fgh"}, 60)


small_words = st.text("ab", min_size=1, max_size=12) | st.text("abcde", min_size=1, max_size=20)


@drawn(
    50,
    st.dictionaries(small_words, st.integers(1, 30), min_size=2, max_size=20),
    st.integers(10, 40),
    st.fixed_dictionaries(
        {
            "shrinking_factor": st.sampled_from([0.5, 0.75, 0.9]),
            "n_sub_iterations": st.integers(1, 3),
        }
    ),
)
def test_small_corpora(counts: dict[str, int], vocab_size: int, options: dict[str, Any]) -> None:
    try:
        assert_same(counts, vocab_size, **options)
    except AssertionError:
        # Ways that are equally good are told apart by the last bits, which vary between runs.
        assume(not is_random(counts, vocab_size, **options))
        raise


@pytest.mark.sweep
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_natural_texts(path: Path) -> None:
    lines = path.read_text("utf-8")[:200_000].splitlines()
    assert_same(words_of(lines, pre_tokenizers.Metaspace()), 6000)


# The whole tokenizer


@cache
def lines_of_prose() -> list[str]:
    return [line for text in prose(2000) for line in text.splitlines()]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, tokenizers.Tokenizer]:
    path = tmp_path_factory.mktemp("trained") / "tokenizer.json"
    settings = UnigramSettings(1000, special_tokens=["<s>", "</s>"], normalizer="nfkc")
    here = train(lines_of_prose(), settings, workers=1)
    save_tokenizer_json(here, path)
    return here, load(path), tokenizers.Tokenizer.from_file(str(path))


def test_a_trained_tokenizer_is_the_reference_s(trained: tuple[Any, Any, Any]) -> None:
    here, _, _ = trained
    there = tokenizers.Tokenizer(models.Unigram())
    there.normalizer = tokenizers.normalizers.NFKC()
    there.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=1000,
        unk_token="<unk>",
        special_tokens=["<s>", "</s>"],
        show_progress=False,
    )
    for _ in range(5):  # pieces that are equally good are told apart by the last bits
        there.train_from_iterator(lines_of_prose(), trainer)
        vocabulary = dict(there.get_vocab())
        if vocabulary.keys() == set(here.definition.model.pieces):
            break
    assert vocabulary.keys() == set(here.definition.model.pieces)
    for name in ("<unk>", "<s>", "</s>"):
        assert here.token_to_id(name) == vocabulary[name]


@given(texts)
def test_written_tokenizers_give_the_same_ids(trained: tuple[Any, Any, Any], text: str) -> None:
    here, loaded, there = trained
    text = repaired(text)
    assert here.encode_ordinary(text) == loaded.encode_ordinary(text)
    ids = there.encode(text, add_special_tokens=False).ids
    assert here.encode(text, allowed_special="all") == ids
    assert here.decode(ids) == there.decode(ids, skip_special_tokens=False)


def test_unseen_text(trained: tuple[Any, Any, Any]) -> None:
    here, loaded, there = trained
    for text in sources(40, 44):
        ids = there.encode(text, add_special_tokens=False).ids
        assert here.encode_ordinary(text) == ids
        assert loaded.encode_ordinary(text) == ids
