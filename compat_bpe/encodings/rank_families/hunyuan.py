"""Hunyuan's mixtures of experts (A13B, 7B), whose file is ``hy.tiktoken``.

A token's rank is its place in the file. Some tokens come twice; the first line counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, numbered


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    names = ["<|endoftext|>", "<|startoftext|>", "<|bos|>", "<|eos|>", "<|pad|>"]
    return numbered([*names, *(f"<|extra_{n}|>" for n in range(205))], count)


FAMILY = RankFamily("hunyuan", _special_tokens, classes=("HYTokenizer",), is_nfc=True, by_line=True)
