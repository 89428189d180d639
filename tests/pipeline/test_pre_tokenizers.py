"""Steps joined into one pattern against steps one by one."""

from __future__ import annotations

import signal
import sys

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import LONGEST_SEGMENT, Splitter
from compat_bpe.pipeline.aligned import Aligned
from compat_bpe.pipeline.pre_tokenizers.base import PreTokenizerStep, split_off_first
from compat_bpe.pipeline.pre_tokenizers.split import BEHAVIORS, Split
from compat_bpe.pipeline.pre_tokenizers.splitter import StepSplitter, make_splitter
from compat_bpe.pipeline.pre_tokenizers.steps import (
    SCHEMES,
    ByteAlphabet,
    FixedLength,
    Metaspace,
    PrefixSpace,
    UnicodeScripts,
    to_bytes,
)
from compat_bpe.unicode.surrogates import START, repair
from tests.examples import scaled
from tests.strategies import texts

RUNS = [r"\p{N}{1,3}", r"\p{N}", "[一-龥぀-ゟ゠-ヿ]+", "[\r\n]", "[a-c]+", r"[\p{N}a]"]
LAST = [
    r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"\s+$|[a-z]+(?=\s)",
    r"[A-Z]*[a-z]+|[A-Z]+[a-z]*",
    r"\w+\z|x",
    r"(?:ab)+c?|b",
    r"\p{L}++\.?+",
]


def one_by_one(steps: list[PreTokenizerStep], text: str) -> list[str]:
    """What the plain rule of each step in turn makes of a text."""
    return [piece.text for piece in StepSplitter(steps).align(Aligned.of(text))]


@settings(max_examples=scaled(400))
@given(
    st.lists(st.sampled_from(RUNS), max_size=3),
    st.one_of(st.none(), st.sampled_from(LAST)),
    st.lists(texts, max_size=3),
)
@example([r"\p{N}{1,3}", r"\p{N}"], None, ["77"])  # the pieces of a run are cut again
@example(["[一-龥぀-ゟ゠-ヿ]+"], LAST[0], ["中・゠中"])
@example([r"\p{N}{1,3}"], r"\w+\z|x", ["1234"])
@example(["[a-c]+"], "[a-c]{2}|[a-c]+", ["abcab"])  # the first branch cuts the run again
def test_joined_steps_split_as_one_by_one(
    runs: list[str], last: str | None, several: list[str]
) -> None:
    steps: list[PreTokenizerStep] = [Split(parse(run)) for run in runs]
    if last is not None:
        steps.append(Split(parse(last)))
    joined = make_splitter(steps)
    for text in map(repair, several):
        assert joined.chunks(text) == one_by_one(steps, text)


@given(st.sampled_from(LAST), st.sampled_from(RUNS), st.lists(texts, min_size=30, max_size=40))
def test_passages_of_joined_steps_split_as_the_whole(
    last: str, run: str, several: list[str]
) -> None:
    splitter = make_splitter([Split(parse(run)), Split(parse(last))])
    text = repair("\n".join(several))
    assume(isinstance(splitter, Splitter))
    assert isinstance(splitter, Splitter)
    passages = list(splitter.segments(text, 20, 60))
    assert "".join(passages) == text
    assert [chunk for part in passages for chunk in splitter.chunks(part)] == splitter.chunks(text)


