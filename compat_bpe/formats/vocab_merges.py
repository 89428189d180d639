"""``vocab.json`` and ``merges.txt``: the model of a ``tokenizer.json`` in two files.

A ``tokenizer_config.json`` beside them defines the added tokens and, by the name of a class in
Hugging Face transformers, the splitting of text.  Without it, both are as in GPT-2.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .checked_json import Json, read_json
from .parts.pre_tokenizers import byte_level_part, pattern_part, pre_tokenizers_part, split_part
from .tokenizer_json import TokenizerDefinition, parse_tokenizer

_GPT2: dict[str, Any] = {"normalizer": None, "pre_tokenizer": byte_level_part()}
_QWEN2: dict[str, Any] = {
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": pre_tokenizers_part(
        split_part(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        byte_level_part(use_regex=False),
    ),
}

#: The parts of each known class; its name is without "Fast" at the end.
_CLASSES = {"GPT2Tokenizer": _GPT2, "CodeGenTokenizer": _GPT2, "Qwen2Tokenizer": _QWEN2}


def read_vocab_merges(
    vocabulary: Path, merges: Path, pattern: str | None = None
) -> TokenizerDefinition:
    """Read the two files, and ``tokenizer_config.json`` beside them if there is one.

    ``pattern``, in the syntax of OpenAI's published patterns, splits text in place of the class.

    Raises:
        OSError: a file cannot be read.
        ValueError: ``{file}: {place}: {reason}``.  A file is damaged, or the class is not known.
    """
    ids = read_json(vocabulary)
    listed = _read_merges(merges)
    config_path = vocabulary.with_name("tokenizer_config.json")
    config = read_json(config_path) if config_path.exists() else None
    parts = _GPT2
    if pattern is not None:
        parts = {
            "normalizer": None,
            "pre_tokenizer": pre_tokenizers_part(
                pattern_part(pattern), byte_level_part(use_regex=False)
            ),
        }
    elif config is not None and "tokenizer_class" in config.mapping():
        name = config["tokenizer_class"].text()
        if name.removesuffix("Fast") not in _CLASSES:
            config["tokenizer_class"].fail(
                f"{name} is not supported (only {', '.join(_CLASSES)}; or pass a pattern)"
            )
        parts = _CLASSES[name.removesuffix("Fast")]
    if parts is _GPT2 and config is not None:
        prefix = config.get("add_prefix_space")
        if prefix is not None and prefix.truth():
            parts = {**_GPT2, "pre_tokenizer": byte_level_part(add_prefix_space=True)}
    file = {
        "model": {"type": "BPE", "vocab": ids.mapping(), "merges": listed},
        "added_tokens": _added_tokens(ids, listed, config),
        **parts,
        "post_processor": None,
        "decoder": byte_level_part(),
    }
    return parse_tokenizer(Json(file, f"{vocabulary} and {merges.name}"))


def _read_merges(path: Path) -> list[str]:
    data = path.read_bytes()
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}: line {number}: not UTF-8: {error.reason}") from None
    if not lines[-1]:
        lines.pop()
    lines = [line.rstrip("\r") for line in lines]
    for number, line in enumerate(lines, 1):
        if line.count(" ") != 1 and not line.startswith("#version"):
            raise ValueError(f"{path}: line {number}: expected the two parts of a merge")
    return [line for line in lines if not line.startswith("#version")]


def _added_tokens(ids: Json, merges: list[str], config: Json | None) -> list[dict[str, Any]]:
    listed = None if config is None else config.get("added_tokens_decoder")
    if listed is not None:
        numbers = listed.mapping()
        for number in numbers:
            if not re.fullmatch("[0-9]{1,10}", number):
                listed.fail(f"{number[:20]!r} is not an id")
        return [
            {**listed[number].mapping(), "id": int(number)} for number in sorted(numbers, key=int)
        ]
    # As in load_gpt2: every name <...> that no merge makes.
    made = {merge.replace(" ", "") for merge in merges}
    flags = dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word"), False)
    return [
        {"id": number, "content": name, "special": True, **flags}
        for name, number in ids.mapping().items()
        if name[:1] == "<" and name[-1:] == ">" and len(name) > 2 and name not in made
    ]
