"""``show --json`` and ``encode --offsets``: tokens with their exact places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.cli.shown.shown_tokens import looks
from compat_bpe.cli.shown.token_page import section
from compat_bpe.cli.shown.token_places import placed_tokens
from compat_bpe.save import save_tokenizer_json
from tests.cli.exact import run, small_blocks
from tests.memory import tracemalloc
from tests.strategies import texts

ROOT = Path(__file__).parents[3]

utf8_texts = texts.map(lambda text: text.encode("utf-8", "ignore").decode())


def placed(out: bytes) -> list[dict[str, Any]]:
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
    tokens = placed(out)
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
    tokens = placed(out)
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
