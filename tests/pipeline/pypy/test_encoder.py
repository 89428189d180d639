"""Compiled loops give the ids of the plain rule, and tables of states find what ``re`` finds."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.encodings.core import CoreBPE, EncodingCore
from compat_bpe.encodings.encoding import Encoding
from compat_bpe.encodings.published import PATTERNS, PUBLISHED, load_ranks
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tokenizer_bpe import RankedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.formats.tokenizer_writing import byte_level_part
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.states import NoTable
from compat_bpe.pattern.translation import relax, to_re
from compat_bpe.pattern.tree import (
    Alternatives,
    Anchor,
    Chars,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    can_be_empty,
)
from compat_bpe.pipeline.core import Core
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder, merge
from compat_bpe.pipeline.pypy import core as core_module
from compat_bpe.pipeline.pypy import encoder as encoder_module
from compat_bpe.pipeline.pypy import pairs
from compat_bpe.pipeline.pypy.core import CompiledLoops, PyPyCore
from compat_bpe.pipeline.pypy.encoder import PyPyEncoder, Table, table_of
from compat_bpe.pipeline.pypy.pairs import CompiledMerger, PairMerger, RunMerger
from compat_bpe.unicode.properties import CodePoints
from compat_bpe.unicode.surrogates import repair
from tests.drawn_models import own_encoding
from tests.pattern.random_trees import trees
from tests.strategies import texts

#: A small vocabulary and its own pattern, and with it the patterns of others.
NAMES = ["gpt2", "cl100k_base", "o200k_base"]
RANKS = get_encoding("gpt2")._mergeable_ranks
#: The steps beside the model, as in GPT-2's ``tokenizer.json``.
PARTS = {
    "normalizer": None,
    "pre_tokenizer": byte_level_part(),
    "post_processor": None,
    "decoder": byte_level_part(),
}


@pytest.fixture(autouse=True, scope="module")
def _loops_at_once() -> object:
    """Compiled loops from the first character on, short segments, and few slots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_module, "_WORTH_TABLE", 0)
        patch.setattr(core_module, "_WORTH_PAIRS", 0)
        patch.setattr(encoder_module, "_SLOTS", 8)
        patch.setattr(encoder_module, "SHORTEST_SEGMENT", 16)
        patch.setattr(encoder_module, "LONGEST_SEGMENT", 64)
        with cores(LoopingBPE, LoopingCore):
            yield


class LoopingBPE(CoreBPE, PyPyCore):
    """The core that ``Encoding`` has on PyPy."""


class LoopingCore(EncodingCore, PyPyCore):
    """The core that ``Tokenizer`` has on PyPy."""


class PlainBPE(CoreBPE):
    """The core that ``Encoding`` has on CPython."""

    _encode_span = Core._encode_span
    _count_span = Core._count_span


class PlainCore(EncodingCore):
    """The core that ``Tokenizer`` has on CPython."""

    _encode_span = Core._encode_span
    _count_span = Core._count_span


