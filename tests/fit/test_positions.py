"""Lines, columns, offsets and tokens of a ``Document`` against those of its text."""

from __future__ import annotations

import re
from copy import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.fit import piece_tree, positions
from compat_bpe.fit.document import Document
from compat_bpe.fit.positions import Position, Unit
from compat_bpe.pipeline.offsets import locate
from tests.examples import scaled
from tests.fit.edits import Edit, edits
from tests.fit.hard_encodings import NAMES, encoding_of, hard_texts
from tests.fit.piece_trees import small_pieces

UNITS: tuple[Unit, ...] = ("utf-8", "utf-16", "utf-32")
#: Bytes of one unit in the codec of that name.
WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}

line_texts = st.lists(
    st.sampled_from(["\n", "\r", "\r\n", "\n\r", "a", "é", "中", "😀", "\ud83d", "\ude00", " b"]),
    max_size=40,
).map("".join)


def units(text: str, unit: Unit) -> int:
    codec = unit if unit == "utf-8" else f"{unit}-le"
    return len(text.encode(codec, "surrogatepass")) // WIDTHS[unit]


def line_starts(text: str) -> list[int]:
    return [0, *(end.end() for end in re.finditer("\r\n|\r|\n", text))]


def check_places(document: Document, text: str) -> None:
    starts = line_starts(text)
    assert document.lines == len(starts)
    lines = re.split("\r\n|\r|\n", text)
    for line, (start, content) in enumerate(zip(starts, lines)):
        assert document.line_range(line) == (start, start + len(content))
    assert all(piece[-1:] + after[:1] != "\r\n" for piece, after in neighbours(document))
    for unit in UNITS:
        for offset in range(len(text) + 1):
            line = max(n for n, start in enumerate(starts) if start <= offset)
            column = units(text[starts[line] : offset], unit)
            assert document.position(offset, unit) == (line, column)
            before = units(text[:offset], unit)
            assert document.units(offset, unit) == before
            assert document.offset_of_units(before, unit) == (offset, 0)
            within = offset - (text[offset - 1 : offset + 1] == "\r\n")
            assert document.offset(line, column, unit) == within
            size = units(text[offset : offset + 1], unit)
            for rest in range(1, size):
                assert document.offset_of_units(before + rest, unit) == (offset, rest)
                assert document.offset(line, column + rest, unit) == offset
        for line, content in enumerate(lines):
            assert document.offset(line, units(content, unit) + 7, unit) == starts[line] + len(
                content
            )


def neighbours(document: Document) -> list[tuple[str, str]]:
    pieces = list(document._tree.pieces())
    return list(zip(pieces, pieces[1:]))


@pytest.mark.parametrize("name", ["cl100k_base", "leaves text out", "words"])
@settings(max_examples=scaled(20))
@given(size=st.sampled_from([2, 8]), text=line_texts, changes=edits(8), data=st.data())
def test_places_after_edits(
    name: str, size: int, text: str, changes: list[Edit], data: st.DataObject
) -> None:
    encoding = get_encoding(name) if name == "words" else encoding_of(name)
    with small_pieces(size):
        document = Document(encoding, text)
        check_places(document, text)
        for edit in changes:
            new = data.draw(st.one_of(st.just(edit.new), line_texts))
            start, end = edit.place(document)
            document.replace(start, end, new)
            text = text[:start] + new + text[end:]
            assert document.count == encoding.count(text)
        check_places(document, text)


