"""Write what Hugging Face transformers makes of vocabularies in its older formats.

The result, ``fixtures/slow_tokenizers.json``, has for each small folder its class, its files, and
the ``tokenizer.json`` that the class makes of them.

    pip install transformers==4.57.6 protobuf sacremoses
    python -m tools.slow_tokenizers
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from .class_folders import BERT, BERT_CLASSES, FUNNEL, MPNET, random_folder

FIXTURE = Path(__file__).parents[1] / "fixtures" / "slow_tokenizers.json"

_ENDS = {"a": 1, "b": 2, "a</w>": 3, "b</w>": 4, "ab</w>": 5}
_SENTENCE = {"<s>": 6, "</s>": 7, "<unk>": 8, "<pad>": 9, "<mask>": 10}

#: The number of random folders.
_RANDOM = 60


def _flags(**flags: bool) -> dict[str, bool]:
    return {**dict.fromkeys(("lstrip", "normalized", "rstrip", "single_word"), False), **flags}


_LISTED = {
    "added_tokens_decoder": {
        "0": {"content": "[PAD]", "special": True, **_flags()},
        "5": {"content": "hello", "special": False, **_flags(lstrip=True, normalized=True)},
        "30": {"content": "<q>", "special": False, **_flags(lstrip=True, normalized=True)},
    }
}


def _token(content: str, **flags: bool) -> dict[str, Any]:
    return {"__type": "AddedToken", "content": content, **_flags(**{"normalized": True, **flags})}


def _pair(vocab: dict[str, int], merge: str) -> dict[str, str]:
    return {"vocab.json": json.dumps(vocab), "merges.txt": f"#version: 0.2\n{merge}\n"}


def folders() -> Iterator[tuple[str, dict[str, str], dict[str, Any]]]:
    """Yield classes, each with a vocabulary's files and its settings."""
    bert = {"vocab.txt": BERT}
    for name in BERT_CLASSES:
        yield name, bert, {}
    for settings in (
        {"do_lower_case": False},
        {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False},
        {"strip_accents": False, "cls_token": "[SEP]", "unk_token": "hel"},
        {
            "cls_token": _token("hel", lstrip=True),
            "bos_token": "<b>",
            "eos_token": _token("[SEP]"),
            "additional_special_tokens": ["<x>", _token("<z>", normalized=False)],
        },
        _LISTED,
    ):
        yield "BertTokenizer", bert, settings
    names = {
        "cls_token": "hel",
        "mask_token": {"content": "<m>", **_flags(lstrip=True)},
        "additional_special_tokens": ["<x>"],
    }
    old = {**bert, "special_tokens_map.json": json.dumps(names)}
    yield "BertTokenizer", old, {"cls_token": "[CLS]"}
    yield "BertTokenizer", old, _LISTED
    added = {"added_tokens.json": json.dumps({"<y>": 9, "<x>": 8})}
    yield "BertTokenizer", {**old, **added}, {}
    for text in ("a\nb\n", BERT.replace("\n", "\r\n"), f"\ufeff{BERT}"):
        yield "BertTokenizer", {"vocab.txt": text}, {}
    yield "MPNetTokenizer", {"vocab.txt": MPNET}, {}
    yield "MPNetTokenizer", {"vocab.txt": MPNET}, {"mask_token": "hello", "do_lower_case": False}
    yield "FunnelTokenizer", {"vocab.txt": FUNNEL}, {}
    gpt1 = _pair({"<unk>": 0, **_ENDS}, "a b</w>")
    yield "OpenAIGPTTokenizer", gpt1, {}
    names = {"unk_token": "<unk>", "pad_token": "<p>"}
    yield "OpenAIGPTTokenizer", {**gpt1, "special_tokens_map.json": json.dumps(names)}, {}
    clip = _pair({"c": 0, **_ENDS, "<|startoftext|>": 6, "<|endoftext|>": 7}, "a b</w>")
    yield "CLIPTokenizer", clip, {}
    yield "CLIPTokenizer", clip, {"pad_token": "!"}
    ends = {"eos_token": _token("<|endoftext|>"), "pad_token": "<|endoftext|>"}
    yield "CLIPTokenizer", clip, {**ends, "unk_token": _token("<|endoftext|>", lstrip=True)}
    yield "HerbertTokenizer", _pair({"c": 0, **_ENDS, **_SENTENCE}, "a b</w>"), {}
    plain = _pair({"c": 0, "a": 1, "b": 2, "ab": 5, "d": 3, "e": 4, **_SENTENCE}, "a b")
    for name in ("Roberta", "Bart", "LED", "Longformer", "Mvp"):
        yield f"{name}Tokenizer", plain, {}
    yield "RobertaTokenizer", plain, {"add_prefix_space": True, "mask_token": "<m>"}
    for name in ("Roberta", "Bart"):
        yield f"{name}Tokenizer", plain, {"trim_offsets": False}
    gpt = _pair({"a": 0, "b": 1, "ab": 2, "<x>": 3}, "a b")
    added = {"added_tokens.json": json.dumps({"<|pad|>": 5, "<|user|>": 4})}
    for name in ("GPT2", "CodeGen", "Qwen2"):
        yield f"{name}Tokenizer", gpt, {}
        yield f"{name}Tokenizer", {**gpt, **added}, {"pad_token": "<|pad|>"}
        yield f"{name}Tokenizer", gpt, {**_LISTED, "additional_special_tokens": ["<x>"]}
    yield "GPT2Tokenizer", gpt, {"add_bos_token": True, "bos_token": "<x>"}


def all_folders() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield classes, each with all files of a folder; the last ones are random."""
    for name, files, settings in folders():
        config = {"tokenizer_class": name, **settings}
        yield name, {**files, "tokenizer_config.json": json.dumps(config)}
    random = Random(1)
    for _ in range(_RANDOM):
        yield random_folder(random)


def main() -> None:
    """Write the fixture."""
    classes: Any = importlib.import_module("transformers")
    made = []
    for name, files in all_folders():
        with tempfile.TemporaryDirectory() as folder:
            for file, text in files.items():
                Path(folder, file).write_bytes(text.encode())
            try:
                tokenizer = getattr(classes, f"{name}Fast").from_pretrained(folder)
            except (TypeError, ValueError, AttributeError) as error:
                print(f"{name} does not take {files['tokenizer_config.json']}: {error!r}")
                continue
        content = json.loads(tokenizer.backend_tokenizer.to_str())
        made.append({"class": name, "files": files, "tokenizer": content})
    lines = [json.dumps(folder, ensure_ascii=False) for folder in made]
    FIXTURE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
