"""Phi-3-small: the ranks and the pattern of ``cl100k_base``, with other special tokens.

Its file is OpenAI's, so only ``tokenizer_config.json`` tells the two apart. The ids are those of
its ``tokenization_phi3_small.py``: each id without a token is a dummy.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, numbered


def _dummies(start: int, end: int) -> list[str]:
    return [f"<|dummy_id_{n}|>" for n in range(start, end)]


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    names = [
        *_dummies(2, 3),
        *("<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
        *("<|system|>", "<|user|>", "<|assistant|>"),
        *_dummies(0, 2),
        "<|end|>",
        *_dummies(3, 12),
        "<|endofprompt|>",
        *_dummies(12, 87),
    ]
    return numbered(names, count)


FAMILY = RankFamily("phi3_small", _special_tokens, classes=("Phi3SmallTokenizer",))
