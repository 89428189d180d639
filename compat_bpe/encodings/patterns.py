"""Patterns with names, for vocabulary files that do not hold their pattern."""

from __future__ import annotations

from .openai import PUBLISHED

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
        from .model_names import did_you_mean

        raise ValueError(
            f"unknown pattern {pattern!r}{did_you_mean(pattern, PATTERNS)}; "
            f"there are {', '.join(PATTERNS)}"
        )
    return pattern
