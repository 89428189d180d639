"""Rank files of known families: by the class that is named beside them, else by their hash."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, load
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.rank_families import FAMILIES
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tiktoken import format_ranks

RANKS = {bytes([byte]): byte for byte in range(256)}
KIMI = {
    "tokenizer_class": "TikTokenTokenizer",
    "auto_map": {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]},
    "added_tokens_decoder": {"256": {"content": "[BOS]"}, "510": {"content": "[UNK]"}},
}


def folder_with(tmp_path: Path, name: str, config: Any, data: bytes = b"") -> Path:
    (tmp_path / name).write_bytes(data or format_ranks(RANKS))
    if config is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    return tmp_path


def test_families_have_patterns_and_differ() -> None:
    names = [family.name for family in FAMILIES]
    assert names == sorted(set(names))
    assert set(names) <= PATTERNS.keys()
    hashes = [family.sha256 for family in FAMILIES if family.sha256]
    classes = [one for family in FAMILIES for one in family.classes]
    assert len(set(hashes)) == len(hashes)
    assert len(set(classes)) == len(classes)
    assert all(family.sha256 or family.classes for family in FAMILIES)


@pytest.mark.parametrize(
    ("module", "count"),
    [
        ("tokenization_kimi", 256),
        ("tokenization_moonshot", 258),
        ("moonshotai/Moonlight-16B-A3B--tokenization_moonshot", 258),
    ],
)
def test_kimi(tmp_path: Path, module: str, count: int) -> None:
    config = {**KIMI, "auto_map": {"AutoTokenizer": [f"{module}.TikTokenTokenizer", None]}}
    enc = load(folder_with(tmp_path, "tiktoken.model", config))
    assert enc.pattern == PATTERNS["kimi"]
    special = enc.special_tokens
    assert len(special) == count
    assert (special["[BOS]"], special["[UNK]"]) == (256, 510)
    assert special["<|reserved_token_257|>"] == 257
    assert enc.encode("漢字kanji", disallowed_special=()) == list("漢字kanji".encode())


@pytest.mark.parametrize("module", ["tokenization_own.TikTokenTokenizer", 7, None, [None]])
def test_a_class_that_others_have_too(tmp_path: Path, module: Any) -> None:
    config = {**KIMI, "auto_map": {"AutoTokenizer": module}}
    with pytest.raises(ValueError, match="a rank file does not say how text is split"):
        load(folder_with(tmp_path, "tiktoken.model", config))


def test_what_is_given_is_taken(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "tiktoken.model", KIMI)
    enc = load(folder, special_tokens={"<x>": 999})
    assert (enc.pattern, dict(enc.special_tokens)) == (PATTERNS["kimi"], {"<x>": 999})
    assert load(folder, pattern="gpt2").pattern == PATTERNS["gpt2"]


def test_glm4(tmp_path: Path) -> None:
    config: dict[str, Any] = {"tokenizer_class": "ChatGLM4Tokenizer"}
    enc = load(folder_with(tmp_path, "tokenizer.model", config))
    names = ["<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>"]
    assert list(enc.special_tokens)[:6] == names
    assert enc.special_tokens["<|observation|>"] == 265
    config["added_tokens_decoder"] = {"300": {"content": "<own>"}}
    enc = load(folder_with(tmp_path, "tokenizer.model", config))
    assert dict(enc.special_tokens) == {"<own>": 300}


def test_hunyuan_counts_lines(tmp_path: Path) -> None:
    lines = [b64encode(bytes([byte])) + b" 9" for byte in range(256)]
    lines += [b64encode(word) + b" 9" for word in (b"ab", b"a", b"ab", b"abc", "é".encode())]
    config = {"tokenizer_class": "HYTokenizer"}
    enc = load(folder_with(tmp_path, "hy.tiktoken", config, b"\n".join(lines)))
    assert isinstance(enc, Tokenizer)
    assert enc.encode("abc ab") == [257, 32, 256]
    assert enc.encode("e\u0301") == [258]  # NFC
    assert enc.special_tokens["<|endoftext|>"] == 259
    assert enc.special_tokens["<|extra_204|>"] == 259 + 5 + 204
    assert enc.encode("<|eos|>", allowed_special="all") == [262]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"YQ== x", "line 1: rank b'x' is not a decimal number"),
        (b"YQ== 1", "line 1: the file ends without a token for the single byte 0x00"),
        (b"Y! 1", "line 1: b'Y!' is not base64"),
    ],
)
def test_damaged_lines_in_order(tmp_path: Path, lines: bytes, message: str) -> None:
    folder = folder_with(tmp_path, "hy.tiktoken", {"tokenizer_class": "HYTokenizer"}, lines)
    with pytest.raises(ValueError, match=r"hy\.tiktoken: ") as caught:
        load(folder)
    assert message in str(caught.value)


def test_qwen_1_that_sees_is_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "qwen.tiktoken", {"tokenizer_class": "QWenTokenizer"})
    enc = load(folder)
    assert enc.special_tokens["<|im_end|>"] == 258
    # The text is normalized before special tokens are looked for: this ">" is none.
    assert enc.encode("<|im_end|>\u0338", allowed_special="all")[0] == ord("<")
    (folder / "config.json").write_text('{"visual": {}}')
    with pytest.raises(ValueError, match=r"config.json: visual: .* that sees"):
        load(folder)
    assert load(folder, pattern="qwen").pattern == PATTERNS["qwen"]


def test_phi_3_small_is_not_cl100k_base(tmp_path: Path) -> None:
    config = {"tokenizer_class": "Phi3SmallTokenizer"}
    enc = load(folder_with(tmp_path, "cl100k_base.tiktoken", config))
    special = enc.special_tokens
    assert sorted(special.values()) == list(range(256, 352))
    start = 256 - 100256
    for name, id_ in {
        "<|dummy_id_2|>": 100256,
        "<|endoftext|>": 100257,
        "<|fim_suffix|>": 100260,
        "<|assistant|>": 100263,
        "<|end|>": 100266,
        "<|dummy_id_11|>": 100275,
        "<|endofprompt|>": 100276,
        "<|dummy_id_86|>": 100351,
    }.items():
        assert special[name] == start + id_
    assert type(enc) is Encoding
    assert enc.pattern == PATTERNS["cl100k_base"]


def test_by_hash_without_anything_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from compat_bpe.encodings import rank_families

    data = format_ranks(RANKS)
    known = FAMILIES[3]._replace(sha256=sha256(data).hexdigest())
    monkeypatch.setattr(rank_families, "FAMILIES", (known,))
    enc = load(folder_with(tmp_path, "tokenizer.model", None))
    assert (enc.pattern, len(enc.special_tokens)) == (PATTERNS["llama3"], 256)
    assert enc.special_tokens["<|eot_id|>"] == 265
    assert enc.special_tokens["<|reserved_special_token_245|>"] == 511


def test_a_damaged_file_beside_is_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "tiktoken.model", KIMI)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": 7}')
    with pytest.raises(ValueError, match=r"tokenizer_config.json: tokenizer_class: "):
        load(folder)