@contextmanager
def cores(ranked: type[CoreBPE], other: type[EncodingCore]) -> Iterator[None]:
    """Encodings that are made meanwhile have these cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compat_bpe.encodings.encoding.CoreBPE", ranked)
        patch.setattr("compat_bpe.encodings.tokenizer.EncodingCore", other)
        yield


def fresh(name: str) -> Encoding:
    special = {"<|endoftext|>": 50256}
    pattern = PATTERNS[name]
    return Encoding(name, pat_str=pattern, mergeable_ranks=RANKS, special_tokens=special)


@pytest.fixture(scope="module")
def plain(_loops_at_once: object) -> dict[str, Encoding]:
    """The same encodings as on CPython."""
    with cores(PlainBPE, PlainCore):
        return {name: fresh(name) for name in NAMES}


_kept = cache(fresh)


def looping(name: str) -> Encoding:
    """An encoding that has begun to loop."""
    encoding = _kept(name)
    encoding.encode("to set up 国 the tables")
    assert loops_of(encoding)._encoder is not None
    return encoding


def loops_of(encoding: Encoding) -> CompiledLoops:
    assert isinstance(encoding.core, PyPyCore)
    return encoding.core._loops


@given(st.sampled_from(NAMES), texts)
@example("gpt2", "\0\0 \0" * 20)
@example("o200k_base", "abcdefghijklmn" + " abcdefghijklm" + " abcdefghijklmn" * 2)
@example("cl100k_base", "a" * 13 + " " + "a" * 14 + " " + "a" * 15)
def test_the_ids_are_those_of_the_rule(plain: dict[str, Encoding], name: str, text: str) -> None:
    encoding = looping(name)
    expected = plain[name].encode(text, disallowed_special=())
    assert encoding.encode(text, disallowed_special=()) == expected
    assert encoding.encode(text, disallowed_special=()) == expected  # from the caches
    assert encoding.count(text) == len(expected)
    encoding.clear_cache()
    assert encoding.count(text) == len(expected)


@given(st.sampled_from(NAMES), st.lists(texts, min_size=3, max_size=8).map("\n\n".join))
def test_longer_texts(plain: dict[str, Encoding], name: str, text: str) -> None:
    expected = plain[name].encode_ordinary(text)
    assert looping(name).encode_ordinary(text) == expected


@given(st.lists(st.text("ab é字𐐀\0", max_size=16), max_size=12))
def test_a_slot_is_of_one_chunk(words: list[str]) -> None:
    """The ids are the bytes, with a mark for each chunk that was looked up as a whole."""
    table = Table(parse(r"[^ ]+| "))
    whole = {word.encode(): 1000 + len(word) for word in words[::2] if word and " " not in word}
    encoder = PyPyEncoder(table, whole, list)
    encoder.set_limits(4, 4)
    text = " ".join(words)
    expected: list[int] = []
    for word in text.replace(" ", "/ /").split("/"):
        data = word.encode()
        expected += [whole[data]] if data in whole else data
    for _ in range(2):
        assert encoder.encode(text) == expected
        assert encoder.count(text) == len(expected)


@given(st.text("ab é字𐐀\0\U0010ffff", min_size=1, max_size=14))
@example("abcdefghijklmn")
@example("éàçéàçé")
@example("字字字字é")
@example("𐐀𐐀𐐀字")
def test_the_numbers_of_a_chunk_are_its_bytes(chunk: str) -> None:
    """So no two chunks have the same numbers: 56 bits are in the first, the rest in the other."""
    data = chunk.encode()
    encoder = PyPyEncoder(Table(parse(r"[\s\S]+")), {}, list)
    assert encoder.encode(chunk) == list(data)
    (slots,) = encoder._slots
    numbers = [(low, high) for low, high in zip(slots.numbers[::4], slots.numbers[1::4]) if low]
    found = [(high << 56 | low).to_bytes(16, "big").lstrip(b"\0") for low, high in numbers]
    assert found == ([b"\x01" + data] if len(data) <= 14 else [])


@pytest.mark.parametrize(
    "pattern",
    [r"\p{Lu}+|\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+|\s+", r"[a-z](?:[\p{L}\p{N}]Z)?|[\s\S]"],
)
def test_each_character_has_the_kind_of_the_table(pattern: str) -> None:
    """Characters beside which the kind changes, after and before those of other kinds."""
    table = Table(parse(pattern))
    kinds = table.kinds
    changes = [at for at in range(1, 0x110000) if kinds[at] != kinds[at - 1]]
    edges = {at - one for at in changes for one in (0, 1)}
    chars = [chr(point) for point in sorted(edges) if not 0xD800 <= point < 0xE000]
    assert sum(char > "\uffff" for char in chars) > 500
    data = "".join(f"a{char}1{char} {char}.a{char}Z" for char in chars).encode()
    bounds = table.bounds(data)
    encoder = PyPyEncoder(table, {}, lambda chunk: [len(chunk)])
    assert encoder.encode(data.decode()) == [
        end - start for start, end in zip(bounds[::2], bounds[1::2])
    ]


def by_list(name: str) -> Tokenizer:
    """GPT-2's tokenizer as in a ``tokenizer.json``, in which each chunk is merged by a list."""
    model = RankedModel(RANKS).listed()._replace(ignore_merges=False)
    return Tokenizer(name, TokenizerDefinition(model, (), PARTS, name))


