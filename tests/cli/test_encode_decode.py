"""``compat-bpe encode`` and ``decode``: each gives back what the other was given."""

from __future__ import annotations

import json
import re
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.cli import tokens as shown_tokens
from compat_bpe.cli.output import CommandError
from compat_bpe.cli.token_view import section
from compat_bpe.cli.tokens import (
    Look,
    Pieces,
    Placed,
    data_of,
    looks,
    placed_parts,
    placed_tokens,
    units,
)
from compat_bpe.pipeline.core import joins_to_text
from compat_bpe.pipeline.offsets import locate
from compat_bpe.save import save_tokenizer_json
from tests.cli.running import (
    FIXTURES,
    Result,
    command,
    endless,
    ids_of,
    objects,
    printed,
    read_json,
    refused,
    run,
    small_blocks,
    sweep,
    write,
)
from tests.fit.hard_encodings import NAMES, encoding_of
from tests.fit.small_kinds import UNCUT
from tests.kinds import KINDS as PUBLISHED
from tests.kinds import of_kind
from tests.memory import tracemalloc
from tests.strategies import texts, utf8_texts

FORMATS = [(), ("--format", "spaces"), ("--format", "lines"), ("--format", "json"), ("--packed",)]
GPT2 = get_encoding("gpt2")


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
    text=utf8_texts,
    name=st.sampled_from(["gpt2", "p50k_edit", "deepseek_v3"]),
    args=st.sampled_from(FORMATS),
    special=st.booleans(),
    block=st.integers(1, 50),
    portion=st.integers(1, 9),
)
def test_the_ids_of_any_text_in_any_blocks_and_back(
    text: str, name: str, args: tuple[str, ...], special: bool, block: int, portion: int
) -> None:
    more = ("--special",) if special else ()
    with small_blocks(block), pytest.MonkeyPatch.context() as patch:
        patch.setattr("compat_bpe.cli.commands.encode._PORTION", portion)
        status, out, err = run("encode", "-e", name, *args, *more, stdin=text.encode())
        back = run("decode", "-e", name, *(args if args == ("--packed",) else ()), stdin=out)
    assert (status, err) == (0, "")
    assert ids_in(out, args) == ids_of(get_encoding(name), text, special)
    assert back == (0, text.encode(), "")


def test_formats_as_they_look() -> None:
    write({"a": "hello world\r\n"})
    assert [run("encode", "-e", "gpt2", *args, "a").out for args in FORMATS] == [
        b"31373 995 201 198\n",
        b"31373 995 201 198\n",
        b"31373\n995\n201\n198\n",
        b"[31373, 995, 201, 198]\n",
        bytes.fromhex("8d7a0000 e3030000 c9000000 c6000000"),
    ]
    assert run("encode", "-e", "gpt2", "--json", "a").out == b"[31373, 995, 201, 198]\n"
    assert [run("encode", *args).out for args in FORMATS] == [b"", b"", b"", b"[]\n", b""]
    # Packed ids are kept off a terminal.
    err = refused("encode -e gpt2 --packed", stdin="a", terminal=True)
    assert err.startswith("compat-bpe: packed ids are not for a terminal")
    assert command("encode -e gpt2", stdin="a", terminal=True).out == "64\n"


