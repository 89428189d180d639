from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.byte_level import (
    BYTE_TO_UNICODE,
    UNICODE_TO_BYTE,
    decode_all,
    decode_bytes,
    encode_bytes,
)


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
