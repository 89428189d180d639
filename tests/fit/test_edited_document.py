"""``Document`` against a string that is edited likewise, and its tree against a list of pieces."""

from __future__ import annotations

import copy
import pickle
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit import edited_document as document_module
from compat_bpe.fit import piece_tree
from compat_bpe.fit.edited_document import Document, Position, Unit
from compat_bpe.fit.piece_tree import PieceTree, _Node
from compat_bpe.pipeline.offsets import locate
from tests.examples import scaled
from tests.fit.hard_encodings import NAMES, encoding_of, hard_texts
from tests.strategies import pieces


class Edit(NamedTuple):
    """A change at any place, or at one of the edges between pieces or beside it."""

    at: int
    beside: int | None
    length: int
    new: str

    def place(self, document: Document) -> tuple[int, int]:
        at = self.at % (len(document) + 1)
        if self.beside is not None and len(document):
            at = document._tree.find(at % len(document)).start + self.beside
            at = min(max(at, 0), len(document))
        return at, min(at + self.length, len(document))


def edits(size: int) -> st.SearchStrategy[list[Edit]]:
    edit = st.builds(
        Edit,
        st.integers(0, 10**6),
        st.sampled_from([None, None, -1, 0, 0, 1]),
        st.sampled_from([0, 0, 0, 1, 1, 2, 3, 2 * size, 9 * size]),
        st.one_of(st.just(""), st.text("a \n'1e.\r", max_size=2), pieces),
    )
    return st.lists(edit, max_size=8)


