"""``Document`` against a string that is edited likewise, and counted as a whole."""

from __future__ import annotations

import copy
import pickle
import random
from itertools import accumulate
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit import document as document_module
from compat_bpe.fit.document import Document
from tests.fit.edits import edits
from tests.fit.hard_encodings import NAMES, encoding_of, hard_texts
from tests.fit.piece_trees import check, small_pieces


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
        "don't  we'll",
        "1234 56789\n\n\n x",
        "a \r\n \n\tb",
        "x👩‍👩 y\ufe0f z",
        "a\ud83d b \ude00c",
        "<｜Us er｜> y",
        "今天，你好。 x",
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
