"""Small files that ask for far more than they are: each is refused before it takes memory."""

from __future__ import annotations

import json
from array import array
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from compat_bpe.formats.sentencepiece import SentencePieceModel, sentencepiece_bytes
from compat_bpe.pipeline.normalizers.base import MOST_MORE, MOST_TIMES
from compat_bpe.pipeline.normalizers.charsmap import Charsmap
from compat_bpe.pipeline.tokenized import Padding
from compat_bpe.unicode.text import LONGEST_MESSAGE


def load(folder: Path, **parts: Any) -> Any:
    """Load a ``tokenizer.json`` of one byte-level token, "a", with some parts."""
    file = {
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        **parts,
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(file))
    return compat_bpe.load(path)


def unused(blocks: int) -> array[int]:
    """Return units that no byte leads to."""
    return array("I", [0xFF if place % 256 < 0xFF else 0xFE for place in range(256 * blocks)])


def shared_trie(layers: int) -> bytes:
    """Return a map of ``layers`` characters of three bytes in a row, whose nodes are shared."""
    units = unused(3 * layers + 2)

    def put(place: int, byte: int, below: int, leaf: int = 0) -> None:
        units[place + byte] = (place + byte ^ below) << 10 | leaf << 8 | byte

    units[0] = 256 << 10
    for block in range(1, 3 * layers + 1):
        is_end = block == 3 * layers
        for byte in range(0xE1, 0xED) if block % 3 == 1 else range(0x80, 0xC0):
            put(block * 256, byte, (block + 1) * 256, int(is_end))
    units[(3 * layers + 1) * 256] = 1 << 31
    return (4 * len(units)).to_bytes(4, "little") + units.tobytes() + b"x\0"


def long_replacement(size: int) -> bytes:
    """Return a map of "a" to a text of some bytes."""
    units = unused(3)
    units[0] = 256 << 10
    units[256 + 97] = (256 + 97 ^ 512) << 10 | 1 << 8 | 97
    units[512] = 1 << 31
    return (4 * len(units)).to_bytes(4, "little") + units.tobytes() + b"x" * size + b"\0"


def test_small_maps_work() -> None:
    assert Charsmap(long_replacement(1024)).replace("a") == "x" * 1024


@pytest.mark.parametrize(
    ("blob", "reason"),
    [
        (shared_trie(7), "the trie of the character map shares its nodes too often"),
        (long_replacement(1025), "a replacement of the character map has more than 1024 bytes"),
        (long_replacement(1 << 22), "a replacement of the character map has more than 1024 bytes"),
    ],
)
def test_character_maps(tmp_path: Path, blob: bytes, reason: str) -> None:
    part = {"type": "Precompiled", "precompiled_charsmap": b64encode(blob).decode()}
    with pytest.raises(ValueError, match=f"precompiled_charsmap: {reason}"):
        load(tmp_path, normalizer=part)


def replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def in_order(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(steps)}


@pytest.mark.parametrize(
    "normalizer",
    [
        in_order(*[replace("a", "aa")] * 40),
        in_order(*[replace("a", "a" * 50)] * 7),
        in_order(*[{"type": "Prepend", "prepend": "a" * 9000}] * 20),
        replace("a", "a" * 100_000),
        {"type": "Replace", "pattern": {"Regex": ""}, "content": "b" * 50_000},
    ],
)
@pytest.mark.parametrize("text", ["a", "a" * 1000])
def test_text_that_grows(tmp_path: Path, normalizer: dict[str, Any], text: str) -> None:
    loaded = load(tmp_path, normalizer=normalizer)
    for method in (loaded.encode, loaded.encode_with_offsets, loaded.count):
        with pytest.raises(ValueError, match=r"the normalizer makes [0-9]+ characters or more of"):
            method(text)


def test_text_may_grow(tmp_path: Path) -> None:
    loaded = load(tmp_path, normalizer=in_order(*[replace("a", "aa")] * 6))
    assert loaded.encode("a" * 5000) == [0] * 5000 * MOST_TIMES
    loaded = load(tmp_path, normalizer=replace("b", "a" * MOST_MORE))
    assert loaded.encode("b") == [0] * MOST_MORE


def test_decoders(tmp_path: Path) -> None:
    decoder = {"type": "Sequence", "decoders": [replace("a", "aa")] * 40}
    with pytest.raises(ValueError, match="decoder: the decoders may make 1099511627776 characters"):
        load(tmp_path, decoder=decoder).decode([0])


@pytest.mark.parametrize(
    ("count", "ids", "reason"),
    [(2000, 1, "single: has 2000 pieces, more than 1024"), (1000, 1000, "adds more than 65536")],
)
def test_templates(tmp_path: Path, count: int, ids: int, reason: str) -> None:
    token = {"id": "a", "ids": [0] * ids, "tokens": ["a"] * ids}
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "a", "type_id": 0}}] * count,
        "pair": [],
        "special_tokens": {"a": token},
    }
    with pytest.raises(ValueError, match=f"post_processor.*{reason}"):
        load(tmp_path, post_processor=template).encode("a")


@pytest.mark.parametrize("settings", [{"length": 1 << 60}, {"pad_to_multiple_of": 1 << 60}])
def test_padding(tmp_path: Path, settings: dict[str, Any]) -> None:
    found = load(tmp_path).encode_with_offsets("a")
    with pytest.raises(ValueError, match="padding to 1152921504606846976 tokens: the most are"):
        Padding(**settings).applied([found])


def nested_pieces(count: int) -> list[str]:
    return ["<unk>", *("a" * length for length in range(1, count + 1))]


def test_unigram_pieces_nested_in_each_other(tmp_path: Path) -> None:
    """Each place of a text has as many ways on as there are: 6,000 took half a minute a page."""
    path = tmp_path / "spiece.model"

    def model(count: int) -> dict[str, Any]:
        vocab = [[piece, -float(number)] for number, piece in enumerate(nested_pieces(count))]
        return {"type": "Unigram", "unk_id": 0, "vocab": vocab}

    def write_model(count: int) -> None:
        pieces = nested_pieces(count)
        types = bytes([2] + [1] * count)
        scores = [-float(number) for number in range(len(pieces))]
        path.write_bytes(sentencepiece_bytes(SentencePieceModel(pieces, scores, types)))

    assert load(tmp_path, model=model(1_000)).encode("a" * 1_000)
    write_model(1_000)
    assert compat_bpe.load(path).encode("a" * 900)
    reason = "more than 1,024 pieces that begin with each other"
    with pytest.raises(ValueError, match=rf"tokenizer\.json: .*{reason}"):
        load(tmp_path, model=model(1_100))
    write_model(1_100)
    with pytest.raises(ValueError, match=rf"spiece\.model: .*{reason}"):
        compat_bpe.load(path)


LONG = "x" * 10**6


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", json.dumps({"model": {"type": LONG}})),
        ("tokenizer.json", json.dumps({"model": {"type": "BPE", "merges": [], LONG: 1}})),
        ("vocab.txt", f"[UNK]\n{LONG}\n{LONG}\n"),
        ("a.tiktoken", f"YQ== 0\n{LONG} 1\n"),
        ("a.gguf", f"GGUF\3\0\0\0{8 * chr(0)}\1{7 * chr(0)}{LONG}"),
    ],
)
def test_no_message_is_as_long_as_the_file(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=f"{name}") as raised:
        compat_bpe.load(tmp_path / name, pattern="gpt2" if name.endswith("tiktoken") else None)
    assert len(str(raised.value)) <= LONGEST_MESSAGE