def check(tree: PieceTree) -> None:
    """Every sum is right, and every node as wide as it should be."""
    root, height = tree._root, tree._height
    assert len(root.items) <= piece_tree.WIDTH
    assert height == 0 or len(root.items) > 1
    assert (sum(root.chars), sum(root.tokens)) == (tree.chars, tree.tokens)
    level: list[_Node] = [root]
    for _ in range(height):
        below: list[_Node] = []
        for node in level:
            assert node.chars == [sum(child.chars) for child in node.items]
            assert node.tokens == [sum(child.tokens) for child in node.items]
            below += node.items
        assert all(piece_tree.WIDTH // 2 <= len(n.items) <= piece_tree.WIDTH for n in below)
        level = below
    for node in level:
        assert node.chars == [len(piece) for piece in node.items]
        assert 0 not in node.chars
        assert len(node.tokens) == len(node.items)


@contextmanager
def small_pieces(size: int) -> Iterator[None]:
    """Pieces of so many characters, and narrow nodes, so that a small text has many.

    Some are longer than a long piece then, of which only what is beside an edit is merged again.
    """
    with (
        patch.object(document_module, "PIECE", size),
        patch.object(piece_tree, "WIDTH", 4),
        patch.object(piece_tree, "LONG_PIECE", 2 * size),
    ):
        yield


def check_against(document: Document, text: str, encoding: Encoding) -> None:
    assert document.text == text
    assert len(document) == len(text)
    assert document.count == encoding.count(text)
    check(document._tree)


@pytest.mark.parametrize("names", [NAMES[:3], NAMES[3:6], NAMES[6:]])
@given(size=st.sampled_from([2, 8, 128]), data=st.data())
def test_edits(names: list[str], size: int, data: st.DataObject) -> None:
    encoding = encoding_of(data.draw(st.sampled_from(names)))
    text = data.draw(hard_texts) * data.draw(st.sampled_from([1, 1, 4]))
    with small_pieces(size):
        document = Document(encoding, text)
        check_against(document, text, encoding)
        for edit in data.draw(edits(size)):
            start, end = edit.place(document)
            document.replace(start, end, edit.new)
            text = text[:start] + edit.new + text[end:]
            check_against(document, text, encoding)
            start, end = edit._replace(at=edit.at // 2).place(document)
            assert document.slice(start, end) == text[start:end]
            assert document.count_range(start, end) == encoding.count(text[start:end])


@pytest.mark.parametrize("name", ["cl100k_base", "deepseek_v3", "leaves text out", "looks back"])
@pytest.mark.parametrize(
    "text",
    [
        *("don't  we'll", "1234 56789\n\n\n x", "a \r\n \n\tb", "x👩‍👩 y\ufe0f z"),
        *("a\ud83d b \ude00c", "<｜Us er｜> y", "今天，你好。 x"),
    ],
)
def test_every_edit_of_a_short_text(name: str, text: str) -> None:
    encoding = encoding_of(name)
    with small_pieces(2):
        document = Document(encoding, text)
        for start in range(len(text) + 1):
            for end in range(start, len(text) + 1):
                part = text[start:end]
                assert document.slice(start, end) == part
                assert document.count_range(start, end) == encoding.count(part)
                for new in ("", "n", " ", "\n", "'", "7", "\u200d", "\ud83d"):
                    edited = copy.copy(document)
                    edited.replace(start, end, new)
                    whole = text[:start] + new + text[end:]
                    assert (edited.text, edited.count) == (whole, encoding.count(whole))
        check_against(document, text, encoding)


def test_typing_and_deleting_a_text_character_by_character() -> None:
    encoding = get_encoding("cl100k_base")
    text = "".join(
        f"    def method_{n}(self):\n        return {n * n} * 'x'\n\n" for n in range(60)
    )
    document = Document(encoding)
    for at, char in enumerate(text):
        document.replace(at, at, char)
        if at % 100 == 0:
            check_against(document, text[: at + 1], encoding)
    check_against(document, text, encoding)
    assert pieces_of(document) < len(text) / (document_module.PIECE / 2)
    rng = random.Random(1)
    while text:
        if len(text) % 100 == 0:
            check_against(document, text, encoding)
            assert pieces_of(document) < len(text) / (document_module.PIECE / 4) + 2
        at = rng.randrange(len(text))
        document.replace(at, at + 1, "")
        text = text[:at] + text[at + 1 :]
    check_against(document, "", encoding)


@pytest.mark.parametrize("line", ["some words, and more of them\n", "x" * 254 + "\n"])
def test_what_is_left_of_many_pieces_is_joined(line: str) -> None:
    encoding = get_encoding("gpt2")
    text = line * 400
    for order in (1, -1):
        document = Document(encoding, text)
        edges = list(accumulate(map(len, document._tree.pieces())))
        # All but two characters of each piece but the first are taken out.
        for number in range(len(edges) - 1)[::order]:
            start = (edges[0] + 2 * number if order == 1 else edges[number]) + 1
            document.replace(start, start + edges[number + 1] - edges[number] - 2, "")
        assert pieces_of(document) < len(document) / (document_module.PIECE / 4)
        check_against(document, document.text, encoding)


def test_what_is_left_of_a_piece_is_joined_to_the_one_beside_it() -> None:
    encoding = get_encoding("gpt2")
    text = "y" * 250 + "." + " " * 300
    document = Document(encoding, text)
    assert [len(piece) for piece in document._tree.pieces()] == [250, 1, 300]
    document.replace(253, 548, "")
    assert [len(piece) for piece in document._tree.pieces()] == [250, 6]
    check_against(document, text[:253] + text[548:], encoding)


def test_a_large_edit_takes_many_short_steps() -> None:
    encoding = get_encoding("gpt2")
    document = Document(encoding, "hello")
    counted = [0]

    def count(self: Encoding, text: str) -> int:
        counted[-1] += len(text)
        return len(self.encode_ordinary(text))

    new = "some words, and more of them\n" * 10_000
    with patch.object(Encoding, "count", count):
        for _ in document.replacing(0, 5, new):
            assert document.text == "hello"
            counted.append(0)
    *steps, last = counted
    assert (1 << 14) <= min(steps) <= max(steps) < (1 << 14) + 2 * document_module.PIECE
    assert sum(steps) + last == len(new)
    check_against(document, new, encoding)


def pieces_of(document: Document) -> int:
    return sum(1 for _ in document._tree.pieces())


def test_a_keystroke_counts_only_what_is_near() -> None:
    """Also beside and between long runs in which no cut is safe."""
    encoding = get_encoding("cl100k_base")
    words = "some words, and more of them\n"
    document = Document(encoding, f"{words}{'x' * 20_000}\n{words}" * 10 + words * 1000)
    counted: list[int] = []

    def count(self: Encoding, text: str) -> int:
        counted.append(len(text))
        return len(self.encode_ordinary(text))

    rng = random.Random(2)
    starts = [number * (20_001 + 2 * len(words)) for number in range(10)]
    with patch.object(Encoding, "count", count):
        for _ in range(300):
            start = rng.choice([*starts, len(document) - 900 * len(words)])
            at = start + rng.randrange(len(words) - 4)
            document.replace(at, at, rng.choice("ab \n"))
            at = start + rng.randrange(len(words) - 4)
            document.replace(at, at + 1, "")
        document.count_range(20, len(document) - 20)
    assert max(counted) < 4 * document_module.PIECE
    assert document.count == encoding.count(document.text)


def test_a_large_document_is_edited_in_large_parts() -> None:
    encoding = get_encoding("gpt2")
    text = "".join(f"{n} bottles of beer on the wall\n" for n in range(20_000))
    document = Document(encoding, text)
    document.replace(1_000, len(text) - 1_000, "")
    text = text[:1_000] + text[-1_000:]
    check_against(document, text, encoding)
    document.replace(500, 600, text * 50)
    text = text[:500] + text * 50 + text[600:]
    check_against(document, text, encoding)
    document.replace(0, len(text), "x")
    check_against(document, "x", encoding)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (0, -1), (3, 2), (2, 6), (6, 6), (-3, -2)])
