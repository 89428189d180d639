"""The list of the page's picker: what the package knows, as the page takes it."""

from __future__ import annotations

from typing import Any

from compat_bpe import list_encoding_names
from compat_bpe.chat.known_models import KnownModel, known_models
from web.counting_page.tokenizers import ESTIMATED, hint_of


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
    encodings: list[list[Any]] = [[name, name, None, ""] for name in list_encoding_names()]
    found: dict[str, list[list[Any]]] = {}
    for one in known_models():
        if one.answer is None:
            found.setdefault("Encodings", encodings)
        found.setdefault(one.group, []).append(_row(one))
    return [{"family": family, "models": rows} for family, rows in found.items()]


def _row(one: KnownModel) -> list[Any]:
    key, hint = "", ""
    if one.answer is not None:
        key = ESTIMATED + one.name if one.answer.note else one.answer.encoding_name
    elif one.family is not None:
        hint = hint_of(one.family)
    return [one.name, key, one.context, hint]
