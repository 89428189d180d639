"""Qwen 1, as its ``tokenization_qwen.py`` has it (Qwen/Qwen-7B); ``qwen.tiktoken`` is its file.

Models that read images have more special tokens, which are not known here.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, numbered


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    visual = settings.model.get("visual")
    if visual is not None:
        visual.fail("a model that sees has special tokens that are not known here: give it them")
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    return numbered([*names, *(f"<|extra_{n}|>" for n in range(205))], count)


FAMILY = RankFamily(
    "qwen",
    _special_tokens,
    classes=("QWenTokenizer",),
    sha256=frozenset({"b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186"}),
    is_nfc=True,
)