def test_places_outside_of_the_text_are_refused(start: int, end: int) -> None:
    document = Document(get_encoding("gpt2"), "hello")
    reason = f"range {start} to {end} is outside of the document, which has 5 characters"
    for call in (
        lambda: document.replace(start, end, "x"),
        lambda: document.slice(start, end),
        lambda: document.count_range(start, end),
    ):
        with pytest.raises(IndexError, match=reason):
            call()
    assert (document.text, document.count) == ("hello", 1)


def test_what_is_no_text_or_no_place_is_refused() -> None:
    encoding = get_encoding("gpt2")
    document = Document(encoding, "hello")
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        Document(encoding, b"hello")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="text must be a str, not NoneType"):
        document.replace(0, 5, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="float"):
        document.replace(0, 2.0, "")  # type: ignore[arg-type]
    assert (document.text, document.count) == ("hello", 1)


def test_after_an_exception_nothing_has_changed() -> None:
    ranks = {b"a": 0, b"b": 1, b" ": 2, b"ab": 3}
    encoding = Encoding("few", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(ValueError, match="no token for the byte b'c'"):
        Document(encoding, "abc")
    document = Document(encoding, "ab " * 1000)
    with pytest.raises(ValueError, match="no token for the byte b'c'"):
        document.replace(5, 2000, "ab " * 1000 + "c")
    check_against(document, "ab " * 1000, encoding)


def test_a_copy_is_edited_for_itself() -> None:
    document = Document(get_encoding("gpt2"), "hello world")
    other = copy.copy(document)
    other.replace(5, 11, "!")
    assert (document.text, document.count) == ("hello world", 2)
    assert (other.text, other.count) == ("hello!", 2)
    assert other.encoding is document.encoding
    loaded = pickle.loads(pickle.dumps(document))
    assert (loaded.text, loaded.count) == ("hello world", 2)


def test_a_kind_of_string_is_taken_for_its_characters() -> None:
    class Shouting(str):
        __slots__ = ()

        def __radd__(self, other: str) -> str:
            return other + self.upper()

        def __getitem__(self, place: object) -> str:
            raise AssertionError("the characters of the string are meant")

    document = Document(get_encoding("gpt2"), Shouting("hello world"))
    document.replace(5, 6, Shouting(", "))
    assert document.text == "hello, world"
    assert type(document.text) is str


def test_repr_is_short() -> None:
    document = Document(get_encoding("gpt2"), "hello world " * 1000)
    assert repr(document) == "<Document of 12000 characters, 2001 tokens of <Encoding 'gpt2'>>"


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
    pieces = list(document._tree.pieces())
    assert all(piece[-1:] + after[:1] != "\r\n" for piece, after in zip(pieces, pieces[1:]))
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
            end = starts[line] + len(content)
            assert document.offset(line, units(content, unit) + 7, unit) == end


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
                    edited = copy.copy(document)
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
        known = getattr(document_module, name)

        def measure(text: str, known: piece_tree.Measure = known) -> int:
            measured.append(len(text))
            return known(text)

        monkeypatch.setattr(document_module, name, measure)
        if name != "_line_ends":
            of: Unit = "utf-8" if name == "_utf8" else "utf-16"
            monkeypatch.setitem(document_module._MEASURES, of, measure)
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


def test_places_that_are_not_there_are_refused() -> None:
    document = Document(get_encoding("gpt2"), "one\ntwo")
    with pytest.raises(IndexError, match="there is no line 2: the document has 2 lines"):
        document.offset(2, 0)
    with pytest.raises(IndexError, match="there is no line -1"):
        document.line_range(-1)
    with pytest.raises(IndexError, match="column -1 is negative"):
        document.offset(0, -1)
    with pytest.raises(IndexError, match="range 8 to 8 is outside"):
        document.position(8)
    with pytest.raises(IndexError, match="range -1 to -1 is outside"):
        document.units(-1, "utf-8")
    with pytest.raises(IndexError, match="there is no unit 8: the document has 7 units of utf-16"):
        document.offset_of_units(8, "utf-16")
    with pytest.raises(IndexError, match="there is no token 3: the document has 3 tokens"):
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


def tokens_of(pieces: list[str]) -> list[int]:
    return [ord(piece[0]) for piece in pieces]


some_pieces = st.lists(st.sampled_from(["a", "bc", "def", "ghi"]), max_size=30)
changes = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), some_pieces)


