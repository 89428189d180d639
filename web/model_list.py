"""The models of the page's picker, as the package knows them, with encodings and limits."""

from __future__ import annotations

import re
from typing import Any

from compat_bpe import encoding_name_for_model
from compat_bpe.chat.limits import context_limit, known_limits
from compat_bpe.encodings.model_names import model_names, resolve_model

#: A family, and how the names of its models begin; the first one that fits counts.
_FAMILIES = (
    ("GPT-5", r"gpt-5"),
    ("GPT-4.1", r"gpt-4\.1"),
    ("GPT-4o", r"gpt-4o|chatgpt-4o|gpt-realtime|gpt-audio"),
    ("o1, o3, o4-mini", r"o\d"),
    ("GPT-4, GPT-3.5", r"gpt-4|gpt-3"),
    ("gpt-oss", r"gpt-oss"),
    ("DeepSeek", r"deepseek"),
    ("Embeddings", r"text-embedding"),
    ("Older and others", r""),
)
#: Versions that the tables know by the beginning of their names only.
_BY_BEGINNING = ("deepseek-v3", "deepseek-v4")


def models() -> list[dict[str, Any]]:
    """Return the families in order, each with its models.

    Returns:
        Objects with ``family`` and ``models``: lists of name, encoding and the most tokens of the
        context, None if the package does not know it.

    >>> models()[0]["family"]
    'GPT-5'
    >>> dict((name, rest) for name, *rest in models()[2]["models"])["gpt-4o"]
    ['o200k_base', 128000]
    """
    found: dict[str, list[list[Any]]] = {family: [] for family, _ in _FAMILIES}
    limited = {name for name in known_limits() if isinstance(resolve_model(name), str)}
    for name in sorted({*model_names(), *limited, *_BY_BEGINNING}):
        family = next(one for one, beginning in _FAMILIES if re.match(beginning, name))
        found[family].append([name, encoding_name_for_model(name), _context(name)])
    return [{"family": family, "models": rows} for family, rows in found.items() if rows]


def _context(name: str) -> int | None:
    try:
        return context_limit(name).context
    except KeyError:
        return None
