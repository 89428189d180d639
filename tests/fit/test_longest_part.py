"""The longest part that fits, and long chunks, whole and edited, against trying every place."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from itertools import product
from unittest.mock import Mock, patch

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.fit import Document, long_chunk, longest_part, piece_tree, split_text
from compat_bpe.fit.boundary import Boundary
from compat_bpe.fit.long_chunk import (
    LongChunk,
    _Kinds,
    _one_chunk_from,
    possible_ends,
    possible_starts,
)
from compat_bpe.fit.longest_part import fits, longest_prefix, longest_suffix
from compat_bpe.fit.piece_tree import LONG_PIECE, LongPieceTokens
from compat_bpe.fit.truncate import Keep
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_bpe import RankedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition, parse_tokenizer
from compat_bpe.formats.tokenizer_writing import byte_level_part, pre_tokenizers_part, split_part
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.added_tokens import AddedToken
from compat_bpe.pipeline.core import Core
from compat_bpe.pipeline.cutter import last_cut_point
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from compat_bpe.pipeline.offsets import locate
from compat_bpe.unicode.surrogates import repair
from tests.drawn_models import BYTES, own_encoding
from tests.fit.hard_encodings import encoding_of, encodings, hard_texts
from tests.fit.helpers import (
    Counted,
    all_found,
    asides,
    boundaries,
    characters_of,
    limits,
    prefix_by_trying,
    stretches,
    suffix_by_trying,
    tokens,
)
from tests.fit.small_kinds import small_kind
from tests.pattern.random_trees import PATTERNS
from tests.tokenizer_files import tokenizer_file
from tools.attack.growth import work_of


@given(encodings, hard_texts, limits, st.data(), boundaries, asides)
def test_longest_prefix(
    encoding: Encoding, text: str, limit: int, data: st.DataObject, boundary: Boundary, trail: str
) -> None:
    start = data.draw(st.one_of(st.just(0), st.integers(0, len(text))))
    found = longest_prefix(encoding, text, limit, start=start, boundary=boundary, trail=trail)
    assert found == prefix_by_trying(encoding, text, limit, start, boundary, trail)


@given(encodings, hard_texts, limits, st.data(), boundaries, asides)
def test_longest_suffix(
    encoding: Encoding, text: str, limit: int, data: st.DataObject, boundary: Boundary, lead: str
) -> None:
    end = data.draw(st.one_of(st.just(len(text)), st.integers(0, len(text))))
    start = data.draw(st.one_of(st.just(0), st.integers(0, end)))
    found = longest_suffix(
        encoding, text, limit, end=end, boundary=boundary, lead=lead, start=start
    )
    assert found == suffix_by_trying(encoding, text, limit, end, boundary, lead, start)


def check_both_ends(encoding: Encoding, text: str, limit: int, boundary: Boundary = "char") -> None:
    end = longest_prefix(encoding, text, limit, boundary=boundary)
    assert end == prefix_by_trying(encoding, text, limit, 0, boundary, "")
    begin = longest_suffix(encoding, text, limit, boundary=boundary)
    assert begin == suffix_by_trying(encoding, text, limit, len(text), boundary, "", 0)


@given(st.sampled_from(PATTERNS), tokens, st.data(), stretches, boundaries)
def test_long_stretches_without_a_cut(
    pattern: str, more: list[str], data: st.DataObject, text: str, boundary: Boundary
) -> None:
    ids = data.draw(st.permutations(range(256, 256 + len(more))))
    ranks = {**BYTES, **{token.encode(): rank for token, rank in zip(more, ids)}}
    encoding = own_encoding(pattern, ranks)
    limit = data.draw(st.integers(0, encoding.count(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(longest_part, "_LONG", 4)
        patch.setattr("compat_bpe.fit.long_chunk._LONG_CHUNK", 8)
        check_both_ends(encoding, text, limit, boundary)


@given(encodings, hard_texts, limits)
def test_fits(encoding: Encoding, text: str, limit: int) -> None:
    assert fits(encoding, text, limit) == (encoding.count(text) <= limit)
    assert encoding.fits(text, encoding.count(text))


@pytest.mark.parametrize("times", [1, 100])
def test_what_is_counted_grows_with_what_is_kept_not_with_the_text(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = get_encoding("gpt2")
    counted = Counted(encoding, monkeypatch)
    text = "A line of some words, twelve tokens.\n" * 1000 * times
    for find in (encoding.fits, encoding.truncate):
        counted.characters = 0
        find(text, 1000)
        assert 2500 < counted.characters < 20_000
    keeps: tuple[Keep, ...] = ("tail", "ends")
    for keep in keeps:
        counted.characters = 0
        encoding.truncate(text, 1000, keep=keep)
        assert 2500 < counted.characters < 30_000


@given(encodings, hard_texts, st.data())
def test_last_cut(encoding: Encoding, text: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(text)))
    cuts = all_found(lambda at: encoding.core.next_cut_point(text, at, end))
    assert last_cut_point(encoding, text, end) == max(cuts, default=0)


def test_the_last_cut_is_seen_at_any_distance() -> None:
    """It is looked for in windows, one of which begins where it is."""
    for after in range(1, 200):
        text = f"{'a' * 9} {'b' * after}"
        assert last_cut_point(get_encoding("gpt2"), text, len(text)) == 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda enc: longest_prefix(enc, "a", -1), "limit is -1"),
        (lambda enc: longest_suffix(enc, "a", -1), "limit is -1"),
        (lambda enc: enc.fits("a", -1), "limit is -1"),
        (lambda enc: longest_prefix(enc, "a", 1, start=2), "start is 2; it must be from 0 to 1"),
        (lambda enc: longest_suffix(enc, "a", 1, end=2), "it must be 0 <= start <= end <= 1"),
        (lambda enc: longest_suffix(enc, "a", 1, start=1, end=0), "must be 0 <= start <= end <= 1"),
        (lambda enc: enc.truncate("a", 1, boundary="page"), "known: char, word, line"),
        (lambda enc: enc.truncate("a", 1, keep="middle"), "known: head, tail, ends"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[Encoding], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(get_encoding("gpt2"))


def test_a_limit_is_an_integer() -> None:
    with pytest.raises(TypeError, match="float"):
        get_encoding("gpt2").fits("a", 1.5)  # type: ignore[arg-type]


def test_the_smallest_beginning_to_consider_is_not_always_allowed() -> None:
    encoding = get_encoding("gpt2")
    assert longest_suffix(encoding, "hello world", 100, start=2, boundary="word") == 5
    assert longest_suffix(encoding, "hello world", 100, start=5, boundary="word") == 5


def test_an_added_token_within_a_special_name() -> None:
    """In the text it is none, but it is one in a part that begins within the name."""
    ranks = {token: rank for rank, token in enumerate([*BYTES, b"x<", b"<b", b">x", b"aa"])}
    parts = {"normalizer": None, "post_processor": None, "decoder": byte_level_part()}
    split = split_part(r"\S+|\s")
    parts["pre_tokenizer"] = pre_tokenizers_part(split, byte_level_part(use_regex=False))
    added = (AddedToken("<b>", 300), AddedToken("x<b>", 301, special=True))
    definition = TokenizerDefinition(RankedModel(ranks), added, parts, "own")
    encoding = Tokenizer("own", definition)
    text = "x<b>" * 80
    for limit in (64, 65, 66, 67):
        check_both_ends(encoding, text, limit)


#: Without cut points, but with joints; the first has few cut points.
JOINTED = ["unigram, always", "unigram, first", "unigram, never", "t5", "spm unigram"]

#: Texts in which cut points are far apart for most of these, and that begin like parts of them.
repeated_parts = st.lists(
    st.tuples(
        st.sampled_from(["ab", "the", "thend", "<b>", "x.", "é中", "ABE", "▁", "\u0301", " "]),
        st.sampled_from([1, 1, 2, 6]),
    ),
    max_size=8,
).map(lambda parts: "".join(part * times for part, times in parts))
texts = st.one_of(hard_texts, repeated_parts)


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make short texts long ones."""
    monkeypatch.setattr(longest_part, "_LONG", 3)
    monkeypatch.setattr(longest_part, "_SHORTEST", 1)
    monkeypatch.setattr(longest_part, "_FAR", 1)
    monkeypatch.setattr(longest_part, "_FEW", 1)
    monkeypatch.setattr(longest_part, "SHORTEST_SEGMENT", 2)
    monkeypatch.setattr(longest_part, "LONGEST_SEGMENT", 4)


