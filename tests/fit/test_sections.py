"""Prompts of several sections: the rule by examples, what they cost, and mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit.sections import CUTS, Section, fit_sections
from tests.fit.hard_encodings import encoding_of
from tests.fit.looked_at import Counted

GPT2 = get_encoding("gpt2")


def words(number: int) -> str:
    """So many tokens of gpt2, whatever is around them."""
    return " word" * number


def counts(limit: int, *sections: Section) -> list[int]:
    return [found.count for found in fit_sections(GPT2, sections, limit).sections]


@pytest.mark.parametrize(
    ("sections", "limit", "expected"),
    [
        # By priority, in the given order; what is left goes on to the next.
        ([Section(words(5)), Section(words(5)), Section(words(5))], 10, [5, 5, 0]),
        ([Section(words(5)), Section(words(5), 1), Section(words(5), 2)], 10, [0, 5, 5]),
        ([Section(words(5)), Section(words(5), -0.5)], 5, [5, 0]),
        ([Section(words(9), 1), Section(words(5))], 8, [0, 5]),
        ([Section(words(9), cut="head")], 1, [1]),
        ([Section(words(9), 1, cut="head"), Section(words(5))], 8, [8, 0]),
        ([Section(words(9), 1, cut="head"), Section(words(5), cut="tail")], 12, [9, 3]),
        # Not below the minimum.
        ([Section(words(9), 1), Section(words(5), 0, 4, "tail")], 12, [9, 0]),
        ([Section(words(9), 1), Section(words(5), 0, 3, "tail")], 12, [9, 3]),
        ([Section((words(3) + "\n") * 9, 0, 6, "lines")], 7, [0]),
        ([Section((words(3) + "\n") * 9, 0, 4, "lines")], 7, [4]),
        # The whole is more than a part with a longer marker.
        ([Section(words(5), 1, 2, "tail", marker="." * 40), Section(words(9))], 8, [5, 0]),
        # No more of it is no more, though the marker has room.
        ([Section(words(5), cut="head", marker=" a b", required=True)], 3, [1]),
        # A minimum is held free, and shrinks what is above, but does not drop it.
        ([Section(words(90), 1, cut="head"), Section(words(50), 0, 4, "tail")], 12, [8, 4]),
        ([Section(words(90), 1, cut="head"), Section(words(2), 0, 4, "tail")], 12, [10, 2]),
        ([Section(words(90), 1, 9, "head"), Section(words(50), 0, 4, "tail")], 12, [12, 0]),
        ([Section(words(9), 1), Section(words(50), 0, 4, "tail")], 12, [9, 0]),
        ([Section(words(9), 1), Section(words(50), 0, 3, "tail")], 12, [9, 3]),
        ([Section(words(13), 1), Section(words(50), 0, 4, "tail")], 12, [0, 12]),
        # The lowest gives way first, and only as many as have to.
        (
            [
                Section(words(8), 3),
                Section(words(50), 2, 4, "tail"),
                Section(words(50), 1, 4, "tail"),
            ],
            12,
            [8, 4, 0],
        ),
        (
            [
                Section(words(50), 3, cut="head"),
                Section(words(50), 2, 6, "tail"),
                Section(words(50), 1, 2, "tail"),
            ],
            8,
            [2, 6, 0],
        ),
        # What does not fit even then leaves the others what they had.
        (
            [
                Section(words(13), 3),
                Section(words(50), 2, cut="head"),
                Section(words(50), 1, 4, "tail"),
            ],
            12,
            [0, 8, 4],
        ),
        # What is required never gives way.
        ([Section(words(9), 1), Section(words(4), required=True)], 12, [0, 4]),
        ([Section(words(9), 1), Section(words(4), required=True)], 4, [0, 4]),
        (
            [
                Section(words(90), 1, cut="tail"),
                Section(words(50), 0, 4, "tail", required=True),
            ],
            12,
            [8, 4],
        ),
        (
            [Section(words(90), 1, 9, "tail"), Section(words(5), cut="head", required=True)],
            9,
            [0, 5],
        ),
        # An empty section is there.
        ([Section("", required=True), Section(words(3))], 2, [0, 0]),
        ([], 0, []),
    ],
)
def test_the_rule(sections: list[Section], limit: int, expected: list[int]) -> None:
    assert counts(limit, *sections) == expected


def test_how_a_section_is_cut() -> None:
    text = "one two\nthree four\nfive six\n"
    expected = {
        "drop": "",
        "head": "one two\nthree four\nfive",
        "tail": "\nthree four\nfive six\n",
        "ends": "one two\n…five six\n",
        "lines": "one two\nthree four\n",
    }
    found = {cut: fit_sections(GPT2, [Section(text, cut=cut)], 7).text for cut in CUTS}
    assert found == expected


def test_separators_stand_between_what_is_there_and_count() -> None:
    sections = [Section(words(2)), Section(""), Section(words(9)), Section(words(2))]
    fitted = fit_sections(GPT2, sections, 5, separator="|")
    assert (fitted.text, fitted.count) == (" word word| word word", 5)


@pytest.mark.parametrize("priorities", [(1, 2, 3), (3, 2, 1), (2, 1, 3), (2, 3, 1)])
def test_tokens_that_reach_across_joints_are_counted_once(priorities: tuple[int, ...]) -> None:
    parts = zip(["he", "l", "lo"], priorities)
    sections = [*(Section(text, priority) for text, priority in parts), Section(words(20), 0)]
    fitted = fit_sections(GPT2, sections, 10)
    assert fitted.text == "hello"
    assert fitted.count == 1
    with pytest.raises(AttributeError):
        fitted.count = 0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        fitted.sections[0].count = 0  # type: ignore[misc]


@pytest.mark.parametrize("required", [False, True])
def test_all_are_kept_if_together_they_fit_though_none_does_alone(required: bool) -> None:
    sections = [Section(text, cut="head", required=required) for text in (" straig", "htforward")]
    fitted = fit_sections(GPT2, sections, 1)
    assert (fitted.text, fitted.count) == (" straightforward", 1)
    assert [section.count for section in fitted.sections] == [2, 2]


def test_sections_of_the_longest_tokens_are_kept() -> None:
    ranks = {**{bytes([byte]): byte for byte in range(256)}, b"aa": 256}
    encoding = Encoding("pairs", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={})
    assert encoding.core.longest_token == 2
    assert fit_sections(encoding, [Section("aa"), Section("aaaa")], 3).text == "aaaaaa"


def test_the_least_of_long_lines_is_found() -> None:
    text = "".join(words(number) + "\n" for number in (3, 100, 3, 3))
    sections = [
        Section(words(500), 1, cut="head"),
        Section(text, 0, 20, "lines", name="lines"),
    ]
    fitted = fit_sections(GPT2, sections, 300)
    assert fitted.sections[1].text == words(3) + "\n" + words(100) + "\n"
    assert fitted.count == 300


def test_a_line_longer_than_the_limit_is_cut_at_a_finer_boundary() -> None:
    for cut in ("head", "tail", "ends"):
        sections = [Section("First.\n", 1), Section(words(500) + "\n", 0, 0, cut, "line")]
        fitted = fit_sections(GPT2, sections, 50)
        assert [section.status for section in fitted.sections] == ["kept", "cut"]
        assert 48 <= fitted.count <= 50
    # Whole lines are whole lines, and one that fits is not cut.
    lines = Section(words(500) + "\n", 0, 0, "lines")
    assert fit_sections(GPT2, [lines], 50).sections[0].status == "dropped"
    sections = [Section(words(30), 1), Section(f"{words(40)}\n" * 2, 0, 0, "head", "line")]
    assert fit_sections(GPT2, sections, 50).sections[1].status == "dropped"


def test_a_part_without_tokens_is_no_part() -> None:
    encoding = encoding_of("leaves text out")
    assert encoding.count("123") == 0
    [section] = fit_sections(encoding, [Section("123abc", cut="head")], 0).sections
    assert section.status == "dropped"


def test_no_more_than_the_least_is_reserved() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = Encoding("bytes", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={})
    for length in range(20, 41):
        least = Section("a" * length + " b" * 50, 0, 20, "head", "word")
        fitted = fit_sections(encoding, [Section("c" * 500, 1, cut="head"), least], 100)
        assert [section.count for section in fitted.sections] == [100 - length, length]


@pytest.mark.parametrize(
    ("section", "limit", "message"),
    [
        (Section("a"), -1, "limit is -1; it must be 0 or more"),
        (Section("a", min_tokens=-1), 5, "section 1: min_tokens is -1; it must be 0 or more"),
        (Section("a", cut="page", name="x"), 5, r"section 1 \(x\): unknown cut 'page'; known: "),  # type: ignore[arg-type]
        (Section("a", boundary="page"), 5, "unknown boundary 'page'"),  # type: ignore[arg-type]
        (
            Section(words(6), required=True, name="rules"),
            5,
            r"section 1 \(rules\) is required, but with the other required sections it does not "
            "fit within the limit of 5",
        ),
        (Section(words(9), min_tokens=6, cut="head", required=True), 5, "section 1 is required"),
    ],
)
def test_mistakes_are_named(section: Section, limit: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_sections(GPT2, [Section("b"), section], limit)


@pytest.mark.parametrize("cut", CUTS)
def test_the_cost_does_not_grow_with_the_sections(
    cut: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(GPT2, monkeypatch)
    costs = []
    for times in (1_000, 100_000):
        counted.characters = 0
        text = "def f(x):\n    return g(x, 1)\n\n" * times
        sections = [Section("Fix it:\n", 2), Section(text, 1, 100, cut), Section(text, 0, 100, cut)]
        fitted = fit_sections(GPT2, sections, 500)
        assert cut == "drop" or 450 < fitted.count <= 500
        costs.append(counted.characters)
    assert max(costs) < 100_000


def test_many_sections_take_no_more_than_each_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(GPT2, monkeypatch)
    sections = [Section(f"message {number}: hello there\n", number) for number in range(500)]
    fitted = fit_sections(GPT2, sections, 2000)
    assert 1980 < fitted.count <= 2000
    # Some ten times their length.
    assert counted.characters < 15 * sum(len(section.text) for section in sections)
