"""The edges of words in SentencePiece's Unigram training."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.train.sentencepiece.unigram import PackedEdges, PieceMatcher, WordEdges


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


PIECES = st.lists(st.text("ab", min_size=1, max_size=3), unique=True, min_size=2, max_size=9)
WORDS = st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=6)


@example(["b", "aab"], ["a", "b", "ab", "aab"], [{0}, {2}])
@given(WORDS, PIECES, st.lists(st.sets(st.integers(0, 8)), min_size=1, max_size=3))
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
