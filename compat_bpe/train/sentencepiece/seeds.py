"""The pieces that training of SentencePiece's Unigram begins with.

All characters are seeds. So are the valid pieces that the reference finds as inner nodes of the
suffix tree of all sentences, in bytes, where each sentence ends with a NUL. There is a node for a
text if it is followed by two different bytes somewhere. Its score is the number of times that it
occurs, times its length.

A text followed by the end of a sentence and then by two different bytes is a node, too. The
reference drops the NUL and adds that number of times to the others. Since most sentences begin
with a space, that mostly happens to the ends of the last sentence.

No suffix array is needed, since pieces are short: texts are counted by their length, from 2 up. A
text that occurs once has no node, and no longer one that begins with it has, so its place is left
out from then on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from .corpus import single
from .rules import PieceRules

#: The end of a sentence, and that of all sentences.
_END, _LAST = "\0", "\1"


def seed_pieces(
    sentences: Sequence[str],
    split: Callable[[str], list[str]],
    rules: PieceRules,
    alphabet: Mapping[str, int],
    longest: int,
    most: int,
) -> list[tuple[str, float]]:
    """Return the seeds and their scores, the characters first, each part in its order.

    Args:
        sentences: the sentences, in their order.
        split: the function that splits a sentence into words, over which no piece reaches.
        rules: the rules for pieces.
        alphabet: the characters and their frequencies, in their order.
        longest: the length of the longest piece, in characters.
        most: the most seeds that are no single characters.
    """
    counts = _counts(sentences, split, rules, longest)
    scored = [
        (piece, single(single(count) * len(piece)))
        for piece, count in counts.items()
        if rules.is_valid(piece)
    ]
    # UTF-8 sorts as code points do.
    scored.sort(key=lambda one: (-one[1], -len(one[0].encode()), one[0]))
    return [(char, single(count)) for char, count in alphabet.items() if count] + scored[:most]


def _counts(
    sentences: Sequence[str],
    split: Callable[[str], list[str]],
    rules: PieceRules,
    longest: int,
) -> dict[str, int]:
    """Return the texts of all nodes, and how often they occur as such."""
    words: defaultdict[tuple[str, str], int] = defaultdict(int)
    ends: defaultdict[tuple[str, str], int] = defaultdict(int)
    for number, sentence in enumerate(sentences):
        parts = split(sentence)
        for word, following in zip(parts, parts[1:]):
            words[word, following[0]] += 1
        words[parts[-1], _END] += 1
        is_last = number + 1 == len(sentences)
        ends[parts[-1], _LAST if is_last else sentences[number + 1][0]] += 1
    counts: defaultdict[str, int] = defaultdict(int)
    lead = _Leads()
    for piece, count in _inner(words, rules, lead, longest):
        counts[piece] += count
    for piece, count in _at_ends(ends, lead, longest):
        counts[piece] += count
    return counts


class _Leads(dict[int, str]):
    """The first byte of each character, as a character."""

    def __missing__(self, point: int) -> str:
        lead = self[point] = chr(chr(point).encode()[0])
        return lead


def _inner(
    words: Mapping[tuple[str, str], int], rules: PieceRules, leads: _Leads, longest: int
) -> Iterable[tuple[str, int]]:
    """Yield the texts that two different bytes follow, and how often they occur.

    Args:
        words: the words, each with the character that follows, and their frequencies.
    """
    # Each part of a word, then what follows; its first bytes from the second character on.
    texts: list[str] = []
    followers: list[str] = []
    weights: list[int] = []
    alive: list[Iterable[int]] = []
    for (word, after), count in words.items():
        whole = word + after
        for start, end in rules.parts(word):
            if end - start > 1:
                texts.append(whole[start:end])
                followers.append(whole[start : end + 1].translate(leads))
                weights.append(count)
                alive.append(range(end - start - 1))
    for length in range(2, longest + 1):
        counts: defaultdict[str, int] = defaultdict(int)
        for text, after, weight, places in zip(texts, followers, weights, alive):
            for at in places:
                counts[text[at : at + length] + after[at + length]] += weight
        totals: defaultdict[str, int] = defaultdict(int)
        ways: defaultdict[str, int] = defaultdict(int)
        for key, count in counts.items():
            totals[key[:-1]] += count
            ways[key[:-1]] += 1
        for piece, number in ways.items():
            if number > 1:
                yield piece, totals[piece]
        kept: list[tuple[str, str, int, Iterable[int]]] = []
        for text, after, weight, places in zip(texts, followers, weights, alive):
            last = len(text) - length
            left = [at for at in places if at < last and totals[text[at : at + length]] > 1]
            if left:
                kept.append((text, after, weight, left))
        if not kept:
            break
        texts, followers = [one[0] for one in kept], [one[1] for one in kept]
        weights, alive = [one[2] for one in kept], [one[3] for one in kept]


def _at_ends(
    ends: Mapping[tuple[str, str], int], leads: _Leads, longest: int
) -> Iterable[tuple[str, int]]:
    """Yield the texts at ends of sentences before two different bytes, and how often they occur.

    Args:
        ends: the last words, each with the first character of the next sentence, and their
            frequencies.
    """
    counts: defaultdict[str, int] = defaultdict(int)
    ways: defaultdict[str, set[str]] = defaultdict(set)
    rare = _rare_leads(ends, leads)
    chosen = {word[-2:] for (word, after) in ends if after.translate(leads) in rare}
    for (word, after), count in ends.items():
        if word[-2:] not in chosen:
            continue  # The same byte follows each time.
        for length in range(2, min(longest, len(word)) + 1):
            counts[word[-length:]] += count
            ways[word[-length:]].add(after.translate(leads))
    for piece, after_it in ways.items():
        if len(after_it) > 1:
            yield piece, counts[piece]


def _rare_leads(ends: Mapping[tuple[str, str], int], leads: _Leads) -> set[str]:
    """Return all bytes that sentences begin with, but for the most frequent one."""
    counts: defaultdict[str, int] = defaultdict(int)
    for (_, after), count in ends.items():
        counts[after.translate(leads)] += count
    return counts.keys() - {max(counts, key=counts.__getitem__)}
