"""OpenAI's encodings and the patterns of other families, by name.

OpenAI's patterns are those of tiktoken 0.14 (``tiktoken_ext/openai_public.py``), verbatim.
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


# From models/llama3/tokenizer.py in meta-llama/llama-models. It splits "\n\u3000" into two
# chunks; the pattern of cl100k_base leaves it one.
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# From tokenization_qwen.py of Qwen/Qwen-7B: Llama 3's, with one digit a chunk.
_QWEN = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# From tokenization_kimi.py of moonshotai/Kimi-K2-Instruct: that of o200k_base, with Han apart.
_NOT_HAN = r"&&[^\p{Han}]"
_KIMI = "|".join(
    [
        r"[\p{Han}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}{_NOT_HAN}]*"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}{_NOT_HAN}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}{_NOT_HAN}]+"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}{_NOT_HAN}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
# From whisper/tokenizer.py of openai-whisper 20250625: GPT-2's as it was first published.
_WHISPER = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# From scripts/extend_tokenizer.sh in PythonNut/superbpe, for the second stage of SuperBPE. There it
# cuts text into its matches and what lies between them; here the latter are matches, too. The last
# alternative never comes: with it, the analysis sees that nothing is left out.
_ONE_SIGN = r"[^\s\p{L}\p{N}]"
_SUPERBPE = (
    rf"\p{{N}}{{1,3}}| ?{_ONE_SIGN}{{2,}}[\r\n/]*| +(?!\S)"
    rf"|(?:\p{{L}}|[^\S ]|{_ONE_SIGN}(?!{_ONE_SIGN})"
    rf"| (?=[\p{{L}}\p{{N}}]|{_ONE_SIGN}(?!{_ONE_SIGN})))+|[\s\S]"
)

#: The patterns by name: shipped encodings with a single pattern, and the families of models whose
#: vocabularies are kept in such files (``rank_families``); and one for superwords.
PATTERNS: dict[str, str] = {
    **{name: published.pattern for name, published in PUBLISHED.items()},
    "llama3": _LLAMA3,
    "llama4": PUBLISHED["o200k_base"].pattern,
    "qwen": _QWEN,
    "hunyuan": _QWEN,
    "glm4": _LLAMA3,
    "kimi": _KIMI,
    "phi3_small": PUBLISHED["cl100k_base"].pattern,
    "whisper": _WHISPER,
    "superbpe": _SUPERBPE,
}


def pattern_named(pattern: str) -> str:
    """Return the pattern of a name; a pattern itself is returned unchanged.

    Raises:
        ValueError: it looks like a name, but no pattern has that name.

    >>> pattern_named("llama3")[:12]
    "(?i:'s|'t|'r"
    """
    if pattern in PATTERNS:
        return PATTERNS[pattern]
    # This is meant as a name: as a pattern it would match little but itself.
    import re  # imported here, as below: most programs name no pattern

    if re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]+", pattern):
        from ..unicode.text import did_you_mean

        raise ValueError(
            f"unknown pattern {pattern!r}{did_you_mean(pattern, PATTERNS)}; "
            f"there are {', '.join(PATTERNS)}"
        )
    return pattern
