"""Files that do not say how text is split: known families of rank files, and Mistral's."""

from __future__ import annotations

import base64
import json
import warnings
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, load
from compat_bpe.encodings.local_stores import recognise
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.rank_families import FAMILIES
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tiktoken import format_ranks
from compat_bpe.formats.tokenizer_bpe import ListedModel
from compat_bpe.formats.tokenizer_json import TokenizerDefinition, warn_of_wrong_pattern
from compat_bpe.formats.tokenizer_writing import byte_level_part, pre_tokenizers_part, split_part
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from tests.cli.running import command

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
    with pytest.raises(ValueError, match=r"config.json: visual: this model reads images"):
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


FIXTURES = Path(__file__).parents[2] / "fixtures" / "sentencepiece"


def model(name: str) -> bytes:
    return base64.b64decode(json.loads((FIXTURES / f"{name}.json").read_bytes())["model"])


#: Two models that give different ids, and the ids of ``TEXT``.
NEW, OLD = model("bpe_bytes"), model("unigram")
TEXT = "an old text"
VERSIONS = [f"v{number}" for number in (1, 2, 3, 7)] + ["v2m1", "v3m1", "v7m1"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("by", ["file", "folder"])
def test_a_model_with_its_version(tmp_path: Path, version: str, by: str) -> None:
    path = tmp_path / f"tokenizer.model.{version}"
    path.write_bytes(NEW)
    enc = load(path if by == "file" else tmp_path)
    assert isinstance(enc, SentencePiece)
    assert enc.name == tmp_path.name
    (tmp_path / "plain.model").write_bytes(NEW)
    assert enc.encode(TEXT) == load(tmp_path / "plain.model").encode(TEXT)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_damaged_model_is_known_by_its_name(tmp_path: Path, version: str) -> None:
    name = f"mistral_instruct_tokenizer_240323.model.{version}"
    assert recognise(name, b"") == "sentencepiece"
    (tmp_path / name).write_bytes(b"\xff" * 9)
    with pytest.raises(ValueError, match=rf"{name}: byte "):
        load(tmp_path)


@pytest.mark.parametrize("name", ["x.model.v", "x.model.vocab", "x.model.v3m", "x.model.v3.bak"])
def test_other_names_are_no_models(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a recognized vocabulary file"):
        recognise(name, b"")
    (tmp_path / name).write_bytes(NEW)
    with pytest.raises(ValueError, match="the folder has no vocabulary"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (".v3", ""),
        (".v3", ".v1"),
        (".v7", ".v3"),
        (".v7m1", ".v7"),
        (".v7", ".v3m1"),
        (".v11", ".v3"),
    ],
)
def test_of_several_versions_the_newest_is_taken(tmp_path: Path, newer: str, older: str) -> None:
    expected = []
    for version, data in ((newer, NEW), (older, OLD)):
        (tmp_path / f"tokenizer.model{version}").write_bytes(data)
        expected.append(load(tmp_path / f"tokenizer.model{version}").encode(TEXT))
    assert expected[0] != expected[1]
    assert load(tmp_path).encode(TEXT) == expected[0]


def test_a_name_of_its_own_comes_after_tokenizer_model(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(OLD)
    (tmp_path / "mistral.model.v3").write_bytes(NEW)
    assert load(tmp_path).encode(TEXT) == load(tmp_path / "tokenizer.model").encode(TEXT)


def test_versions_of_different_models_cannot_be_compared(tmp_path: Path) -> None:
    for name in ("a.model.v3", "b.model.v7"):
        (tmp_path / name).write_bytes(NEW)
    with pytest.raises(
        ValueError, match=r"the folder has several vocabularies \(a.model.v3, b.model.v7\)"
    ):
        load(tmp_path)


WRONG = PATTERNS["llama3"]
#: The pattern in ``tekken.json``, and in the files that are right.
RIGHT = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = WRONG.replace(r"\p{N}{1,3}", r"\p{N}")
MISTRAL3 = {"model_type": "mistral3", "text_config": {"model_type": "mistral"}}


def vocabulary(size: int = 131_072, special: int = 1000) -> dict[str, int]:
    """The single bytes in order after the special tokens, then tokens that nothing makes."""
    names = [f"<SPECIAL_{number}>" for number in range(special)]
    names += [BYTE_TO_UNICODE[byte] for byte in range(256)]
    names += [f"no {number}" for number in range(size - len(names))]
    return {name: number for number, name in enumerate(names)}


TEKKEN = vocabulary()
#: Bytes in the order of GPT-2's alphabet come first, as in Llama 3 and Qwen.
OTHER = {name: number for number, name in enumerate(BYTE_TO_UNICODE.values())}
OTHER.update((f"no {number}", number) for number in range(256, 131_072))


def steps(pattern: str) -> dict[str, Any]:
    return pre_tokenizers_part(split_part(pattern), byte_level_part(use_regex=False))


def write(
    folder: Path, pre_tokenizer: dict[str, Any], tokens: dict[str, int], config: Any = None
) -> Path:
    path = folder / "tokenizer.json"
    model = {"type": "BPE", "vocab": tokens, "merges": []}
    path.write_text(json.dumps({"model": model, "pre_tokenizer": pre_tokenizer}))
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return path


def warned(
    folder: Path, pre_tokenizer: dict[str, Any] | None, tokens: dict[str, int], config: Any
) -> bool:
    if config is not None:
        text = config if isinstance(config, str) else json.dumps(config)
        (folder / "config.json").write_text(text)
    parts = dict.fromkeys(("normalizer", "post_processor", "decoder"))
    definition = TokenizerDefinition(
        ListedModel(tokens, ([], [])), (), {**parts, "pre_tokenizer": pre_tokenizer}, "x"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_wrong_pattern(str(folder / "tokenizer.json"), definition)
    return bool(caught)


@pytest.mark.parametrize("by", ["file", "folder"])
def test_the_warning_names_the_file_and_the_right_one(tmp_path: Path, by: str) -> None:
    path = write(tmp_path, steps(WRONG), TEKKEN, MISTRAL3)
    with pytest.warns(UserWarning, match=r"tekken\.json") as caught:
        enc = load(path if by == "file" else tmp_path)
    (one,) = caught
    assert str(one.message).startswith(f"{path}: ")
    assert one.filename == __file__
    # It is loaded as it is.
    assert len(enc.encode("12")) == 2


def test_with_its_tekken_json_beside_it_the_folder_has_no_warning(tmp_path: Path) -> None:
    write(tmp_path, steps(WRONG), TEKKEN, MISTRAL3)
    (tmp_path / "tekken.json").write_text("{")
    with pytest.raises(ValueError, match=r"tekken\.json: line 1: not JSON"):
        load(tmp_path)


@pytest.mark.parametrize("kind", ["ministral", "mistral", "mistral3", "pixtral", "voxtral"])
@pytest.mark.parametrize("alone", [False, True])
def test_models_whose_files_are_wrong(tmp_path: Path, kind: str, alone: bool) -> None:
    pre_tokenizer = split_part(WRONG) if alone else steps(WRONG)
    assert warned(tmp_path, pre_tokenizer, TEKKEN, {"model_type": kind})
    # A Pixtral in transformers.
    assert warned(
        tmp_path,
        pre_tokenizer,
        TEKKEN,
        {"model_type": "llava", "text_config": {"model_type": kind}},
    )


@pytest.mark.parametrize(
    ("pre_tokenizer", "tokens", "config"),
    [
        pytest.param(steps(RIGHT), TEKKEN, MISTRAL3, id="a Mistral that is right"),
        pytest.param(steps(QWEN), OTHER, {"model_type": "qwen2"}, id="Qwen"),
        pytest.param(steps(QWEN), OTHER, {"model_type": "mistral"}, id="Mistral with Qwen's"),
        pytest.param(steps(WRONG), OTHER, {"model_type": "llama"}, id="Llama 3"),
        pytest.param(steps(WRONG), OTHER, {"model_type": "mistral"}, id="Mistral with Llama's"),
        pytest.param(split_part(" "), {"<pad>": 0, "▁": 1}, {"model_type": "gemma4"}, id="Gemma 4"),
        pytest.param(None, vocabulary(32_768, 10), {"model_type": "mistral"}, id="Mistral 7B"),
        pytest.param(steps(WRONG), vocabulary(100_000), MISTRAL3, id="small"),
        pytest.param(steps(WRONG), TEKKEN, {"model_type": "mixtral"}, id="another type"),
        pytest.param(steps(WRONG), TEKKEN, None, id="no config.json"),
        pytest.param(steps(WRONG), TEKKEN, {}, id="no type"),
        pytest.param(steps(WRONG), TEKKEN, [], id="no object"),
        pytest.param(steps(WRONG), TEKKEN, "{", id="damaged"),
        pytest.param(steps(WRONG), TEKKEN, {"model_type": ["mistral"]}, id="no text"),
        pytest.param(steps(WRONG), TEKKEN, {"text_config": "mistral"}, id="no configuration"),
    ],
)
def test_no_false_alarm(
    tmp_path: Path, pre_tokenizer: dict[str, Any] | None, tokens: dict[str, int], config: Any
) -> None:
    assert not warned(tmp_path, pre_tokenizer, tokens, config)


def test_the_command_warns_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, steps(WRONG), TEKKEN, MISTRAL3)
    monkeypatch.chdir(tmp_path)
    status, out, err = command("count -e tokenizer.json", stdin="12")
    assert (status, out) == (0, "2\n")
    assert err.startswith("compat-bpe: warning: tokenizer.json: its pattern is Llama 3's, ")
    assert "tekken.json" in err
    assert err.count("\n") == 1
