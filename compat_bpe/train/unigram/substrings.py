"""Substrings that recur, for the first pieces of a Unigram vocabulary."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

#: The character after each word. A substring does not go across it.
END = "\0"


def branching_substrings(words: Iterable[str], longest: int) -> Iterator[tuple[str, int]]:
    """Yield substrings of words that occur at least twice, each with its number of occurrences.

    Of those, only the *branching* ones: two of their occurrences go on differently. If ``n`` is
    always followed by ``g``, the substring ``n`` is left out, since ``ng`` says as much. The end
    of a word counts as one more character, which is the same for all words, so a suffix that is
    always at the end (``ing`` in ``sing ring``) is left out, too. These are the inner nodes of the
    words' suffix tree, as tokenizers takes them; the textbook takes every substring that recurs.

    A substring of n characters recurs only where its first n - 1 characters recur. So substrings
    are counted for one length after the other, and each step keeps the places where one recurs. A
    substring branches if none of its continuations is as frequent as itself. The time is at worst
    in proportion to the number of characters and to ``longest``, also if the text repeats itself.
    Each first character is done by itself, so that few substrings are in memory.

    Args:
        words: different words.
        longest: the length in characters of the longest substring; the shortest has two.

    >>> sorted(branching_substrings(["hug", "pug", "hugs", "sing", "ring"], 16))
    [('hug', 2), ('ug', 3)]
    """
    text = END.join(words) + END
    places_of: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
    for place, char in enumerate(text):
        places_of[char].append(place)
    del places_of[END]
    while places_of:
        char, places = places_of.popitem()
        yield from _beginning_with(char, text, places, longest)


def _beginning_with(
    char: str, text: str, places: array[int], longest: int
) -> Iterator[tuple[str, int]]:
    """Yield the branching substrings that begin with a character, whose places are given."""
    counts = {char: len(places)} if len(places) > 1 else {}
    length = 1
    while counts and length <= longest:
        length += 1
        longer = Counter([text[place : place + length] for place in places])
        recurring = {string: count for string, count in longer.items() if count > 1}
        for string, count in recurring.items():
            if counts[string[:-1]] == count:
                del counts[string[:-1]]
        if length > 2:
            yield from counts.items()
        counts = {string: n for string, n in recurring.items() if string[-1] != END}
        places = array("q", [it for it in places if text[it : it + length] in counts])
