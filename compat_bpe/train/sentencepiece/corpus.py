r"""The corpus of a model of SentencePiece: words, characters, and the first pieces of Unigram.

A line is a sentence. Only a line feed ends it, as in the reference's files, so the carriage return
of ``\r\n`` is one of its characters. Lines that are empty or too long, or that have U+2585, are
skipped, as in the reference. After normalization, each reserved piece in the text becomes a
boundary, and so does each character outside the alphabet; no piece reaches over them.

**The seeds** are the pieces that training begins with. All characters are seeds. So are the valid
pieces that the reference finds as inner nodes of the suffix tree of all sentences, in bytes, where
each sentence ends with a NUL. There is a node for a text if it is followed by two different bytes
somewhere. Its score is the number of times that it occurs, times its length.

A text followed by the end of a sentence and then by two different bytes is a node, too. The
reference drops its NUL and adds its occurrences to those of the text. Since most sentences begin
with a space, that mostly happens to the ends of the last sentence.

No suffix array is needed, since pieces are short: texts are counted by their length, from 2 up. A
text that occurs once has no node, and no longer one that begins with it has, so its place is left
out from then on.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import inf, log
from random import Random
from typing import NamedTuple

from ...pipeline.models.sentencepiece.base import MOST_AT_ONE_PLACE, SPACE
from ...pipeline.special_tokens import NameFinder, SortedNames
from ...unicode.surrogates import repair
from .bpe import PieceRules
from .settings import BOUNDARY, UNKNOWN_CHARACTER, SentencePieceSettings, meta_pieces, normalizer_of

#: The seed of the sample.
_SEED = 12345678


class Corpus(NamedTuple):
    """The text that is learned from.

    Args:
        alphabet: the characters that are pieces of their own, and how often they occur, the
            required ones included; the most frequent first, then by code point.
        words: the words and their frequencies, the most frequent first, then by code point. If
            pieces may reach over spaces, they are whole sentences.
        sentences: the sentences, in the reference's order, if they are needed.
    """

    alphabet: dict[str, int]
    words: Mapping[str, int]
    sentences: Sequence[str]


def single(number: float) -> float:
    """Return a number rounded to 32 bits."""
    return array("f", [number])[0]


def by_frequency(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts, the highest first, then by the bytes of the text.

    UTF-8 sorts as code points do.
    """
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def lines_of(texts: Iterable[str], settings: SentencePieceSettings) -> Iterator[str]:
    """Yield the lines of texts that are sentences.

    Raises:
        TypeError: a text is not a str, or ``texts`` is a single one.
    """
    if isinstance(texts, str):
        raise TypeError("texts is a str; pass a list of texts")
    longest = settings.max_sentence_length
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a text must be a str, not {type(text).__name__}")
        for line in repair(text).split("\n"):
            if 4 * len(line) > longest and len(line.encode()) > longest:
                continue
            if line and UNKNOWN_CHARACTER not in line:
                yield line


def sample_of(lines: Iterable[str], settings: SentencePieceSettings) -> Iterable[str]:
    """Return the lines to learn from: a sample in which each line is equally likely.

    All lines are read, and no more are held than are returned.
    """
    size = settings.input_sentence_size
    if not size:
        return lines
    if not settings.shuffle_input_sentence:
        return (line for number, line in enumerate(lines) if number < size)
    below = Random(_SEED).randrange
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        if number <= size:
            kept.append(line)
        else:
            # Of n lines, the last is in a sample of k with a chance of k in n.
            place = below(number)
            if place < size:
                kept[place] = line
    return kept


def sentences_of(lines: Iterable[str], settings: SentencePieceSettings) -> Iterator[str]:
    """Yield lines normalized, with boundaries for reserved pieces; some may be empty.

    Raises:
        ValueError: the character map is damaged.
    """
    normalize = normalizer_of(settings).normalizer((), settings.treat_whitespace_as_suffix)
    reserved, delimiter = _reserved(settings), settings.pretokenization_delimiter
    for line in lines:
        sentence = normalize(line)
        if reserved.first(sentence) is not None:
            ends = [0, *chain.from_iterable(reserved.spans(sentence)), len(sentence)]
            sentence = BOUNDARY.join(sentence[a:b] for a, b in zip(ends[::2], ends[1::2]))
        if delimiter:
            sentence = sentence.replace(delimiter, BOUNDARY)
        yield sentence


def _reserved(settings: SentencePieceSettings) -> NameFinder:
    """Return a finder of the longest reserved piece at a place."""
    pieces = {text for text, _ in meta_pieces(settings).values()}
    return NameFinder(SortedNames(pieces).begun_by_few(MOST_AT_ONE_PLACE))


