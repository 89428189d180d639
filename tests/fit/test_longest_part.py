"""The longest part that fits, at cut points and joints, against trying every place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.fit import longest_part, split_text
from compat_bpe.fit.boundary import Boundary
from compat_bpe.fit.longest_part import fits, longest_prefix, longest_suffix
from compat_bpe.fit.truncate import Keep
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_bpe import RankedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition, parse_tokenizer
from compat_bpe.formats.tokenizer_writing import byte_level_part, pre_tokenizers_part, split_part
from compat_bpe.pipeline.added_tokens import AddedToken
from compat_bpe.pipeline.core import Core
from compat_bpe.pipeline.cutter import last_cut_point
from compat_bpe.unicode.surrogates import repair
from tests.fit.hard_encodings import encodings, hard_texts
from tests.fit.helpers import (
    SINGLE,
    asides,
    boundaries,
    limits,
    prefix_by_trying,
    stretches,
    suffix_by_trying,
    tokens,
)
from tests.fit.small_kinds import small_kind
from tests.pattern.random_trees import PATTERNS
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


@given(st.sampled_from(PATTERNS), tokens, st.data(), stretches, boundaries)
def test_long_stretches_without_a_cut(
    pattern: str, more: list[str], data: st.DataObject, text: str, boundary: Boundary
) -> None:
    ids = data.draw(st.permutations(range(256, 256 + len(more))))
    ranks = {**SINGLE, **{token.encode(): rank for token, rank in zip(more, ids)}}
    encoding = Encoding("small", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    limit = data.draw(st.integers(0, encoding.count(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(longest_part, "_LONG", 4)
        patch.setattr("compat_bpe.fit.long_chunk._LONG_CHUNK", 8)
        end = longest_prefix(encoding, text, limit, boundary=boundary)
        begin = longest_suffix(encoding, text, limit, boundary=boundary)
    assert end == prefix_by_trying(encoding, text, limit, 0, boundary, "")
    assert begin == suffix_by_trying(encoding, text, limit, len(text), boundary, "", 0)


@given(encodings, hard_texts, limits)
def test_fits(encoding: Encoding, text: str, limit: int) -> None:
    assert fits(encoding, text, limit) == (encoding.count(text) <= limit)
    assert encoding.fits(text, encoding.count(text))


class Counted(Encoding):
    """An encoding that adds up how long the texts are that it counts."""

    characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return super().count(text)


@pytest.mark.parametrize("times", [1, 100])
def test_what_is_counted_grows_with_what_is_kept_not_with_the_text(times: int) -> None:
    gpt2 = get_encoding("gpt2")
    encoding = Counted("gpt2", pat_str=gpt2._pat_str, mergeable_ranks=gpt2._mergeable_ranks,
                       special_tokens={})  # fmt: skip
    text = "A line of some words, twelve tokens.\n" * 1000 * times
    for find in (encoding.fits, encoding.truncate):
        encoding.characters = 0
        find(text, 1000)
        assert 2500 < encoding.characters < 20_000
    keeps: tuple[Keep, ...] = ("tail", "ends")
    for keep in keeps:
        encoding.characters = 0
        encoding.truncate(text, 1000, keep=keep)
        assert 2500 < encoding.characters < 30_000


@given(encodings, hard_texts, st.data())
def test_last_cut(encoding: Encoding, text: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(text)))
    cuts = []
    cut = encoding.core.next_cut_point(text, 0, end)
    while cut is not None:
        cuts.append(cut)
        cut = encoding.core.next_cut_point(text, cut, end)
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
        (
            lambda enc: longest_suffix(enc, "a", 1, start=1, end=0),
            "it must be 0 <= start <= end <= 1",
        ),
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
    ranks = {bytes([byte]): byte for byte in range(256)}
    for token in (b"x<", b"<b", b">x", b"aa"):
        ranks[token] = len(ranks)
    parts = {"normalizer": None, "post_processor": None, "decoder": byte_level_part()}
    split = split_part(r"\S+|\s")
    parts["pre_tokenizer"] = pre_tokenizers_part(split, byte_level_part(use_regex=False))
    added = (AddedToken("<b>", 300), AddedToken("x<b>", 301, special=True))
    definition = TokenizerDefinition(RankedModel(ranks), added, parts, "own")
    encoding = Tokenizer("own", definition)
    text = "x<b>" * 80
    for limit in (64, 65, 66, 67):
        begin = longest_suffix(encoding, text, limit)
        assert begin == suffix_by_trying(encoding, text, limit, len(text), "char", "", 0)


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
    joints = []
    joint = core.next_joint(text, 0, len(text))
    while joint is not None:
        joints.append(joint)
        joint = core.next_joint(text, joint, len(text))
    cut = core.next_cut_point(text, 0, fine=True)
    while cut is not None:
        assert cut in joints
        cut = core.next_cut_point(text, cut, fine=True)
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
    end = longest_prefix(encoding, text, limit, boundary=boundary)
    assert end == prefix_by_trying(encoding, text, limit, 0, boundary, "")
    begin = longest_suffix(encoding, text, limit, boundary=boundary)
    assert begin == suffix_by_trying(encoding, text, limit, len(text), boundary, "", 0)
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
    content = {"version": "1.0", "added_tokens": [], "model": model}
    parts = dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    )
    encoding = Tokenizer("bytes", parse_tokenizer(Json({**content, **parts}, "bytes")))
    text = f"aé{text}" * 12
    for limit in range(0, encoding.count(text) + 1, 2):
        begin = longest_suffix(encoding, text, limit)
        assert begin == suffix_by_trying(encoding, text, limit, len(text), "char", "", 0)


def counted(encoding: Encoding, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the lengths of all texts that an encoding counts from now on."""
    lengths: list[int] = []
    count = type(encoding).count

    def counting(self: Encoding, text: str) -> int:
        lengths.append(len(text))
        return count(self, text)

    monkeypatch.setattr(type(encoding), "count", counting)
    return lengths


@pytest.mark.parametrize("name", [*JOINTED, "llama"])
def test_few_beginnings_are_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = small_kind(name)
    assert isinstance(encoding, (Tokenizer, SentencePiece))
    text = "thendabthexab1cab" * 600
    for limit in (50, 1000):
        lengths = counted(encoding, monkeypatch)
        kept = encoding.truncate(text, limit).text
        assert limit < len(kept) < len(text) / 3
        # In a text of one word each place would be counted.
        assert sum(lengths) < 40 * len(kept) + 3000
        lengths.clear()
        kept = encoding.truncate(text, limit, keep="tail").text
        assert limit < len(kept) < len(text) / 3
        assert sum(lengths) < 40 * len(kept) + 3000
    lengths = counted(encoding, monkeypatch)
    assert "".join(part.text for part in split_text(encoding, text, 100)) == text
    assert sum(lengths) < 40 * len(text)


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
    ranks = {**{bytes([byte]): byte for byte in range(256)}, b"aa": 256, b"aaaa": 257}
    encoding = Encoding("runs", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={})
    if name is not None:
        encoding = small_kind(name)
    for limit in range(encoding.count(text) + 1):
        end = longest_prefix(encoding, text, limit)
        assert end == prefix_by_trying(encoding, text, limit, 0, "char", "")
        begin = longest_suffix(encoding, text, limit)
        assert begin == suffix_by_trying(encoding, text, limit, len(text), "char", "", 0)
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
