"""Joining a pair in all words that have it, for every learner that joins pairs.

A word is text in which each character stands for a token. So a pair is a text of two characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def join_pair(
    pair: str,
    made: str,
    words: list[str],
    frequencies: Sequence[int],
    counts: dict[str, int],
    numbers: Iterable[int],
) -> tuple[dict[str, list[int]], int]:
    """Join a pair in all words, and subtract the pairs that are there no more from the counts.

    Args:
        pair: the pair.
        made: the character of the token that it makes.
        words: all words, which are changed.
        frequencies: the frequency of each word.
        counts: the frequency of each pair, which is changed.
        numbers: the numbers of the words that had the pair once.

    Returns:
        The new pairs, each with its frequency and then the numbers of its words; and the number of
        pairs that were joined, with the frequencies of their words.

    >>> words, counts = ["abab"], {"ab": 6, "ba": 3}
    >>> join_pair("ab", "X", words, [3], counts, [0]), words, counts
    (({'XX': [3, 0]}, 6), ['XX'], {'ba': 0})
    """
    del counts[pair]
    formed: dict[str, list[int]] = {}
    joined = 0
    for number in numbers:
        parts = words[number].split(pair)
        if len(parts) == 1:
            continue  # Other merges have used the pair's tokens.
        words[number] = made.join(parts)
        frequency = frequencies[number]
        joined += frequency * (len(parts) - 1)
        first, *others, last = parts
        new_pairs = [first[-1] + made] if first else []
        for part in others:
            new_pairs += (made + part[0], part[-1] + made) if part else (made + made,)
        if last:
            new_pairs.append(made + last[0])
        for one in new_pairs:
            known = formed.get(one)
            if known is None:
                formed[one] = [frequency, number]
            else:
                known[0] += frequency
                if known[-1] != number:
                    known.append(number)
    left, right = pair[0], pair[1]
    for one, known in formed.items():
        # Each occurrence of a new pair replaces one of the pair that was there before.
        before, after = one[0], one[1]
        lost = right + (left if before == after else after) if before == made else before + left
        if lost in counts:
            counts[lost] -= known[0]
    return formed, joined
