"""Training of models of SentencePiece, without the reference."""

from __future__ import annotations

from collections import Counter
from math import exp
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.train import SentencePieceSettings, save_trained_sentencepiece, train
from compat_bpe.train.sentencepiece.bpe import PieceRules, learn_pieces
from compat_bpe.train.sentencepiece.corpus import (
    alphabet_of,
    corpus_of_texts,
    lines_of,
    sample_of,
    seed_pieces,
    sentences_of,
    word_splitter,
)
from compat_bpe.train.sentencepiece.settings import meta_pieces
from compat_bpe.train.sentencepiece.trainer import SentencePieceTrainer
from compat_bpe.train.sentencepiece.unigram import (
    PackedEdges,
    PieceMatcher,
    UnigramTrainer,
    WordEdges,
    learn_unigram,
)
from tests.train.plain import HUGS, expected_by_the_rule, join


def test_the_worked_example() -> None:
    encoding = train([HUGS], SentencePieceSettings(20, hard_vocab_limit=False))
    pieces = encoding.definition.texts
    assert pieces[:3] == ["<unk>", "<s>", "</s>"]
    # "ug" occurs 20 times, "▁p" 17, "un" 16, "▁h" 15 as often as "hug", which is longer.
    assert pieces[3:8] == ["ug", "▁p", "un", "▁h", "▁hug"]
    assert encoding.encode_as_pieces("hugs and puns") == "▁hugs ▁ a n d ▁pun s".split()


def plain_pieces(words: dict[str, int], rules: PieceRules, most: int) -> list[str]:
    """The textbook's rule: count all pairs, join the best one, and begin again."""
    state = {word: list(word) for word in words}
    found: list[str] = []
    while len(found) < most:
        counts: Counter[tuple[str, str]] = Counter()
        for word, parts in state.items():
            for pair in zip(parts, parts[1:]):
                if rules.is_valid("".join(pair)):
                    counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], len("".join(pair)), "".join(pair)))
        found.append("".join(best))
        for parts in state.values():
            join(parts, best, found[-1])
    return found


SMALL = st.dictionaries(
    st.text("ab▁1éб\u0301猫カ", min_size=1, max_size=9), st.integers(1, 4), min_size=1, max_size=8
)
FLAGS = [
    "split_digits",
    "treat_whitespace_as_suffix",
    "split_by_whitespace",
    "split_by_number",
    "allow_whitespace_only_pieces",
    "split_by_unicode_script",
]


def _shape(options: dict[str, Any]) -> SentencePieceSettings:
    return SentencePieceSettings(500, **options)


SHAPES: st.SearchStrategy[SentencePieceSettings] = st.fixed_dictionaries(
    {flag: st.booleans() for flag in FLAGS},
    optional={"max_sentencepiece_length": st.integers(1, 4)},
).map(_shape)


@given(SMALL, SHAPES)
def test_pieces_are_those_of_the_plain_rule(
    words: dict[str, int], shape: SentencePieceSettings
) -> None:
    rules = PieceRules(shape)
    found = [
        piece
        for piece, count in learn_pieces(words, sorted(set("".join(words))), rules, 500)
        if count
    ]
    assert found == plain_pieces(words, rules, 500)


@given(st.text("ab▁1éб\u0301猫カー１", min_size=2, max_size=6), SHAPES, st.data())
def test_marks_say_what_the_plain_rule_says(
    piece: str, shape: SentencePieceSettings, data: st.DataObject
) -> None:
    rules = PieceRules(shape)
    if any(map(rules.stands_alone, piece)):
        assert not rules.is_valid(piece)
        return
    at = data.draw(st.integers(1, len(piece) - 1))
    parts = [piece[:at], piece[at:]]
    if all(len(part) == 1 or rules.is_valid(part) for part in parts):
        made = []
        for part in parts:
            marks = rules.marks(part[0])
            for char in part[1:]:
                # Parts are valid, whatever the way to them: spaces are settled by what is at ends.
                right = rules.marks(char)
                marks = marks._replace(
                    length=marks.length + 1,
                    first=(marks.first or right.first) if marks.is_open else marks.first,
                    last=marks.last if right.is_open else right.last,
                    is_open=marks.is_open and right.is_open,
                    ends=right.ends,
                    is_space=marks.is_space and right.is_space,
                )
            made.append(marks)
        assert (rules.join(*made) is not None) == rules.is_valid(piece)


