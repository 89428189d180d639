"""SentencePiece's models of words and of characters, whose scores are logarithms of frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import inf, log

from .corpus import Corpus, single
from .settings import UNKNOWN_CHARACTER


def learn_words(corpus: Corpus, most: int | None) -> list[tuple[str, float]]:
    """Return the most frequent words and their scores.

    Args:
        corpus: the corpus.
        most: the number of words; None for all.
    """
    known = {word: count for word, count in corpus.words.items() if UNKNOWN_CHARACTER not in word}
    return _scored(known, sum(corpus.words.values()), most)


def learn_characters(corpus: Corpus, most: int | None) -> list[tuple[str, float]]:
    """Return the most frequent characters and their scores, as ``learn_words`` does."""
    return _scored(corpus.alphabet, sum(corpus.alphabet.values()), most)


def _scored(counts: Mapping[str, int], total: int, most: int | None) -> list[tuple[str, float]]:
    """Return the logarithms of relative frequencies, with the reference's rounding to 32 bits."""
    whole = single(log(single(total)))
    return [
        (text, single(single(log(single(count))) - whole) if count else -inf)
        for text, count in islice(counts.items(), most)
    ]
