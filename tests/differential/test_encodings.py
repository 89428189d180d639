"""Shipped encodings against tiktoken: hard texts, corpora, every code point, and long runs.

And merging, with vocabularies that no training would give: their ranks are in any order, so that a
token may rank below its own parts, some tokens cannot be made at all, and many pairs compete.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.published import PUBLISHED, load_ranks
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from compat_bpe.unicode.properties import category
from tests.corpora import PARTS, TEXTS, read, standard_library
from tests.differential.reference import BYTES, SCALARS, Pair, pair, repaired, sample
from tests.examples import drawn
from tests.strategies import texts, texts_from

Pairs = Callable[[str], Pair]


def check_ordinary(pair: Pair, text: str) -> None:
    ids = pair.ours.encode_ordinary(text)
    assert ids == pair.theirs.encode_ordinary(text)
    assert pair.ours.count(text) == len(ids)
    assert pair.ours.decode(ids) == repaired(text)


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    "hard",
    [texts, st.text(st.characters(exclude_categories=()), max_size=200)],
    ids=["hard", "any"],
)
def test_any_text(shipped: Pair, hard: st.SearchStrategy[str], thorough: settings) -> None:
    thorough(given(hard)(lambda text: check_ordinary(shipped, text)))()


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", PUBLISHED)
def test_tokens_of_the_vocabulary(name: str, get_pair: Pairs, thorough: settings) -> None:
    known = texts_from(load_ranks(PUBLISHED[name].pack))
    thorough(given(known)(lambda text: check_ordinary(get_pair(name), text)))()


# Natural texts, and the standard library's own source: a part, and in a sweep all


def check_natural(pair: Pair, text: str, source: object) -> None:
    """Compare without a report of a million ids: what is around the first that differs."""
    ours, theirs = pair.ours.encode_ordinary(text), pair.theirs.encode_ordinary(text)
    if ours != theirs:
        steps = itertools.zip_longest(ours, theirs)
        at = next(i for i, (our, their) in enumerate(steps) if our != their)
        before = len(pair.theirs.decode_bytes(theirs[:at]))
        near = slice(max(0, at - 3), at + 5)
        pytest.fail(
            f"{source}, byte {before}: {pair.ours.decode_tokens_bytes(ours[near])}, "
            f"tiktoken: {pair.theirs.decode_tokens_bytes(theirs[near])}"
        )
    assert pair.ours.count(text) == len(ours)
    assert pair.ours.decode(ours) == text


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_corpus(distinct: Pair, path: Path, part: int | None) -> None:
    check_natural(distinct, read(path)[-part:] if part else read(path), path)
    distinct.ours.clear_cache()


@pytest.mark.parametrize("number", [10, pytest.param(150, marks=pytest.mark.sweep)])
def test_standard_library(distinct: Pair, number: int) -> None:
    texts = standard_library(number)
    assert len(texts) > number // 2
    for text in texts:
        check_natural(distinct, text, ascii(text[:60]))
    # All of them as one text, which is cut into passages elsewhere.
    check_natural(distinct, "".join(texts), "all sources")
    distinct.ours.clear_cache()


PATTERNS = {published.pattern: name for name, published in PUBLISHED.items()}
ODD_PASSAGE = (
    "a \n\n  b\U0001d400 c\U0001d41a\u0301's  \r\n\r\n 12345 x/\n\n!\n 中文，中文。 \u3000\n"
)


@pytest.mark.sweep
@pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())
def test_passages_of_any_size_split_as_the_whole(pattern: str) -> None:
    splitter = Splitter(pattern)
    texts = [text[start : start + 3000] for text in map(read, TEXTS)
             for start in range(0, len(text), 499_000)]  # fmt: skip
    texts += [text[-2000:] for text in standard_library(15)] + [ODD_PASSAGE * 20]
    for text in texts:
        whole = splitter.chunks(text)
        for size in range(50):
            parts = list(splitter.segments(text, size, 2 * size))
            assert "".join(parts) == text
            assert list(itertools.chain.from_iterable(map(splitter.chunks, parts))) == whole, size


@pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())
def test_passages_are_short(pattern: str) -> None:
    """Else the test above would compare nothing: ordinary text is cut about where it should be."""
    text = "".join(standard_library(30))[:100_000]
    assert len(list(Splitter(pattern).segments(text, 50, 50))) > len(text) / 200


# Every code point, between every kind of neighbour: by default a few of each class
#
# An encoding's pattern and vocabulary see the full set of contexts once, since several encodings
# share them. The others get one context, so that each of the seven has met every code point.
# Characters that are unassigned, for private use or letters without case, 98 in 100, are told apart
# by no pattern, and get fewer contexts; that they are just those is what ``test_patterns`` shows.

#: ``{}`` is the code point.
CONTEXTS = [
    *("{}{}", "a{}a", "A{}a", "a{}A", "A{}A", " {}a", "1{}1", "a{}1", "1{} ", "!{}!", " {} "),
    *("\n{}\n", "\r\n{}  ", "\t{}\t", "   {}   ", "\n\n{}\n\n", "\xa0{}\u3000", "\u0301{}\u0301"),
    *("字{}字", "\U00010400{}\U00010428", "{}'s'{}'ſ", "a'{}", "'{}a", "A'l{} ", "'S{} ", "/{}/\n"),
    *("12{}34", "1{}23", "\n"),
]
#: Ids show where chunks end only if a token could go across: two spaces, ``'s`` and ``23`` do here
#: by whether the code point is a space, a letter, a number or none of them.
FEW = ["  {}'s 1{}23\n"]
#: For an encoding whose pattern has met the other contexts in another.
ONE = [" {}\n"]

NO_CHARACTERS = category("Cn") | category("Co")
MANY_ALIKE = NO_CHARACTERS | category("Lo")
#: Code points a text is made of, so that a difference is soon found and memory is bounded.
SLICE = 2048

FULL = ["r50k_base", "cl100k_base", "o200k_base"]


def check_characters(pair: Pair, chars: list[str], contexts: list[str]) -> None:
    """Compare the ids; on a difference, name the first code point and context that differ."""

    def differ(chars: list[str], *contexts: str) -> bool:
        text = "".join("".join(contexts).replace("{}", char) for char in chars)
        return pair.ours.encode_ordinary(text) != pair.theirs.encode_ordinary(text)

    for start in range(0, len(chars), SLICE):
        part = chars[start : start + SLICE]
        if differ(part, *contexts):
            for char in part:
                for context in (*contexts, "".join(contexts)):
                    assert not differ([char], context), f"U+{ord(char):04X} in {context!a}"
            pytest.fail(f"U+{ord(part[0]):04X} to U+{ord(part[-1]):04X}, but only together")


@pytest.fixture(
    params=["sample", *(pytest.param(number, marks=pytest.mark.sweep) for number in range(4))]
)
def chars(request: pytest.FixtureRequest) -> str:
    """A few of each class, or a fourth of all, by turns, so that the fourths take equal time."""
    if request.param == "sample":
        return sample()
    slices = range(request.param * SLICE, len(SCALARS), 4 * SLICE)
    return "".join(SCALARS[start : start + SLICE] for start in slices)


@pytest.mark.parametrize("name", FULL)
def test_every_context(name: str, chars: str, get_pair: Pairs) -> None:
    pair = get_pair(name)
    check_characters(pair, [char for char in chars if ord(char) not in MANY_ALIKE], CONTEXTS)
    check_characters(pair, [char for char in chars if ord(char) in MANY_ALIKE], FEW)
    pair.ours.clear_cache()


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name not in FULL])
def test_one_context(name: str, chars: str, get_pair: Pairs) -> None:
    # The others are to its pattern what they are to the same one in another encoding.
    known = [char for char in chars if ord(char) not in NO_CHARACTERS]
    check_characters(get_pair(name), known, ONE)
    get_pair(name).ours.clear_cache()


# Long runs without a place to cut
#
# At a hundred thousand spaces tiktoken itself fails, but not where it is given a single chunk.

UNITS = [
    *(" ", "\t", "\n", "\r\n", "\x85", "\u3000", "\xa0", "a", "A", "aA", "ab", "é", "字", "ſ"),
    *("\U00010400", "7", "1234", "-", "-=", "'s", "\u0301", "😀", "\n ", " a", "\ud83d"),
    "<|endoftext|>",
]
SIZE = 2000


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
@pytest.mark.parametrize("frame", ["{}", "x{}\n"])
def test_long_runs(distinct: Pair, unit: str, frame: str) -> None:
    check_ordinary(distinct, frame.format(unit * (SIZE // len(unit))))


@pytest.mark.parametrize("length", [30_000, pytest.param(1_000_000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("char", [" ", "\t", "\x85", "\u3000", "a"], ids=ascii)
def test_runs_that_are_one_chunk(distinct: Pair, char: str, length: int) -> None:
    run = char * length
    ids = distinct.theirs._encode_single_piece(run.encode())
    assert distinct.ours.encode_ordinary(run) == ids
    assert distinct.ours.count(run) == len(ids)
    assert distinct.ours.decode(ids) == run


@pytest.mark.parametrize("length", [30_000, pytest.param(1_000_000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("char", [" ", "\u3000"], ids=ascii)
def test_white_space_leaves_its_last_character_to_a_word(
    distinct: Pair, char: str, length: int
) -> None:
    ids = distinct.theirs._encode_single_piece((char * (length - 1)).encode())
    ids += distinct.theirs.encode_ordinary(f"{char}word")
    assert distinct.ours.encode_ordinary(f"{char * length}word") == ids


# Vocabularies that no training would give; chunks are long enough for both ways of merging

#: One chunk, chunks of all lengths, and a pattern that leaves some text out.
OWN_PATTERNS = [r"(?s:.+)", r"\w+|\W", r"[^b\n]+|\n"]
#: The last two share their first bytes, so that merges cross the edges of characters.
ALPHABETS = ["ab", "abc", "aéèb", "aあいｱ字\n", "\U0001f600\U0001f601a", "abcdefgh \n"]


def ranked(tokens: set[bytes], order: random.Random) -> dict[bytes, int]:
    """All bytes and the tokens, with ranks in a random order that has holes."""
    entries = sorted(tokens | BYTES.keys())
    ranks = order.sample(range(2 * len(entries) + 1000), len(entries))
    if order.random() < 0.3:  # as in a trained vocabulary: shorter tokens first
        entries.sort(key=len)
        ranks.sort()
    return dict(zip(entries, ranks))


def check_own(encodings: Pair, text: str) -> None:
    """Compare ids and bytes; the pattern may leave some of the text out."""
    ids = encodings.ours.encode_ordinary(text)
    theirs = encodings.theirs.encode_ordinary(text)
    assert ids == theirs
    assert encodings.ours.count(text) == len(ids)
    assert encodings.ours.decode_bytes(ids) == encodings.theirs.decode_bytes(ids)


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[dict[bytes, int], str, str]:
    """A vocabulary, a pattern and a text, which hypothesis can make smaller."""
    alphabet = draw(st.sampled_from(ALPHABETS))
    text_parts = st.text(alphabet, min_size=1, max_size=5)
    tokens = draw(st.lists(st.builds(str.encode, text_parts), max_size=15))
    cut = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(2, 6)), max_size=6))
    tokens += [token[start:end] for token, (start, end) in zip(tokens, cut)]
    entries = list(dict.fromkeys([*filter(None, tokens), *BYTES]))
    # Tokens of the list come early or late, or anywhere among the bytes.
    ranks = draw(st.permutations(range(min(len(entries), 30))))
    rest = range(len(ranks), len(entries))
    numbers = [*ranks, *rest] if draw(st.booleans()) else [*rest, *ranks]
    text = draw(st.text(alphabet, max_size=60)) * draw(st.sampled_from([1, 1, 2, 15]))
    return dict(zip(entries, numbers)), draw(st.sampled_from(OWN_PATTERNS)), text


@drawn(1000, small_cases())
def test_small(case: tuple[dict[bytes, int], str, str]) -> None:
    ranks, pattern, text = case
    check_own(pair(ranks, pattern, {}), text)


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.sweep) for seed in range(4, 40))]
)
def test_large(seed: int) -> None:
    """Vocabularies of joined tokens, as training makes them, and of random strings."""
    rng = random.Random(seed)
    alphabet = rng.choice(ALPHABETS)
    tokens = {char.encode() for char in alphabet} | {char.encode()[-1:] for char in alphabet}
    for _ in range(rng.choice([10, 100, 1000])):
        known = sorted(tokens)
        token = rng.choice(known) + rng.choice(known)
        if rng.random() < 0.2:
            token = "".join(rng.choices(alphabet, k=rng.randint(1, 12))).encode()
        if rng.random() < 0.1:
            token = token[rng.randint(0, 2) : rng.randint(3, 20)]
        if 0 < len(token) <= 40:
            tokens.add(token)
    words = [token.decode("utf-8", "ignore") for token in sorted(tokens)]
    encodings = pair(ranked(tokens, rng), rng.choice(OWN_PATTERNS), {})
    for length in (*range(1, 30), 50, 99, 100, 101, 180, *range(195, 206), 300, 1000, 5000):
        check_own(encodings, "".join(rng.choices(alphabet, k=length)))
        check_own(encodings, "".join(rng.choices(words, k=max(1, length // 3))))
        check_own(encodings, rng.choice(words) * length)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_are_no_text(seed: int) -> None:
    """A chunk of any bytes, against tiktoken's encoder of a single chunk."""
    rng = random.Random(seed)
    some = bytes(rng.sample(range(256), rng.choice([2, 3, 10])))
    number = rng.choice([5, 50, 500])
    ranks = ranked({bytes(rng.choices(some, k=rng.randint(2, 6))) for _ in range(number)}, rng)
    theirs = pair(ranks, r"\w+", {}).theirs
    encoder = BytePairEncoder(ranks)
    for length in (*range(1, 40), 99, 100, 101, *range(195, 206), 500, 3000):
        chunk = bytes(rng.choices(some, k=length))
        assert list(encoder.encode(chunk)) == theirs._encode_single_piece(chunk), chunk


def test_a_chunk_that_is_a_token_but_cannot_be_merged() -> None:
    encodings = pair({**BYTES, b"abc": 256, b"bc": 257, b"xabcx": 258}, r"\w+|\W", {})
    for text in ("abc", "abc abc", "xabc", "bc", "aabc", "xabcx", "xabcxx", "abc" * 100):
        check_own(encodings, text)


def test_texts_with_surrogates() -> None:
    encodings = pair({**BYTES, "\ufffd".encode(): 256, "😀".encode(): 257}, r"(?s:.+)", {})
    for text in ("\ud83d\ude00", "\ude00\ud83d", "a\ud83d", "\ud83d" * 3, "\ud83d😀\ude00"):
        check_own(encodings, text)
        check_ordinary(encodings, text)
