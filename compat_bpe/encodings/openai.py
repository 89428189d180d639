r"""OpenAI's encodings: their patterns, special tokens and packs.

The patterns are those that tiktoken 0.14 publishes (``tiktoken_ext/openai_public.py``), verbatim.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_END_OF_TEXT = "<|endoftext|>"
_FIM_PREFIX = "<|fim_prefix|>"
_FIM_MIDDLE = "<|fim_middle|>"
_FIM_SUFFIX = "<|fim_suffix|>"
_END_OF_PROMPT = "<|endofprompt|>"

_R50K_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_O200K_PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)

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
        """The special tokens and their ids; made when asked for, since some have a thousand."""
        return self._make()


def _harmony_special() -> dict[str, int]:
    # 200018 has two names, as in tiktoken: <|endofprompt|> and its reserved one.
    named = set(_HARMONY_NAMED.values()) - {_O200K_SPECIAL[_END_OF_PROMPT]}
    reserved = {f"<|reserved_{i}|>": i for i in range(200000, 201088) if i not in named}
    return {**_HARMONY_NAMED, **reserved}


PUBLISHED = {
    "gpt2": Published("r50k_base", _R50K_PATTERN, _R50K_SPECIAL.copy),
    "r50k_base": Published("r50k_base", _R50K_PATTERN, _R50K_SPECIAL.copy),
    "p50k_base": Published("p50k_base", _R50K_PATTERN, _R50K_SPECIAL.copy),
    "p50k_edit": Published("p50k_base", _R50K_PATTERN, _P50K_EDIT_SPECIAL.copy),
    "cl100k_base": Published("cl100k_base", _CL100K_PATTERN, _CL100K_SPECIAL.copy),
    "o200k_base": Published("o200k_base", _O200K_PATTERN, _O200K_SPECIAL.copy),
    "o200k_harmony": Published("o200k_base", _O200K_PATTERN, _harmony_special),
}