def corpus_of_texts(
    texts: Iterable[str],
    settings: SentencePieceSettings,
    *,
    keep_sentences: bool = False,
    counts: Iterable[tuple[str, int]] = (),
) -> Corpus:
    """Return the corpus of some texts.

    Args:
        texts: the texts; each line is a sentence.
        settings: the settings.
        keep_sentences: return the sentences, too; there may be no counts then.
        counts: texts with their counts, beside the others; they are not sampled.

    Raises:
        TypeError, ValueError: as in ``lines_of`` and ``sentences_of``; there is no text; the
            alphabet is larger than the vocabulary.
    """
    kept: list[str] = []
    words: Counter[str] = Counter()
    split = word_splitter(settings)
    for sentence in sentences_of(sample_of(lines_of(texts, settings), settings), settings):
        if keep_sentences:
            kept.append(sentence)
        words.update(split(sentence))
    counted: list[int] = []

    def texts_of_counts() -> Iterator[str]:
        for text, count in counts:
            counted[:] = [count]  # of the sentences that come next
            yield text

    for sentence in sentences_of(lines_of(texts_of_counts(), settings), settings):
        for word in split(sentence):
            words[word] += counted[0]
    _drop_empty(kept)
    return corpus_of(words, settings, kept)


def corpus_of(
    words: Mapping[str, int], settings: SentencePieceSettings, sentences: list[str] | None = None
) -> Corpus:
    """Return the corpus of counted words of normalized sentences.

    Args:
        words: the words and their frequencies; no word is empty.
        settings: the settings.
        sentences: the sentences, if they are needed.

    Raises:
        ValueError: there is no text; the alphabet is larger than the vocabulary.
    """
    kept = sentences or []
    characters: Counter[str] = Counter()
    for word, count in words.items():
        for char in word:
            characters[char] += count
    alphabet = alphabet_of(characters, settings)
    outside = set(characters) - alphabet.keys()
    if outside:
        table = dict.fromkeys(map(ord, outside), UNKNOWN_CHARACTER)
        merged: Counter[str] = Counter()
        for word, count in words.items():
            merged[word if outside.isdisjoint(word) else word.translate(table)] += count
        words = merged
        kept = [text if outside.isdisjoint(text) else text.translate(table) for text in kept]
    return Corpus(alphabet, by_frequency(words), kept)


def _drop_empty(sentences: list[str]) -> None:
    """Drop empty sentences as the reference does: the last one comes in the place of each."""
    at = 0
    while at < len(sentences):
        if sentences[at]:
            at += 1
        else:
            sentences[at] = sentences[-1]
            sentences.pop()


def word_splitter(settings: SentencePieceSettings) -> Callable[[str], list[str]]:
    """Return the function that splits a sentence into words, over which no piece reaches.

    If pieces may reach over spaces, the sentence is one word, unless it is empty.

    >>> word_splitter(SentencePieceSettings(100))("a▁▁b")
    ['a', '▁', '▁b']
    """
    # A model of words has no such options.
    is_plain = settings.model_type == "word"
    if not (settings.split_by_whitespace or is_plain):
        return lambda sentence: [sentence] if sentence else []
    more = "+" if settings.allow_whitespace_only_pieces and not is_plain else ""
    if settings.treat_whitespace_as_suffix and not is_plain:
        pattern = f"[^{SPACE}]*{SPACE}{more}|[^{SPACE}]+"
    else:
        pattern = f"{SPACE}{more}[^{SPACE}]*|[^{SPACE}]+"
    return re.compile(pattern).findall


def alphabet_of(counts: Mapping[str, int], settings: SentencePieceSettings) -> dict[str, int]:
    """Return the characters of the alphabet and their frequencies, in their order.

    The required ones come first, then the most frequent, until enough of the text is covered.

    Raises:
        ValueError: there is no text; the alphabet is larger than the vocabulary.
    """
    required = set(settings.required_chars) - {"\0"}
    every = {char: counts.get(char, 0) for char in required | counts.keys() if char != "\0"}
    total = sum(every.values())
    if not total:
        raise ValueError("there is no text to learn from")
    coverage = single(settings.character_coverage)
    alphabet: dict[str, int] = {}
    covered = 0
    for char in sorted(every, key=lambda one: (one not in required, -every[one], one)):
        if not settings.use_all_vocab and single(covered / total) >= coverage:
            break
        covered += every[char]
        if char != BOUNDARY:
            alphabet[char] = every[char]
    if UNKNOWN_CHARACTER in alphabet:
        raise ValueError(f"normalized text has {UNKNOWN_CHARACTER!r}, which stands for the unknown")
    least = len(alphabet) + len(meta_pieces(settings))
    if settings.model_type in ("bpe", "unigram") and least > settings.vocab_size:
        raise ValueError(
            f"vocab_size is {settings.vocab_size}; {len(alphabet)} characters and the reserved "
            f"pieces are {least}: raise it, or lower character_coverage"
        )
    return by_frequency(alphabet)


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
        most: the most seeds of several characters.
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
    sentences: Sequence[str], split: Callable[[str], list[str]], rules: PieceRules, longest: int
) -> dict[str, int]:
    """Return the texts of all nodes, and how often each occurs as a node."""
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
    # Each part of a word, then the next character; its first bytes from the second character on.
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
    """Return all bytes that sentences begin with, except the most frequent one."""
    counts: defaultdict[str, int] = defaultdict(int)
    for (_, after), count in ends.items():
        counts[after.translate(leads)] += count
    return counts.keys() - {max(counts, key=counts.__getitem__)}