@given(encodings, texts, st.data())
def test_joints_of_encodings(encoding: Encoding, text: str, data: st.DataObject) -> None:
    core = encoding.core
    joints = all_found(lambda at: core.next_joint(text, at, len(text)))
    assert {*joints}.issuperset(all_found(lambda at: core.next_cut_point(text, at, fine=True)))
    assume(joints)
    joint = data.draw(st.sampled_from(joints))
    end = data.draw(st.integers(joint, len(text)))
    assert encoding.count(text[:joint]) <= encoding.count(text[:end])
    start = data.draw(st.integers(0, joint - 1))
    after = text[joint - 1 : end]
    least = encoding.continued.count(after) - encoding.continued.count(after[0])
    assert encoding.count(text[start:end]) >= least - core.slack(repair(after))


@pytest.mark.usefixtures("in_small")
@pytest.mark.parametrize("name", [*JOINTED, None])
@given(st.data(), texts, boundaries)
def test_the_longest_part(
    name: str | None, data: st.DataObject, text: str, boundary: Boundary
) -> None:
    encoding = data.draw(encodings) if name is None else small_kind(name)
    limit = data.draw(st.integers(0, encoding.count(text) + 1))
    check_both_ends(encoding, text, limit, boundary)
    start = data.draw(st.integers(0, len(text)))
    end = longest_prefix(encoding, text, limit, start=start)
    assert end == prefix_by_trying(encoding, text, limit, start, "char", "")
    begin = longest_suffix(encoding, text, limit, end=start)
    assert begin == suffix_by_trying(encoding, text, limit, start, "char", "", 0)