def test_merges_by_a_list() -> None:
    text = "\n".join(f"qzx{number} the 中国人民 kjw\n\n" for number in range(60))
    loops = by_list("loops")
    loops.encode("to set up the tables")
    with cores(PlainBPE, PlainCore):
        expected = by_list("plain").encode(text)
    for _ in range(2):
        assert loops.encode(text) == expected
        assert loops.count(text) == len(expected)
    assert loops_of(loops)._merger is not None


def test_text_that_no_alternative_matches_is_left_out() -> None:
    encoder = PyPyEncoder(Table(parse("[a-z]+|字")), {}, list)
    assert encoder.encode("é1a𐐀字") == [97, *"字".encode()]
    assert encoder.encode("1") == []


@given(texts)
def test_segments_join_to_the_text(plain: dict[str, Encoding], text: str) -> None:
    encoder = loops_of(looping("o200k_base"))._encoder
    assert encoder is not None
    data = text.encode("utf-8", "replace")
    start, parts = 0, []
    for end in encoder.segment_ends(data, 4, 9):
        parts.append(data[start:end])
        start = end
    assert b"".join(parts) == data
    ids = [number for part in parts for number in encoder.encode(part.decode())]
    assert ids == plain["o200k_base"].encode_ordinary(data.decode())


@given(st.text("a\n", max_size=9).map(str.encode), st.integers(0, 10))
@example(b"a\n\n", 1)
@example(b"\n\n\n", 1)
def test_empty_lines_are_found(data: bytes, start: int) -> None:
    expected = data.find(b"\n\n", start)
    assert encoder_module._find_blank(data, start) == (len(data) if expected < 0 else expected)


@given(st.text("ab \n", max_size=60), st.integers(1, 6), st.integers(0, 8))
@example("aa\n\nb b" * 9, 2, 8)
def test_a_segment_ends_soon_after_an_empty_line_or_a_line(text: str, low: int, more: int) -> None:
    encoder = loops_of(looping("cl100k_base"))._encoder
    assert encoder is not None
    data = text.encode()
    start, expected = 0, []
    while start + low + more < len(data):
        places = [data.find(end, start + low, start + low + more) for end in (b"\n\n", b"\n")]
        at = next((place for place in places if place >= 0), start + low)
        start = encoder._table.next_cut(data, at)
        if start < 0:
            break
        expected.append(start)
    assert encoder.segment_ends(data, low, low + more) == [*expected, len(data)]


def test_special_tokens_and_surrogates(plain: dict[str, Encoding]) -> None:
    encoding = looping("cl100k_base")
    text = "a \ud83d\ude00 b<|endoftext|>\ud83d c"
    expected = plain["cl100k_base"].encode(text, allowed_special="all")
    assert encoding.encode(text, allowed_special="all") == expected
    assert 50256 in expected


def test_the_loops_begin_after_some_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_module, "_WORTH_TABLE", 100)
    monkeypatch.setattr(core_module, "_WORTH_PAIRS", 5)
    encoding = fresh("gpt2")
    loops = loops_of(encoding)
    text = " ".join(f"qzx{number}kjw" for number in range(60))
    expected = get_encoding("gpt2").encode(text)
    encoding.encode("x" * 100)
    assert loops._encoder is None
    assert encoding.encode("x") == [87]
    assert loops._encoder is not None
    assert loops._merger is None
    assert encoding.encode(text) == expected
    assert loops._merger is not None
    encoding.clear_cache()
    assert encoding.encode(text) == expected


