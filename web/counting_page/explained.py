"""The facts about a token, and the steps by which a model encodes a text, as plain data."""

from __future__ import annotations

from typing import Any

from compat_bpe import Encoding
from compat_bpe.pipeline.core import parts_of_text
from compat_bpe.pipeline.models.explain import Row, explain
from compat_bpe.unicode.surrogates import repair
from compat_bpe.unicode.text import Visible, escape

#: The longest text whose steps are shown: they grow with the length, their pairs with its square.
LONGEST = 200
_VISIBLE = Visible("\\n")
#: The most ways to go on that are shown of one step.
_MOST_ITEMS = 12


def facts_of(encoding: Encoding, token: int) -> dict[str, Any]:
    """Return the facts about a token.

    Returns:
        ``id``; ``bytes``, in hexadecimal; ``text``, with what is invisible escaped; ``kind``:
        ``"special"``, ``"unknown"`` or empty; and ``rank``, as text: the rank of the token, or the
        number of the merge that makes it, or empty if it has neither.

    Raises:
        KeyError: there is no such token.

    >>> from compat_bpe import get_encoding
    >>> facts = facts_of(get_encoding("gpt2"), 995)
    >>> facts["bytes"], facts["text"], facts["rank"]
    ('20776f726c64', ' world', '995')
    """
    data = encoding.decode_single_token_bytes(token)
    kind = ""
    if encoding.is_special_token(token):
        kind = "special"
    elif token == encoding.core.model.unknown_id:
        kind = "unknown"
    return {
        "id": token,
        "bytes": data.hex(),
        "text": escape(data, _VISIBLE),
        "kind": kind,
        "rank": "" if kind else _rank(encoding, token, data),
    }


def _rank(encoding: Encoding, token: int, data: bytes) -> str:
    if encoding.reference == "tiktoken":
        return str(token)
    try:
        rows = list(explain(encoding.core.model, data.decode()).rows())
    except ValueError:  # not whole characters, or not what the model is given
        return ""
    if len(rows) < 2 or len(rows[-1].parts) != 1 or rows[-2].taken is None:
        return ""
    return rows[-2].items[rows[-2].taken].figure


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
