"""``compat-bpe decode``; that it is the inverse of ``encode`` is in test_encode.py."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from tests.cli.running import Result, endless, run, small_blocks

GPT2 = get_encoding("gpt2")

tokens = st.lists(st.integers(0, GPT2.max_token_value), max_size=30)
white_space = st.text(" \t\r\n\x0b\x0c", max_size=4)


def decode(data: bytes, *args: str) -> Result:
    return run("decode", "-e", "gpt2", *args, stdin=data)


@given(ids=tokens, block=st.integers(1, 20), data=st.data())
def test_ids_in_any_writing_and_any_blocks(ids: list[int], block: int, data: st.DataObject) -> None:
    separators = st.builds(
        lambda *parts: "".join(parts) or " ", white_space, st.sampled_from(["", ","]), white_space
    )
    written = data.draw(white_space)
    for number, token in enumerate(ids):
        written += (data.draw(separators) if number else "") + str(token)
    written += data.draw(white_space)
    if data.draw(st.booleans()):
        written = f"{data.draw(white_space)}[{written}]{data.draw(white_space)}"
    with small_blocks(block):
        result = decode(written.encode())
    assert result == (0, GPT2.decode_bytes(ids), "")


@given(ids=tokens, block=st.integers(1, 20))
def test_packed_ids_in_any_blocks(ids: list[int], block: int) -> None:
    with small_blocks(block):
        result = decode(struct.pack(f"<{len(ids)}I", *ids), "--packed")
    assert result == (0, GPT2.decode_bytes(ids), "")


def test_bytes_that_are_no_text_and_special_tokens() -> None:
    assert decode(b"177 50256 198") == (0, b"\xf5<|endoftext|>\n", "")
    assert decode(b"") == decode(b"[]") == decode(b" \n") == decode(b"", "--packed") == (0, b"", "")
    assert decode(b"[64,\n65,\n]\n") == (0, b"ab", "")


# What is wrong, where, and what it is called.
WRONG = [
    ("31373, -5", "'-5' at offset 7 is not a token id"),
    ("1 2x3 4", "'2x3' at offset 2 is not a token id"),
    ("1.5", "'1.5' at offset 0 is not a token id"),
    ("1e3", "'1e3' at offset 0 is not a token id"),
    ('["a"]', "'\"a\"' at offset 1 is not a token id"),
    ("12345678901 1", "'12345678901' at offset 0 is not a token id"),
    ("1 " + "9" * 5000, f"'{'9' * 20}' at offset 2 is not a token id"),
    ("[1, [2]]", "'[' at offset 4 is not a token id"),
    ("[1] [2]", "'[' at offset 4 is not a token id"),
    ("[1] 2", "'2' at offset 4 is not a token id"),
    ("[1]]", "']' at offset 3 is not a token id"),
    ("1 2]", "']' at offset 3 is not a token id"),
    ("1 [2]", "'[' at offset 2 is not a token id"),
    ("{1}", "'{1}' at offset 0 is not a token id"),
    ("[1, 2", "cut short: the list has no closing bracket"),
    ("1,\n, 2", "no token id before the comma at offset 3"),
    (" ,1", "no token id before the comma at offset 1"),
    ("[,1]", "no token id before the comma at offset 1"),
    ("\ufeff1", "'\\xef\\xbb\\xbf1' at offset 0 is not a token id; use --packed for ids as bytes"),
    ("1\x002", "'1\\x002' at offset 0 is not a token id; use --packed for ids as bytes"),
    ("1 50257 2", "gpt2 has no token with the id 50257 (at offset 2)"),
    ("1 0000050257", "gpt2 has no token with the id 50257 (at offset 2)"),
    ("[31373, 5000000000]", "gpt2 has no token with the id 5000000000 (at offset 8)"),
]


@pytest.mark.parametrize(("written", "reason"), WRONG)
def test_what_is_wrong_is_one_line_with_its_place(written: str, reason: str) -> None:
    status, _, err = decode(written.encode())
    assert (status, err) == (2, f"compat-bpe: standard input: {reason}\n")


@pytest.mark.parametrize(("written", "reason"), WRONG)
@pytest.mark.parametrize("block", [1, 2, 3, 5])
def test_its_place_is_the_same_in_small_blocks(written: str, reason: str, block: int) -> None:
    with small_blocks(block):
        status, _, err = decode(written.encode())
    # Less of the word may have been read.
    assert re.sub("'.*'", "", err) == re.sub("'.*'", "", f"compat-bpe: standard input: {reason}\n")
    assert status == 2


def test_a_number_without_end_is_not_waited_for() -> None:
    status, out, err = run("decode", "-e", "gpt2", stdin=endless(b"7"))
    assert (status, out) == (2, b"")
    assert err == f"compat-bpe: standard input: '{'7' * 20}' at offset 0 is not a token id\n"


def test_packed_ids_that_are_wrong() -> None:
    data = struct.pack("<3I", 1, 2, 50257)
    for block in (1, 5, 1 << 16):
        with small_blocks(block):
            assert decode(data, "--packed")[::2] == (
                2,
                "compat-bpe: standard input: gpt2 has no token with the id 50257 (at offset 8)\n",
            )
            assert decode(data[:7], "--packed")[::2] == (
                2,
                "compat-bpe: standard input: cut short: 7 bytes, not a multiple of 4 (uint32)\n",
            )


def test_a_decoder_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    parts = {"pre_tokenizer": byte_level, "decoder": {"type": "Fuse"}}
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    path.write_text(json.dumps({"model": model, **parts}))
    assert run("decode", "-e", str(path), stdin=b"0") == (0, b"a", "")