def test_the_limit_of_the_cache_holds() -> None:
    encoding = fresh("gpt2")
    encoding.cache_limit = 64
    text = "\n".join(f"qzx{number}kjw" for number in range(200))
    encoding.encode("begin")
    encoding.encode(text)
    found = loops_of(encoding)._encoder
    assert found is not None
    for kept, limit in ((found._chunks, 64), (found._segments, 2)):
        assert 0 < len(kept._younger) + len(kept._older) <= limit
    encoding.cache_limit = 0
    assert not found._chunks._younger
    assert not found._slots
    assert encoding.encode(text) == get_encoding("gpt2").encode(text)
    assert not found._chunks._younger
    assert not found._segments._younger


@pytest.mark.parametrize("pattern", [r"(?<=a)b|.|\n", r"\w+(?=\s\w)|."])
def test_a_pattern_without_a_table_goes_the_other_way(pattern: str) -> None:
    encoding = own_encoding(pattern)
    assert encoding.encode("ab a b") == list(b"ab a b")
    assert loops_of(encoding)._encoder is None


def test_a_vocabulary_without_some_bytes() -> None:
    ranks = {b"a": 0, b"b": 1, b" ": 2, b"ab": 3, b"aab": 4}
    encoding = own_encoding(r"\w+|\W", ranks)
    for _ in range(3):
        assert encoding.encode("aab abb aaab ba") == [4, 2, 3, 1, 2, 0, 4, 2, 1, 0]
        with pytest.raises(ValueError, match="no token for the byte b'c'"):
            encoding.encode("abc")


def test_threads_have_slots_of_their_own() -> None:
    encoding = looping("gpt2")
    parts = [f"word{number} qx{number}\n" * 30 for number in range(40)]
    expected = [get_encoding("gpt2").encode(part) for part in parts]
    with ThreadPoolExecutor(4) as executor:
        results = list(executor.map(lambda _: list(map(encoding.encode, parts)), range(20)))
    assert results == [expected] * 20
    found = loops_of(encoding)._encoder
    assert found is not None
    assert 1 <= len(found._slots) <= 4


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["cl100k_base"])
def test_whole_vocabularies(name: str) -> None:
    """Each token, between spaces and beside its neighbours, as text of several segments."""
    encoding = get_encoding(name)
    tokens = [token.decode("utf-8", "ignore") for token in encoding._mergeable_ranks]
    loops = own_encoding(encoding._pat_str, encoding._mergeable_ranks)
    for text in ("".join(tokens), " ".join(tokens)):
        assert loops.encode(text) == encoding.encode_ordinary(text)
    assert loops_of(loops)._merger is not None


BYTES = [bytes((byte,)) for byte in range(256)]
#: Narrow and wide characters, several of which begin and end with the same bytes.
LETTERS = "ab éè中乭国囷国ก𐐀𐐁"
_letters = st.text(LETTERS, min_size=1, max_size=3).map(str.encode)
_cut = st.builds(lambda data, start, end: data[start:end], _letters, *[st.integers(-3, 6)] * 2)
_tokens = st.one_of(_letters, _cut).filter(lambda token: len(token) > 1)
chunks_of_letters = st.text(LETTERS, min_size=1, max_size=20).map(str.encode)


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


@given(chunks_of_letters, vocabularies())
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


@given(chunks_of_letters)
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base"])
def test_published_vocabularies(name: str, chunk: bytes) -> None:
    encoder = BytePairEncoder(load_ranks(PUBLISHED[name].pack))
    assert merger_of(name).merge(chunk) == encoder.merge(chunk)


@cache
def merger_of(name: str) -> CompiledMerger:
    return compiled(BytePairEncoder(load_ranks(PUBLISHED[name].pack)))


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


