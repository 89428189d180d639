"""The steps by which a model comes to the tokens of a word, as plain data."""

from __future__ import annotations

from typing import Any

from compat_bpe import Encoding
from compat_bpe.pipeline.core import parts_of_text
from compat_bpe.pipeline.models.explain import Row, explain
from compat_bpe.unicode.surrogates import repair
from compat_bpe.unicode.text import Visible, escape

#: The steps of a chunk grow with its length, and their pairs with the square of it.
LONGEST = 200
_VISIBLE = Visible("\\n")
#: The most ways to go on that are shown of one step.
_MOST_ITEMS = 12


def steps_of(encoding: Encoding, text: str, *, special: bool) -> list[dict[str, Any]]:
    """Return the steps of each chunk of a text.

    Args:
        encoding: the encoding.
        text: a text of at most ``LONGEST`` characters.
        special: True if the names of special tokens are the tokens.

    Raises:
        ValueError: the text is longer, or the vocabulary has no token for a part of it.

    >>> from compat_bpe import get_encoding
    >>> found = steps_of(get_encoding("gpt2"), "hug", special=False)
    >>> [step["parts"] for step in found[0]["steps"]]
    [['h', 'u', 'g'], ['h', 'ug']]
    """
    if len(text) > LONGEST:
        raise ValueError(f"{len(text)} characters are too many for steps: at most {LONGEST}")
    allowed = encoding.special_tokens_set if special else frozenset[str]()
    names = {number: name for name, number in encoding.core.special.items()}
    found: list[dict[str, Any]] = []
    for chunk in parts_of_text(encoding.core, repair(text), allowed):
        if isinstance(chunk, int):
            name = _show(names[chunk].encode())
            found.append({"chunk": name, "note": "special", "ids": [chunk], "steps": []})
            continue
        explained = explain(encoding.core.model, chunk)
        found.append(
            {
                "chunk": _show(explained.chunk),
                "note": explained.note,
                "ids": list(explained.ids),
                "steps": [_step(row) for row in explained.rows()],
            }
        )
    return found


def _step(row: Row) -> dict[str, Any]:
    items = [
        {
            "parts": list(map(_show, item.parts)),
            "figure": item.figure,
            "lead": item.lead,
            "taken": number == row.taken,
        }
        for number, item in enumerate(row.items)
    ]
    shown = [item for number, item in enumerate(items) if number < _MOST_ITEMS or item["taken"]]
    return {
        "parts": [_show(part) for part in row.parts],
        "marked": list(row.marked),
        "items": shown,
        "more": len(items) - len(shown),
    }


def _show(data: bytes) -> str:
    return escape(data, _VISIBLE)
