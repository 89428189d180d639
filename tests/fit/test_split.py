"""Parts of a text: each fits, is as long as it can be, and nothing is lost between them."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit.boundary import BOUNDARIES, Boundary, rule_of
from compat_bpe.fit.longest_part import longest_prefix
from compat_bpe.fit.split import PackedPart, Part, pack_texts, split_text
from tests.drawn_models import BYTES, own_encoding
from tests.fit.hard_encodings import encoding_of, encodings, hard_texts


class Case(NamedTuple):
    """Arguments of ``split_text``."""

    encoding: Encoding
    text: str
    limit: int
    overlap: int
    boundary: Boundary

    def places(self, boundary: Boundary) -> list[int]:
        """Return the places where the text may be cut, its end included."""
        may_cut = rule_of(boundary)
        inside = [place for place in range(1, len(self.text)) if may_cut(self.text, place)]
        return [*inside, len(self.text)]

    def fits(self, start: int, end: int, limit: int) -> bool:
        return self.encoding.count(self.text[start:end]) <= limit

    def cut_at(self, place: int) -> Boundary:
        """The coarsest boundary, of those that may be used, that a place is at."""
        usable = BOUNDARIES[BOUNDARIES.index(self.boundary) :: -1]
        return next(boundary for boundary in usable if place in self.places(boundary))

    def parts(self) -> list[Part]:
        """The parts; none if a character does not fit, and then one indeed does not."""
        try:
            return split_text(*self)
        except ValueError as error:
            message = str(error)
        found = re.search(r"at offset (\d+) alone has (\d+) tokens", message)
        assert found is not None, message
        offset = int(found[1])
        end = next(place for place in self.places("char") if place > offset)
        assert self.encoding.count(self.text[offset:end]) == int(found[2]) > self.limit
        return []


def one_chunk(*tokens: bytes) -> Encoding:
    """An encoding in which a longer text often has fewer tokens."""
    return own_encoding(r"[\s\S]+", {token: rank for rank, token in enumerate([*BYTES, *tokens])})


@st.composite
def cases(draw: st.DrawFn) -> Case:
    limit = draw(st.integers(1, 16))
    overlap = draw(st.one_of(st.just(0), st.integers(0, limit - 1)))
    text = draw(hard_texts)[:80]
    return Case(draw(encodings), text, limit, overlap, draw(st.sampled_from(BOUNDARIES)))


@given(cases())
# The part before has no more tokens than may overlap, and the next line does not fit.
@example(Case(get_encoding("gpt2"), "a\nb c d e f g h", 5, 3, "line"))
# Of the overlaps that leave room for what is new, the longest had two tokens.
@example(Case(get_encoding("cl100k_base"), "a" * 21, 2, 1, "word"))
# Of what is new, the first word has more tokens than the limit, but not all that is taken.
@example(Case(one_chunk(b"a ", b"ba ", b"\nb"), "baabba aa", 2, 1, "line"))
def test_parts_fit_and_cover_the_text(case: Case) -> None:
    parts = case.parts()
    start = end = 0
    joined = ""
    for number, part in enumerate(parts):
        assert part.text == case.text[part.start : part.end]
        assert part.count == case.encoding.count(part.text) <= case.limit
        assert part.end > end
        if number:
            assert start < part.start <= end
        if part.start < end:
            assert case.overlap
            assert case.fits(part.start, end, case.overlap)
        joined += case.text[end : part.end]
        start, end = part.start, part.end
    if parts:
        assert (parts[0].start, joined) == (0, case.text)


@given(cases())
@example(Case(get_encoding("gpt2"), "\tA\ud800\udc00", 4, 0, "word"))  # A and a letter
def test_each_part_is_the_longest(case: Case) -> None:
    end = 0
    for part in case.parts():
        boundary = case.cut_at(part.end)
        assert part.end == max(
            place
            for place in case.places(boundary)
            if place > part.start and case.fits(part.start, place, case.limit)
        )
        # It is not cut finer than it has to be.
        usable = BOUNDARIES[BOUNDARIES.index(case.boundary) :: -1]
        for coarser in usable[: usable.index(boundary)]:
            for place in case.places(coarser):
                assert place <= end or not case.fits(end, place, case.limit)
        end = part.end


@given(cases())
# With the overlap only a long text fits.
@example(Case(one_chunk(b"b ", b"b \na", b"\na", b"bb ", b" a"), "cabb  b", 2, 1, "line"))
# A shorter overlap has more tokens, too.
@example(Case(encoding_of("first word"), "1<b><|end1", 4, 2, "char"))
def test_each_overlap_is_the_longest(case: Case) -> None:
    parts = case.parts()
    for before, part in zip(parts, parts[1:]):
        end = before.end
        starts = [p for p in case.places(case.cut_at(end)) if before.start < p < end]
        first = end
        if case.overlap:
            first = next((p for p in starts if case.fits(p, end, case.overlap)), end)
        assert part.start >= first
        if part.start > first:
            # With all of the overlap, nothing new would have fitted that is not cut finer.
            usable = BOUNDARIES[BOUNDARIES.index(case.boundary) :: -1]
            for boundary in usable[: usable.index(case.cut_at(part.end)) + 1]:
                for place in case.places(boundary):
                    assert place <= end or not case.fits(first, place, case.limit)
        # Had it begun earlier, there would have been no room for what comes next.
        new = min(place for place in case.places(case.cut_at(part.end)) if place > end)
        if case.fits(end, new, case.limit):
            for start in starts:
                if first <= start < part.start and case.fits(start, end, case.overlap):
                    assert not case.fits(start, new, case.limit)


def test_lines_words_and_characters() -> None:
    encoding = get_encoding("gpt2")
    text = "one\r\ntwo three\n\nfour five six seven, antidisestablishmentarianism\rten"
    parts = split_text(encoding, text, 4, boundary="line")
    expected = ["one\r\n", "two three\n\n", "four five six seven", ", "]
    expected += ["antidisestablishmentarian", "ism\rten"]
    assert [part.text for part in parts] == expected


def test_a_character_that_does_not_fit() -> None:
    encoding = get_encoding("gpt2")
    message = r"limit is 2, but the character '🇪' at offset 3 alone has 3 tokens"
    with pytest.raises(ValueError, match=message):
        split_text(encoding, "ab 🇪", 2)
    assert [part.text for part in split_text(encoding, "ab 🇪", 3)] == ["ab ", "🇪"]
    # In one piece, also where it is written as two surrogates.
    _, last = split_text(encoding, "ab \ud83c\uddea", 3)
    assert last.text == "\ud83c\uddea"


@pytest.mark.parametrize(
    ("limit", "overlap", "boundary", "message"),
    [
        (0, 0, "char", "limit is 0; it must be 1 or more"),
        (-3, 0, "char", "limit is -3; "),
        (5, -1, "char", "overlap is -1; it must be 0 or more and less than the limit, 5"),
        (5, 5, "char", "overlap is 5; "),
        (5, 0, "lines", "unknown boundary 'lines'; known: char, word, line"),
    ],
)
@pytest.mark.parametrize("text", ["", "text"])
def test_wrong_arguments_are_refused(
    limit: int, overlap: int, boundary: Boundary, message: str, text: str
) -> None:
    with pytest.raises(ValueError, match=message):
        split_text(get_encoding("gpt2"), text, limit, overlap, boundary)


def header(name: str, start: int) -> str:
    return f"==> {name} (continued) <==\n" if start else f"==> {name} <==\n"


def packed(
    encoding: Encoding, texts: list[tuple[str, str]], limit: int, boundary: Boundary = "char"
) -> list[PackedPart]:
    """The parts; none if a header with a character does not fit, and then one indeed does not."""
    try:
        return list(pack_texts(encoding, texts, limit, boundary))
    except ValueError as error:
        found = re.search(r"alone have (\d+) tokens; raise the limit", str(error))
        assert found is not None
        assert int(found[1]) > limit
        return []


@given(
    encoding=encodings,
    texts=st.lists(st.tuples(st.sampled_from(["a", "src/b.py", "é"]), hard_texts), max_size=6),
    limit=st.integers(1, 60),
    boundary=st.sampled_from(BOUNDARIES),
)
def test_packed_texts(
    encoding: Encoding, texts: list[tuple[str, str]], limit: int, boundary: Boundary
) -> None:
    texts = [(name, text[:60].encode("utf-8", "ignore").decode()) for name, text in texts]
    parts = packed(encoding, texts, limit, boundary)
    if not parts:
        return
    written = [""] * len(texts)
    order = []
    for part, following in zip(parts, [*parts[1:], None]):
        assert part.count == encoding.count(part.text) <= limit
        # The part is headers and stretches, and nothing else.
        made = ""
        for source, start, end, at in part.texts:
            name, text = texts[source]
            lead = "" if not made or made[-1] in "\r\n" else "\n"
            made += lead + header(name, start) + text[start:end]
            assert part.text[at : at + end - start] == text[start:end]
            assert start == len(written[source])
            written[source] += text[start:end]
            order.append(source)
        assert part.text == made
        source, start, end, _ = part.texts[0]
        name, text = texts[source]
        if start or end < len(text):  # it is cut: alone in its part, or its rest
            assert encoding.count(header(name, 0) + text) > limit
        if end < len(text):
            assert len(part.texts) == 1
            whole = header(name, start) + text[start:]
            longest = longest_prefix(encoding, whole, limit, boundary=boundary) or 0
            assert len(part.text) >= longest
        if following is not None and following.texts[0].start == 0:
            # The next text did not fit behind it.
            name, text = texts[following.texts[0].source]
            lead = "" if part.text[-1] in "\r\n" else "\n"
            assert encoding.count(part.text + lead + header(name, 0) + text) > limit
    assert written == [text for _, text in texts]
    assert order == sorted(order)


def test_a_long_text_is_packed_in_parts_of_lines() -> None:
    encoding = get_encoding("gpt2")
    text = "".join(f"line {number} of many\n" for number in range(2000))
    texts = [("before", "x"), ("long", text), ("after", "y\n")]
    parts = list(pack_texts(encoding, texts, 300, "line"))
    placed = [one for part in parts for one in part.texts]
    assert "".join(texts[at][1][start:end] for at, start, end, _ in placed) == f"x{text}y\n"
    assert all(part.count == encoding.count(part.text) <= 300 for part in parts)
    assert all(part.text.endswith("\n") for part in parts[1:])
    assert [len(part.texts) for part in parts[:2]] == [1, 1]
    assert parts[1].text.startswith("==> long <==\nline 0 of")
    assert parts[2].text.startswith("==> long (continued) <==\nline ")
    # The rest of it and the next one share a part.
    assert parts[-1].text.endswith("many\n==> after <==\ny\n")


def test_packing_looks_at_a_long_text_once() -> None:
    """The work for a text of twice the length is twice as much, in characters looked at."""
    encoding = get_encoding("bytes")

    class Watched(str):
        """A text that adds up what is cut from it."""

        cut = 0

        def __getitem__(self, key: object) -> str:
            piece = super().__getitem__(key)  # type: ignore[index]
            Watched.cut += len(piece)
            return piece

    list(pack_texts(encoding, [("a", Watched("x" * 200_000))], 1000))
    assert Watched.cut < 20 * 200_000


@pytest.mark.parametrize(
    ("limit", "boundary", "reason"),
    [
        (0, "char", "limit is 0; it must be 1 or more"),
        (5, "page", "unknown boundary 'page'"),
        (8, "char", "limit is 8, but ==> a <== and the character 'x' alone have 11 tokens; raise"),
    ],
)
def test_packing_is_refused(limit: int, boundary: Boundary, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        list(pack_texts(get_encoding("bytes"), [("a", "xyz")], limit, boundary))
