"""Ids back to bytes and text: by bytes, with a table of all tokens and without, and by pieces."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.byte_level import (
    BYTE_TO_UNICODE,
    UNICODE_TO_BYTE,
    decode_all,
    decode_bytes,
    encode_bytes,
)
from compat_bpe.pipeline.decoders.bytes import _BLOCK, _COST_OF_SEARCH, _FEW, ByteDecoder
from compat_bpe.pipeline.decoders.pieces import PieceDecoder
from compat_bpe.pipeline.decoders.steps import (
    CTC,
    ESCAPED,
    ByteFallback,
    ByteLevel,
    DecoderStep,
    EndOfWord,
    Fuse,
    Metaspace,
    Replace,
    Spaced,
    Strip,
    WordPiece,
    byte_of,
)
from tests.drawn_models import BYTES

#: More ids than are looked up without a table.
MANY = _FEW + 1

ids = st.integers(0, 40)
vocabularies = st.dictionaries(st.binary(max_size=3), ids, max_size=12).map(
    # No id comes twice.
    lambda tokens: {data: number for number, data in {n: d for d, n in tokens.items()}.items()}
)
others = st.dictionaries(ids, st.binary(max_size=3), max_size=6)


def expected(ranks: dict[bytes, int], more: dict[int, bytes], others_win: bool) -> dict[int, bytes]:
    by_id = {number: data for data, number in ranks.items()}
    return {**by_id, **more} if others_win else {**more, **by_id}


@given(vocabularies, others, st.booleans(), st.lists(ids, max_size=8))
@example({b"b": 1, b"a": 0}, {}, False, [0, 1])
@example({b"a": 0, b"b": 1}, {0: b"x"}, True, [0, 1])
@example({b"a": 0, b"b": 1}, {0: b"x"}, False, [0, 1])
def test_few_and_many(
    ranks: dict[bytes, int], more: dict[int, bytes], others_win: bool, wanted: list[int]
) -> None:
    by_id = expected(ranks, more, others_win)
    known = [number for number in wanted if number in by_id]
    few = ByteDecoder(ranks, more, others_win)
    for number in wanted:
        if number not in by_id:
            with pytest.raises(KeyError, match=f"{number} is not in the vocabulary"):
                few.decode([number])
    assert few.decode(known) == b"".join(map(by_id.__getitem__, known))
    many = ByteDecoder(ranks, more, others_win)
    if known:
        whole = known * MANY
        assert many.decode(whole) == b"".join(map(by_id.__getitem__, whole))
        assert many._listed is None
    for number in wanted:
        if number in by_id:
            assert few.decode_one(number) == many.decode_one(number) == by_id[number]
        else:
            for decoder in (few, many):
                with pytest.raises(KeyError, match=f"{number} is not in the vocabulary"):
                    decoder.decode_one(number)


def test_few_ids_need_no_table_and_many_get_one() -> None:
    decoder = ByteDecoder({b"a": 0, b"b": 1}, {2: b"<|end|>"})
    assert decoder.decode([0, 2] * (_FEW // 2)) == b"a<|end|>" * (_FEW // 2)
    assert decoder._texts is None
    assert decoder.decode_one(1) == b"b"
    assert decoder._texts == ["a", "b", "<|end|>"]


def test_a_table_is_made_rather_than_searched_for_many() -> None:
    backwards = {bytes([255 - number]): 255 - number for number in range(256)}
    decoder = ByteDecoder(backwards, {})
    assert decoder.decode(list(range(256))) == bytes(range(256))
    assert _FEW // _COST_OF_SEARCH < 100
    assert decoder._texts is not None


def test_threads_that_decode_first() -> None:
    for _ in range(20):
        decoder = ByteDecoder(BYTES, {})
        jobs = [list(range(256)) * times for times in (1, 2, 3, 5, 8, 1, 2, 3)]
        with ThreadPoolExecutor(len(jobs)) as executor:
            found = list(executor.map(decoder.decode, jobs))
        assert found == list(map(bytes, jobs))


TOKENS = [b"a", b"bc", b"\xc3", b"\xa9", b"\xff", b"", b"\x00", "字".encode()]
DENSE = {token: number for number, token in enumerate(TOKENS)}
#: So far apart that they are looked up in a dictionary.
SPARSE = {token: number * 1000 for number, token in enumerate(TOKENS)}
RANKS = pytest.mark.parametrize("ranks", [DENSE, SPARSE], ids=["dense", "sparse"])


@RANKS
def test_bytes_and_text(ranks: dict[bytes, int]) -> None:
    tested = ByteDecoder(ranks, {})

    @given(st.lists(st.sampled_from(TOKENS), max_size=12), st.sampled_from(["replace", "ignore"]))
    def check(tokens: list[bytes], errors: str) -> None:
        ids = [ranks[token] for token in tokens]
        data = b"".join(tokens)
        assert tested.decode(ids) == data
        assert tested.decode_text(ids, errors) == data.decode("utf-8", errors)

    check()


@RANKS
@pytest.mark.parametrize("length", [0, 1, 1023, 1024, 1025, 2048, 2049])
def test_blocks_have_no_seam(ranks: dict[bytes, int], length: int) -> None:
    assert _BLOCK == 1024
    tokens = [TOKENS[number % len(TOKENS)] for number in range(length)]
    assert ByteDecoder(ranks, {}).decode([ranks[token] for token in tokens]) == b"".join(tokens)


@RANKS
@pytest.mark.parametrize("token", [8, 999, 7001, 100_000, 2**32 - 1])
def test_an_unknown_id_is_named(ranks: dict[bytes, int], token: int) -> None:
    tested = ByteDecoder(ranks, {})
    for call in (tested.decode_one, lambda one: tested.decode([0] * 1500 + [one, 0])):
        with pytest.raises(KeyError, match=f"{token} is not in the vocabulary"):
            call(token)


@RANKS
@pytest.mark.parametrize("count", [1, 2, MANY, 2 * _BLOCK + 1])
@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        *((wrong, OverflowError) for wrong in (-1, -(2**40), 2**32, 2**70)),
        *((wrong, TypeError) for wrong in (1.0, "0", None)),
    ],
)
def test_what_is_no_id(
    ranks: dict[bytes, int], count: int, wrong: Any, error: type[Exception]
) -> None:
    tested = ByteDecoder(ranks, {})
    with pytest.raises(error):
        tested.decode([0] * (count - 1) + [wrong])
    with pytest.raises(error):
        tested.decode_one(wrong)
    assert tested.decode([ranks[b"bc"], 0]) == b"bca"


@RANKS
@pytest.mark.parametrize(
    "tokens",
    ["a", "", {0: 1}, {0}, 0, None, iter([0])],
    ids=lambda tokens: type(tokens).__name__,
)
def test_what_is_no_sequence_of_ids_is_refused(ranks: dict[bytes, int], tokens: Any) -> None:
    with pytest.raises(TypeError):
        ByteDecoder(ranks, {}).decode(tokens)


def test_nothing_to_decode_with() -> None:
    tested = ByteDecoder({}, {})
    assert tested.decode([]) == b""
    with pytest.raises(KeyError):
        tested.decode_one(0)


@pytest.mark.parametrize(("tokens", "raised"), [([2], UnicodeDecodeError), ([2, 0], ValueError)])
def test_errors_are_those_of_bytes(tokens: list[int], raised: type[Exception]) -> None:
    with pytest.raises(raised):
        ByteDecoder(DENSE, {}).decode_text(tokens, "strict")


def test_errors_must_be_text_also_where_there_are_none() -> None:
    with pytest.raises(TypeError):
        ByteDecoder(DENSE, {}).decode_text([0], None)  # type: ignore[arg-type]


SPACES = Replace(lambda piece: piece.replace("▁", " "))
LLAMA = [SPACES, ByteFallback(), Fuse(), Strip(" ", 1, 0)]
DECODERS: dict[str, list[DecoderStep]] = {
    "llama": LLAMA,
    "fallback": [ByteFallback(), Metaspace()],
    "word piece": [WordPiece()],
    "end of word": [EndOfWord(), Fuse(), Strip(" ", 1, 1)],
    "metaspace": [Metaspace(), CTC()],
    "spaced": [Spaced()],
    "nothing": [],
}
PIECES = dict(
    enumerate(["▁a", "##b", "c</w>", "", "<0xC3>", "<0xA9>", "<0xE4>", "<0x41>", "<pad>", "▁"])
)


@pytest.mark.parametrize("name", DECODERS)
@given(st.lists(st.sampled_from(sorted(PIECES)), max_size=12))
def test_fast_and_plain(name: str, ids: list[int]) -> None:
    decoder = PieceDecoder(PIECES, DECODERS[name])
    for errors in ("replace", "ignore", ESCAPED):
        assert decoder.decode_text(ids, errors) == decoder.plain(ids, errors)


@given(st.binary())
def test_no_byte_is_lost(data: bytes) -> None:
    decoder = PieceDecoder({byte: f"<0x{byte:02X}>" for byte in range(256)}, LLAMA[1:3])
    assert decoder.decode(list(data)) == data
    assert b"".join(map(decoder.decode_one, data)) == data


def test_errors() -> None:
    decoder = PieceDecoder(PIECES, LLAMA)
    assert decoder.decode_text([0, 4, 5, 0], "strict") == "aé a"
    assert decoder.decode_text([0, 4, 7, 0], "replace") == "a\ufffd\ufffd a"
    assert decoder.decode_text([0, 4, 3, 5, 0], "replace") == "a\ufffd\ufffd a"
    with pytest.raises(UnicodeDecodeError):
        decoder.decode_text([0, 4, 7, 0], "strict")


@pytest.mark.parametrize("ids", [[99], [0, 99], [0, 0, 99, 0], [0, 0, 0, 99]])
def test_unknown_ids(ids: list[int]) -> None:
    for steps in DECODERS.values():
        decoder = PieceDecoder(PIECES, steps)
        for call in (decoder.decode, lambda ids: decoder.decode_text(ids, "replace")):  # noqa: B023
            with pytest.raises(KeyError, match="99 is not in the vocabulary"):
                call(ids)
        with pytest.raises(KeyError, match="99 is not in the vocabulary"):
            decoder.decode_one(99)


@pytest.mark.parametrize(
    ("ids", "error"),
    [([-1], OverflowError), ([1 << 32], OverflowError), ([0.0], TypeError), ("a", TypeError)],
)
def test_ids_that_cannot_be(ids: list[int], error: type[Exception]) -> None:
    decoder = PieceDecoder(PIECES, LLAMA)
    with pytest.raises(error):
        decoder.decode(ids)


@pytest.mark.parametrize(
    ("steps", "piece", "expected"),
    [
        (LLAMA, "▁a", b" a"),
        (LLAMA, "<0xC3>", b"\xc3"),
        ([WordPiece()], "a", b" a"),
        ([WordPiece()], "##a", b"a"),
        ([EndOfWord()], "a</w>", b"a "),
        ([Metaspace()], "▁a", b" a"),
        ([Spaced()], "a", b" a"),
        ([Strip(" ", 1, 0)], " a", b"a"),
        ([CTC()], "<pad>", b""),
        ([Fuse(), ByteLevel()], "\u0120\u00c3", b" \xc3"),
    ],
)
def test_a_token_in_the_middle(steps: list[DecoderStep], piece: str, expected: bytes) -> None:
    assert PieceDecoder({5: piece}, steps).decode_one(5) == expected


@pytest.mark.parametrize(
    ("piece", "byte"),
    [
        ("<0x41>", 65),
        ("<0xfF>", 255),
        ("<0x+f>", 15),
        ("<0x-1>", None),
        ("<0x 1>", None),
        ("<0x041>", None),
        ("<0x4>", None),
        ("<0xé>", None),
        ("<0x１２>", None),
        ("a", None),
    ],
)
def test_byte_of(piece: str, byte: int | None) -> None:
    assert byte_of(piece) == byte


def test_printable_bytes_stand_for_themselves_and_the_rest_are_numbered() -> None:
    # The definition in the other direction: by what is printable in Latin-1, as tiktoken has it.
    printable = [byte for byte in range(256) if chr(byte).isprintable() and chr(byte) != " "]
    others = [byte for byte in range(256) if byte not in printable]
    assert len(printable) == 188
    expected = [(byte, chr(byte)) for byte in printable]
    expected += [(byte, chr(0x100 + n)) for n, byte in enumerate(others)]
    assert list(BYTE_TO_UNICODE.items()) == expected
    assert {char: byte for byte, char in expected} == UNICODE_TO_BYTE


def test_no_character_would_break_a_line_of_vocab_bpe() -> None:
    assert len("".join(BYTE_TO_UNICODE.values()).split()) == 1


@given(st.binary())
def test_round_trip(data: bytes) -> None:
    assert decode_bytes(encode_bytes(data)) == data


@given(st.lists(st.text("aĠÿ \n中", max_size=4)))
def test_many_are_decoded_as_each_is(texts: list[str]) -> None:
    expected = [
        decode_bytes(text) if UNICODE_TO_BYTE.keys() >= set(text) else None for text in texts
    ]
    assert decode_all(texts) == expected


@pytest.mark.parametrize("char", [" ", "\n", "\x7f", "\xa0", "\xad", "\u0144", "中", "\ud800"])
def test_other_characters_are_named(char: str) -> None:
    with pytest.raises(ValueError, match=rf"^character 2, .*\(U\+{ord(char):04X}\)"):
        decode_bytes("ab" + char)