@given(SMALL, SHAPES)
def test_words_are_cut_only_where_no_piece_reaches_over(
    words: dict[str, int], shape: SentencePieceSettings
) -> None:
    rules = PieceRules(shape)

    def pieces(some: dict[str, int]) -> Counter[str]:
        found: Counter[str] = Counter()
        for word, count in some.items():
            for start in range(len(word)):
                for end in range(start + 2, len(word) + 1):
                    if rules.is_valid(word[start:end]):
                        found[word[start:end]] += count
        return found

    assert pieces(rules.cut(words)) == pieces(words)


def test_words_are_cut() -> None:
    rules = PieceRules(SentencePieceSettings(100))
    assert rules.cut({"▁foo,bar.": 2, "bar": 1}) == {"▁foo": 2, "bar": 3}
    assert rules.cut({"a\u0301б": 1}) == {"a\u0301б": 1}


@given(st.text("ab▁", max_size=12), st.booleans(), st.booleans())
def test_words_are_all_of_the_sentence(text: str, is_suffix: bool, allows: bool) -> None:
    shape = SentencePieceSettings(
        9, treat_whitespace_as_suffix=is_suffix, allow_whitespace_only_pieces=allows
    )
    words = word_splitter(shape)(text)
    assert "".join(words) == text
    assert all("▁" not in (word[:-1] if is_suffix else word[1:]).strip("▁") for word in words)


def test_lines_that_are_skipped() -> None:
    shape = SentencePieceSettings(50, max_sentence_length=10)
    lines = ["ok\n", "é" * 5 + "\n", "é" * 5 + "\r\n", "a\u2585", "   ", "", "x" * 11, "\r\n"]
    found = list(sentences_of(lines_of(["".join(lines[:3]), *lines[3:]], shape), shape))
    assert found == ["▁ok", "▁" + "é" * 5, "", "▁\r"]


@pytest.mark.parametrize("size", [101, 199, 200, 201])
def test_a_sample_has_its_size_and_is_always_the_same(size: int) -> None:
    shape = SentencePieceSettings(50, input_sentence_size=size)
    found = list(sample_of(map(str, range(200)), shape))
    assert len({*found}) == len(found) == min(size, 200)
    assert list(sample_of(map(str, range(200)), shape)) == found


def test_a_sample_is_of_the_whole_corpus() -> None:
    shape = SentencePieceSettings(50, input_sentence_size=2000)
    numbers = [int(line) for line in sample_of(map(str, range(20_000)), shape)]
    # As of any uniform sample: the mean, and the mean distance from it.
    assert mean(numbers) == pytest.approx(10_000, rel=0.03)
    assert mean(abs(number - 10_000) for number in numbers) == pytest.approx(5000, rel=0.05)


def test_the_last_sentence_comes_in_place_of_an_empty_one() -> None:
    shape = SentencePieceSettings(50)
    corpus = corpus_of_texts(["a\n \nb\nc\nd\n \n "], shape, keep_sentences=True)
    assert corpus.sentences == ["▁a", "▁d", "▁b", "▁c"]


def test_coverage_is_rounded_to_32_bits() -> None:
    counts = {"a": 9_994_999_990, "b": 5_000_010}
    assert list(alphabet_of(counts, SentencePieceSettings(50))) == ["a"]
    counts = {"a": 9_994_990_000, "b": 5_010_000}
    assert list(alphabet_of(counts, SentencePieceSettings(50))) == ["a", "b"]


