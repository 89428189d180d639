"""Prompts of several sections: what is promised of each, whatever the sections."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.fit.boundary import BOUNDARIES, rule_of, with_finer
from compat_bpe.fit.sections import CUTS, FittedSection, FittedSections, Section, fit_sections
from compat_bpe.fit.truncate import KEEPS, truncate_at
from tests.fit.hard_encodings import encodings
from tests.fit.small_kinds import small_kind
from tests.strategies import texts

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
    """What is in is such a part of the section as it may be cut to."""
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
