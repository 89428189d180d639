"""Learning merges of characters by the rule: everything is counted anew after each merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Callable

from compat_bpe.train.bpe.merges_of_characters import Marks


def merges_by_the_rule(
    words: Mapping[str, int],
    tokens: Sequence[str],
    marks: Marks,
    least: int,
    longest: int | None,
    score: Callable[[int, int, int], float] = lambda both, left, right: both,
) -> list[tuple[str, str, float]]:
    """Return pairs in the order in which they are merged, each with its score.

    Args:
        words: how often each word occurs; characters that are no token are left out of it.
        tokens: the first tokens.
        marks: what tokens within a word, or at its end, have besides the characters.
        least: the fewest times that a pair occurs.
        longest: the most characters of a token.
        score: of how often a pair occurs, its left part and its right one. The pair with the
            highest is merged, and of equal ones that with the lower ids.
    """
    tokens = list(tokens)
    lengths = dict.fromkeys(tokens, 1)
    now: list[tuple[list[str], int]] = []
    for word, count in words.items():
        last = len(word) - 1
        chars = [(place, char) for place, char in enumerate(word) if char in tokens]
        now.append(([marks.mark(char, not p, p == last) for p, char in chars], count))
    found: list[tuple[str, str, float]] = []
    while True:
        pairs: Counter[tuple[str, str]] = Counter()
        single: Counter[str] = Counter()
        for parts, count in now:
            for part in parts:
                single[part] += count
            for pair in zip(parts, parts[1:]):
                pairs[pair] += count
        scores = {
            (left, right): score(count, single[left], single[right])
            for (left, right), count in pairs.items()
            if count >= max(least, 1)
            and (longest is None or lengths[left] + lengths[right] <= longest)
        }
        if not scores:
            return found
        left, right = min(scores, key=lambda pair: (-scores[pair], *map(tokens.index, pair)))
        found.append((left, right, scores[left, right]))
        made = left + right.removeprefix(marks.prefix)
        if made not in tokens:
            tokens.append(made)
            lengths[made] = lengths[left] + lengths[right]
        for parts, _ in now:
            place = 0
            while place < len(parts) - 1:
                if (parts[place], parts[place + 1]) == (left, right):
                    parts[place : place + 2] = [made]
                place += 1