def test_scripts() -> None:
    rules = PieceRules(SentencePieceSettings(50))
    for piece in ("カー", "ねこ猫", "▁a\u0301b", "\u0301б", "12.", "é"):
        assert rules.is_valid(piece), piece
    for piece in ("aー", "F1", "aб", "a\u0301б", "a▁", "1猫", "a\u2585", "\x1fa", "a" * 17):
        assert not rules.is_valid(piece), piece
    rules = PieceRules(SentencePieceSettings(50, split_by_number=False))
    for piece in ("F1", "a1б", "a１б"):
        assert rules.is_valid(piece), piece
    assert not rules.is_valid("a.")
    one = rules.join(rules.marks("1"), rules.marks("a"))
    assert one is not None
    assert rules.join(rules.marks("б"), one) is not None
    assert rules.join(one, rules.marks("б")) is None
    rules = PieceRules(SentencePieceSettings(50, split_digits=True))
    assert not rules.is_valid("１.")
    assert rules.is_valid("²³")


def test_symbols_of_a_model_of_words() -> None:
    shape = SentencePieceSettings(50, "word", user_defined_symbols=["a", "▁b"])
    assert [text for text, _ in meta_pieces(shape).values()][3:] == ["a", "▁a", "▁b"]


def test_reserved_pieces_are_boundaries() -> None:
    shape = SentencePieceSettings(50, user_defined_symbols=["ab", "abc"])
    assert list(sentences_of(["xabcaby<s>"], shape)) == ["▁x\x1f\x1fy\x1f"]


def test_spent_pairs_fill_the_vocabulary() -> None:
    rules = PieceRules(SentencePieceSettings(100))
    # "bc" is joined first, so "ab" is spent before it is a piece.
    found = list(learn_pieces({"abc": 1, "bc": 1}, "abc", rules, 9))
    assert found == [("bc", 2), ("abc", 1), ("ab", 0)]


@pytest.mark.parametrize("text", ["ab" * 500, "a" * 3_000, "猫" * 1_000])
def test_unigram_of_a_long_word(text: str) -> None:
    encoding = train([text], SentencePieceSettings(12, "unigram", hard_vocab_limit=False))
    assert encoding.vocab_size <= 12
    assert encoding.decode(encoding.encode(text[:50])).endswith(text[:50])


def test_files_are_read_again(tmp_path: Path) -> None:
    encoding = train([HUGS], SentencePieceSettings(20, hard_vocab_limit=False))
    model, vocab = save_trained_sentencepiece(encoding, tmp_path / "m")
    again = compat_bpe.load(model)
    assert isinstance(again, SentencePiece)
    assert again.encode("a hug") == encoding.encode("a hug")
    lines = Path(vocab).read_text("utf-8").splitlines()
    assert lines[:5] == ["<unk>\t0", "<s>\t0", "</s>\t0", "ug\t-0", "▁p\t-1"]


@pytest.mark.parametrize("text", ["ab" * 20_000, "a" * 30_000, "猫" * 20_000])
def test_a_long_word(text: str) -> None:
    encoding = train(
        [text],
        SentencePieceSettings(
            12, max_sentence_length=1 << 20, hard_vocab_limit=False, character_coverage=1.0
        ),
    )
    is_same = encoding.decode(encoding.encode(text)) == text
    assert is_same


def test_lines_that_are_all_too_long_are_named() -> None:
    with SentencePieceTrainer(SentencePieceSettings(50, max_sentence_length=10)) as trainer:
        trainer.feed("x" * 11 + "\n" + "y" * 12)
        with pytest.raises(ValueError, match="all lines have more than 10 bytes"):
            trainer.train()


def test_any_name_may_be_disallowed_in_a_text() -> None:
    enc = train(["hug pug"], SentencePieceSettings(12))
    ids = enc.encode("hug pug")
    for encode in (enc.encode, enc.encode_with_offsets):
        with pytest.raises(ValueError, match="'pug'"):
            encode("hug pug", disallowed_special={"pug"})
        with pytest.raises(TypeError):
            encode("hug pug", allowed_special=["pug"])  # type: ignore[arg-type]
    assert enc.encode("hug pug", disallowed_special={"mug"}) == ids


SENTENCES = st.lists(
    st.text("ab▁éè1猫", min_size=1, max_size=12).map(
        lambda text: text if len(text) % 2 else "▁a" + text
    ),
    min_size=1,
    max_size=8,
)


