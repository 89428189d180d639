"""Merging by pairs and by runs, against the rule, on vocabularies of every kind."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.encodings.published import PUBLISHED, load_ranks
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder, merge
from compat_bpe.pipeline.pypy import pairs
from compat_bpe.pipeline.pypy.pairs import CompiledMerger, PairMerger, RunMerger

BYTES = [bytes((byte,)) for byte in range(256)]
#: Narrow and wide characters, several of which begin and end with the same bytes.
LETTERS = "ab éè中乭国囷国ก𐐀𐐁"
_letters = st.text(LETTERS, min_size=1, max_size=3).map(str.encode)
_cut = st.builds(lambda data, start, end: data[start:end], _letters, *[st.integers(-3, 6)] * 2)
_tokens = st.one_of(_letters, _cut).filter(lambda token: len(token) > 1)
texts = st.text(LETTERS, min_size=1, max_size=20).map(str.encode)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """All bytes and any tokens with any ranks; some bytes come after tokens that have them."""
    tokens = draw(st.lists(_tokens, unique=True, max_size=25))
    letters = sorted({bytes((byte,)) for token in tokens for byte in token})
    mixed = draw(st.permutations([*tokens, *letters[:5]]))
    others = [byte for byte in BYTES if byte not in mixed]
    return {token: rank for rank, token in enumerate([*mixed, *others])}


def complete(*tokens: bytes) -> dict[bytes, int]:
    return {token: rank for rank, token in enumerate([*tokens, *BYTES])}


def compiled(encoder: BytePairEncoder) -> CompiledMerger:
    merger = CompiledMerger.of(encoder)
    assert merger is not None
    return merger


@given(texts, vocabularies())
@example(b"aaaaa", complete(b"aa", b"aaa"))
@example(b"aaab", complete(b"aa", b"ab"))  # of equal ranks the leftmost is first
@example(b"abab", complete(b"abab", b"ba", b"ab"))
@example("国国中".encode(), complete("国".encode(), "国国".encode()[2:5], "国中".encode()))
def test_the_merges_are_those_of_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = [ranks[part] for part in merge(chunk, ranks)]
    assert PairMerger.by_rank(ranks).merge(chunk) == expected
    merger = compiled(BytePairEncoder(ranks))
    assert merger.merge(chunk) == expected
    assert merger.merge(chunk) == expected  # by what is kept of the first time
    assert merger._runs.merge(chunk) == expected


@given(texts)
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base"])
def test_published_vocabularies(name: str, chunk: bytes) -> None:
    ranks = load_ranks(PUBLISHED[name].pack)
    assert merger_of(name).merge(chunk) == BytePairEncoder(ranks).merge(chunk)


_MERGERS: dict[str, CompiledMerger] = {}


def merger_of(name: str) -> CompiledMerger:
    ranks = load_ranks(PUBLISHED[name].pack)
    if name not in _MERGERS:
        _MERGERS[name] = compiled(BytePairEncoder(ranks))
    return _MERGERS[name]


@given(st.lists(_letters, min_size=90, max_size=130).map(b"".join), vocabularies())
def test_long_chunks(chunk: bytes, ranks: dict[bytes, int]) -> None:
    encoder = BytePairEncoder(ranks)
    assert compiled(encoder).merge(chunk) == encoder.merge(chunk)


def test_each_chunk_is_merged_in_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = complete("中".encode()[:2], "中".encode(), b"aa")
    long: list[bytes] = []

    class Encoder(BytePairEncoder):
        def merge(self, chunk: bytes) -> list[int]:
            long.append(chunk)
            return [0]

    merger = compiled(Encoder(ranks))
    monkeypatch.setattr(pairs, "_LONG", 10)
    assert merger.merge(b"a" * 10) == [0]
    chunk = "中国".encode() * 5
    assert merger.merge(chunk) == BytePairEncoder(ranks).merge(chunk)
    assert long == [b"a" * 10]


@pytest.mark.parametrize(
    "ranks",
    [
        {},
        {b"a": 0},
        complete(b""),
        {**complete(b"ab"), b"ba": 0},
        {**complete(), b"ab": -1},
        {**complete(), b"ab": 1 << 30},
        {token: rank for token, rank in complete().items() if token != b"\xff"},
    ],
)
def test_what_does_not_fit(ranks: dict[bytes, int]) -> None:
    assert not PairMerger.fits(ranks)
    assert CompiledMerger.of(BytePairEncoder(ranks)) is None


def test_the_table_grows() -> None:
    """Also when it was made for fewer pairs, each pair is found, and no other."""
    merger = PairMerger(range(256), range(4000), 1)
    pairs = [(left, right) for left in range(60) for right in range(0, 3000, 50)]
    for rank, (left, right) in enumerate(pairs):
        merger._put(left, right, rank)
    assert [merger._rank(*pair) for pair in pairs] == list(range(len(pairs)))
    assert {merger._rank(left + 60, right) for left, right in pairs} == {1 << 32}
    assert merger.merge(bytes([7, 50, 7, 51])) == [7 * 60 + 1, 7, 51]


def test_caches_are_cleared() -> None:
    merger = compiled(BytePairEncoder(complete("国中".encode())))
    merger.merge("国中国中".encode())
    assert merger._runs._runs._younger
    merger.clear_cache()
    assert not merger._runs._runs._younger


#: Characters of each length in UTF-8, among them the first and the last.
EDGES = "a\x7f\x80é\u07ff\u0800国囷乭\uffff\U00010000𐐁\U000fffff\U0010fffe\U0010ffff"
_words = st.text(EDGES, min_size=2, max_size=3).map(str.encode)
_parts = st.builds(lambda data, start, end: data[start:end], _words, *[st.integers(-3, 9)] * 2)


@given(st.lists(_parts.filter(bool), max_size=20), st.text(EDGES, min_size=1, max_size=30))
@example(["国国".encode()[2:4]], "国国中国国")
@example(["\U0010ffff\U000fffff".encode()], "\U0010ffff\U000fffff\U000fffff\U0010ffff" * 2)
def test_runs_with_so_few_slots_that_all_are_shared(tokens: list[bytes], text: str) -> None:
    ranks = {token: rank for rank, token in enumerate(dict.fromkeys([*BYTES, *tokens]))}
    encoder = BytePairEncoder(ranks)
    with pytest.MonkeyPatch.context() as patch:
        for name, number in (("_CHARS", 4), ("_PAIRS", 2), ("_LONG_RUN", 12)):
            patch.setattr(pairs, name, number)
        runs = RunMerger(ranks, encoder.merge)
        for chunk in (text, text[::-1], text):
            assert runs.merge(chunk.encode()) == encoder.merge(chunk.encode())
