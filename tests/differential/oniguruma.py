"""One pattern split by both packages."""

from __future__ import annotations

import tokenizers
from tokenizers import pre_tokenizers

from compat_bpe.pattern.oniguruma import parse_oniguruma
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import StepSplitter


def split_there(pattern: str, text: str) -> list[str]:
    split = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    return [text[start:end] for _, (start, end) in split.pre_tokenize_str(text)]


def split_here(pattern: str, text: str) -> list[str]:
    return StepSplitter([Split(parse_oniguruma(pattern))]).chunks(text)