@pytest.mark.parametrize(
    "steps",
    [
        [Split(parse("[0-9]")), Split(parse("(?<=a)b"))],
        [Split(parse("[0-9]")), Split(parse("^a"))],
        [Split(parse("[0-9]+")), Split(parse("1"), "Removed")],
        [Split(parse("[0-9]")), Split(parse("1"), "Removed")],
        [Split(parse("[0-9]")), Split(parse("1|ab"), "Removed", invert=True)],
        [Split(parse("ab"), "Contiguous")],
        [Split(parse("ab"), "Removed")],
        [Split(parse("ab")), Split(parse("[0-9]"))],
        [Split(parse("[0-9]{2,3}")), Split(parse("a"))],
        [Split(parse("[0-9]{1,3}")), Split(parse("[1-7]"))],
        [Split(parse("[0-9]{1,3}")), Split(parse("[0-9]{1,2}|a"))],
        [Split(parse("a*"))],
        [Split(parse("a")), PrefixSpace()],
    ],
    ids=repr,
)
def test_steps_that_cannot_be_joined_are_not(steps: list[PreTokenizerStep]) -> None:
    assert isinstance(make_splitter(steps), StepSplitter)


def test_deepseeks_steps_are_joined_and_long_text_is_cut_into_passages() -> None:
    splitter = make_splitter([Split(parse(RUNS[0])), Split(parse(RUNS[2])), Split(parse(LAST[0]))])
    assert isinstance(splitter, Splitter)
    text = "Some words, and 1234 more.\n\n" * 1000
    assert max(map(len, splitter.segments(text))) <= LONGEST_SEGMENT


def test_what_a_chunk_stands_for() -> None:
    digits = Split(parse("[0-9]"))
    last: list[list[PreTokenizerStep]] = [
        [ByteAlphabet()],
        [digits, ByteAlphabet()],
        [ByteAlphabet()] * 2,
    ]
    for steps in last:
        assert to_bytes(steps)("é") == "é".encode()
    steps = [PrefixSpace(), ByteAlphabet(), digits]
    chunks = StepSplitter(steps).chunks("é1")
    assert chunks == ["ĠÃ©", "1"]
    assert b"".join(map(to_bytes(steps), chunks)) == " é1".encode()


#: Steps of every kind.
SETS = [r"[a-c ]", r"[a-c ]+", r"[a-c]{1,2}", r"\s", r"\s+", "▁"]
steps_of_all_kinds = st.one_of(
    st.builds(
        lambda pattern, behavior, invert: Split(parse(pattern), behavior, invert),
        st.sampled_from([*SETS, *SETS, *LAST, r"(?<=a)b", r"[ab]*"]),
        st.sampled_from(BEHAVIORS),
        st.booleans(),
    ),
    st.builds(Metaspace, st.sampled_from("▁▁_"), st.sampled_from(SCHEMES), st.booleans()),
    st.sampled_from([PrefixSpace(), UnicodeScripts(), ByteAlphabet()]),
    st.builds(FixedLength, st.integers(1, 4)),
)
short_texts = st.one_of(st.text("ab▁_ \n1.é\u0301中ー", max_size=12), texts.map(repair))


@settings(max_examples=scaled(1000))
@given(st.lists(steps_of_all_kinds, max_size=4), st.lists(short_texts, max_size=4))
def test_the_fast_way_gives_the_pieces_of_the_plain_rule(
    steps: list[PreTokenizerStep], several: list[str]
) -> None:
    prefix, left = split_off_first(steps)
    splitter = make_splitter(left)
    for text in several:
        for at_start in (0, 1) if text else ():
            span = text if prefix is None else prefix(text, at_start)
            # Within a longer text it begins after a character that is no part of it.
            original = Aligned.of("x" + text).part(1, 1 + len(text))
            if at_start:
                original = Aligned.of(text)
            pieces = [piece.text for piece in StepSplitter(steps).align(original)]
            assert splitter.chunks(span) == pieces


@settings(max_examples=scaled(1000))
@given(st.lists(steps_of_all_kinds, max_size=4), short_texts, st.booleans())
def test_the_pieces_of_the_sides_of_a_cut_are_those_of_the_whole(
    steps: list[PreTokenizerStep], text: str, fine: bool
) -> None:
    splitter = make_splitter(steps)
    whole = splitter.chunks(text)
    for cut in range(1, len(text)):
        if splitter.is_cut(text[cut - 1 : cut + 1], fine):
            sides = splitter.chunks(text[:cut]) + splitter.chunks(text[cut:])
            assert sides == whole, (text[:cut], text[cut:])
    segments = list(splitter.segments(text, 1, 3))
    assert "".join(segments) == text
    assert [chunk for part in segments for chunk in splitter.chunks(part)] == whole


