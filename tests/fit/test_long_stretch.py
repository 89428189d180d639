"""Places ruled out in long stretches: none at which the text would fit, and most others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit import long_stretch
from compat_bpe.fit.long_stretch import _Kinds, _one_chunk_from, possible_ends, possible_starts
from compat_bpe.pattern.splitter import Splitter
from tests.fit.hard_encodings import encoding_of
from tests.fit.stretches import SINGLE, stretches, tokens
from tests.pattern.hard_patterns import PATTERNS


@given(st.sampled_from(PATTERNS), tokens, st.data(), stretches)
def test_no_place_that_fits_is_ruled_out(
    pattern: str, more: list[str], data: st.DataObject, text: str
) -> None:
    ids = data.draw(st.permutations(range(256, 256 + len(more))))
    ranks = {**SINGLE, **{token.encode(): rank for token, rank in zip(more, ids)}}
    encoding = Encoding("small", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    places = range(len(text) + 1)
    to = [encoding.count(text[:end]) for end in places]
    following = [encoding.count(text[start:]) for start in places]
    limit = data.draw(st.integers(0, encoding.count(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_stretch, "_LONG", 8)
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
def test_most_places_are_ruled_out(name: str, part: str) -> None:
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
    monkeypatch.setattr(long_stretch, "_LONG", 8)
    encoding = get_encoding("cl100k_base")
    for limit in range(encoding.count(text)):
        ends = set(possible_ends(encoding.core, text, limit))
        for end in range(len(text) + 1):
            assert end in ends or encoding.count(text[:end]) > limit


@pytest.mark.parametrize("part", ["a", "ab", " ", "中"])
def test_suffixes_of_a_long_run_are_not_counted_one_by_one(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = get_encoding("cl100k_base").core
    count_chunk, counted = core.count_chunk, 0

    def counting(chunk: str) -> int:
        nonlocal counted
        counted += len(chunk)
        return count_chunk(chunk)

    monkeypatch.setattr(core, "count_chunk", counting)
    text = f"x = {part * 3000}"
    assert set(range(len(text) - 9, len(text))) <= set(possible_starts(core, text, 100))
    # All the suffixes have more than four million characters together.
    assert counted < 300_000


def test_without_one_splitter_every_place_is_possible() -> None:
    core = encoding_of("added tokens").core
    assert core.splitter_of("a<b>c") is None
    assert list(possible_ends(core, "a<b>c", 1)) == [5, 4, 3, 2, 1, 0]
    assert list(possible_starts(core, "a<b>c", 1)) == [0, 1, 2, 3, 4, 5]
