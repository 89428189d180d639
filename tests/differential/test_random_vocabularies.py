"""Merging, with vocabularies that no training would give.

Their ranks are in any order, so that a token may rank below its own parts, some tokens cannot be
made at all, and many pairs compete. Chunks are long enough for both ways of merging.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from tests.differential.reference import BYTES, Pair, pair, repaired
from tests.examples import scaled

#: One chunk, chunks of all lengths, and a pattern that leaves some text out.
PATTERNS = [r"(?s:.+)", r"\w+|\W", r"[^b\n]+|\n"]
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


def check(encodings: Pair, text: str) -> None:
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
    return dict(zip(entries, numbers)), draw(st.sampled_from(PATTERNS)), text


@pytest.mark.hypothesis
@pytest.mark.parametrize("number", [300, pytest.param(1500, marks=pytest.mark.sweep)])
def test_small(number: int) -> None:
    @settings(max_examples=scaled(number))
    @given(small_cases())
    def run(case: tuple[dict[bytes, int], str, str]) -> None:
        ranks, pattern, text = case
        check(pair(ranks, pattern, {}), text)

    run()


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
    encodings = pair(ranked(tokens, rng), rng.choice(PATTERNS), {})
    for length in (*range(1, 30), *(50, 99, 100, 101, 180, *range(195, 206), 300, 1000, 5000)):
        check(encodings, "".join(rng.choices(alphabet, k=length)))
        check(encodings, "".join(rng.choices(words, k=max(1, length // 3))))
        check(encodings, rng.choice(words) * length)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_are_no_text(seed: int) -> None:
    """A chunk of any bytes, against tiktoken's encoder of a single chunk."""
    rng = random.Random(seed)
    some = bytes(rng.sample(range(256), rng.choice([2, 3, 10])))
    tokens = {
        bytes(rng.choices(some, k=rng.randint(2, 6))) for _ in range(rng.choice([5, 50, 500]))
    }
    ranks = ranked(tokens, rng)
    theirs = pair(ranks, r"\w+", {}).theirs
    encoder = BytePairEncoder(ranks)
    for length in (*range(1, 40), 99, 100, 101, *range(195, 206), 500, 3000):
        chunk = bytes(rng.choices(some, k=length))
        assert list(encoder.encode(chunk)) == theirs._encode_single_piece(chunk), chunk


def test_a_chunk_that_is_a_token_but_cannot_be_merged() -> None:
    encodings = pair({**BYTES, b"abc": 256, b"bc": 257, b"xabcx": 258}, r"\w+|\W", {})
    for text in ("abc", "abc abc", "xabc", "bc", "aabc", "xabcx", "xabcxx", "abc" * 100):
        check(encodings, text)


def test_texts_with_surrogates() -> None:
    encodings = pair({**BYTES, "\ufffd".encode(): 256, "😀".encode(): 257}, r"(?s:.+)", {})
    for text in ("\ud83d\ude00", "\ude00\ud83d", "a\ud83d", "\ud83d" * 3, "\ud83d😀\ude00"):
        check(encodings, text)
        assert encodings.ours.decode(encodings.ours.encode(text)) == repaired(text)
