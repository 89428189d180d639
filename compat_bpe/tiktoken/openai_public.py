"""``tiktoken_ext.openai_public``: the constructors of the shipped encodings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..encodings.published import PUBLISHED, load_ranks

ENDOFTEXT = "<|endoftext|>"
FIM_PREFIX = "<|fim_prefix|>"
FIM_MIDDLE = "<|fim_middle|>"
FIM_SUFFIX = "<|fim_suffix|>"
ENDOFPROMPT = "<|endofprompt|>"

r50k_pat_str = PUBLISHED["r50k_base"].pattern

#: The vocabulary sizes that tiktoken checks.
_VOCABULARY_SIZES = {"gpt2": 50257, "r50k_base": 50257, "p50k_base": 50281}


def _constructor(name: str) -> Callable[[], dict[str, Any]]:
    def construct() -> dict[str, Any]:
        published = PUBLISHED[name]
        arguments: dict[str, Any] = {
            "name": name,
            "pat_str": published.pattern,
            # A copy, which the caller may change.
            "mergeable_ranks": dict(load_ranks(published.pack)),
            "special_tokens": dict(published.special_tokens),
        }
        if name in _VOCABULARY_SIZES:
            arguments["explicit_n_vocab"] = _VOCABULARY_SIZES[name]
        return arguments

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = f"The arguments of ``Encoding`` for {name}."
    return construct


gpt2 = _constructor("gpt2")
r50k_base = _constructor("r50k_base")
p50k_base = _constructor("p50k_base")
p50k_edit = _constructor("p50k_edit")
cl100k_base = _constructor("cl100k_base")
o200k_base = _constructor("o200k_base")
o200k_harmony = _constructor("o200k_harmony")

ENCODING_CONSTRUCTORS = {
    construct.__name__: construct
    for construct in (gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony)
}