@pytest.mark.parametrize("width", [4, 6, 32])
@given(st.integers(0, 8), some_pieces, st.lists(changes, max_size=8))
def test_as_a_list(
    width: int, repeat: int, first: list[str], changes: list[tuple[int, int, list[str]]]
) -> None:
    pieces = first * repeat
    with patch.object(piece_tree, "WIDTH", width):
        tree = PieceTree(pieces, tokens_of(pieces))
        for begin, length, new in changes:
            before = tree, list(pieces)
            start = begin % max(len(pieces), 1)
            end = start + 1 + length % max(len(pieces) - start, 1)
            edges = list(accumulate(map(len, pieces), initial=0))
            tree = tree.replaced(edges[start], edges[min(end, len(pieces))], new, tokens_of(new))
            pieces[start:end] = new
            check(tree)
            assert list(tree.pieces()) == pieces
            assert list(before[0].pieces()) == before[1], "the tree before has changed"


@given(some_pieces, st.integers(1, 8))
def test_places(first: list[str], repeat: int) -> None:
    pieces = first * repeat
    with patch.object(piece_tree, "WIDTH", 4):
        tree = PieceTree(pieces, tokens_of(pieces))
    start = tokens = 0
    for piece in pieces:
        expected = (piece, start, ord(piece[0]), tokens)
        assert all(tree.find(start + at) == expected for at in range(len(piece)))
        assert list(tree.pieces(start, start + len(piece))) == [piece]
        start, tokens = start + len(piece), tokens + ord(piece[0])
    text = "".join(pieces)
    for start in range(0, len(text), 17):
        for end in range(start + 1, len(text), 19):
            found = "".join(tree.pieces(start, end))
            first_start = tree.find(start).start
            assert found[start - first_start :].startswith(text[start:end])
            assert len(found) <= end - start + 4


def test_a_tree_of_nothing() -> None:
    tree = PieceTree([], [])
    assert (tree.chars, tree.tokens, list(tree.pieces())) == (0, 0, [])
    assert list(tree.replaced(0, 0, ["a"], [1]).replaced(0, 1, [], []).pieces()) == []


def test_height_is_that_of_what_is_left() -> None:
    tree = PieceTree(["a"] * 100_000, [1] * 100_000)
    assert tree._height == 3
    assert tree.replaced(10, 99_990, [], [])._height == 0
