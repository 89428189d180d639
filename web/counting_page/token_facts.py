"""The facts about one token that the page shows."""

from __future__ import annotations

from typing import Any

from compat_bpe import Encoding
from compat_bpe.pipeline.models.explain import explain
from compat_bpe.unicode.text import Visible, escape

_VISIBLE = Visible("\\n")


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
