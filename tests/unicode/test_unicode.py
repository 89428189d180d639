"""Sets of code points and their properties; UTF-8 in pieces, surrogates, and text as words."""

from __future__ import annotations

import pickle
import re
import sys
import warnings
from typing import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.unicode.clusters import long_clusters
from compat_bpe.unicode.properties import ALL, END, NONE, CodePoints
from compat_bpe.unicode.surrogates import check_text
from compat_bpe.unicode.text import (
    StreamDecodeError,
    Utf8Decoder,
    _split_on_pypy,
    words_of,
)
from tests.examples import scaled
from tests.strategies import some_bytes

# Edges of everything: of ASCII, of the surrogates, of the planes, of Unicode, and specials of `re`.
EDGES = sorted(
    {c + d for c in (0, 0x2D, 0x5B, 0x5D, 0x80, 0xD800, 0xE000, 0x10000) for d in (0, 1, 2)}
    | {END - 1, END - 2, *map(ord, "-[]^&~|\\")}
)
members = st.sets(st.sampled_from(EDGES))


def points(chosen: set[int]) -> CodePoints:
    return CodePoints.from_ranges((c, c) for c in chosen)


@given(members, members)
def test_operators_are_those_of_sets(a: set[int], b: set[int]) -> None:
    def inside(found: CodePoints) -> set[int]:
        return {c for c in EDGES if c in found}

    assert inside(points(a) | points(b)) == a | b
    assert inside(points(a) & points(b)) == a & b
    assert inside(points(a) - points(b)) == a - b
    assert inside(points(a) ^ points(b)) == a ^ b
    assert inside(~points(a)) == set(EDGES) - a
    assert ~~points(a) == points(a)
    assert (points(a) == points(b)) == (a == b)


@given(members, st.sampled_from(EDGES), st.sampled_from([*EDGES, END]))
@example({END - 1}, END - 1, END)
def test_clip(a: set[int], start: int, end: int) -> None:
    expected = points({c for c in a if start <= c < end})
    assert points(a).clip(start, end) == expected


@given(st.lists(members))
def test_union(sets: list[set[int]]) -> None:
    assert CodePoints.union(*map(points, sets)) == points(set().union(*sets))


