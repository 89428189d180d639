"""The encodings that ship: their names, definitions and ranks, and those that have been loaded.

The classes of encodings import this module, so an encoding can be pickled by its name. The texts of
the patterns are in ``pattern``.
"""

from __future__ import annotations

import os
from _thread import RLock
from functools import cache

from ..formats.pack import unpack
from ..pattern import CL100K, GPT2, KIMI, LLAMA3, O200K, QWEN, R50K, SUPERBPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_END_OF_TEXT = "<|endoftext|>"
_FIM_PREFIX = "<|fim_prefix|>"
_FIM_MIDDLE = "<|fim_middle|>"
_FIM_SUFFIX = "<|fim_suffix|>"
_END_OF_PROMPT = "<|endofprompt|>"

_R50K_SPECIAL = {_END_OF_TEXT: 50256}
_P50K_EDIT_SPECIAL = {
    _END_OF_TEXT: 50256,
    _FIM_PREFIX: 50281,
    _FIM_MIDDLE: 50282,
    _FIM_SUFFIX: 50283,
}
_CL100K_SPECIAL = {
    _END_OF_TEXT: 100257,
    _FIM_PREFIX: 100258,
    _FIM_MIDDLE: 100259,
    _FIM_SUFFIX: 100260,
    _END_OF_PROMPT: 100276,
}
_O200K_SPECIAL = {_END_OF_TEXT: 199999, _END_OF_PROMPT: 200018}
#: The special tokens with a name of their own; the other ids from 199998 to 201087 are reserved.
_HARMONY_NAMED = {
    **_O200K_SPECIAL,
    "<|startoftext|>": 199998,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
}


class Published:
    """The definition of a shipped encoding; ``pack`` names the file with its vocabulary."""

    __slots__ = ("_make", "pack", "pattern")

    def __init__(self, pack: str, pattern: str, make: Callable[[], dict[str, int]]) -> None:
        self.pack = pack
        self.pattern = pattern
        self._make = make

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, built on demand, since some encodings have 1,000."""
        return self._make()


def _harmony_special() -> dict[str, int]:
    # 200018 has two names, as in tiktoken: <|endofprompt|> and its reserved one.
    named = set(_HARMONY_NAMED.values()) - {_O200K_SPECIAL[_END_OF_PROMPT]}
    reserved = {f"<|reserved_{i}|>": i for i in range(200000, 201088) if i not in named}
    return {**_HARMONY_NAMED, **reserved}


PUBLISHED = {
    "gpt2": Published("r50k_base", R50K, _R50K_SPECIAL.copy),
    "r50k_base": Published("r50k_base", R50K, _R50K_SPECIAL.copy),
    "p50k_base": Published("p50k_base", R50K, _R50K_SPECIAL.copy),
    "p50k_edit": Published("p50k_base", R50K, _P50K_EDIT_SPECIAL.copy),
    "cl100k_base": Published("cl100k_base", CL100K, _CL100K_SPECIAL.copy),
    "o200k_base": Published("o200k_base", O200K, _O200K_SPECIAL.copy),
    "o200k_harmony": Published("o200k_base", O200K, _harmony_special),
}


#: The names of DeepSeek's encodings, each a ``Tokenizer``.
DEEPSEEK_NAMES = ("deepseek_v3", "deepseek_r1", "deepseek_v4")
#: Encodings by a rule, without a vocabulary that was learned; see ``baselines.Baseline``.
BASELINES = ("bytes", "characters", "words", "words_and_punctuation", "categories")


def list_encoding_names() -> list[str]:
    """Return the names of the encodings that ship with their vocabularies.

    ``get_encoding`` also knows the baselines: bytes, characters, words, words_and_punctuation and
    categories.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    return [*PUBLISHED, *DEEPSEEK_NAMES]


def all_encoding_names() -> list[str]:
    """Return the names that ``get_encoding`` accepts: shipped encodings and baselines."""
    return [*list_encoding_names(), *BASELINES]


#: The patterns by name: of shipped encodings with a single pattern, of the families of models whose
#: vocabularies are rank files (``rank_families``), and one for superwords.
PATTERNS: dict[str, str] = {
    **{name: published.pattern for name, published in PUBLISHED.items()},
    "llama3": LLAMA3,
    "llama4": O200K,
    "qwen": QWEN,
    "hunyuan": QWEN,
    "glm4": LLAMA3,
    "kimi": KIMI,
    "phi3_small": CL100K,
    "whisper": GPT2,
    "superbpe": SUPERBPE,
}


def pattern_named(pattern: str) -> str:
    """Return the pattern of a name; a pattern itself is returned unchanged.

    Raises:
        ValueError: the argument looks like a name, but no pattern has that name.

    >>> pattern_named("llama3")[:12]
    "(?i:'s|'t|'r"
    """
    if pattern in PATTERNS:
        return PATTERNS[pattern]
    # This is meant as a name. As a pattern, it would match little more than itself.
    import re  # imported here, as below: most programs name no pattern

    if re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]+", pattern):
        from ..unicode.text import did_you_mean

        raise ValueError(
            f"unknown pattern {pattern!r}{did_you_mean(pattern, PATTERNS)}; "
            f"there are {', '.join(PATTERNS)}"
        )
    return pattern


#: The encodings that have been loaded, by name: objects of the classes that import this module.
ENCODINGS: dict[str, Any] = {}

#: Held while a shipped encoding is loaded, so that threads load it once.
LOCK = RLock()
if hasattr(os, "register_at_fork"):
    # A fork waits for the thread that holds the lock. In the child that thread is gone, and would
    # never release the lock or finish its imports.
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )

#: Functions that find, by name, an encoding that does not ship. They raise ``ValueError`` for an
#: unknown name.
FINDERS: list[Callable[[str], Any]] = []


def find(name: str, make: Callable[[str], Any]) -> Any:
    """Return an encoding by its name; make or find it if it is not loaded yet.

    Args:
        name: the name of the encoding.
        make: makes a shipped encoding; it raises ``KeyError`` for an unknown name.

    Raises:
        ValueError: no encoding has the name.
    """
    encoding = ENCODINGS.get(name)
    if encoding is not None:
        return encoding
    try:
        made = make(name)
    except KeyError:
        for finder in FINDERS:
            return finder(name)
        raise ValueError(f"unknown encoding {name!r}") from None
    # Another thread may have been faster. Then its object is returned.
    return ENCODINGS.setdefault(name, made)


@cache
def load_ranks(pack: str) -> dict[bytes, int]:
    """Return the ranks of a shipped vocabulary, read once; its encodings share the dict.

    Raises:
        OSError: the package's own file is missing.
        ValueError: it is damaged.
    """
    name = f"packs/{pack}.pack"
    # Read by the package's loader, so that it also works from a zip or a frozen program.
    # pkgutil.get_data does the same, but takes longer to import than this takes to run.
    read = getattr(__spec__.loader, "get_data", None)
    if read is None:
        raise OSError(f"{__package__}/{name} cannot be read: its loader gives no data")
    data = read(os.path.join(os.path.dirname(__file__), "packs", f"{pack}.pack"))
    return unpack(data, name)
