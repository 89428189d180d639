"""What is prepared is what would be translated now, and every alphabet gives the same chunks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.encodings import deepseek
from compat_bpe.encodings.openai import PUBLISHED
from compat_bpe.encodings.patterns import PATTERNS
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.parts.pre_tokenizers import joined_steps, steps
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.prepared import PREPARED
from compat_bpe.pattern.prepared_large import LARGE
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.stand_ins import StandIns
from compat_bpe.pattern.translation import LARGE_PARTS, PREPARED_PARTS, Translation, WithStandIns
from compat_bpe.pipeline.pre_tokenizers.base import NAME
from tools import build_prepared_patterns

TRANSLATIONS = dict(build_prepared_patterns.translations())
KEYS = sorted(TRANSLATIONS)

#: What is above ASCII and may be looked at by a pattern, and is not a surrogate.
ABOVE = (*range(0x80, 0xD800), *range(0xE000, 0x110000))

ALPHABET = (
    " \t\n\r\u3000\x85\x1caAsS'éÉǅʰ字あ\u0301𐐀𐐨𝟘𠀀𞤀\U000e01001½२!/(，、。😀\u0378À\xff\U0010ffff"
)
texts = st.text(st.sampled_from(ALPHABET) | st.characters(exclude_categories=["Cs"]), max_size=40)


def splitter(key: str, few_left: int, prepared: bool = True) -> Splitter:
    """A splitter that takes the stand-ins for a few characters, or never."""
    fresh = TRANSLATIONS[key]
    translation = Translation(lambda: fresh.tree, NAME, PREPARED[key] if prepared else None)
    made = Splitter.of_translation(translation, NAME)
    made._few_left = few_left
    return made


FEW = {key: splitter(key, 1 << 60) for key in KEYS}
FEW_FRESH = {key: splitter(key, 1 << 60, prepared=False) for key in KEYS}
MOST = {key: splitter(key, -1) for key in KEYS}
MOST_FRESH = {key: splitter(key, -1, prepared=False) for key in KEYS}


def test_the_files_are_what_would_be_written() -> None:
    for target, text in build_prepared_patterns.generate().items():
        assert target.read_text("utf-8") == text, target.name


def test_all_patterns_that_ship_are_prepared() -> None:
    shipped = {published.pattern for published in PUBLISHED.values()} | set(PATTERNS.values())
    assert set(PREPARED) == set(TRANSLATIONS) == {*shipped, repr(deepseek.PARTS["pre_tokenizer"])}
    for parts in PREPARED.values():
        assert set(parts) == {*PREPARED_PARTS, "large"}
    assert [parts["large"] for parts in PREPARED.values()] == list(range(len(LARGE)))
    for parts in LARGE:
        assert set(parts) == set(LARGE_PARTS)


@pytest.mark.sweep
@pytest.mark.parametrize(("part", "first"), [("few", 0x80), ("most", 0x10000)])
@pytest.mark.parametrize("key", KEYS)
def test_stand_ins_of_all_characters(key: str, part: str, first: int) -> None:
    prepared = {**PREPARED[key], **LARGE[PREPARED[key]["large"]]}[part]
    fresh = getattr(TRANSLATIONS[key], part)
    assert prepared[0] == fresh[0]

    def all_of(parts: WithStandIns) -> str:
        starts = list(map(ord, parts[1]))
        assert starts == sorted(starts)
        assert starts[0] == first
        stretches = zip(parts[2], starts, [*starts[1:], 0x110000])
        every = "".join(stand_in * (end - start) for stand_in, start, end in stretches)
        return every if first > 0xE000 else every[: 0xD800 - first] + every[0xE000 - first :]

    expected = all_of(prepared)
    assert expected == all_of(fresh)
    # That is what replacing does at both ends of each stretch and in between, also when it forgets.
    points = ABOVE[-len(expected) :]
    edges = {ord(start) + more for start in prepared[1][1:] for more in (-1, 0)}
    some = [n for n, point in enumerate(points) if n % 16 == 0 or point in edges]
    text = "".join(chr(points[n]) for n in some)
    assert StandIns(*prepared[1:]).replace(text) == "".join(expected[n] for n in some)


@pytest.mark.parametrize("key", KEYS)
def test_characters_of_each_kind_are_split_alike(key: str) -> None:
    few = TRANSLATIONS[key].few
    assert few is not None
    # The first and the last of each stretch.
    points = sorted({ord(start) + more for start in few[1][1:] for more in (-1, 0)})
    for form in ("{0}", "a{0}a1{0}", " {0}{0} ", "A{0}s\n{0}\n", "1{0}'{0}"):
        text = "".join(form.format(chr(p)) for p in points if not 0xD800 <= p < 0xE000)
        assert FEW[key].chunks(text) == MOST[key].chunks(text)


@given(st.sampled_from(KEYS), texts, st.integers(0, 8), st.integers(0, 8))
@example(KEYS[0], "a、 b。\n\nc😀 d\u0301 e", 0, 0)
def test_any_text_is_split_and_cut_alike(key: str, text: str, shortest: int, longer: int) -> None:
    whole = MOST[key].chunks(text)
    cuts = list(MOST[key].segments(text, shortest, shortest + longer))
    for other in (FEW[key], FEW_FRESH[key], MOST_FRESH[key]):
        assert other.chunks(text) == whole
        assert list(other.spans(text)) == list(MOST[key].spans(text))
        assert list(other.segments(text, shortest, shortest + longer)) == cuts
    for place in range(len(text)):
        assert FEW[key].chunk_end(text)(place) == MOST[key].chunk_end(text)(place)


@given(st.sampled_from(KEYS), st.text("aA sS'1!\n\r\t/\x1c,", max_size=40))
def test_ascii_is_cut_as_any_text(key: str, text: str) -> None:
    found, replaced = FEW[key]._cut_points_for(text)
    assert replaced is text
    assert found is not None
    whole = FEW[key].cut_points
    assert whole is not None
    ends = [match.end() for match in whole.finditer(text)]
    assert [match.end() for match in found.finditer(text)] == ends


@pytest.mark.parametrize("key", KEYS)
def test_what_else_is_asked_of_a_prepared_pattern(key: str) -> None:
    prepared, fresh = FEW[key], FEW_FRESH[key]
    assert prepared.tree == fresh.tree
    assert prepared.is_plain
    # Of joined steps, gaps are pieces, too.
    assert prepared.leaves_nothing_out
    for name in (
        "ascii",
        "cut_points",
        "fine_cut_points",
        "ascii_cut_points",
        "can_be_empty",
    ):
        assert getattr(prepared.translation, name) == getattr(fresh.translation, name), name


def test_only_the_first_text_is_split_by_stand_ins() -> None:
    made = Splitter(PUBLISHED["gpt2"].pattern)
    left = made._few_left
    assert made.chunks("é a") == ["é", " a"]
    assert made._few_left == left - 3
    assert "_most" not in vars(made)
    assert made.chunks("é" * left) == ["é" * left]
    assert "_most" in vars(made)
    assert made.chunks("é a") == ["é", " a"]
    # All of that is prepared.
    assert "tree" not in vars(made.translation)


def test_a_pattern_with_many_kinds_of_characters() -> None:
    letters = [chr(point) for point in range(0x400, 0x400 + 100)]
    pattern = "|".join(f"{letter}+" for letter in letters)
    made = Splitter(pattern)
    text = "".join(letter * 2 for letter in letters)
    assert made.chunks(text) == [letter * 2 for letter in letters]
    assert Translation(lambda: parse(pattern), pattern).few is None


def test_steps_that_ship_are_joined_already() -> None:
    part = Json(deepseek.PARTS["pre_tokenizer"], "a file", "pre_tokenizer")
    assert len(joined_steps(part)) == 2
    assert len(steps(part)) == 4
    other = Json({**part.value, "pretokenizers": part.value["pretokenizers"][1:]}, "a file", "")
    assert len(joined_steps(other)) == len(steps(other)) == 3
    assert joined_steps(None) == []


@pytest.mark.parametrize(
    "pattern", [*dict.fromkeys(PATTERNS.values()), r"\p{L}+|\s+(?!\S)|\s|[^\s\p{L}]"]
)
def test_threads_that_split_first(pattern: str) -> None:
    jobs = [
        "naïve 😀 字 a",
        "plain text",
        "Grüße aus Köln",
        "é" * 70_000,
        "да",
        "x" * 3000 + "\n字",
    ]
    expected = [Splitter(pattern).chunks(text) for text in jobs]
    for _ in range(3):
        made = Splitter(pattern)
        with ThreadPoolExecutor(len(jobs)) as executor:
            assert list(executor.map(made.chunks, jobs)) == expected