# Tables of states


#: It looks two characters ahead, as no table does.
FAR = PATTERNS["superbpe"]
SPLITTERS = {pattern: Splitter(pattern) for pattern in sorted({*PATTERNS.values()} - {FAR})}
#: Several steps that are joined into one pattern.
DEEPSEEK = get_encoding("deepseek_v3").core.splitter
assert isinstance(DEEPSEEK, Splitter)
SPLITTERS["deepseek"] = DEEPSEEK
PUBLISHED_PATTERNS = list(SPLITTERS)
#: One character of each length in UTF-8.
SOME_LETTERS = "ab\n é字𐐀"


def chunks(table: Table, text: str) -> list[str]:
    data = text.encode()
    bounds = table.bounds(data)
    return [data[start:end].decode() for start, end in zip(bounds[::2], bounds[1::2])]


def made_table(splitter: Splitter) -> Table:
    table = table_of(splitter)
    assert table is not None
    return table


def test_a_pattern_that_looks_far_ahead_has_no_table() -> None:
    assert table_of(Splitter(FAR)) is None


def _larger(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    def repeat(item: Node, low: int, more: int | None, mode: str) -> Node:
        if can_be_empty(item):  # of such repeats only one is taken
            return Repeat(item, min(low, 1), 1, mode)
        return Repeat(item, low, None if more is None else max(low + more, 1), mode)

    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(Sequence),
        several.map(Alternatives),
        st.builds(
            repeat,
            inner,
            st.integers(0, 2),
            st.none() | st.integers(0, 2),
            st.sampled_from(["", "?"]),
        ),
    )


_sets = st.sets(st.sampled_from(SOME_LETTERS), min_size=1).map(lambda some: CodePoints.of(*some))
_chars = st.one_of(_sets, _sets.map(CodePoints.__invert__)).map(Chars)
_ends = st.just(Anchor("end"))
_one = st.one_of(_chars, _ends, st.lists(st.one_of(_chars, _ends), max_size=2).map(
    lambda some: Alternatives(tuple(some)) if some else Sequence(())
))  # fmt: skip
_looks = st.builds(Look, _one, st.just(True), st.booleans())
_simple = st.recursive(st.one_of(_chars, _chars, _looks, _ends), _larger, max_leaves=12)
#: Patterns that have a table, unless it would have too many states.
with_table = _simple.map(
    lambda node: Sequence((node, node)) if can_be_empty(node) else node
).filter(lambda node: not can_be_empty(node))
words = st.text(SOME_LETTERS, max_size=12)


@given(with_table, words)
@example(parse("(?:a|ab){0,2}?(?=b)b"), "abab")
@example(parse(r"a*?b|a+"), "aaab aaa")
@example(parse(r"\s+(?!\S)|\s*\n|\s"), " \n  a")
@example(parse(r"(?:ab|a)(?:b|bb)?"), "abbb")
@example(parse(r"a+(?=b|$)"), "aab aa a")
@example(parse(r"é+(?!é|\z)|."), "éé字é")
def test_the_matches_are_those_of_re(tree: Node, text: str) -> None:
    expected = [match.group() for match in re.finditer(to_re(tree), text)]
    try:
        table = Table(tree)
    except NoTable as error:
        assume(str(error) != "too many states")
        raise
    assert chunks(table, text) == expected


@given(trees("abc"), st.text("abc", max_size=8))
@example(parse("a?+ab|b"), "aab")
@example(parse("(?>a|ab)c|b"), "abc")
@example(parse("a(?=bc)|b"), "abc")
@example(parse("a(?=(?=b))"), "ab")
@example(parse("a(?=b*)|a(?=b+)b"), "ab")
def test_any_pattern_has_a_right_table_or_none(tree: Node, text: str) -> None:
    try:
        table = Table(relax(tree))
    except NoTable:
        return
    assert chunks(table, text) == [match.group() for match in re.finditer(to_re(tree), text)]


