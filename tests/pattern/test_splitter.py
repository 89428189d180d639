"""Splitting: every alphabet, prepared or not, and every cut give the same chunks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.encodings import deepseek
from compat_bpe.encodings.published import PATTERNS, PUBLISHED
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_parts import joined_steps, read_steps
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.prepared import PREPARED
from compat_bpe.pattern.prepared_large import LARGE
from compat_bpe.pattern.splitter import (
    LARGE_PARTS,
    LONGEST_SEGMENT,
    SHORTEST_SEGMENT,
    Splitter,
    StandIns,
)
from compat_bpe.pattern.translation import PREPARED_PARTS, Translation, WithStandIns
from compat_bpe.pipeline.pre_tokenizers.base import NAME
from compat_bpe.unicode.surrogates import repair
from tools import build_prepared_patterns

PUBLISHED_PATTERNS = sorted({published.pattern for published in PUBLISHED.values()})
SPLITTERS = {pattern: Splitter(pattern) for pattern in PUBLISHED_PATTERNS}

# A few of each class in the patterns, in ASCII, in the plane below U+10000 and above it.
ALPHABET = "\x00 \t\n\r\u3000\x85\x1caAsS'éÉǅʰ字\u0301𐐀𐐨𝟘𠀀𞤀\U000e01001½२!/(，😀\u0378\U0010ffff"
texts = st.text(ALPHABET, max_size=40)
splitters = st.sampled_from(PUBLISHED_PATTERNS).map(SPLITTERS.__getitem__)


@given(splitters, texts, st.integers(0, 10), st.integers(0, 10))
@example(SPLITTERS[PUBLISHED_PATTERNS[0]], "a  b", 0, 0)
def test_passages_split_as_the_whole(
    splitter: Splitter, text: str, shortest: int, longer: int
) -> None:
    parts = list(splitter.segments(text, shortest, shortest + longer))
    assert "".join(parts) == text
    chunks = splitter.chunks(text)
    assert [chunk for part in parts for chunk in splitter.chunks(part)] == chunks
    assert "".join(chunks) == text


@given(splitters, st.text("aA sS'1!\n\r\t/\x1c", max_size=40), st.sampled_from("éx字𐐀"))
def test_ascii_is_split_alike_by_both_ways(splitter: Splitter, text: str, other: str) -> None:
    # A newline and a space in between: what follows is another match, whatever it is.
    rest = splitter.chunks(f"x\n {other}")[2:]
    ascii_part = splitter.chunks(f"{text}x\n")
    assert splitter.chunks(f"{text}x\n {other}") == [*ascii_part, *rest]


@pytest.mark.parametrize("pattern", PUBLISHED_PATTERNS)
def test_long_text_is_cut(pattern: str) -> None:
    parts = list(SPLITTERS[pattern].segments("Two words. " * 30_000))
    lengths = set(map(len, parts[:-1]))
    assert SHORTEST_SEGMENT <= min(lengths) <= max(lengths) < SHORTEST_SEGMENT + 20
    assert len(parts[-1]) <= LONGEST_SEGMENT


@pytest.mark.parametrize("pattern", PUBLISHED_PATTERNS)
def test_passages_end_at_empty_lines(pattern: str) -> None:
    """Then a change in a text changes few segments."""
    lines = "".join(f"the {i}th line of some text\n" + "\n" * (i % 20 == 0) for i in range(1000))
    splitter = SPLITTERS[pattern]
    before = set(splitter.segments(lines))
    after = list(splitter.segments(lines[:5000] + "something new " * 9 + "\n" + lines[5000:]))
    assert len([part for part in after if part not in before]) <= 3
    assert max(map(len, after)) < LONGEST_SEGMENT + 50


def test_a_pattern_that_looks_back_is_never_cut() -> None:
    for pattern in (r"(?<=a) b|.", r"^a|.", r"\ba|."):
        assert list(Splitter(pattern).segments("a b" * 50, 0, 0)) == ["a b" * 50]


def test_a_lookahead_that_reads_over_a_cut_forbids_it() -> None:
    splitter = Splitter(r"(?=a b)a|ax|\W|b")
    text = "a bax a b"
    chunks = [chunk for part in splitter.segments(text, 0, 0) for chunk in splitter.chunks(part)]
    assert chunks == splitter.chunks(text)


@pytest.mark.parametrize(
    ("pattern", "text", "chunks"),
    [
        ("[a-z]+", "ab1cd", ["ab", "cd"]),
        ("[a-z]+", "ab𐐀cd", ["ab", "cd"]),
        # After an empty match the search goes on one character further.
        ("|a", "aa", []),
        ("a*?", "aa", []),
        ("(?=a)|aa", "aaa", []),
        ("", "abc", []),
        (r"\s+$", "a \n", [" \n"]),
        (r"a$", "a\n", []),
        ("a++a|a", "aaa", ["a", "a", "a"]),
        ("(?>a|ab)c|.", "abc", ["a", "b", "c"]),
        ("(?i:ſtraße)", "STRAßE straẞe", ["STRAßE", "straẞe"]),
        ("𐐀+|[^𐐀]", "𐐀𐐀𐐁a", ["𐐀𐐀", "𐐁", "a"]),
    ],
)
def test_small_cases(pattern: str, text: str, chunks: list[str]) -> None:
    assert Splitter(pattern).chunks(text) == chunks


@given(
    st.sampled_from(
        ["|a", "a*?", "(?=a)|aa", "a*|b", r"\p{L}*", "a|(?<=b)", "", r"\b", "a+|b", "[ab]$|"]
    ),
    st.text("ab 𐐀", max_size=12),
)
def test_chunks_are_the_spans_that_are_not_empty(pattern: str, text: str) -> None:
    splitter = Splitter(pattern)
    spans = list(splitter.spans(text))
    assert splitter.chunks(text) == [text[start:end] for start, end in spans if start < end]
    ends = [-1, *(end for _, end in spans)]
    for end, (start, next_end) in zip(ends, spans):
        assert end <= start
        assert end < next_end


@pytest.mark.parametrize(
    ("pattern", "spans"),
    [
        ("a*", [(0, 2), (3, 3), (4, 5)]),
        ("a*?", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]),
        ("(?=b)|b|a", [(0, 1), (1, 2), (3, 3), (4, 5)]),
    ],
)
def test_spans(pattern: str, spans: list[tuple[int, int]]) -> None:
    assert list(Splitter(pattern).spans("aabba")) == spans


def test_many_kinds_above_the_first_plane() -> None:
    # More than the map of replacements remembers at a time.
    text = "".join(map(chr, range(0x10000, 0x110000, 3)))
    splitter = Splitter(r"\p{L}|\P{L}")
    assert splitter.chunks(text) == list(text)


def test_more_kinds_above_the_first_plane_than_there_are_surrogates() -> None:
    splitter = Splitter("|".join(map(chr, range(0x10000, 0x10000 + 2048))))
    assert splitter.chunks("abc") == []
    with pytest.raises(ValueError, match="more than 2,048 kinds"):
        splitter.chunks("\U00010000")


@given(st.text(st.sampled_from("a\ud800\udbff\udc00\udfff\ufeff😀"), max_size=12))
def test_repair_does_as_the_codecs(text: str) -> None:
    assert repair(text) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize("pattern", [r"\s+", r"\s*", "[0-9]|😀+", "(a)(b)?", "x*?"])
@given(
    text=st.text(
        st.one_of(st.sampled_from("ab 0\n😀é中"), st.characters(exclude_categories=["Cs"]))
    ),
    new=st.sampled_from(["", " ", "\\", r"\1", r"\g<0>", "中"]),
)
def test_replacing_is_by_spans_and_literal(pattern: str, text: str, new: str) -> None:
    splitter = Splitter(pattern)
    found, at = "", 0
    for start, end in splitter.spans(text):
        found += text[at:start] + new
        at = end
    assert splitter.replace(text, new) == found + text[at:]
    splitter._few_left = 0  # without stand-ins
    assert splitter.replace(text, new) == found + text[at:]


TRANSLATIONS = dict(build_prepared_patterns.translations())
KEYS = sorted(TRANSLATIONS)

#: What is above ASCII and may be looked at by a pattern, and is not a surrogate.
ABOVE = (*range(0x80, 0xD800), *range(0xE000, 0x110000))

LETTERS = (
    " \t\n\r\u3000\x85\x1caAsS'éÉǅʰ字あ\u0301𐐀𐐨𝟘𠀀𞤀\U000e01001½२!/(，、。😀\u0378À\xff\U0010ffff"
)
any_texts = st.text(
    st.sampled_from(LETTERS) | st.characters(exclude_categories=["Cs"]), max_size=40
)


def splitter(key: str, few_left: int, prepared: bool = True) -> Splitter:
    """A splitter that takes the stand-ins for a few characters, or never."""
    fresh = TRANSLATIONS[key]
    made = Splitter.of_tree(fresh.tree, NAME, PREPARED[key] if prepared else None)
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


@given(st.sampled_from(KEYS), any_texts, st.integers(0, 8), st.integers(0, 8))
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
    for name in ("ascii", "cut_points", "fine_cut_points", "ascii_cut_points", "can_be_empty"):
        assert prepared._part(name) == getattr(fresh.translation, name), name


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
    assert "translation" not in vars(made)


def test_a_pattern_with_many_kinds_of_characters() -> None:
    letters = [chr(point) for point in range(0x400, 0x400 + 100)]
    pattern = "|".join(f"{letter}+" for letter in letters)
    made = Splitter(pattern)
    text = "".join(letter * 2 for letter in letters)
    assert made.chunks(text) == [letter * 2 for letter in letters]
    assert Translation(parse(pattern), pattern).few is None


def test_steps_that_ship_are_joined_already() -> None:
    part = Json(deepseek.PARTS["pre_tokenizer"], "a file", "pre_tokenizer")
    assert len(joined_steps(part)) == 2
    assert len(read_steps(part)) == 4
    other = Json({**part.value, "pretokenizers": part.value["pretokenizers"][1:]}, "a file", "")
    assert len(joined_steps(other)) == len(read_steps(other)) == 3
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
