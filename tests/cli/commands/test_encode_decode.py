"""``compat-bpe encode`` and ``decode``: each gives back what the other was given."""

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
from tests.strategies import texts

FORMATS = [(), ("--format", "spaces"), ("--format", "lines"), ("--format", "json"), ("--packed",)]


def ids_in(out: bytes, args: tuple[str, ...]) -> list[int]:
    if args == ("--packed",):
        return [number for (number,) in struct.iter_unpack("<I", out)]
    if args == ("--format", "json"):
        assert out.endswith(b"]\n")
        ids: list[int] = json.loads(out)
        return ids
    assert not out or out.endswith(b"\n")
    separator = b"\n" if args == ("--format", "lines") else b" "
    return [int(number) for number in out.rstrip(b"\n").split(separator) if out]


@given(
    # What is in a file of UTF-8: no surrogates.
    text=texts.map(lambda text: text.encode("utf-8", "ignore").decode()),
    name=st.sampled_from(["gpt2", "p50k_edit", "deepseek_v3"]),
    args=st.sampled_from(FORMATS),
    special=st.booleans(),
    block=st.integers(1, 50),
    portion=st.integers(1, 9),
)
def test_the_ids_of_any_text_in_any_blocks_and_back(
    text: str,
    name: str,
    args: tuple[str, ...],
    special: bool,
    block: int,
    portion: int,
) -> None:
    more = ("--special",) if special else ()
    with small_blocks(block), pytest.MonkeyPatch.context() as patch:
        patch.setattr("compat_bpe.cli.commands.encode._PORTION", portion)
        status, out, err = run("encode", "-e", name, *args, *more, stdin=text.encode())
        back = run("decode", "-e", name, *(args if args == ("--packed",) else ()), stdin=out)
    expected = get_encoding(name).encode(
        text, allowed_special="all" if special else set(), disallowed_special=()
    )
    assert (status, err) == (0, "")
    assert ids_in(out, args) == expected
    assert back == (0, text.encode(), "")


def test_formats_as_they_look(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hello world\r\n")
    outs = [run("encode", "-e", "gpt2", *args, str(path)).out for args in FORMATS]
    assert outs == [
        b"31373 995 201 198\n",
        b"31373 995 201 198\n",
        b"31373\n995\n201\n198\n",
        b"[31373, 995, 201, 198]\n",
        bytes.fromhex("8d7a0000 e3030000 c9000000 c6000000"),
    ]
    assert [run("encode", *args).out for args in FORMATS] == [b"", b"", b"", b"[]\n", b""]


def test_names_of_special_tokens() -> None:
    def ids(*args: str) -> list[int]:
        status, out, err = run("encode", "-e", "p50k_edit", *args, stdin=text.encode())
        assert (status, err) == (0, "")
        return ids_in(out, ())

    text = "a<|endoftext|>b<|fim_prefix|>"
    encoding = get_encoding("p50k_edit")
    end, prefix = "<|endoftext|>", "<|fim_prefix|>"
    assert ids() == encoding.encode_ordinary(text)
    assert ids("--special") == encoding.encode(text, allowed_special="all")
    for some in ({end}, {prefix}, {end, prefix}):
        args = [arg for name in sorted(some) for arg in ("--allowed-special", name)]
        expected = encoding.encode(text, allowed_special=some, disallowed_special=())
        assert ids(*args) == expected != ids()


def test_unknown_special_token() -> None:
    status, out, err = run("encode", "-e", "gpt2", "--allowed-special", "<|endoftxt|>", stdin=b"a")
    assert (status, out) == (2, b"")
    assert err == (
        "compat-bpe: gpt2 has no special token '<|endoftxt|>' (did you mean '<|endoftext|>'?)\n"
    )


@pytest.mark.parametrize("block", [1, 3, 1 << 16])
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"caf\xe9!", "byte 0xe9 at offset 3"),
        ("né€".encode()[:-1], "byte 0xe2 at offset 3"),
        (b"\xff\xfea\0", "UTF-16 byte-order mark at offset 0"),
        (b"\xed\xa0\x80", "byte 0xed at offset 0"),
    ],
)
def test_what_is_not_utf8_is_one_line(data: bytes, reason: str, block: int) -> None:
    with small_blocks(block):
        status, _, err = run("encode", "-e", "gpt2", "--errors", "strict", stdin=data)
    assert status == 2
    assert err == f"compat-bpe: standard input: not UTF-8: {reason}; convert it to UTF-8\n"


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    status, out, err = run("encode", str(tmp_path / "missing"))
    assert (status, out) == (2, b"")
    assert err == f"compat-bpe: {tmp_path / 'missing'}: No such file or directory\n"
    status, out, err = run("encode", str(tmp_path))
    assert (status, out, err.count("\n")) == (2, b"", 1)


def test_packed_ids_are_kept_off_a_terminal() -> None:
    status, out, err = run("encode", "-e", "gpt2", "--packed", stdin=b"a", terminal=True)
    assert (status, out) == (2, b"")
    assert err.startswith("compat-bpe: packed ids are not for a terminal")
    assert run("encode", "-e", "gpt2", stdin=b"a", terminal=True).out == b"64\n"


def test_packed_has_no_other_format() -> None:
    status, out, err = run("encode", "--packed", "--format", "json")
    assert (status, out) == (2, b"")
    assert "--packed excludes --format, --json and --offsets" in err


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
