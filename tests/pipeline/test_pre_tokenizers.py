"""Steps joined into one pattern against steps one by one."""

from __future__ import annotations

import signal

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import LONGEST_SEGMENT, Splitter
from compat_bpe.pipeline.pre_tokenizers import (
    ByteAlphabet,
    PrefixSpace,
    Split,
    Step,
    StepSplitter,
    make_splitter,
    to_bytes,
)
from compat_bpe.unicode.surrogates import repair
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


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(RUNS), max_size=3),
    st.one_of(st.none(), st.sampled_from(LAST)),
    st.lists(texts, max_size=3),
)
@example([r"\p{N}{1,3}", r"\p{N}"], None, ["77"])  # the pieces of a run are cut again
@example(["[一-龥぀-ゟ゠-ヿ]+"], LAST[0], ["中・゠中"])
@example([r"\p{N}{1,3}"], r"\w+\z|x", ["1234"])
def test_joined_steps_split_as_one_by_one(
    runs: list[str], last: str | None, several: list[str]
) -> None:
    steps: list[Step] = [Split(parse(run)) for run in runs]
    if last is not None:
        steps.append(Split(parse(last)))
    joined = make_splitter(steps)
    for text in map(repair, several):
        assert joined.chunks(text) == StepSplitter(steps).chunks(text)


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
        [Split(parse("[0-9]"), "Removed"), Split(parse("a"))],
        [Split(parse("[0-9]"), invert=True)],
        [Split(parse("ab")), Split(parse("[0-9]"))],
        [Split(parse("[0-9]{2,3}")), Split(parse("a"))],
        [Split(parse("[0-9]{1,3}")), Split(parse("[1-7]"))],
        [Split(parse("[0-9]{1,3}")), Split(parse("[0-9]{1,2}|a"))],
        [Split(parse("a*"))],
        [Split(parse("a")), PrefixSpace()],
    ],
    ids=repr,
)
def test_steps_that_cannot_be_joined_are_not(steps: list[Step]) -> None:
    assert isinstance(make_splitter(steps), StepSplitter)


def test_deepseeks_steps_are_joined_and_long_text_is_cut_into_passages() -> None:
    splitter = make_splitter([Split(parse(RUNS[0])), Split(parse(RUNS[2])), Split(parse(LAST[0]))])
    assert isinstance(splitter, Splitter)
    text = "Some words, and 1234 more.\n\n" * 1000
    assert max(map(len, splitter.segments(text))) <= LONGEST_SEGMENT


def test_what_a_chunk_stands_for() -> None:
    digits = Split(parse("[0-9]"))
    last: list[list[Step]] = [[ByteAlphabet()], [digits, ByteAlphabet()], [ByteAlphabet()] * 2]
    for steps in last:
        assert to_bytes(steps)("é") == "é".encode()
    steps = [PrefixSpace(), ByteAlphabet(), digits]
    chunks = StepSplitter(steps).chunks("é1")
    assert chunks == ["ĠÃ©", "1"]
    assert b"".join(map(to_bytes(steps), chunks)) == " é1".encode()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timers")
def test_a_signal_handler_can_bound_a_hostile_pattern() -> None:
    splitter = make_splitter([Split(parse("(?:a+)+b"))])

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError):
            splitter.chunks("a" * 60)  # would take some thousand years
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
