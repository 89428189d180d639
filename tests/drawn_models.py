"""Vocabularies and models drawn at random, most such as no training would give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.scored_pieces import LONGEST_SHORT
from compat_bpe.pipeline.models.sentencepiece.base import (
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    SentencePieceBase,
    SentencePieceCharacters,
    SentencePieceVocabulary,
    SentencePieceWords,
)
from compat_bpe.pipeline.models.sentencepiece.bpe import SentencePieceBPE
from compat_bpe.pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from compat_bpe.pipeline.models.sentencepiece.ways import rounded
from compat_bpe.pipeline.models.unigram import Unigram
from tests.strategies import texts as any_texts

# Ranks of letters

LETTERS = [b"a", b"b", b"c"]
letters = st.sampled_from(LETTERS)
letter_chunks = st.lists(letters, max_size=40).map(b"".join)
letter_tokens = st.lists(letters, min_size=1, max_size=6).map(b"".join)


@st.composite
def letter_ranks(draw: st.DrawFn) -> dict[bytes, int]:
    """The letters and any tokens, with any ranks: also such as no training would give."""
    chosen = [*LETTERS, *draw(st.lists(letter_tokens, unique=True, max_size=20))]
    chosen = list(dict.fromkeys(chosen))
    ranks = draw(st.permutations(range(len(chosen))))
    return dict(zip(chosen, ranks))


# Ranks of stretches of text that begin and end within characters

#: Of one to four bytes; some differ in one byte only, or begin or end alike.
CHARS = "a éĩࠀ中丮国圽한😀😁🤀"
BYTES = {bytes([i]): i for i in range(256)}
chars = st.sampled_from(CHARS)


def own_encoding(
    pattern: str, ranks: dict[bytes, int] = BYTES, special: Mapping[str, int] | None = None
) -> Encoding:
    """An encoding of one's own: of bytes, if no ranks are given."""
    names = dict(special or {})
    return Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=names)


@st.composite
def char_ranks(draw: st.DrawFn) -> dict[bytes, int]:
    """Bytes, and some stretches of text that begin and end anywhere, in any order.

    With half of them comes all that they are merged from, byte by byte, so that merging makes them.
    """
    chosen: dict[bytes, None] = {}
    for text in draw(st.lists(st.lists(chars, max_size=4).map("".join), max_size=30)):
        data = text.encode()
        start, end = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
        token = data[start : len(data) - end]
        first = draw(st.sampled_from([2, len(token)]))
        chosen.update(dict.fromkeys(token[:size] for size in range(first, len(token) + 1)))
    tokens = [token for token in chosen if len(token) > 1]
    extra = draw(st.one_of(st.just(tokens), st.permutations(tokens)))
    # Before the bytes or after them: the ranks of single bytes matter to no merge.
    return {**BYTES, **{token: 256 + number for number, token in enumerate(extra)}}


# Lists of merges

Pairs = list[tuple[str, str]]

BYTE_NAMES = list(BYTE_TO_UNICODE.values())


@st.composite
def merge_lists(draw: st.DrawFn, letters: str = "abc") -> Pairs:
    """Merges of letters and of what these make, in any order."""
    known = list(letters)
    found: dict[tuple[str, str], None] = {}
    for _ in range(draw(st.integers(0, 10))):
        pair = draw(st.tuples(*[st.sampled_from(known)] * 2))
        if len("".join(pair)) < 9:
            found[pair] = None
            known.append("".join(pair))
    return draw(st.permutations(list(found)))


def listed_encoder(pairs: Pairs, order: list[str]) -> tuple[ListedMergesEncoder, dict[str, int]]:
    """Return the encoder for some merges, and the id of each name, numbered in an order."""
    ids = {name: number for number, name in enumerate(dict.fromkeys(order))}
    lefts, rights = [left for left, _ in pairs], [right for _, right in pairs]
    return ListedMergesEncoder(ids, (lefts, rights), UnknownPolicy()), ids


# BPE over characters, as it stands in a ``tokenizer.json``

#: What vocabularies are made of: characters of one to four bytes, and some that are special here.
CHARACTERS = "abé▁\n。中#😀"
BARE: dict[str, Any] = {"type": "BPE", "merges": []}
BYTE_PIECES = [f"<0x{byte:02X}>" for byte in range(256)]