def test_no_joint_where_the_normalizer_joins() -> None:
    for name in ("unigram, always", "t5"):
        core = small_kind(name).core
        assert core.next_joint("xe\u0301c", 1, 3) is None
        assert core.next_joint("xab", 1, 3) is None
        assert core.next_joint("x_x", 0, 3) == 1


@pytest.mark.usefixtures("in_small")
@pytest.mark.parametrize("text", ["éb", "<unk>", "éb<unk>"])
def test_what_is_before_a_joint_may_save_tokens_on_both_sides(text: str) -> None:
    """An unknown character is its bytes, and the unknown piece after it too; a piece saves them."""
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = [["<unk>", 0.0], ["aé", -1.0], ["a", -2.0], *([name, -3.0] for name in names)]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": True}
    encoding = Tokenizer("bytes", parse_tokenizer(Json(tokenizer_file(model=model), "bytes")))
    text = f"aé{text}" * 12
    for limit in range(0, encoding.count(text) + 1, 2):
        check_both_ends(encoding, text, limit)


@pytest.mark.parametrize("name", [*JOINTED, "llama"])
def test_few_beginnings_are_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = small_kind(name)
    counted = Counted(encoding, monkeypatch)
    text = "thendabthexab1cab" * 600
    keeps: tuple[Keep, ...] = ("head", "tail")
    for limit, keep in product((50, 1000), keeps):
        counted.characters = 0
        kept = encoding.truncate(text, limit, keep=keep).text
        assert limit < len(kept) < len(text) / 3
        # In a text of one word each place would be counted.
        assert counted.characters < 40 * len(kept) + 3000
    counted.characters = 0
    assert "".join(part.text for part in split_text(encoding, text, 100)) == text
    assert counted.characters < 40 * len(text)


plain = st.text("abe. 1é中", max_size=40)


@given(st.sampled_from(JOINTED), texts, plain, texts)
def test_a_token_stands_for_few_characters(name: str, before: str, text: str, after: str) -> None:
    encoding = small_kind(name)
    longest = encoding.core.longest_span(text)
    if longest is not None:
        for whole in (text, before + text + after):
            assert encoding.count(whole) * longest >= len(text) - 2


# The others change these letters, or have names with them.
@pytest.mark.parametrize("name", ["unigram, first", "unigram, never", "spm unigram"])
@pytest.mark.parametrize("keep", ["head", "tail"])
def test_text_is_looked_at_as_far_as_the_limit_allows(name: str, keep: Keep) -> None:
    encoding = small_kind(name)
    assert encoding.core.longest_span("ab" * 9)

    def work(times: int) -> int:
        encoding.clear_cache()
        return work_of(lambda: encoding.truncate("ab" * times, 10, keep=keep))

    work(2_000)  # what is made once
    assert work(50_000) < 1.5 * work(2_000)


