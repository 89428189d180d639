"""The longest part that fits, against trying every place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.fit import longest_part_search
from compat_bpe.fit.boundary import Boundary
from compat_bpe.fit.last_cut_point import last_cut_point
from compat_bpe.fit.longest_part import fits, longest_prefix, longest_suffix
from compat_bpe.fit.truncate import Keep
from compat_bpe.formats.models.bpe import RankedModel
from compat_bpe.formats.parts.pre_tokenizers import (
    byte_level_part,
    pre_tokenizers_part,
    split_part,
)
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.pipeline.added_tokens import AddedToken
from tests.fit.by_trying import (
    asides,
    boundaries,
    limits,
    prefix_by_trying,
    suffix_by_trying,
)
from tests.fit.hard_encodings import encodings, hard_texts
from tests.fit.stretches import SINGLE, stretches, tokens
from tests.pattern.hard_patterns import PATTERNS


@given(encodings, hard_texts, limits, st.data(), boundaries, asides)
def test_longest_prefix(
    encoding: Encoding,
    text: str,
    limit: int,
    data: st.DataObject,
    boundary: Boundary,
    trail: str,
) -> None:
    start = data.draw(st.one_of(st.just(0), st.integers(0, len(text))))
    found = longest_prefix(encoding, text, limit, start=start, boundary=boundary, trail=trail)
    assert found == prefix_by_trying(encoding, text, limit, start, boundary, trail)


@given(encodings, hard_texts, limits, st.data(), boundaries, asides)
def test_longest_suffix(
    encoding: Encoding,
    text: str,
    limit: int,
    data: st.DataObject,
    boundary: Boundary,
    lead: str,
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
        patch.setattr(longest_part_search, "_LONG", 4)
        patch.setattr("compat_bpe.fit.long_stretch._LONG", 8)
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
