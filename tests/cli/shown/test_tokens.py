"""The tokens of a text: their looks, their units of whole characters, and their places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.cli import tokens as shown_tokens
from compat_bpe.cli.output import CommandError
from compat_bpe.cli.token_view import section
from compat_bpe.cli.tokens import Look, Placed, data_of, looks, placed_parts, placed_tokens, units
from compat_bpe.pipeline.core import joins_to_text
from compat_bpe.pipeline.offsets import locate
from compat_bpe.save import save_tokenizer_json
from tests.cli.running import run, small_blocks
from tests.fit.hard_encodings import NAMES, encoding_of
from tests.fit.small_kinds import UNCUT
from tests.kinds import KINDS as PUBLISHED
from tests.kinds import of_kind
from tests.memory import tracemalloc
from tests.strategies import texts

SHIPPED = {"gpt2", "cl100k_base", "o200k_base", "deepseek_v3"}
ENCODINGS = {name: encoding_of(name) for name in NAMES if name not in SHIPPED}
#: Those whose tokens have to be located.
LOCATED = [name for name, encoding in ENCODINGS.items() if not joins_to_text(encoding.core)]
PARTS = ["a", "ab", "abc", " ", "  ", "\n", "the", "▁", "<b>", "x", "é", "中", ".", "1", "<"]


def placed(encoding: Encoding, pieces: list[str]) -> list[Placed]:
    """Return the tokens and gaps of all parts, with their places in the whole text."""
    found: list[Placed] = []
    at = 0
    for part, tokens in placed_parts(encoding, pieces, frozenset(), "x"):
        found += [one._replace(start=one.start + at, end=one.end + at) for one in tokens]
        at += len(part)
    assert at == len("".join(pieces))
    return found


def check(encoding: Encoding, pieces: list[str]) -> None:
    text = "".join(pieces)
    definition = encoding.core.definition
    try:
        whole = locate(definition, text, frozenset())
    except ValueError:
        with pytest.raises(CommandError):
            placed(encoding, pieces)
        return
    found = placed(encoding, pieces)
    tokens = [(one.look.id, one.start, one.end) for one in found if one.look.id is not None]
    assert tokens == [(one.id, one.start, one.end) for one in whole]
    # A part shows the same looks, gaps included, whatever the pieces are.
    assert found == placed(encoding, [text])


@pytest.mark.parametrize("name", LOCATED)
@given(pieces=st.lists(st.lists(st.sampled_from(PARTS), max_size=6).map("".join), max_size=8))
@settings(max_examples=8)
def test_pieces_make_no_difference(name: str, pieces: list[str]) -> None:
    check(ENCODINGS[name], pieces)


@pytest.mark.parametrize("name", PUBLISHED)
def test_pieces_make_no_difference_to_published_kinds(name: str) -> None:
    encoding = of_kind(name)
    if not joins_to_text(encoding.core):
        check(encoding, ["the cat s", "at on ", "the mat.\n", " Naïve ﬁ 中文 ", "the", "  hat"])


#: Kinds of which a long text comes in parts: one with a prefix, and in a sweep the others.
CUT = sorted(set(LOCATED) - {*UNCUT, "leaves text out"})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "llama" else pytest.mark.sweep) for name in CUT]
)
def test_a_long_text_comes_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def counted(definition: object, text: str, *args: object, **flags: bool) -> object:
        lengths.append(len(text))
        return locate(definition, text, *args, **flags)  # type: ignore[arg-type]

    monkeypatch.setattr(shown_tokens, "locate", counted)
    placed(ENCODINGS[name], ["abc the ab\n"] * 2000)
    assert max(lengths) < 2000


def found(*parts: bytes | tuple[bytes, str]) -> list[list[bytes]]:
    looks = [Look(1, part) if isinstance(part, bytes) else Look(1, *part) for part in parts]
    return [[look.data for look in unit] for unit in units(looks)]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([b"\xe4", b"\xb8", b"\x96"], [[b"\xe4", b"\xb8", b"\x96"]]),
        # A token with the end of a character and the beginning of the next one.
        (
            [b"\xe4\xb8", b"\x96\xe7", b"\x95\x8c", b"a"],
            [[b"\xe4\xb8", b"\x96\xe7", b"\x95\x8c"], [b"a"]],
        ),
        ([b"\x96", b"a"], [[b"\x96"], [b"a"]]),
        ([b"\xe4", b"a", b"\xb8"], [[b"\xe4"], [b"a"], [b"\xb8"]]),
        ([b"\xe4", b"\xe4", b"\xb8\x96"], [[b"\xe4"], [b"\xe4", b"\xb8\x96"]]),
        ([b"\xe4", (b"<b>", "special"), b"\xb8"], [[b"\xe4"], [b"<b>"], [b"\xb8"]]),
        ([b"\xe4", (b" ", "gap"), b"x"], [[b"\xe4"], [b" "], [b"x"]]),
        ([b"a", b"\xf0\x9f"], [[b"a"], [b"\xf0\x9f"]]),
        ([b"\xe4", b"", b"\xb8\x96", b""], [[b"\xe4", b"", b"\xb8\x96"], [b""]]),
        ([], []),
    ],
)
def test_units(parts: list[bytes], expected: list[list[bytes]]) -> None:
    assert found(*parts) == expected


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


ROOT = Path(__file__).parents[3]

utf8_texts = texts.map(lambda text: text.encode("utf-8", "ignore").decode())


def objects(out: bytes) -> list[dict[str, Any]]:
    assert out.isascii()
    return [json.loads(line) for line in out.splitlines()]


@given(
    text=utf8_texts,
    name=st.sampled_from(["gpt2", "p50k_edit", "deepseek_v3"]),
    command=st.sampled_from([("show", "--json"), ("encode", "--offsets", "--json")]),
    special=st.booleans(),
    block=st.integers(1, 50),
)
def test_tokens_are_where_they_say(
    text: str, name: str, command: tuple[str, ...], special: bool, block: int
) -> None:
    more = ("--special",) if special else ()
    data, utf16 = text.encode(), text.encode("utf-16-le")
    with small_blocks(block):
        status, out, err = run(*command, "-e", name, *more, stdin=data)
    assert (status, err) == (0, "")
    encoding = get_encoding(name)
    ids = encoding.encode(text, allowed_special="all" if special else set(), disallowed_special=())
    tokens = objects(out)
    assert [token["id"] for token in tokens] == ids
    joined = b""
    for token in tokens:
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
    assert [token["characters"][0] for token in tokens] == encoding.decode_with_offsets(ids)[1]


def test_as_it_looks() -> None:
    assert run(
        "encode", "--offsets", "-e", "gpt2", "--special", stdin="é 😀<|endoftext|>".encode()
    ) == (
        0,
        b'{"id": 2634, "text": "\\u00e9", "characters": [0, 1], "bytes": [0, 2], "utf16": [0, 1]}\n'
        b'{"id": 30325, "hex": "20f09f98", "characters": [1, 3], "bytes": [2, 6], '
        b'"utf16": [1, 4]}\n'
        b'{"id": 222, "hex": "80", "characters": [2, 3], "bytes": [6, 7], "utf16": [2, 4]}\n'
        b'{"id": 50256, "text": "<|endoftext|>", "special": true, "characters": [3, 16], '
        b'"bytes": [7, 20], "utf16": [4, 17]}\n',
        "",
    )
    assert run("show", "--json") == run("encode", "--offsets") == (0, b"", "")


def test_normalized_text_keeps_its_places(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(load(ROOT / "fixtures" / "gpt2_small"), path)
    content = json.loads(path.read_bytes())
    content["normalizer"] = {"type": "NFC"}
    path.write_text(json.dumps(content), encoding="utf-8")
    status, out, err = run("show", "--json", "-e", str(path), stdin="the e\u0301".encode())
    assert (status, err) == (0, "")
    tokens = objects(out)
    assert "".join(token.get("text", "") for token in tokens).startswith("the")
    # The composed letter stands where the letter was, as in tokenizers; the accent is in no token.
    assert tokens[-1]["characters"][1] == 5
    assert tokens[-1]["bytes"][1] == 5


def test_what_is_left_out_is_in_no_token() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = Encoding("letters", pat_str="[a-z]+", mergeable_ranks=ranks, special_tokens={})
    for text, found in (("ab1", [0, 1]), ("1ab", [1, 2]), ("a1b", [0, 2]), ("1", [])):
        lines = placed_tokens(encoding, [text], frozenset(), "x")
        assert [json.loads(line)["characters"][0] for line in lines] == found
        shown = list(looks(encoding, [text], frozenset(), "x"))
        assert b"".join(look.data for look in shown) == text.encode()
        assert [look.data for look in shown if look.id is None] == [b"1"]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("--offsets", "--packed"), "--packed excludes"),
        (("--json", "--packed"), "--packed excludes"),
        (("--offsets", "--format", "lines"), "--offsets writes JSON"),
        (("--json", "--format", "lines"), "--format and --json exclude each other"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], reason: str) -> None:
    status, out, err = run("encode", *args, stdin=b"a")
    assert (status, out) == (2, b"")
    assert reason in err


def test_json_without_offsets_is_a_list() -> None:
    assert run("encode", "-e", "gpt2", "--json", stdin=b"hello world").out == b"[31373, 995]\n"


@pytest.mark.parametrize("form", ["json", "html"])
def test_a_large_input_takes_little_memory(form: str) -> None:
    encoding = get_encoding("gpt2")
    line = "The quick brown fox, 42 of them, jumps over the lazy dog's naïve “friend” 😀.\n"

    def written(blocks: int) -> int:
        pieces = (line * 40 for _ in range(blocks))
        if form == "json":
            parts = placed_tokens(encoding, pieces, frozenset(), "x")
        else:
            parts = section("x", looks(encoding, pieces, frozenset(), "x"), ())
        return sum(map(len, parts))

    written(4)  # what is remembered of these lines is in memory then
    peaks = []
    for blocks in (4, 40):
        tracemalloc.start()
        assert written(blocks) > len(line) * 40 * blocks
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