def test_names_of_special_tokens() -> None:
    text = "a<|endoftext|>b<|fim_prefix|>"
    encoding = get_encoding("p50k_edit")
    end, prefix = "<|endoftext|>", "<|fim_prefix|>"
    found = []
    for some in ({end}, {prefix}, {end, prefix}, set()):
        args = " ".join(f"--allowed-special {name}" for name in sorted(some))
        found.append(printed(f"encode -e p50k_edit {args}", stdin=text))
        ids = encoding.encode(text, allowed_special=some, disallowed_special=())
        assert list(map(int, found[-1].split())) == ids
    assert len(set(found)) == 4
    assert printed("encode -e p50k_edit --special", stdin=text) == found[2]


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
        assert decode(written.encode()) == (0, GPT2.decode_bytes(ids), "")
        packed = decode(struct.pack(f"<{len(ids)}I", *ids), "--packed")
    assert packed == (0, GPT2.decode_bytes(ids), "")


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
    expected = f"compat-bpe: standard input: {reason}\n"
    assert decode(written.encode())[::2] == (2, expected)
    for block in (1, 2, 3, 5):
        with small_blocks(block):
            status, _, err = decode(written.encode())
        # Less of the word may have been read.
        assert (status, re.sub("'.*'", "", err)) == (2, re.sub("'.*'", "", expected))


def test_a_number_without_end_is_not_waited_for() -> None:
    said = f"compat-bpe: standard input: '{'7' * 20}' at offset 0 is not a token id\n"
    assert run("decode", "-e", "gpt2", stdin=endless(b"7")) == (2, b"", said)


@pytest.mark.parametrize("block", [1, 5, 1 << 16])
def test_packed_ids_that_are_wrong(block: int) -> None:
    data = struct.pack("<3I", 1, 2, 50257)
    said = "compat-bpe: standard input: "
    with small_blocks(block):
        unknown, cut = decode(data, "--packed"), decode(data[:7], "--packed")
    assert unknown[::2] == (2, f"{said}gpt2 has no token with the id 50257 (at offset 8)\n")
    assert cut[::2] == (2, f"{said}cut short: 7 bytes, not a multiple of 4 (uint32)\n")


