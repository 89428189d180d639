"""Every pre-tokenizer of a tokenizer.json, alone and in random sequences, against tokenizers."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.pre_tokenizers import BEHAVIORS
from compat_bpe.unicode.surrogates import repair
from tests.differential.small_tokenizers import BYTE_LEVEL, Both, file, sequence
from tests.strategies import texts as any_texts

texts = any_texts.map(repair)

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
}

#: What real tokenizers have, besides DeepSeek's.
SEQUENCES = {
    "starcoder": [STEPS["digit"], STEPS["byte level"]],
    "falcon": [
        STEPS["punctuation Contiguous"],
        STEPS["byte level"],
        STEPS["digits"],
        STEPS["split three digits"],
    ],
    "command-r": [STEPS["digit"], STEPS["byte level, prefix space"]],
}


@cache
def both(*names: str) -> Both:
    return Both(file(pre_tokenizer=sequence(*(STEPS[name] for name in names))))


#: One for each of the sets of characters that steps go by.
CLASSES = ["split llama3", "split boundary", "digit", "whitespace", "punctuation Isolated"]


@pytest.mark.parametrize("name", CLASSES)
def test_every_code_point(name: str, code_points: str) -> None:
    step = both(name)
    for start in range(0, len(code_points), 1 << 12):
        step.check_pieces("a".join(code_points[start : start + (1 << 12)]))


@pytest.mark.parametrize("name", STEPS)
def test_texts_in_each_step(name: str, thorough: settings) -> None:
    @thorough
    @given(texts)
    def check(text: str) -> None:
        both(name).check_pieces(text)
        both(name).check(text)

    check()


@pytest.mark.parametrize("name", SEQUENCES)
def test_texts_in_the_sequences_of_known_models(name: str) -> None:
    made = Both(file(pre_tokenizer={"type": "Sequence", "pretokenizers": SEQUENCES[name]}))

    @given(texts)
    def check(text: str) -> None:
        made.check_pieces(text)
        made.check(text)

    check()


@settings(max_examples=400)
@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=4).map(tuple), st.lists(texts, max_size=4))
def test_texts_in_any_sequence(names: tuple[str, ...], several: list[str]) -> None:
    # A second time to bytes is of what is no text any more; nobody has that.
    assume(sum("byte level" in name for name in names) < 2)
    made = both(*names)
    for text in several:
        made.check_pieces(text)


def test_the_steps_of_known_models_are_joined() -> None:
    for names in (
        ("split llama3",),
        ("digit", "split gpt2"),
        ("split three at most", "split gpt2"),
    ):
        assert isinstance(both(*names).ours.core.splitter, Splitter)
    assert not isinstance(both("split behind", "digit").ours.core.splitter, Splitter)
