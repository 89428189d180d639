"""Every pre-tokenizer as it stands in a ``tokenizer.json``."""

from __future__ import annotations

from typing import Any

from compat_bpe.pipeline.pre_tokenizers.split import BEHAVIORS
from tests.tokenizer_files import BYTE_LEVEL

PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "letters": "[A-Za-z]+",
    "three digits": "[0-9][0-9][0-9]",
    "ends of lines": r"\s+$",
    "behind": r"(?<=[a-z])[A-Z]|(?<![0-9])[,.]",
    "boundary": r"\b\w+\b",
    "perhaps empty": r"\p{L}*",
    "newlines": "[\r\n]",
    "chinese": "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
    "three at most": r"\p{N}{1,3}",
}


def split(pattern: str, behavior: str = "Isolated", invert: bool = False) -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": behavior,
        "invert": invert,
    }


METASPACE: dict[str, Any] = {"type": "Metaspace", "replacement": "▁"}
STEPS: dict[str, dict[str, Any]] = {
    **{f"split {name}": split(pattern) for name, pattern in PATTERNS.items()},
    **{
        f"split {behavior} {invert}": split(PATTERNS["letters"], behavior, invert)
        for behavior in BEHAVIORS
        for invert in (False, True)
    },
    **{f"empty {behavior}": split(PATTERNS["perhaps empty"], behavior) for behavior in BEHAVIORS},
    "string": {**split(""), "pattern": {"String": "a."}},
    "byte level": {**BYTE_LEVEL, "use_regex": True},
    "byte level, no regex": BYTE_LEVEL,
    "byte level, prefix space": {**BYTE_LEVEL, "use_regex": True, "add_prefix_space": True},
    "digit": {"type": "Digits", "individual_digits": True},
    "digits": {"type": "Digits", "individual_digits": False},
    "whitespace": {"type": "Whitespace"},
    "whitespace split": {"type": "WhitespaceSplit"},
    **{
        f"punctuation {behavior}": {"type": "Punctuation", "behavior": behavior}
        for behavior in BEHAVIORS
    },
    "delimiter": {"type": "CharDelimiterSplit", "delimiter": "a"},
    "bert": {"type": "BertPreTokenizer"},
    **{
        f"metaspace {scheme} {split}": {**METASPACE, "prepend_scheme": scheme, "split": split}
        for scheme in ("always", "first", "never")
        for split in (False, True)
    },
    "metaspace e": {**METASPACE, "replacement": "e"},
    "scripts": {"type": "UnicodeScripts"},
    "fixed 5": {"type": "FixedLength"},
    "fixed 2": {"type": "FixedLength", "length": 2},
}