@st.composite
def character_models(
    draw: st.DrawFn, alphabet: str = CHARACTERS, *, decorated: bool = True
) -> dict[str, Any]:
    """A model of some of the characters, and of merges in any order, also of odd symbols."""
    prefix = suffix = None
    if decorated:
        prefix = draw(st.sampled_from([None, None, "", "##", "#", "▁", "é", "<0x41>"]))
        suffix = draw(st.sampled_from([None, None, "", "</w>", "é", "a"]))
    unknown = draw(st.sampled_from([None, "<unk>", "<unk>", "a", "##", "absent"]))
    singles = draw(st.sets(st.sampled_from(alphabet), min_size=1))
    names = sorted(singles)
    if prefix:
        names += [prefix + name for name in names if draw(st.booleans())]
    if suffix:
        names += [name + suffix for name in names if draw(st.booleans())]
    if unknown not in (None, "absent"):
        names.append(unknown)
    if draw(st.booleans()):
        names += BYTE_PIECES if draw(st.booleans()) else ["<0x61>", "<0xC3>", "<0xA9>", "<0x0A>"]
    names = list(dict.fromkeys(names))
    parts = [name for name in names if name not in BYTE_PIECES[98:]]
    length = len((prefix or "").encode())
    pairs: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 14))):
        left, right = draw(st.tuples(*[st.sampled_from(parts)] * 2))
        if len(right.encode()) < length:
            continue
        try:
            made = (left.encode() + right.encode()[length:]).decode()
        except UnicodeDecodeError:
            continue
        if len(made) < 14:
            pairs.append((left, right))
            parts.append(made)
            names.append(made)
    others = draw(st.lists(st.text(alphabet, min_size=2, max_size=4), max_size=3))
    names = list(dict.fromkeys([*draw(st.permutations(names)), *others]))
    merges: list[Any] = draw(st.permutations(pairs))
    if not any(" " in name for name in names) and draw(st.booleans()):
        merges = ["#version: 0.2", *map(" ".join, merges)]
    else:
        merges = list(map(list, merges))
    return {
        "type": "BPE",
        "dropout": draw(st.sampled_from([None, 0.0])),
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "ignore_merges": draw(st.booleans()),
        "vocab": {name: 3 * number for number, name in enumerate(names)},
        "merges": merges,
    }


# Unigram: models and chunks with many ways that are as good

UNIGRAM_ALPHABET = "ab中😀"

#: Few, so that many ways are as good; and some whose sums are rounded, or infinite.
SCORES = st.one_of(
    st.sampled_from([-1.0, -2.0, -3.0, 0.0, 1.0]),
    st.sampled_from([-0.1, -0.2, -0.3, -0.7, -1e16, 1e16, 3e-17, -1e308, 1e308, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)
PIECES = st.one_of(
    st.text(UNIGRAM_ALPHABET, max_size=5),
    st.sampled_from(["<unk>", "<0x61>", "<0xE4>", "<0xB8>", "<0xAD>", "<", "", "aaaaaaaa"]),
    st.integers(LONGEST_SHORT - 1, LONGEST_SHORT + 3).map(lambda length: "a" * length),
    st.integers(LONGEST_SHORT - 1, LONGEST_SHORT + 3).map(lambda length: "ab" * length),
)
CHUNKS = st.one_of(
    st.text(UNIGRAM_ALPHABET, max_size=12),
    st.lists(st.sampled_from(["a", "b", "<unk>", "<0x61>", "中", "x", "é", "ab"]), max_size=8).map(
        "".join
    ),
    st.integers(30, 80).map(lambda length: "a" * length),
    st.integers(30, 80).map(lambda length: "ab" * length + "b"),
    any_texts.map(lambda text: text.encode("utf-8", "replace").decode()),
)


@st.composite
def unigram_models(draw: Callable[..., object]) -> Unigram:
    """A model of any pieces and scores, with an unknown token or without."""
    listed = draw(st.lists(st.tuples(PIECES, SCORES), max_size=16))
    assert isinstance(listed, list)
    unknown = draw(st.none() | st.integers(0, max(0, len(listed) - 1)))
    if not listed:
        unknown = None
    assert unknown is None or isinstance(unknown, int)
    pieces = [piece for piece, _ in listed]
    return Unigram(pieces, [score for _, score in listed], unknown, bool(draw(st.booleans())))


def result(function: Callable[[], object]) -> object:
    """Return what a function returns, or the message of its error."""
    try:
        return function()
    except ValueError as error:
        return str(error)


# Models of SentencePiece

SENTENCEPIECES: list[Callable[[SentencePieceVocabulary], SentencePieceBase]] = [
    SentencePieceBPE,
    SentencePieceUnigram,
    SentencePieceWords,
    SentencePieceCharacters,
]


def piece_vocabulary(
    texts: Mapping[str, float], kinds: Mapping[str, int] | None = None
) -> SentencePieceVocabulary:
    """Return a vocabulary of some pieces and their scores; the first is the unknown one."""
    types = bytes([UNKNOWN, *((kinds or {}).get(text, NORMAL) for text in texts)])
    scores = [0.0, *map(rounded, texts.values())]
    return SentencePieceVocabulary(["<unk>", *texts], scores, types, byte_fallback=False)


@st.composite
def piece_vocabularies(draw: st.DrawFn) -> SentencePieceVocabulary:
    """Vocabularies with many ties and, now and then, scores that are soon subtracted."""
    letters = draw(st.sampled_from(["ab▁", "ab", "a.▁c"]))
    texts = draw(st.sets(st.text(letters, min_size=1, max_size=4), min_size=1, max_size=15))
    size = draw(st.sampled_from([1.0, 0.001, 20_000.0]))
    score = st.sampled_from([-0.1, -0.2, -0.3, -1.1, -2.0, 0.0, -0.0, 0.1])
    # Unused pieces make BPE take another way, so most vocabularies have none.
    special = draw(st.sampled_from([NORMAL, NORMAL, USER_DEFINED, UNUSED]))
    kind = st.sampled_from([NORMAL] * 6 + [special])
    scores = {text: size * draw(score) for text in sorted(texts)}
    return piece_vocabulary(scores, {text: draw(kind) for text in sorted(texts)})
