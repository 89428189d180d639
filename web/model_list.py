"""The list of the page's picker: every family that the package knows, and how it is counted."""

from __future__ import annotations

import re
from typing import Any

from compat_bpe import list_encoding_names
from compat_bpe.chat.limits import known_limits
from compat_bpe.encodings.families import FAMILIES, NeedsFile
from compat_bpe.encodings.model_names import model_names
from web.counting_page.tokenizers import find, hint_of

#: A family, and how the names of its models begin; the first one that fits counts.
_FAMILIES = (
    ("GPT-5", r"gpt-5"),
    ("GPT-4.1", r"gpt-4\.1"),
    ("GPT-4o", r"gpt-4o|chatgpt-4o|gpt-realtime|gpt-audio"),
    ("o1, o3, o4-mini", r"o\d"),
    ("GPT-4, GPT-3.5", r"gpt-4|gpt-3"),
    ("gpt-oss", r"gpt-oss"),
    ("DeepSeek", r"deepseek"),
    ("Claude", r"claude"),
    ("Gemini", r"gemini"),
    ("Embeddings", r"text-embedding"),
    ("Older and others", r""),
)
#: Versions that the tables know by the beginning of their names only.
_BY_BEGINNING = ("deepseek-v3", "deepseek-v4")


def models() -> list[dict[str, Any]]:
    """Return the families in order, each with its models; then those that the page cannot count.

    Returns:
        Objects with ``family`` and ``models``: lists of name, key (empty if the page cannot count
        it), the most tokens of the context (None if the package does not know it) and, without a
        key, what to do.

    >>> models()[0]["family"]
    'GPT-5'
    >>> dict((name, rest) for name, *rest in models()[2]["models"])["gpt-4o"]
    ['o200k_base', 128000, '']
    """
    found: dict[str, list[list[Any]]] = {family: [] for family, _ in _FAMILIES}
    found["Encodings"] = [[name, name, None, ""] for name in list_encoding_names()]
    needs_file = found["With a file that you drop"] = []
    not_public = found["No public tokenizer"] = []
    examples = [one for family in FAMILIES for one in getattr(family, "examples", ())]
    counted = set()
    for name in sorted({*model_names(), *known_limits(), *examples, *_BY_BEGINNING}):
        try:
            entry = find(name, "model")
        except ValueError:
            continue  # its family is listed below
        counted.add(name)
        family = next(one for one, beginning in _FAMILIES if re.match(beginning, name))
        found[family].append([name, entry["key"], entry["context"], ""])
    for one in FAMILIES:
        if isinstance(one, NeedsFile):
            needs_file.append([one.name, "", None, hint_of(one)])
        elif counted.isdisjoint(one.examples):
            not_public.append([one.name, "", None, hint_of(one)])
    for family in ("Claude", "Gemini"):
        found[family].reverse()  # the newest first
    return [{"family": family, "models": rows} for family, rows in found.items() if rows]
