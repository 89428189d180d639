"""Files of Mistral's with a wrong pattern are loaded with a warning, and no others."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import load
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.wrong_pattern import warn_of_wrong_pattern
from compat_bpe.formats.models.bpe import ListedModel
from compat_bpe.formats.parts.written import byte_level_part, pre_tokenizers_part, split_part
from compat_bpe.formats.tokenizer_json import TokenizerDefinition
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from tests.cli.running import command

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