@pytest.mark.parametrize("name", ["leaves text out", "words"])
@pytest.mark.parametrize("size", [2, 8])
def test_no_edit_leaves_a_line_end_in_two_pieces(name: str, size: int) -> None:
    encoding = get_encoding(name) if name == "words" else encoding_of(name)
    text = "ab cd\nef gh\rij kl\r\nmn \n \r op" * 2
    with small_pieces(size):
        document = Document(encoding, text)
        for start in range(len(text) + 1):
            for end in range(start, min(start + 6, len(text) + 1)):
                for new in ("", "\r", "\n", "ab cd ef\r", "\nab cd ef", "\n ab cd ef \r"):
                    edited = copy(document)
                    edited.replace(start, end, new)
                    whole = text[:start] + new + text[end:]
                    assert edited.lines == len(line_starts(whole)), (start, end, new)


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_is_looked_into_at_one_place(
    unit: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an edit, hardly more than the nodes on the way to it are measured again."""
    document = Document(get_encoding("gpt2"), "été, 😀 and more words\r\n" * 5000)
    measured: list[int] = []
    for name in ("_line_ends", "_utf8", "_utf16"):
        known = getattr(positions, name)

        def measure(text: str, known: piece_tree.Measure = known) -> int:
            measured.append(len(text))
            return known(text)

        monkeypatch.setattr(positions, name, measure)
        if name != "_line_ends":
            of: Unit = "utf-8" if name == "_utf8" else "utf-16"
            monkeypatch.setitem(positions._MEASURES, of, measure)
    document.position(100, unit)
    at = document.offset(2500, 7, unit)
    measured.clear()
    document.replace(at, at, "\n")
    assert document.position(at + 1, unit) == (2501, 0)
    assert document.offset(4000, 0, unit) == 3999 * 23 + 1
    assert sum(measured) < 60_000


@pytest.mark.parametrize("names", [NAMES[:4], NAMES[4:]])
@settings(max_examples=scaled(20))
@given(data=st.data(), text=hard_texts)
def test_tokens_are_those_of_the_text(names: list[str], data: st.DataObject, text: str) -> None:
    encoding = encoding_of(data.draw(st.sampled_from(names)))
    with small_pieces(2):
        document = Document(encoding, text)
        expected = [
            (one.id, one.start, one.end, number)
            for number, one in enumerate(locate(encoding.core.definition, text, frozenset()))
        ]
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        assert document.tokens(start, end) == [
            one for one in expected if start < end and one[1] < end and one[2] > start
        ]
        assert [document.token(number) for number in range(document.count)] == expected


def test_places_outside_of_the_text_are_refused() -> None:
    document = Document(get_encoding("gpt2"), "one\ntwo")
    with pytest.raises(IndexError, match="line 2 of a document of 2 lines"):
        document.offset(2, 0)
    with pytest.raises(IndexError, match="line -1 of a document"):
        document.line_range(-1)
    with pytest.raises(IndexError, match="column -1 is negative"):
        document.offset(0, -1)
    with pytest.raises(IndexError, match="range 8 to 8 is outside"):
        document.position(8)
    with pytest.raises(IndexError, match="range -1 to -1 is outside"):
        document.units(-1, "utf-8")
    with pytest.raises(IndexError, match="unit 8 of a document of 7 units of utf-16"):
        document.offset_of_units(8, "utf-16")
    with pytest.raises(IndexError, match="token 3 of a document of 3 tokens"):
        document.token(3)
    with pytest.raises(ValueError, match="unit is 'utf-7'; it must be one of utf-8, utf-16"):
        document.position(1, "utf-7")  # type: ignore[arg-type]


def test_a_document_of_nothing() -> None:
    document = Document(get_encoding("gpt2"))
    assert (document.lines, document.line_range(0)) == (1, (0, 0))
    assert document.position(0, "utf-16") == Position(0, 0)
    assert (document.offset(0, 9), document.tokens(0, 0)) == (0, [])


@pytest.mark.parametrize("names", [NAMES[:4], NAMES[4:]])
@settings(max_examples=scaled(20))
@given(data=st.data(), text=hard_texts, size=st.sampled_from([2, 8]), limit=st.integers(2, 20))
def test_nothing_beyond_the_range_around_a_place_fits(
    names: list[str], data: st.DataObject, text: str, size: int, limit: int
) -> None:
    encoding = encoding_of(data.draw(st.sampled_from(names)))
    with small_pieces(size):
        document = Document(encoding, text)
    at = data.draw(st.integers(0, len(text)))
    start, end = document.range_around(at, limit)
    assert all(encoding.count(text[begin:at]) > limit for begin in range(start))
    assert all(encoding.count(text[at:stop]) > limit for stop in range(end + 1, len(text) + 1))