@given(members)
@example(set(map(ord, "-[]^&~|\\")))
def test_re_class_matches_the_members(a: set[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = re.compile(points(a).to_re())
    text = "".join(map(chr, EDGES))
    assert set(map(ord, filter(None, compiled.findall(text)))) == a


def test_every_ascii_character_alone_and_as_the_end_of_a_range() -> None:
    for code in range(128):
        assert re.fullmatch(CodePoints((code, code + 1)).to_re(), chr(code))
        found = re.findall(CodePoints((code, 0x80)).to_re(), "".join(map(chr, range(0x81))))
        assert found == [chr(c) for c in range(code, 0x80)]


def test_all_and_none() -> None:
    assert END - 1 in ALL
    assert 0 in ALL
    assert ~ALL == NONE
    assert not NONE
    assert list(ALL.ranges()) == [(0, END - 1)]
    assert CodePoints.from_ranges([(5, END - 1)]) == CodePoints((5,))


@given(some_bytes, st.sampled_from(["replace", "ignore", "backslashreplace", "surrogateescape"]))
def test_text_is_that_of_the_whole(pieces: list[bytes], errors: str) -> None:
    decoder = Utf8Decoder(errors)
    whole = b"".join(pieces)
    expected = whole.decode("utf-8", errors)
    # As they are, and byte by byte.
    for cut in (pieces, [bytes([byte]) for byte in whole]):
        text = ""
        for piece in cut:
            text += decoder.feed(piece)
            assert expected.startswith(text)
        assert text + decoder.finish() == expected


@given(some_bytes)
def test_an_error_is_that_of_the_whole(pieces: list[bytes]) -> None:
    decoder = Utf8Decoder("strict")
    assert seen(lambda: "".join([*map(decoder.feed, pieces), decoder.finish()])) == seen(
        b"".join(pieces).decode
    )


def seen(decode: Callable[[], str]) -> object:
    """The text, or what is wrong: where, which bytes, and why."""
    try:
        return decode()
    except UnicodeDecodeError as error:
        offset = error.offset if isinstance(error, StreamDecodeError) else error.start
        return offset, error.object[error.start : error.end], error.reason


def test_after_an_error_the_decoder_is_as_before() -> None:
    decoder = Utf8Decoder("strict")
    assert decoder.feed(b"caf\xc3") == "caf"
    for _ in range(2):
        with pytest.raises(StreamDecodeError, match="byte 0xc3 at offset 3: invalid continuation"):
            decoder.feed(b"x")
        with pytest.raises(StreamDecodeError, match="byte 0xc3 at offset 3: unexpected end"):
            decoder.finish()
    assert decoder.feed(b"\xa9") == "é"
    with pytest.raises(StreamDecodeError, match="byte 0xff at offset 6: "):
        decoder.feed(b"x\xff")
    assert decoder.finish() == ""


@pytest.mark.parametrize("first", range(0xC0, 0x100))
def test_only_what_may_become_a_character_is_held_back(first: int) -> None:
    # Of two bytes that more may follow: all that are those of a character beyond U+07FF.
    beginnings = {chr(code).encode()[:2] for code in range(0x800, 0x110000, 64) if code >> 11 != 27}
    for second in range(256):
        data = bytes([first, second])
        text = Utf8Decoder("replace").feed(data)
        expected = "" if data in beginnings else data.decode("utf-8", "replace")
        # The second byte may begin a character itself.
        if second >= 0xC2 and data not in beginnings:
            expected = expected[: -1 if second < 0xF5 else None]
        assert text == expected, data


def test_surrogates_are_passed_where_that_is_asked_for() -> None:
    decoder = Utf8Decoder("surrogatepass")
    assert [decoder.feed(byte) for byte in (b"\xed", b"\xa0", b"\x80")] == ["", "", "\ud800"]
    decoder = Utf8Decoder("strict")
    for _ in range(2):
        with pytest.raises(StreamDecodeError, match="byte 0xed at offset 0: invalid continuation"):
            decoder.feed(b"\xed\xa0")
    assert decoder.feed(b"\xed\x9f") == ""
    assert decoder.feed(b"\xbf") == "\ud7ff"


def test_offsets_begin_anew_after_the_end() -> None:
    decoder = Utf8Decoder("strict")
    decoder.feed(b"text")
    decoder.finish()
    with pytest.raises(StreamDecodeError, match="at offset 0"):
        decoder.feed(b"\xff")


def test_an_error_comes_whole_from_another_process() -> None:
    decoder = Utf8Decoder("strict")
    decoder.feed(b"some")
    with pytest.raises(StreamDecodeError) as found:
        decoder.feed(b"\xff")
    copy = pickle.loads(pickle.dumps(found.value))
    assert (str(copy), copy.offset) == (str(found.value), 4)


def refusal(call: Callable[[], object]) -> tuple[object, ...]:
    """Return the arguments of the error for a text that a call refuses; empty if it takes it."""
    try:
        call()
    except UnicodeEncodeError as error:
        return error.args
    return ()


@given(st.text(st.sampled_from("aé中😀\ud83d\ude00\udfff"), max_size=8))
@example("\ud83d\ude00")
@example("é" * 9 + "\udfff")
@example("😀" * 9 + "\ud800")
def test_surrogates_are_refused(text: str) -> None:
    assert refusal(lambda: check_text(text)) == refusal(text.encode)


@pytest.mark.parametrize("code_point", [0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000])
def test_the_borders_of_the_surrogates(code_point: int) -> None:
    for text in (chr(code_point), chr(code_point) + "\U0010ffff"):
        if 0xD800 <= code_point <= 0xDFFF:
            with pytest.raises(UnicodeEncodeError, match="'utf-8' codec"):
                check_text(text)
        else:
            check_text(text)


def test_only_text_is_taken() -> None:
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        check_text(b"a")  # type: ignore[arg-type]


#: White space by Unicode, and the separators of information.
SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def test_every_space_separates_and_nothing_else() -> None:
    for split in (words_of, _split_on_pypy):
        assert split("".join(f"a{space}" for space in SPACES)) == ["a"] * len(SPACES)
        assert split("a\u180eb\u200bc") == ["a\u180eb\u200bc"]


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="PyPy splits otherwise")
@given(st.text(st.sampled_from(SPACES + "ab\u180e") | st.characters()))
def test_the_way_of_pypy_is_the_split_of_cpython(text: str) -> None:
    assert _split_on_pypy(text) == words_of(text) == text.split()


#: Some characters of each class but linkers: `regex` joins those to what follows anywhere.
chars = st.sampled_from(
    "a1中\r\n\t\u200b\u0301\u0323\u200c\u200d\u0903\u0e33\u0600\u06dd©™👩👍🏽❤\ufe0f\U0001f1e9\U0001f1ea"
    "\u1100\u1101\u1161\u1162\u11a8\u11a9가각\u0915\u0937\u093c\u0995"
)


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="regex has no wheel for PyPy")
@settings(max_examples=scaled(1000))
@given(st.text(chars, max_size=10))
def test_as_in_regex(text: str) -> None:
    import regex

    expected = [match.span() for match in regex.finditer(r"\X", text) if len(match.group()) > 1]
    assert list(long_clusters(text)) == expected


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("🇩🇪🇩🇪🇩", [2, 2]),
        ("👩\u200d👩\u200d\u200d👩", [5]),
        ("\u1100\u1100가\u11a8\u11a8\u1100", [5]),
        ("क\u094dष\u094d\u093cक", [6]),
        ("कष\u094d", [2]),
        ("\u0600\u0600a\u0301", [4]),
        ("\u0600\n\u0301\u0301", [2]),
    ],
)
def test_rules(text: str, lengths: list[int]) -> None:
    assert [end - start for start, end in long_clusters(text)] == lengths