@pytest.mark.parametrize("name", ["o200k_base", "deepseek_v3"])
@pytest.mark.parametrize("char", "7漢")
@pytest.mark.parametrize("overlap", [0, 20])
def test_a_part_is_looked_at_as_far_as_its_own_tokens_reach(
    name: str, char: str, overlap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest token of the vocabulary, 128 spaces, is no reason to look 128 times as far."""
    core = get_encoding(name).core
    longest_in = type(core).longest_in
    looked_at = 0

    def noting(self: Core, text: str) -> int:
        nonlocal looked_at
        looked_at += len(text)
        return longest_in(self, text)

    monkeypatch.setattr(type(core), "longest_in", noting)
    parts = split_text(get_encoding(name), char * 15_000, 100, overlap)
    assert parts[-1].end == 15_000
    searches = len(parts) * (2 if overlap else 1)
    assert looked_at < 2500 * searches


@pytest.mark.sweep
def test_tokens_at_the_far_edge_of_what_is_looked_at_are_known() -> None:
    """A long token that begins, or for suffixes ends, just outside of the window."""
    encoding = get_encoding("gpt2")
    for repeated in ("-", " ", "\u00a0"):
        text = repeated * 3_000
        for limit in (1, 3):
            end = longest_prefix(encoding, text, limit)
            assert end == prefix_by_trying(encoding, text[:600], limit, 0, "char", "")
            begin = longest_suffix(encoding, text, limit)
            assert begin is not None
            tail = suffix_by_trying(encoding, text[:600], limit, 600, "char", "", 0)
            assert begin - 2_400 == tail


def test_the_tokens_of_surrogates_are_those_they_are_repaired_to() -> None:
    core = get_encoding("gpt2").core
    assert core.longest_in("\ud800" * 9) == core.longest_in("\ufffd" * 9) > 3
    assert core.longest_in("\ud83d\ude00") == core.longest_in("\U0001f600")


@pytest.mark.usefixtures("in_small")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("spm unigram", "ab" * 6),
        ("unigram, first", "\u0301\u0301x.▁"),
        ("spm bpe, unused", "the"),
        ("characters only", "▁" * 6 + "\u0301" * 2),
        (None, "a" * 12),
    ],
)
def test_tokens_may_be_as_long_as_any(name: str | None, text: str) -> None:
    encoding = own_encoding(r"\w+|\W+", {**BYTES, b"aa": 256, b"aaaa": 257})
    if name is not None:
        encoding = small_kind(name)
    for limit in range(encoding.count(text) + 1):
        check_both_ends(encoding, text, limit)
        end = longest_prefix(encoding, text, limit, trail="<b>")
        assert end == prefix_by_trying(encoding, text, limit, 0, "char", "<b>")


@pytest.mark.parametrize("name", ["llama", "llama, first", "spm bpe"])
def test_what_goes_on_has_nothing_put_before_it(name: str) -> None:
    encoding = small_kind(name)
    text = "the ab " * 300
    for limit in range(0, 600, 50):
        end = longest_prefix(encoding, text, limit)
        assert end is not None
        assert encoding.count(text[:end]) <= limit
        assert all(encoding.count(text[:more]) > limit for more in range(end + 1, end + 9))


# Long chunks and stretches


byte_tokens = st.lists(st.binary(min_size=2, max_size=6).map(lambda b: bytes(c % 3 for c in b)))
chunks = st.one_of(
    st.binary(min_size=1, max_size=60),
    st.builds(lambda part, times: part * times, st.binary(min_size=1, max_size=4), st.just(15)),
).map(lambda data: bytes(byte % 3 for byte in data))


@given(byte_tokens, st.randoms(use_true_random=False), chunks)
# The longest beginning of at most three tokens follows others of two, and many of four.
@example([b"\2\0\1", b"\1\1", b"\0\1"], random.Random(1), b"\0\1\2\0\1\1\1\0\0\2\0\1")
# The longest end of at most two tokens comes before one of one, and two of more.
@example([b"\1\1\2", b"\2\1\1\2", b"\1\1\2\1", b"\1\1"], random.Random(1), b"\1\1\1\2\1\1\1\2")
def test_beginnings_and_ends(more: list[bytes], rng: object, data: bytes) -> None:
    vocabulary = list(dict.fromkeys([bytes([byte]) for byte in range(256)] + more))
    ids = list(range(len(vocabulary)))
    rng.shuffle(ids)  # type: ignore[attr-defined]
    ranks = dict(zip(vocabulary, ids))
    length_of = {number: len(token) for token, number in ranks.items()}
    merge = BytePairEncoder(ranks).merge
    chunk = LongChunk(data, merge, length_of.__getitem__, max(map(len, vocabulary)))
    places = range(len(data) + 1)
    to = [len(merge(data[:end])) for end in places]
    following = [len(merge(data[start:])) for start in places]
    assert [chunk.count_to(end) for end in places] == to
    assert [chunk.count_from(start) for start in places] == following
    assert chunk.count == to[-1]
    for limit in range(len(data) + 2):
        last, first = chunk.last_end_within(limit), chunk.first_start_within(limit)
        assert all(count > limit for count in to[last + 1 :])
        assert all(count > limit for count in following[:first])


def test_most_places_are_ruled_out() -> None:
    ranks = {b"a" * (1 << n): n for n in range(4)}
    merge = BytePairEncoder(ranks).merge
    chunk = LongChunk(b"a" * 1000, merge, [1, 2, 4, 8].__getitem__, 8)
    assert 80 <= chunk.last_end_within(10) <= 90
    assert 910 <= chunk.first_start_within(10) <= 920


@pytest.mark.parametrize("data", [bytes(random.Random(1).choices(b"abc", k=1500)), b"a" * 1500])
def test_few_bytes_are_merged_for_all_beginnings_and_ends(data: bytes) -> None:
    single = [bytes([byte]) for byte in range(256)]
    vocabulary = [*single, b"ab", b"ca", b"abc", b"bb", b"abca", b"aa", b"aaaa"]
    encoder = BytePairEncoder({token: number for number, token in enumerate(vocabulary)})
    merge = Mock(wraps=encoder.merge)
    chunk = LongChunk(data, merge, list(map(len, vocabulary)).__getitem__, 4)
    for count, places in ((chunk.count_to, reversed(range(1501))), (chunk.count_from, range(1501))):
        merge.reset_mock()
        for place in places:
            count(place)
        assert 0 < characters_of(merge) < 15_000


def of_letters(tokens: list[str]) -> Encoding:
    """An encoding of any bytes and of these tokens, whose pattern takes all letters for a chunk."""
    ranks = {bytes([byte]): 1000 + byte for byte in range(256)}
    for token in tokens:
        ranks.setdefault(token.encode(), len(ranks))
    return own_encoding(r"\p{L}+|[^\p{L}]", ranks)


letters = st.text("abé語", max_size=30)
edits = st.tuples(st.integers(0, 60), st.integers(0, 4), st.text("abé語", max_size=4))


@given(
    st.lists(st.text("abé語", min_size=2, max_size=5), max_size=12),
    letters,
    st.lists(edits, max_size=6),
    st.sampled_from([(0,), (1,), (0, 1, 2), (4, 32)]),
)
# Tokens of a run of one letter are shifted by what is put before them.
@example(["aa", "aaaa"], "a" * 30, [(0, 0, "a"), (7, 1, "")], (0, 1, 2))
# A token that the edit makes reaches over the tokens beside it.
@example(["ab", "abab", "babab"], "ababababab", [(4, 1, "")], (0,))
def test_edits_of_a_word(
    tokens: list[str], text: str, changes: list[tuple[int, int, str]], beside: tuple[int, ...]
) -> None:
    encoding = of_letters(tokens)
    with patch.object(piece_tree, "LONG_PIECE", 3), patch.object(piece_tree, "_BESIDE", beside):
        document = Document(encoding, text)
        for at, length, new in changes:
            at = min(at, len(text))
            text = text[:at] + new + text[at + length :]
            document.replace(at, min(at + length, len(document)), new)
            assert document.count == encoding.count(text)
            expected = locate(encoding.core.definition, text, frozenset())
            placed = document.tokens(0, len(text))
            assert [(one.id, one.start, one.end) for one in placed] == [
                (one.id, one.start, one.end) for one in expected
            ]
            for start in range(len(text)):
                for end in (start + 1, start + 2):
                    if end <= len(text):
                        assert document.tokens(start, end) == [
                            one for one in placed if one.start < end and one.end > start
                        ]
            assert [document.token(number) for number in range(document.count)] == placed


@pytest.mark.parametrize("name", ["o200k_base", "deepseek_v3", "gpt2"])
def test_a_keystroke_in_a_long_word_merges_what_is_beside_it(name: str) -> None:
    encoding = get_encoding(name)
    text = "".join(random.Random(1).choices("abcdefghij", k=20_000))
    document = Document(encoding, text)
    model = encoding.core.model
    with patch.object(model, "merge", wraps=model.merge) as merge:
        for at in (0, 5_000, 19_000):
            document.replace(at, at, "x")
            text = text[:at] + "x" + text[at:]
        document.tokens(100, 200)
        document.token(1000)
    assert characters_of(merge) < 1_000
    assert document.count == encoding.count(text)
    ids = [one.id for one in document.tokens(0, len(text))]
    assert ids == encoding.encode(text)


def test_other_texts_are_left_to_the_encoding() -> None:
    pieces = LongPieceTokens(get_encoding("gpt2"))
    assert pieces.merged("a" * (LONG_PIECE - 1)) is None  # short
    assert pieces.merged("a b" * LONG_PIECE) is None  # several chunks
    assert pieces.merged("a" * LONG_PIECE + "\ud800") is None
    assert pieces.merged("a" * LONG_PIECE) is not None
    # A text may be a token that no merging makes.
    whole = of_letters(["b" * LONG_PIECE])
    assert LongPieceTokens(whole).merged("b" * LONG_PIECE) is None
    assert Document(whole, "b" * LONG_PIECE).count == 1


def test_no_more_pieces_are_kept_than_are_edited() -> None:
    pieces = LongPieceTokens(get_encoding("gpt2"))
    for letter in "abcdefgh":
        pieces.merged(letter * LONG_PIECE)
    assert len(pieces._kept) == piece_tree._KEPT_PIECES
    assert len(pickle.dumps(pieces)) < LONG_PIECE


@given(st.sampled_from(PATTERNS), tokens, st.data(), stretches)
def test_no_place_that_fits_is_ruled_out(
    pattern: str, more: list[str], data: st.DataObject, text: str
) -> None:
    ids = data.draw(st.permutations(range(256, 256 + len(more))))
    ranks = {**BYTES, **{token.encode(): rank for token, rank in zip(more, ids)}}
    encoding = own_encoding(pattern, ranks)
    places = range(len(text) + 1)
    to = [encoding.count(text[:end]) for end in places]
    following = [encoding.count(text[start:]) for start in places]
    limit = data.draw(st.integers(0, encoding.count(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_chunk, "_LONG_CHUNK", 8)
        ends = list(possible_ends(encoding.core, text, limit))
        starts = list(possible_starts(encoding.core, text, limit))
    assert ends == sorted(set(ends), reverse=True)
    assert starts == sorted(set(starts))
    assert {end for end in places if to[end] <= limit} <= set(ends)
    assert {start for start in places if following[start] <= limit} <= set(starts)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        # Of nine characters the beginnings are one chunk, but not of ten.
        (r"(?s:.){1,9}", None),
        (r"(?s:.){1,9}|(?s:.)+", None),
        (r"(?s:.){1,8}a*", 9),
        (r"(?s:.)+", 1),
        (r"(?s:.){3,}?$|(?s:.)", 5),
        (r"(?:aa)+|(?s:.)", None),
    ],
)
def test_beginnings_are_one_chunk_from_some_place_on(pattern: str, place: int | None) -> None:
    splitter = Splitter(pattern)
    chunk = "a" * 40
    assert _one_chunk_from(splitter, chunk) == place
    if place is not None:
        assert all(len(splitter.chunks(chunk[:end])) == 1 for end in range(place, 41))


def test_only_the_run_at_the_end_is_of_one_kind() -> None:
    splitter = Splitter(r"[ab]+|[^ab]")
    assert _one_chunk_from(splitter, "ab" * 9) == 1  # a and b lie in the same classes
    assert _one_chunk_from(Splitter(r"[ab]+c|(?s:.)+"), "c" * 9 + "a" * 9) == 12
    assert _one_chunk_from(splitter, "ab") == 1
    assert _one_chunk_from(splitter, "a") is None


@pytest.mark.parametrize(
    ("pattern", "bound"),
    [
        ("ab", 2),
        ("(?:ab){3}", 6),
        ("(?:ab){2,5}", 10),
        ("a{4,}b", 5),
        ("a|bc", 3),
        ("(?>a+)b", 3),
        ("(?!a)b", 3),
        ("(?:a+){3}", 3),
        # Endless repeats of more than a character.
        ("(?:ab)+", None),
        ("(?:a{3})+", None),
        ("(?:(?!b)ac)+", None),
        # Of one under conditions: on a fixed number of characters, or on any.
        ("(?:(?!b)a)+", 3),
        ("(?:(?!)a)+", 2),
        ("(?:(?!b)(?<=c)a)+", 5),
        ("(?:(?!bc)a)+", 4),
        ("(?:(?!b{2}c)a)+", 5),
        ("(?:(?!bc+)a)+", 4),
        ("(?:(?!b|c+)a)+", 4),
        ("(?:(?!b+c)a)+", None),
        ("(?:(?!b|c+d)a)+", None),
        ("(?:(?!(?:bc+)*)a)+", None),
        ("(?:(?!b)(?!c+d)a)+", None),
    ],
)
def test_how_many_characters_a_pattern_can_tell_apart(pattern: str, bound: int | None) -> None:
    assert _Kinds(Splitter(pattern), "abcd").bound == bound


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["cl100k_base", "deepseek_v3"])
@pytest.mark.parametrize("part", ["a", "-", " ", "7", "\n", "ก", "中", "Ab", "acgt"])
def test_most_places_of_a_stretch_are_ruled_out(name: str, part: str) -> None:
    encoding = get_encoding(name)
    text = part * (400 // len(part))
    limit = encoding.count(text) // 2
    end = next(end for end in range(len(text), 0, -1) if encoding.count(text[:end]) <= limit)
    start = next(start for start in range(len(text)) if encoding.count(text[start:]) <= limit)
    ends = list(possible_ends(encoding.core, text, limit))
    starts = list(possible_starts(encoding.core, text, limit))
    assert ends.index(end) <= 8
    assert starts.index(start) <= 8


def test_most_places_after_a_long_chunk_are_ruled_out() -> None:
    encoding = get_encoding("cl100k_base")
    text = "-" * 300 + "a" * 300
    limit = encoding.count(text) // 2
    ends = list(possible_ends(encoding.core, text, limit))
    assert any(encoding.count(text[:end]) <= limit for end in ends[:9])


@pytest.mark.parametrize("text", ["国  é", "          中"])
def test_what_decides_on_a_chunk_may_be_beyond_the_next(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_chunk, "_LONG_CHUNK", 8)
    encoding = get_encoding("cl100k_base")
    for limit in range(encoding.count(text)):
        ends = set(possible_ends(encoding.core, text, limit))
        for end in range(len(text) + 1):
            assert end in ends or encoding.count(text[:end]) > limit


@pytest.mark.parametrize("part", ["a", "ab", " ", "中"])
def test_suffixes_of_a_long_run_are_not_counted_one_by_one(part: str) -> None:
    core = get_encoding("cl100k_base").core
    text = f"x = {part * 3000}"
    with patch.object(core, "count_chunk", wraps=core.count_chunk) as count_chunk:
        assert set(range(len(text) - 9, len(text))) <= set(possible_starts(core, text, 100))
    # All the suffixes have more than four million characters together.
    assert 0 < characters_of(count_chunk) < 300_000


def test_without_one_splitter_every_place_is_possible() -> None:
    core = encoding_of("added tokens").core
    assert core.splitter_of("a<b>c") is None
    assert list(possible_ends(core, "a<b>c", 1)) == [5, 4, 3, 2, 1, 0]
    assert list(possible_starts(core, "a<b>c", 1)) == [0, 1, 2, 3, 4, 5]
