"""Prompts of several sections: the rule, and what is promised of each, whatever the sections."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit.boundary import BOUNDARIES, rule_of, with_finer
from compat_bpe.fit.sections import CUTS, FittedSection, FittedSections, Section, fit_sections
from compat_bpe.fit.truncate import KEEPS, truncate_at
from tests.drawn_models import BYTES, own_encoding
from tests.fit.hard_encodings import encoding_of, encodings
from tests.fit.helpers import Counted
from tests.fit.small_kinds import small_kind
from tests.strategies import texts

GPT2 = get_encoding("gpt2")


def words(number: int) -> str:
    """Return a text of this many tokens of gpt2 in any context."""
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
            [Section(words(90), 1, cut="tail"), Section(words(50), 0, 4, "tail", required=True)],
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
    encoding = own_encoding(r"\w+|\W+", {**BYTES, b"aa": 256})
    assert encoding.core.longest_token == 2
    assert fit_sections(encoding, [Section("aa"), Section("aaaa")], 3).text == "aaaaaa"


def test_the_least_of_long_lines_is_found() -> None:
    text = "".join(words(number) + "\n" for number in (3, 100, 3, 3))
    sections = [Section(words(500), 1, cut="head"), Section(text, 0, 20, "lines", name="lines")]
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
    encoding = own_encoding(r"\w+|\W+")
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


short_texts = st.one_of(
    texts.map(lambda text: text[:80]),
    # What joins with what comes next.
    st.sampled_from(["he", "llo", " wor", "ld", "a", "b", "c", "\n", " "]),
    st.lists(st.sampled_from(["one two\n", "ab", "a", "\n", " ", "c\r\n"]), max_size=30).map(
        "".join
    ),
)


def sections_with(
    min_tokens: st.SearchStrategy[int], required: st.SearchStrategy[bool]
) -> st.SearchStrategy[Section]:
    return st.builds(
        Section,
        text=short_texts,
        priority=st.integers(0, 3),
        cut=st.sampled_from(CUTS),
        boundary=st.sampled_from(BOUNDARIES),
        marker=st.sampled_from([None, "", "...", "\n[cut]\n"]),
        min_tokens=min_tokens,
        required=required,
        name=st.sampled_from(["", "rules"]),
    )


plain_sections = sections_with(st.just(0), st.just(False))
any_sections = sections_with(st.integers(0, 12), st.booleans())
separators = st.sampled_from(["", "\n", "\n\n", " ", "a"])


def fit_or_none(
    encoding: Encoding, sections: list[Section], limit: int, separator: str
) -> FittedSections | None:
    """None if what is required does not fit."""
    try:
        return fit_sections(encoding, sections, limit, separator=separator)
    except ValueError as error:
        if "is required, but" not in str(error):
            raise
        return None


def in_order(sections: list[Section]) -> list[int]:
    return sorted(range(len(sections)), key=lambda at: -sections[at].priority)


def joined(separator: str, found: list[FittedSection]) -> str:
    return separator.join(section.text for section in found if section.text)


def as_it_may_be_cut(encoding: Encoding, section: Section, limit: int) -> Section:
    """The section with the first boundary at which some of it alone is within the limit."""
    keep = next((one for one in KEEPS if one == section.cut), None)
    if keep is None:
        return section
    for boundary in with_finer(section.boundary):
        section = section._replace(boundary=boundary)
        if truncate_at(encoding, section.text, limit, keep, (boundary,), section.marker).kept:
            break
    return section


def check_part(encoding: Encoding, section: Section, found: FittedSection) -> None:
    """Check that the kept text is a part to which the section may be cut."""
    text, kept = section.text, found.kept
    assert found.name == section.name
    assert found.count == encoding.count(found.text)
    if found.status == "kept":
        assert found.text == text
        assert kept == ((0, len(text)),)
        return
    # What is empty is never left out.
    assert text
    if found.status == "dropped":
        assert (found.text, kept) == ("", ())
        return
    assert found.count >= section.min_tokens
    assert section.cut != "drop"
    assert kept
    marker = section.marker
    if marker is None:
        # Between lines it is a line of its own, which ends as the text's first does.
        newline = "\r\n" if re.match(r"[^\n]*\r\n", text) else "\n"
        ends_with = newline if section.boundary == "line" else ""
        marker = "…" + ends_with if section.cut == "ends" else ""
    slices = [text[start:end] for start, end in kept]
    assert all(slices)
    may_cut = rule_of("line" if section.cut == "lines" else section.boundary)
    places = {place for part in kept for place in part} - {0, len(text)}
    assert all(may_cut(text, place) for place in places)
    if section.cut == "tail":
        assert found.text in (marker + slices[0], slices[0])
        assert kept[0][1] == len(text)
    elif section.cut == "ends":
        ends = [text[: kept[0][1]] if kept[0][0] == 0 else ""]
        ends.append(text[kept[-1][0] :] if kept[-1][1] == len(text) else "")
        assert found.text in (marker.join(ends), "".join(ends))
    else:
        assert found.text in (slices[0] + marker, slices[0])
        assert kept[0][0] == 0


limits = st.one_of(st.integers(0, 12), st.integers(0, 100))


@given(encodings, st.lists(any_sections, max_size=6), limits, separators)
# Nothing of it can be kept at a boundary of words.
@example(small_kind("spm bpe"), [Section("he", cut="head", boundary="word")], 2, "")
# More of a section is put in where its minimum was, not beside it.
@example(small_kind("spm bpe"), [Section("abb ", min_tokens=2, cut="head")], 2, "")
# What is put in after a cut point goes on, and so nothing is put before it.
@example(
    small_kind("spm bpe"),
    [Section("c\nab", 1, 2, "tail", marker="c"), Section("\nccc", 1, 1, "tail", marker="...")],
    6,
    "",
)
def test_every_prompt_is_what_it_says(
    encoding: Encoding, sections: list[Section], limit: int, separator: str
) -> None:
    fitted = fit_or_none(encoding, sections, limit, separator)
    everything = separator.join(section.text for section in sections if section.text)
    if encoding.count(everything) <= limit:
        assert fitted is not None
        assert fitted.text == everything
    if fitted is None:
        assert any(section.required for section in sections)
        return
    assert fitted.count == encoding.count(fitted.text) <= limit
    assert fitted.text == joined(separator, list(fitted.sections))
    assert len(fitted.sections) == len(sections)
    for section, found in zip(sections, fitted.sections):
        check_part(encoding, as_it_may_be_cut(encoding, section, limit), found)
        assert not (section.required and found.status == "dropped")


@given(encodings, st.lists(plain_sections, min_size=1, max_size=6), limits, separators)
def test_a_section_loses_nothing_to_those_below_it(
    encoding: Encoding, sections: list[Section], limit: int, separator: str
) -> None:
    fitted = fit_sections(encoding, sections, limit, separator=separator)
    order = in_order(sections)
    if all(found.status == "kept" for found in fitted.sections):
        return
    for number in range(1, len(order)):
        above = sorted(order[:number])
        alone = fit_sections(encoding, [sections[at] for at in above], limit, separator=separator)
        # Together they may just fit where, one by one, they would not.
        if any(found.status != "kept" for found in alone.sections):
            assert alone.sections == tuple(fitted.sections[at] for at in above)


@given(
    encodings,
    st.lists(sections_with(st.integers(0, 12), st.just(False)), min_size=1, max_size=6),
    limits,
    separators,
)
def test_what_is_left_out_does_not_fit(
    encoding: Encoding, sections: list[Section], limit: int, separator: str
) -> None:
    fitted = fit_sections(encoding, sections, limit, separator=separator)
    order = in_order(sections)
    for number, at in enumerate(order):
        status = fitted.sections[at].status
        held_free = any(sections[below].min_tokens for below in order[number + 1 :])
        # For what is held free a section is cut, but not dropped.
        if status == "kept" or (status == "cut" and held_free):
            continue
        # With those above it as they are, and those below not there yet.
        texts = [""] * len(sections)
        for other in order[:number]:
            texts[other] = fitted.sections[other].text
        texts[at] = sections[at].text
        assert encoding.count(separator.join(filter(None, texts))) > limit


@given(encodings, st.lists(any_sections, min_size=1, max_size=6), limits, separators)
def test_what_is_required_and_fits_is_there(
    encoding: Encoding, sections: list[Section], limit: int, separator: str
) -> None:
    whole = [section for section in sections if section.required]
    text = separator.join(section.text for section in whole if section.text)
    fitted = fit_or_none(encoding, [s._replace(cut="drop") for s in sections], limit, separator)
    # Without cuts, one after the other is the same as all, but for counts that are not monotonic.
    if fitted is None:
        order = [at for at in in_order(sections) if sections[at].required]
        parts = [""] * len(sections)
        counts = []
        for at in order:
            parts[at] = sections[at].text
            counts.append(encoding.count(separator.join(filter(None, parts))))
        assert max(counts) > limit
    else:
        assert all(
            found.status == "kept"
            for section, found in zip(sections, fitted.sections)
            if section.required
        )
        assert encoding.count(text) <= limit or len(whole) < len(sections)