def plain_seeds(sentences: list[str], rules: PieceRules, longest: int) -> list[tuple[str, float]]:
    """The rule written out: all texts in the bytes of all sentences that branch."""
    data = "".join(sentence + "\0" for sentence in sentences).encode()
    found: Counter[bytes] = Counter()
    followers: dict[bytes, set[bytes]] = {}
    for start in range(len(data)):
        for end in range(start + 1, min(len(data), start + 4 * longest + 1) + 1):
            text = data[start:end]
            found[text] += 1
            followers.setdefault(text, set()).add(data[end : end + 1])
    counts: Counter[str] = Counter()
    for text, count in found.items():
        if len(followers[text]) > 1:
            try:
                piece = text.decode().rstrip("\0")
            except UnicodeDecodeError:
                continue
            if len(piece) > 1 and rules.is_valid(piece):
                counts[piece] += count
    scored = [(piece, float(count * len(piece))) for piece, count in counts.items()]
    return sorted(scored, key=lambda one: (-one[1], -len(one[0].encode()), one[0]))


@given(SENTENCES, st.integers(1, 5), st.booleans())
def test_seeds_are_the_branching_texts(sentences: list[str], longest: int, is_suffix: bool) -> None:
    shape = SentencePieceSettings(
        50, "unigram", max_sentencepiece_length=longest, treat_whitespace_as_suffix=is_suffix
    )
    rules = PieceRules(shape)
    found = seed_pieces(sentences, word_splitter(shape), rules, {"a": 3, "z": 0}, longest, 1000)
    assert found == [("a", 3.0), *plain_seeds(sentences, rules, longest)]
    fewer = seed_pieces(sentences, word_splitter(shape), rules, {"a": 3}, longest, 2)
    assert fewer == found[:3]


SEEDS = st.dictionaries(
    st.text("abc", min_size=2, max_size=4), st.integers(1, 50).map(float), max_size=12
).map(lambda found: [("a", 9.0), ("b", 5.0), ("c", 2.0), *found.items()])
WORDS = st.dictionaries(
    st.text("abc", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=6
).map(lambda found: list(found.items()))


@given(WORDS, SEEDS)
def test_expected_counts_are_those_of_all_ways(
    words: list[tuple[str, int]], seeds: list[tuple[str, float]]
) -> None:
    trainer = UnigramTrainer(words, seeds)
    scores = dict(zip(trainer.pieces, trainer.scores))
    assert sum(map(exp, scores.values())) == pytest.approx(
        1 + exp(trainer.scores[-1]) * 0, rel=1e-5
    )
    expected, _ = expected_by_the_rule(dict(words), scores)
    counts = dict(zip(trainer.pieces, trainer.expect()))
    assert counts == pytest.approx({piece: expected[piece] for piece in counts}, rel=1e-4, abs=1e-5)


@given(WORDS, SEEDS, st.integers(4, 8))
def test_pieces_that_are_learned(
    words: list[tuple[str, int]], seeds: list[tuple[str, float]], most: int
) -> None:
    alphabet = {"a": 3, "b": 2, "z": 0}
    found = learn_unigram(words, seeds, alphabet, most, most + 1)
    pieces = [piece for piece, _ in found]
    assert {"a", "b", "z"} <= set(pieces) <= {"z", *dict(seeds)}
    assert len(pieces) == len(set(pieces)) <= most
    assert found == sorted(found, key=lambda one: (-one[1], one[0]))


def test_unknown_characters_count_as_the_first_piece() -> None:
    trainer = UnigramTrainer([("axa", 2)], [("b", 1.0), ("a", 1.0)])
    assert trainer.expect().tolist() == [2.0, 4.0]


def test_the_first_piece_is_the_first_that_is_left() -> None:
    trainer = UnigramTrainer([("axa", 2)], [("b", 1.0), ("a", 1.0)])
    trainer.maximize([0.0, 4.0])
    assert trainer.expect().tolist() == [0.0, 6.0]
    trainer.prune(1)
    assert trainer.order == [1]


def test_a_piece_as_good_as_its_parts_is_kept() -> None:
    trainer = UnigramTrainer([("ab", 2), ("a", 1), ("b", 1)], [("a", 1.0), ("b", 1.0), ("ab", 1.0)])
    trainer.scores[0] = trainer.scores[1] = -1.0
    trainer.scores[2] = -2.0
    trainer.drop_unreachable()
    trainer.prune(3)
    assert trainer.order == [0, 1, 2]
    trainer.scores[2] = -2.01
    trainer.drop_unreachable()
    assert trainer.order == [0, 1]


def test_the_cheapest_loss_is_taken_out() -> None:
    words = [("ab", 9), ("ac", 4), ("a", 1), ("b", 1), ("c", 1)]
    seeds = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("ac", 4.0), ("ab", 9.0)]
    trainer = UnigramTrainer(words, seeds)
    trainer.prune(4)
    assert [trainer.pieces[number] for number in trainer.order] == ["a", "b", "c", "ab"]


