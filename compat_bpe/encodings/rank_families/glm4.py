"""GLM-4-9B, whose ``tokenizer.model`` is a rank file; later models have a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, listed, numbered

#: The special tokens in the order of their ids, for a file without ``tokenizer_config.json``.
_NAMES = [
    *("<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>"),
    *("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"),
    *("<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>"),
]


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    names = listed(settings)
    return {name: id_ for id_, name in names.items()} or numbered(_NAMES, count)


FAMILY = RankFamily(
    "glm4",
    _special_tokens,
    classes=("ChatGLM4Tokenizer",),
    sha256=frozenset({"5a493598071550244b2ee7f26118f3edec2150b9dfa967929a99052ac83fe716"}),
)
