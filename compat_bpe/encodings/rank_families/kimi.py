"""Kimi K2 and K3, Moonlight, Kimi-Linear and Kimi-VL, whose file is ``tiktoken.model``.

The names of the special tokens are in ``tokenizer_config.json``, and differ between the models.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, listed

#: The number of ids for special tokens by the module that reads the file: two more in the older.
_RESERVED = {"tokenization_kimi": 256, "tokenization_moonshot": 258}


def _module(settings: Settings) -> str:
    """Return the name of the module that reads the file; empty if none is named."""
    named = settings.config.value.get("auto_map")
    if isinstance(named, dict):
        named = named.get("AutoTokenizer")
    if isinstance(named, list):
        named = next(iter(named), None)
    # It may be in another repository: "OWNER/NAME--MODULE.CLASS".
    return named.rpartition("--")[2].partition(".")[0] if isinstance(named, str) else ""


def _fits(settings: Settings) -> bool:
    return _module(settings) in _RESERVED  # others may have a TikTokenTokenizer, too


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    names = listed(settings)
    end = count + _RESERVED.get(_module(settings), 256)
    return {names.get(id_, f"<|reserved_token_{id_}|>"): id_ for id_ in range(count, end)}


FAMILY = RankFamily(
    "kimi",
    _special_tokens,
    classes=("TikTokenTokenizer",),
    sha256=frozenset({"b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103"}),
    fits=_fits,
)