def cuts_of(steps: list[PreTokenizerStep], text: str) -> str:
    """A text with a bar at each cut point."""
    splitter = make_splitter(steps)
    cuts = [at for at in range(1, len(text)) if splitter.is_cut(text[at - 1 : at + 1], True)]
    return "|".join(text[at:to] for at, to in zip([0, *cuts], [*cuts, len(text)]))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([Split(parse(r"\s"), "Removed"), Metaspace("▁")], "ab| |c|▁d|\n|e"),
        ([Split(parse(r"\s"), "Removed"), FixedLength(2)], "ab| |c▁d|\n|e"),
        ([Metaspace("▁")], "ab| c|▁d\ne"),
        ([Metaspace("▁", split=False)], "ab c▁d\ne"),
        ([Metaspace("▁"), Split(parse("[a-c]"))], "ab| c|▁d\ne"),
        ([Metaspace("▁", "never"), Split(parse("[a-c]"))], "a|b| |c|▁d\ne"),
        ([ByteAlphabet(), Split(parse("[Âƀ-ƿ]"))], "ab c▁d\ne"),
        ([UnicodeScripts(), Metaspace("▁", "first")], "ab c|▁|d|\n|e"),
        ([PrefixSpace(), Split(parse("[a-c]"))], "ab| c▁d\ne"),
    ],
    ids=repr,
)
def test_there_are_cuts_where_they_are_certain(
    steps: list[PreTokenizerStep], expected: str
) -> None:
    assert cuts_of([*steps, PrefixSpace()], "ab c▁d\ne") == expected


def test_several_pieces_begin_where_the_text_does() -> None:
    # Made of one character, as a normalizer may do.
    steps: list[PreTokenizerStep] = [UnicodeScripts(), Metaspace("▁", "first")]
    prefix, left = split_off_first(steps)
    assert prefix is not None
    chunks = make_splitter(left).chunks
    assert chunks(prefix("e\u0301a", 2)) == ["▁e", "▁\u0301", "a"]
    assert chunks(prefix("e\u0301a", 1)) == ["▁e", "\u0301", "a"]
    assert chunks(prefix("e\u0301a", 0)) == ["e", "\u0301", "a"]


def test_a_thousand_steps_are_split_by_quickly() -> None:
    steps: list[PreTokenizerStep] = [
        Split(parse(f"[{chr(0x4E00 + number)}a]")) for number in range(1000)
    ]
    assert make_splitter(steps).chunks("abc\u4e01c") == ["a", "bc", "\u4e01", "c"]


def test_only_the_beginning_of_the_text_is_marked() -> None:
    steps: list[PreTokenizerStep] = [Split(parse(r"\s"), "Removed"), Metaspace("▁", "first")]
    prefix, left = split_off_first(steps)
    assert prefix is not None
    splitter = make_splitter(left)
    text = "ab cd\n" * 2000
    segments = list(splitter.segments(prefix(text, 1)))
    assert len(segments) > 5
    assert "".join(segments) == START + text
    found = [chunk for part in segments for chunk in splitter.chunks(part)]
    assert found == ["▁ab", "cd", *["ab", "cd"] * 1999]
    # Not within what the first character has become, however long that is.
    assert len(next(splitter.segments(prefix(text, 3000)))) >= 6000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timers")
@pytest.mark.skipif(
    sys.implementation.name == "pypy", reason="PyPy calls no handler while `re` matches"
)
def test_a_signal_handler_can_bound_a_hostile_pattern() -> None:
    splitter = make_splitter([Split(parse("a+b"))])

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError):
            splitter.chunks("a" * 300_000)  # looks to the end from each character
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
