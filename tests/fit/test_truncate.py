"""Truncated text fits, each part is the longest, and it is cut where it may be."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit.boundary import BOUNDARIES, Boundary, boundary_at, rule_of, with_finer
from compat_bpe.fit.truncate import KEEPS, Keep, truncate
from tests.fit.hard_encodings import encoding_of, encodings, hard_texts
from tests.fit.helpers import asides, boundaries, limits, prefix_by_trying, suffix_by_trying

keeps = st.sampled_from(KEEPS)


@given(encodings, hard_texts, limits, keeps, boundaries, st.one_of(st.none(), asides))
def test_it_fits_and_is_made_of_the_text(
    encoding: Encoding, text: str, limit: int, keep: Keep, boundary: Boundary, marker: str | None
) -> None:
    found = truncate(encoding, text, limit, keep=keep, boundary=boundary, marker=marker)
    assert found.count == encoding.count(found.text) <= limit
    assert found.was_cut == (encoding.count(text) > limit)
    if not found.was_cut:
        assert found.text == text
        assert found.kept == (((0, len(text)),) if text else ())
        return
    if marker is None:
        marker = default_marker(text, boundary) if keep == "ends" else ""
        if encoding.count(marker) <= limit and found.kept and found.kept[-1][1] == len(text):
            # The tail says if the marker is a line.
            begin = found.kept[-1][0]
            marker = default_marker(text, boundary_at(text, begin, with_finer(boundary)))
            marker = marker if keep == "ends" else ""
    if encoding.count(marker) > limit:
        marker = ""
    head = [part for part in found.kept if part[0] == 0]
    tail = [part for part in found.kept if part[1] == len(text)]
    assert sorted(head + tail) == list(found.kept)
    assert not (head if keep == "tail" else tail if keep == "head" else ())
    first, last = ("".join(text[slice(*part)] for part in parts) for parts in (head, tail))
    assert found.text == first + marker + last
    may_cut = rule_of("char")
    for place in [end for _, end in head] + [begin for begin, _ in tail]:
        assert may_cut(text, place)


def default_marker(text: str, boundary: Boundary) -> str:
    """Return the default marker between two ends, if the tail is cut at a boundary."""
    if boundary != "line":
        return "…"
    return "…\r\n" if re.match(r"[^\n]*\r\n", text) else "…\n"


def ends_of_cuts(text: str, boundary: Boundary) -> tuple[int, int]:
    """Return the last and the first place within a text at which it may be cut."""
    may_cut = rule_of(boundary)
    places = [place for place in range(1, len(text)) if may_cut(text, place)]
    return (places[-1], places[0]) if places else (0, len(text))


@pytest.mark.parametrize("keep", KEEPS)
def test_a_marker_with_which_all_of_the_text_would_fit(keep: Keep) -> None:
    enc = get_encoding("gpt2")
    text = ' "..'
    assert (enc.count(text), enc.count(text + ".")) == (2, 1)
    cut = enc.truncate(text, 1, keep=keep, marker=".")
    assert cut.was_cut
    assert (cut.text, cut.count) == ("..." if keep == "tail" else ' ".', 1)


def head_by_trying(
    encoding: Encoding,
    text: str,
    limit: int,
    boundary: Boundary,
    marker: str,
    lines_may_be_blank: bool,
) -> int:
    """Return the end of the longest head, cut at a finer boundary where it would be blank."""
    found = []
    for finer in with_finer(boundary):
        # Something is cut, even where all of the text would fit beside the marker.
        last, _ = ends_of_cuts(text, finer)
        end = prefix_by_trying(encoding, text[:last], limit, 0, finer, marker)
        assert end is not None
        if text[:end].strip() or (end and lines_may_be_blank and finer == "line"):
            return end
        found.append(end)
    return next(filter(None, found), 0)


def tail_by_trying(
    encoding: Encoding,
    text: str,
    limit: int,
    boundary: Boundary,
    lead: str,
    start: int | None,
    lines_may_be_blank: bool,
) -> int:
    """Return the beginning of the longest tail, likewise; None is the first place of a cut."""
    found = []
    for finer in with_finer(boundary):
        first = ends_of_cuts(text, finer)[1] if start is None else start
        begin = suffix_by_trying(encoding, text, limit, len(text), finer, lead, first)
        if begin is None or begin == len(text):
            continue
        if text[begin:].strip() or (lines_may_be_blank and finer == "line"):
            return begin
        found.append(begin)
    return next(iter(found), len(text))


@given(encodings, hard_texts, limits, boundaries, asides)
# All of the text around the marker has fewer tokens than the text.
@example(encoding_of("leaves text out"), "ac", 1, "char", "b")
# The marker becomes one unknown token with what is before it, and no cut point is near.
@example(encoding_of("spm unigram"), "éb<|endoftext|>" * 8, 7, "char", "…")
# What is after the last cut point goes on, and so nothing is put before it.
@example(encoding_of("llama"), " xthe x ", 3, "char", "…")
def test_each_part_is_the_longest(
    encoding: Encoding, text: str, limit: int, boundary: Boundary, marker: str
) -> None:
    head = truncate(encoding, text, limit, boundary=boundary, marker=marker)
    tail = truncate(encoding, text, limit, keep="tail", boundary=boundary, marker=marker)
    if encoding.count(text) <= limit:
        assert head.text == tail.text == text
        return
    if encoding.count(marker) > limit:
        marker = ""
    end = head_by_trying(encoding, text, limit, boundary, marker, False)
    begin = tail_by_trying(encoding, text, limit, boundary, marker, None, False)
    assert (head.text, tail.text) == (text[:end] + marker, marker + text[begin:])
    ends = truncate(encoding, text, limit, keep="ends", boundary=boundary, marker=marker)
    half = (limit + encoding.count(marker) + 1) // 2
    end = head_by_trying(encoding, text, half, boundary, marker, True)
    lead = text[:end] + marker
    is_blank = not text[:end].strip()
    begin = tail_by_trying(encoding, text, limit, boundary, lead, end + 1, not is_blank)
    assert ends.text == lead + text[begin:]
    with pytest.raises(AttributeError):
        ends.text = text  # type: ignore[misc]


def test_the_tail_gets_what_the_head_leaves() -> None:
    enc = get_encoding("cl100k_base")
    text = "a line\n" + "word " * 1000 + "\nlast line\n" * 3
    found = enc.truncate(text, 60, keep="ends", boundary="line")
    assert found.text == "a line\n…\nlast line\n\nlast line\n\nlast line\n"
    found = enc.truncate("word " * 1000, 60, keep="ends", boundary="word")
    assert found.count in (59, 60)
    assert abs(found.kept[0][1] - (5000 - found.kept[1][0])) <= 10


@pytest.mark.parametrize("keep", KEEPS)
def test_a_line_or_a_word_that_does_not_fit_is_cut_at_a_finer_boundary(keep: Keep) -> None:
    enc = get_encoding("o200k_base")
    words, letters = "var a = 1; " * 3000, "xyzw" * 4000
    for text in (words, letters, words + "\n", "\r\n".join([words, words])):
        cut = enc.truncate(text, 50, keep=keep, boundary="line")
        assert enc.count(cut.text) == cut.count <= 50
        assert len(cut.kept) == (2 if keep == "ends" else 1)
        if keep != "ends":  # the default marker for lines has another length
            assert cut == enc.truncate(text, 50, keep=keep, boundary="word")
    for text in (letters, letters + "\n"):
        cut = enc.truncate(text, 50, keep=keep, boundary="word")
        assert 48 <= cut.count <= 50
        assert cut == enc.truncate(text, 50, keep=keep)


def test_white_space_alone_is_too_little() -> None:
    enc = get_encoding("o200k_base")
    letters = "xyzw" * 4000
    assert enc.truncate(f"\n  {letters}", 20, boundary="line").text.startswith("\n  xyzw")
    for text in (f"{letters}\n", f"{letters}\n\n"):
        for boundary in BOUNDARIES:
            assert "xyzw" in enc.truncate(text, 20, keep="tail", boundary=boundary).text
    both = enc.truncate(f"\n{letters}\n\n", 20, keep="ends", boundary="line")
    assert both.text.startswith("\n…")
    assert both.text.endswith("xyzw\n\n")
    # There is nothing else.
    assert enc.truncate("\n\n \n" * 100, 3, boundary="line").text.isspace()


def test_each_end_is_cut_at_a_finer_boundary_for_itself() -> None:
    enc = get_encoding("o200k_base")
    words = "word " * 1000
    both = enc.truncate(f"one\n{words}\nlast\n", 20, keep="ends", boundary="line")
    assert both.text == "one\n…\nlast\n"
    tail = enc.truncate(f"one\n{words}", 20, keep="ends", boundary="line")
    assert tail.text.startswith("one\n… word word")
    assert tail.count == 20
    head = enc.truncate(f"{words}\nlast\n", 20, keep="ends", boundary="line")
    assert head.text.startswith("word word")
    assert head.text.endswith("word …\nlast\n")
    assert enc.truncate(f"one\n{words}", 20, boundary="line").text == "one\n"
    assert enc.truncate(f"{words}\nlast\n", 20, keep="tail", boundary="line").text == "last\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_between_lines_the_marker_is_a_line(end: str) -> None:
    enc = get_encoding("o200k_base")
    lines = [end, *(f"line {number}{end}" for number in range(100))]
    text = "".join(lines)
    for limit in range(10, 60):
        # Half of the texts begin with an empty line.
        found = enc.truncate(text[limit % 2 * len(end) :], limit, keep="ends", boundary="line")
        assert found.text.splitlines(keepends=True).count(f"…{end}") == 1
        assert set(found.text.splitlines(keepends=True)) <= {*lines, f"…{end}"}
    # One that is given is taken as it is.
    found = enc.truncate(text, 30, keep="ends", boundary="line", marker="[…] ")
    assert f"{end}[…] line " in found.text


def test_what_is_left_is_counted_again() -> None:
    # The first ids decoded may have more tokens when they are encoded again.
    enc = get_encoding("cl100k_base")
    text = "x" * 3 + " \n \n \n    if" * 20
    for limit in range(1, 40):
        assert enc.count(enc.truncate(text, limit).text) <= limit


@pytest.mark.parametrize(
    ("boundary", "text", "expected"),
    [
        # Only a high surrogate and a low one after it are one character.
        ("char", "a\ud83d\ude00\ude00\ud83d\ud83d\ude00b", [1, 3, 4, 5, 7]),
        ("char", "\ud7ff\udc00\ud800\ue000\udbff\udfff", [1, 2, 3, 4]),
        ("word", "ab_1 c,\u0301d\ud83d\ude00 e\n", [4, 5, 6, 7, 9, 11, 12, 13]),
        # Two surrogates are the letter that they make.
        ("word", "a\ud800\udc00\ud800\udc00b\udc00\ud800\ud800\udc00", [6, 7, 8]),
        ("line", "\na\r\nb\rc\n\r\r\n", [1, 4, 6, 8, 9]),
    ],
)
def test_positions(boundary: Boundary, text: str, expected: list[int]) -> None:
    may_cut = rule_of(boundary)
    assert [at for at in range(1, len(text)) if may_cut(text, at)] == expected
