"""Training in one call, and plain rules: how pairs are joined, and how a word can be written."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import exp, log
from typing import Any, TypeVar

from compat_bpe.train import Settings
from compat_bpe.train.trainer import trainer_of

#: The words of the course of Hugging Face, and a text in which they are as frequent as there.
COURSE = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
HUGS = "".join(f"{word} " * count for word, count in COURSE.items())

Part = TypeVar("Part")


def trained(
    settings: Settings[Any],
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    held_out: Iterable[str] = (),
    counts: Any = (),
    **options: Any,
) -> Any:
    """Train on texts (or the texts of each group), and return all that is known of the result."""
    groups = texts if isinstance(texts, Mapping) else {"": texts}
    with trainer_of(settings, **{"workers": 1, **options}) as trainer:
        for group, some in groups.items():
            for text in some:
                trainer.feed(text, group)
        for text in held_out:
            trainer.hold_out(text)
        trainer.feed_counts(counts)
        return trainer.train()


def join(parts: list[Part], pair: tuple[Part, ...], made: Part) -> None:
    """Put what is made of a pair in its place wherever it is, from left to right."""
    place = 0
    while place < len(parts) - 1:
        if (parts[place], parts[place + 1]) == pair:
            parts[place : place + 2] = [made]
        place += 1


def ways(word: str, pieces: Container[str]) -> Iterator[tuple[str, ...]]:
    """All ways to write a word."""
    if not word:
        yield ()
    for end in range(1, len(word) + 1):
        if word[:end] in pieces:
            yield from ((word[:end], *rest) for rest in ways(word[end:], pieces))


def score_of(way: Sequence[str], scores: Mapping[str, float]) -> float:
    return reduce(float.__add__, (scores[piece] for piece in way), 0.0)


def expected_by_the_rule(
    counts: Mapping[str, float], scores: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """The expected number of each piece over all ways of all words, and the log probability."""
    expected = dict.fromkeys(scores, 0.0)
    objective = 0.0
    for word, count in counts.items():
        probabilities = {way: exp(score_of(way, scores)) for way in ways(word, scores)}
        total = sum(probabilities.values())
        objective += count * log(total)
        for way, probability in probabilities.items():
            for piece in way:
                expected[piece] += count * probability / total
    return expected, objective
