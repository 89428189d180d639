"""Whisper's models of many languages: ``multilingual.tiktoken``, with the tokens of 99 languages.

The special tokens are those of ``get_encoding`` in whisper/tokenizer.py (openai-whisper 20250625).
The models from ``large-v3`` on have one language more, ``<|yue|>``, after which ids are higher by
one: they are given ``special_tokens`` of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...formats.settings_beside import Settings
from .base import RankFamily, numbered

_LANGUAGES = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th "
    "ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr "
    "pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt "
    "haw ln ha ba jw su"
)
#: The number of times, which are a fiftieth of a second apart: from 0 to 30 seconds.
_TIMES = 1501


def _special_tokens(count: int, settings: Settings) -> Mapping[str, int]:
    names = [
        *("endoftext", "startoftranscript"),
        *_LANGUAGES.split(),
        *("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"),
        *(f"{n * 0.02:.2f}" for n in range(_TIMES)),
    ]
    return numbered([f"<|{name}|>" for name in names], count)


FAMILY = RankFamily(
    "whisper",
    _special_tokens,
    sha256=frozenset({"b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126"}),
)
