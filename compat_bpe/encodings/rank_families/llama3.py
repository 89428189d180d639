"""Llama 3.1 to 3.3 as Meta publishes them: ``original/tokenizer.model``.

The special tokens are those of models/llama3/tokenizer.py in meta-llama/llama-models (0.3.0).
Some of Hugging Face's files give ids 128005 and 128011 other names.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, numbered

_NAMES = [
    *("<|begin_of_text|>", "<|end_of_text|>"),
    *("<|reserved_special_token_0|>", "<|reserved_special_token_1|>"),
    *("<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>"),
    *("<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>"),
]


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    reserved = (f"<|reserved_special_token_{n}|>" for n in range(2, 256 - len(_NAMES) + 2))
    return numbered([*_NAMES, *reserved], count)


FAMILY = RankFamily(
    "llama3",
    _special_tokens,
    sha256=frozenset({"82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"}),
)
