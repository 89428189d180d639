"""Llama 4 as Meta publishes it: ``tokenizer.model``.

The special tokens are those of models/llama4/tokenizer.py in meta-llama/llama-models (0.3.0).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, numbered


def _reserved(kind: str, start: int, end: int) -> list[str]:
    return [f"<|{kind}reserved_special_token_{n}|>" for n in range(start, end)]


_NAMES = [
    *("<|begin_of_text|>", "<|end_of_text|>"),
    *("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
    *("<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"),
    *_reserved("text_post_train_", 0, 6),
    *("<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"),
    *_reserved("text_post_train_", 8, 69),
    *("<|image_start|>", "<|image_end|>"),
    *_reserved("vision_", 0, 2),
    *("<|tile_x_separator|>", "<|tile_y_separator|>"),
    *_reserved("vision_", 2, 6),
    "<|image|>",
    *_reserved("vision_", 6, 7),
    "<|patch|>",
    *_reserved("vision_", 7, 1048),
    *_reserved("reasoning_", 0, 8),
    *("<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"),
]


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    return numbered([*_NAMES, *_reserved("", 0, 2048 - len(_NAMES))], count)


FAMILY = RankFamily(
    "llama4",
    _special_tokens,
    sha256=frozenset({"d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed"}),
)