@pytest.mark.parametrize("pattern", PUBLISHED_PATTERNS)
def test_published_patterns_have_small_tables(pattern: str) -> None:
    table = made_table(SPLITTERS[pattern])
    assert len(table.steps) // table.width <= 40
    assert table.width <= 30


@given(st.sampled_from(PUBLISHED_PATTERNS), texts.map(repair))
def test_published_patterns_split_as_by_re(pattern: str, text: str) -> None:
    splitter = SPLITTERS[pattern]
    assert chunks(made_table(splitter), text) == splitter.chunks(text)


@pytest.mark.sweep
@pytest.mark.parametrize("pattern", PUBLISHED_PATTERNS)
@pytest.mark.parametrize("around", ["A{}{}' {}1", "\n{} !{}/"])
def test_every_code_point_is_split_as_by_re(pattern: str, around: str) -> None:
    splitter = SPLITTERS[pattern]
    points = [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]
    for start in range(0, len(points), 10_000):
        text = "\n x".join(around.replace("{}", chr(p)) for p in points[start : start + 10_000])
        assert chunks(made_table(splitter), text) == splitter.chunks(text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^a",
        r"(?<=a)b",
        r"\ba",
        r"a(?=bc)",
        r"(?!abc)a",
        r"(?!a(?=b)b)a",
        r"(?!ab)(?:a|b)",
        r"(?=ab)a",
        "(?!" + "(?:x?|y?)" * 20 + "z)z",
        r"(?!a|[ab]c|[ac]d|[ad]e|[ae]f|[af]g|[ag]h|[ah]i|[ai]j)a",
        r"(?>a|ab)c",
        r"(?:ab)++a",
        r"a{60}",
        r"a{1,1000}",
        r"a?",
        r"(?=a)",
        "|".join(f"{chr(200 + number)}x" for number in range(260)),
        "".join("(?:a|b)" + "a?b?" * 20 for _ in range(40)),
        r"(?:a|b)*a" + "(?:a|b)" * 10,
    ],
    ids=lambda pattern: str(pattern)[:20],
)
def test_what_a_table_cannot_do_is_refused(pattern: str) -> None:
    with pytest.raises(NoTable):
        Table(relax(parse(pattern)))
    with suppress(PatternError):  # one of them may be matched in too many ways
        assert table_of(Splitter(pattern)) is None


def test_a_pattern_for_regex_has_no_table() -> None:
    pytest.importorskip("regex")
    assert table_of(Splitter(r"(a)\1|.")) is None


@given(with_table, words)
@example(parse(r"a+ ?|\s+(?!\S)|\s"), "aa a  a")
def test_cut_points_keep_the_chunks(tree: Node, text: str) -> None:
    table = Table(tree)
    data = text.encode()
    cut = table.next_cut(data, 0)
    while cut >= 0:
        left, right = data[:cut].decode(), data[cut:].decode()
        assert chunks(table, left) + chunks(table, right) == chunks(table, text)
        cut = table.next_cut(data, cut)


@given(st.sampled_from(PUBLISHED_PATTERNS), texts.map(repair))
def test_published_patterns_have_the_cut_points_of_cuts(pattern: str, text: str) -> None:
    """``Splitter`` looks for some of them, this for all."""
    splitter = SPLITTERS[pattern]
    table = made_table(splitter)
    for place in range(1, min(len(text), 30)):
        beside = text[place - 1 : place + 1]
        if splitter.is_cut(beside, fine=True):
            assert table.next_cut(beside.encode(), 0) == len(beside[0].encode())


def test_a_text_without_cut_points_has_none() -> None:
    table = made_table(SPLITTERS[PATTERNS["cl100k_base"]])
    assert table.next_cut(b"a" * 100, 0) == -1
    assert table.next_cut(b"", 0) == -1
    assert table.next_cut("字字 a".encode(), 3) == 6