def test_missing_characters_get_penalties() -> None:
    trainer = UnigramTrainer([("ab", 2)], [("a", 1.0), ("b", 3.0)])
    found = dict(trainer.best({"x": 1, "y": 1}, 3))
    assert list(found) == ["b", "y", "x"]
    assert found["y"] - found["x"] == pytest.approx(0.0001, rel=1e-2)
    assert found["x"] == trainer.lowest


def test_too_little_text() -> None:
    with pytest.raises(ValueError, match="too little text"):
        UnigramTrainer([("x", 1)], [])
    trainer = UnigramTrainer([("ab", 2)], [("a", 1.0), ("b", 3.0)])
    with pytest.raises(ValueError, match="too little text"):
        trainer.maximize([0.4, 0.4])


def plain_edges(word: str, numbers: dict[str, int], unknown: int) -> WordEdges:
    """The rule written out: all pieces at each place by length, then the unknown character."""
    found = WordEdges([], [], [])
    for start in range(len(word)):
        here = [
            (end, numbers[word[start:end]])
            for end in range(start + 1, len(word) + 1)
            if word[start:end] in numbers
        ]
        if word[start] not in numbers:
            here.append((start + 1, unknown))
        found.degrees.append(len(here))  # type: ignore[attr-defined]
        found.ends.extend(end for end, _ in here)  # type: ignore[attr-defined]
        found.numbers.extend(number for _, number in here)  # type: ignore[attr-defined]
    return found


def lists(words: PackedEdges) -> list[WordEdges]:
    return [WordEdges(*map(list, word)) for word in words]


EDGE_PIECES = st.lists(st.text("ab", min_size=1, max_size=3), unique=True, min_size=2, max_size=9)
EDGE_WORDS = st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=6)


@example(["b", "aab"], ["a", "b", "ab", "aab"], [{0}, {2}])
@given(EDGE_WORDS, EDGE_PIECES, st.lists(st.sets(st.integers(0, 8)), min_size=1, max_size=3))
def test_edges_that_are_left_are_those_of_the_pieces_that_are_left(
    words: list[str], pieces: list[str], drops: list[set[int]]
) -> None:
    unknown = len(pieces)
    left = {piece: number for number, piece in enumerate(pieces)}
    found = PackedEdges(words, PieceMatcher(left, unknown))
    assert lists(found) == [plain_edges(word, left, unknown) for word in words]
    for drop in drops:
        dropped = {piece: number for piece, number in left.items() if number in drop}
        left = {piece: number for piece, number in left.items() if number not in drop}
        is_kept = [number in left.values() for number in range(unknown)] + [True]
        found.keep(is_kept, {piece: n for piece, n in dropped.items() if len(piece) == 1})
        assert lists(found) == [plain_edges(word, left, unknown) for word in words]


def test_a_long_word_has_its_places() -> None:
    (word,) = PackedEdges(["a" * 70_000], PieceMatcher({"a": 0}, 1))
    assert word.ends[-1] == 70_000
    assert len(word.numbers) == len(word.degrees) == 70_000