def test_a_decoder_of_any_kind() -> None:
    """One that is not the one that the steps suggest."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    tokenizer = {
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        "pre_tokenizer": byte_level,
        "decoder": {"type": "Fuse"},
        "added_tokens": [{"id": 1, "content": "<b>", "special": True, **flags}],
    }
    write({"tokenizer.json": json.dumps(tokenizer)})
    assert command("decode -e tokenizer.json", stdin="0") == (0, "a", "")
    shown = ("show -q", "show -q --ids", "show --html", "show --json", "show --merges")
    for args in (*shown, "encode --offsets", "show --merges --json"):
        out = printed(f"{args} --special -e tokenizer.json", stdin="<b>a")
        assert "<b>" in out or "&lt;b&gt;" in out


# Where tokens stand: the tokens and gaps of a text that comes in pieces.

SHIPPED = {"gpt2", "cl100k_base", "o200k_base", "deepseek_v3"}
ENCODINGS = {name: encoding_of(name) for name in NAMES if name not in SHIPPED}
#: Those whose tokens have to be located.
LOCATED = [name for name, encoding in ENCODINGS.items() if not joins_to_text(encoding.core)]
PARTS = ["a", "ab", "abc", " ", "  ", "\n", "the", "▁", "<b>", "x", "é", "中", ".", "1", "<"]


def placed(encoding: Encoding, pieces: list[str]) -> list[Placed]:
    """Return the tokens and gaps of all parts, with their places in the whole text."""
    found: list[Placed] = []
    at = 0
    for part, placed_here in placed_parts(Pieces(encoding, pieces, frozenset(), "x")):
        found += [one._replace(start=one.start + at, end=one.end + at) for one in placed_here]
        at += len(part)
    assert at == len("".join(pieces))
    return found


def check_places(encoding: Encoding, pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        whole = locate(encoding.core.definition, text, frozenset())
    except ValueError:
        with pytest.raises(CommandError):
            placed(encoding, pieces)
        return
    found = placed(encoding, pieces)
    located = [(one.look.id, one.start, one.end) for one in found if one.look.id is not None]
    assert located == [(one.id, one.start, one.end) for one in whole]
    # A part shows the same looks, gaps included, whatever the pieces are.
    assert found == placed(encoding, [text])


@pytest.mark.parametrize("name", LOCATED)
@given(pieces=st.lists(st.lists(st.sampled_from(PARTS), max_size=6).map("".join), max_size=8))
@settings(max_examples=8)
def test_pieces_make_no_difference(name: str, pieces: list[str]) -> None:
    check_places(ENCODINGS[name], pieces)


@pytest.mark.parametrize("name", PUBLISHED)
def test_pieces_make_no_difference_to_published_kinds(name: str) -> None:
    encoding = of_kind(name)
    pieces = ["the cat s", "at on ", "the mat.\n", " Naïve ﬁ 中文 ", "the", "  hat"]
    if not joins_to_text(encoding.core):
        check_places(encoding, pieces)


#: Kinds of which a long text comes in parts: one with a prefix, and in a sweep the others.
CUT = sorted(set(LOCATED) - {*UNCUT, "leaves text out"})


@pytest.mark.parametrize("name", [name if name == "llama" else sweep(name) for name in CUT])
def test_a_long_text_comes_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def counted(definition: object, text: str, *args: object, **flags: bool) -> object:
        lengths.append(len(text))
        return locate(definition, text, *args, **flags)  # type: ignore[arg-type]

    monkeypatch.setattr(shown_tokens, "locate", counted)
    placed(ENCODINGS[name], ["abc the ab\n"] * 400)
    assert max(lengths) < 2000


@pytest.mark.parametrize(
    ("parts", "numbers"),
    [
        ([b"\xe4", b"\xb8", b"\x96"], [3]),
        # A token with the end of a character and the beginning of the next one.
        ([b"\xe4\xb8", b"\x96\xe7", b"\x95\x8c", b"a"], [3, 1]),
        ([b"\x96", b"a"], [1, 1]),
        ([b"\xe4", b"a", b"\xb8"], [1, 1, 1]),
        ([b"\xe4", b"\xe4", b"\xb8\x96"], [1, 2]),
        ([b"\xe4", (b"<b>", "special"), b"\xb8"], [1, 1, 1]),
        ([b"\xe4", (b" ", "gap"), b"x"], [1, 1, 1]),
        ([b"a", b"\xf0\x9f"], [1, 1]),
        ([b"\xe4", b"", b"\xb8\x96", b""], [3, 1]),
        ([], []),
    ],
)
def test_units(parts: list[Any], numbers: list[int]) -> None:
    """So many parts are shown together."""
    found = [Look(1, part) if isinstance(part, bytes) else Look(1, *part) for part in parts]
    shown = list(units(found))
    assert [look for unit in shown for look in unit] == found
    assert list(map(len, shown)) == numbers


@given(text=texts, cuts=st.lists(st.integers(0, 60)))
def test_units_of_a_text_cut_anywhere_are_whole_characters(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "ignore")
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    parts = [data[start:end] for start, end in zip(places, places[1:])]
    shown = list(units(Look(1, part) for part in parts))
    assert [look.data for unit in shown for look in unit] == parts
    for unit in shown:
        data_of(unit).decode()
        # No shorter beginning of it is: the units are as short as can be.
        for end in range(1, len(unit)):
            with pytest.raises(UnicodeDecodeError):
                data_of(unit[:end]).decode()


@given(
    text=utf8_texts,
    name=st.sampled_from(["gpt2", "p50k_edit", "deepseek_v3"]),
    args=st.sampled_from(["show --json", "encode --offsets --json"]),
    special=st.booleans(),
    block=st.integers(1, 50),
)
def test_tokens_are_where_they_say(
    text: str, name: str, args: str, special: bool, block: int
) -> None:
    data, utf16 = text.encode(), text.encode("utf-16-le")
    with small_blocks(block):
        found = objects(f"{args} -e {name} {'--special' if special else ''}", stdin=data)
    encoding = get_encoding(name)
    ids = ids_of(encoding, text, special)
    assert [token["id"] for token in found] == ids
    joined = b""
    for token in found:
        assert token.get("special", False) == encoding.is_special_token(token["id"])
        assert ("text" in token) != ("hex" in token)
        own = token["text"].encode() if "text" in token else bytes.fromhex(token["hex"])
        (start, end), (first, last) = token["characters"], token["bytes"]
        assert (first, last) == (len(joined), len(joined) + len(own))
        joined += own
        covered = text[start:end]
        half, halves = token["utf16"]
        assert utf16[2 * half : 2 * halves].decode("utf-16-le") == covered
        assert half == len(text[:start].encode("utf-16-le")) // 2
        if "text" in token:
            assert covered == token["text"]
        else:
            # The fewest characters that have all of its bytes.
            before, after = len(text[:start].encode()), len(text[:end].encode())
            assert before <= first < last <= after
            assert first < before + len(covered[0].encode())
            assert last > after - len(covered[-1].encode())
    assert joined == data
    assert [token["characters"][0] for token in found] == encoding.decode_with_offsets(ids)[1]


def test_places_as_they_look() -> None:
    assert command("encode --offsets -e gpt2 --special", stdin="é 😀<|endoftext|>") == (
        0,
        '{"id": 2634, "text": "\\u00e9", "characters": [0, 1], "bytes": [0, 2], "utf16": [0, 1]}\n'
        '{"id": 30325, "hex": "20f09f98", "characters": [1, 3], "bytes": [2, 6], '
        '"utf16": [1, 4]}\n'
        '{"id": 222, "hex": "80", "characters": [2, 3], "bytes": [6, 7], "utf16": [2, 4]}\n'
        '{"id": 50256, "text": "<|endoftext|>", "special": true, "characters": [3, 16], '
        '"bytes": [7, 20], "utf16": [4, 17]}\n',
        "",
    )
    assert run("show", "--json") == run("encode", "--offsets") == (0, b"", "")


def test_normalized_text_keeps_its_places() -> None:
    save_tokenizer_json(load(FIXTURES / "gpt2_small"), "tokenizer.json")
    content = {**read_json("tokenizer.json"), "normalizer": {"type": "NFC"}}
    write({"tokenizer.json": json.dumps(content)})
    found = objects("show --json -e tokenizer.json", stdin="the e\u0301")
    assert "".join(token.get("text", "") for token in found).startswith("the")
    # The composed letter stands where the letter was, as in tokenizers; the accent is in no token.
    assert found[-1]["characters"][1] == 5
    assert found[-1]["bytes"][1] == 5


def test_what_is_left_out_is_in_no_token() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = Encoding("letters", pat_str="[a-z]+", mergeable_ranks=ranks, special_tokens={})
    for text, found in (("ab1", [0, 1]), ("1ab", [1, 2]), ("a1b", [0, 2]), ("1", [])):
        lines = placed_tokens(Pieces(encoding, [text], frozenset(), "x"))
        assert [json.loads(line)["characters"][0] for line in lines] == found
        shown = list(looks(Pieces(encoding, [text], frozenset(), "x")))
        assert b"".join(look.data for look in shown) == text.encode()
        assert [look.data for look in shown if look.id is None] == [b"1"]


@pytest.mark.parametrize("form", ["json", "html"])
def test_a_large_input_takes_little_memory(form: str) -> None:
    line = "The quick brown fox, 42 of them, jumps over the lazy dog's naïve “friend” 😀.\n"

    def written(blocks: int) -> int:
        pieces = (line * 40 for _ in range(blocks))
        if form == "json":
            parts = placed_tokens(Pieces(GPT2, pieces, frozenset(), "x"))
        else:
            parts = section("x", looks(Pieces(GPT2, pieces, frozenset(), "x")), ())
        return sum(map(len, parts))

    written(4)  # what is remembered of these lines is in memory then
    peaks = []
    for blocks in (4, 16):
        tracemalloc.start()
        assert written(blocks) > len(line) * 40 * blocks
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
