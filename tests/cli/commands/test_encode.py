"""``compat-bpe encode``, and that ``decode`` is its inverse."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from tests.cli.running import run, small_blocks
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
