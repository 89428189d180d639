"""Longest tokens: the fast way and cut texts give what the plain rule gives."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models.longest import LongestTokens
from compat_bpe.pipeline.models.splitters import TokenSplitter
from tests.examples import scaled

BYTES = {bytes([byte]): byte for byte in range(256)}
#: Characters of all lengths, two of which have the same last byte, and what is cut at.
LETTERS = "ab \n\t.éĩ中丮😀"

texts = st.text(LETTERS, max_size=30)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """Tokens of whole characters, and of parts of them."""
    whole = st.text(LETTERS, min_size=2, max_size=6).map(str.encode)
    parts = st.builds(
        lambda data, start, end: data[start : len(data) - end],
        st.text(LETTERS, min_size=2, max_size=4).map(str.encode),
        st.integers(0, 2),
        st.integers(0, 2),
    ).filter(lambda data: len(data) > 1)
    tokens = draw(st.lists(st.one_of(whole, whole, parts), max_size=20, unique=True))
    return {**BYTES, **{token: 256 + number for number, token in enumerate(tokens)}}


def plain(tokens: Mapping[bytes, int], data: bytes) -> list[int]:
    """The rule: the longest token that the rest begins with, again and again."""
    ids = []
    while data:
        longest = max((token for token in tokens if data.startswith(token)), key=len)
        ids.append(tokens[longest])
        data = data[len(longest) :]
    return ids


@given(vocabularies(), texts)
@settings(max_examples=scaled(300))
def test_ids_are_those_of_the_plain_rule(tokens: dict[bytes, int], text: str) -> None:
    assert [*LongestTokens(tokens).encode(text)] == plain(tokens, text.encode())


@given(vocabularies(), texts)
def test_places(tokens: dict[bytes, int], text: str) -> None:
    model = LongestTokens(tokens)
    found = model.find(text)
    assert tuple(token.id for token in found) == model.encode(text)
    data = text.encode()
    assert [tokens[data[token.start : token.end]] for token in found] == [one.id for one in found]
    assert b"".join(data[token.start : token.end] for token in found) == data


@given(vocabularies(), texts)
@settings(max_examples=scaled(300))
def test_no_token_reaches_across_a_cut(tokens: dict[bytes, int], text: str) -> None:
    model = LongestTokens(tokens)
    ids = model.encode(text)
    for cut in range(1, len(text)):
        if model.joints.are_between(text[cut - 1], text[cut]):
            assert model.encode(text[:cut]) + model.encode(text[cut:]) == ids


@given(vocabularies(), texts)
@settings(max_examples=scaled(300))
def test_chunks(tokens: dict[bytes, int], text: str) -> None:
    model, splitter = LongestTokens(tokens), TokenSplitter(tokens)
    chunks = splitter.chunks(text)
    assert "".join(chunks) == text
    assert all(chunks)
    assert sum(map(model.encode, chunks), ()) == model.encode(text)
    # Where text is cut is where its cut points are, and the model knows them, too.
    ends = {len("".join(chunks[:number])) for number in range(1, len(chunks))}
    for place in range(1, len(text)):
        assert (place in ends) == splitter.is_cut(text[place - 1 : place + 1], False)
        assert place not in ends or model.joints.are_between(text[place - 1], text[place])


@given(vocabularies(), st.text(LETTERS, min_size=600, max_size=900))
@settings(max_examples=scaled(20))
def test_segments(tokens: dict[bytes, int], text: str) -> None:
    model, splitter = LongestTokens(tokens), TokenSplitter(tokens)
    segments = [*splitter.segments(text * 5)]
    assert "".join(segments) == text * 5
    assert sum(map(model.encode, segments), ()) == model.encode(text * 5)


def test_long_tokens_and_long_texts() -> None:
    tokens = {**BYTES, **{b"a" * length: 254 + length for length in range(2, 257)}}
    model = LongestTokens(tokens)
    assert model.encode("a" * 1000) == (510, 510, 510, 254 + 232)
    assert model.encode("aab" * 20_000) == (256, 98) * 20_000
