"""A part of a text in one encoding, as the page draws it: a side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat_bpe import Encoding
from compat_bpe.fit import Document, PlacedToken

from .cells import cells_of, utf16_lengths

#: The longest text whose tokens are drawn beside the messages.
_LONGEST = 20_000


def side_of(
    encoding: Encoding, text: str, begin: int, tokens: Sequence[PlacedToken]
) -> dict[str, Any]:
    """Return the cells of a part of a text.

    Args:
        encoding: the encoding of the tokens.
        text: the part.
        begin: its place in the whole text.
        tokens: the tokens that have a part of it, with places in the whole text.

    Returns:
        ``first``, the number of tokens before the first one; and ``cells``: for each its beginning
        and end in UTF-16 units from that of the part, the number of tokens from the first one to
        it, its ids, and the ids of these that are special or unknown.
    """
    units = utf16_lengths(text)
    cells = cells_of(text, begin, tokens)
    first = cells[0].number if cells else 0
    unknown = encoding.core.model.unknown_id
    rows = [
        [
            units[cell.start - begin],
            units[cell.end - begin],
            cell.number - first,
            cell.ids,
            [one for one in cell.ids if encoding.is_special_token(one) or one == unknown],
        ]
        for cell in cells
    ]
    return {"first": first, "cells": rows}


def sides_of_texts(encoding: Encoding, texts: list[str]) -> list[dict[str, Any]]:
    """Return texts, each cut where it is too long to be drawn, and their sides.

    >>> from compat_bpe import get_encoding
    >>> sides_of_texts(get_encoding("gpt2"), ["hello"])
    [{'text': 'hello', 'side': {'first': 0, 'cells': [[0, 5, 0, [31373], []]]}}]
    """
    found = []
    for text in texts:
        shown = text[:_LONGEST]
        tokens = Document(encoding, text).tokens(0, len(shown))
        found.append({"text": shown, "side": side_of(encoding, shown, 0, tokens)})
    return found


def decoded(encoding: Encoding, ids: list[int]) -> dict[str, Any]:
    """Return the text of ids, its side, and the number of ids.

    Raises:
        ValueError: there is no such token.

    >>> from compat_bpe import get_encoding
    >>> decoded(get_encoding("gpt2"), [31373, 995])["text"]
    'hello world'
    """
    try:
        text, offsets = encoding.decode_with_offsets(ids)
    except UnicodeDecodeError as error:
        raise ValueError(f"not whole characters: byte {error.start} is not UTF-8") from None
    except (KeyError, OverflowError):
        wrong = next(one for one in ids if not _is_token(encoding, one))
        raise ValueError(f"{encoding.name} has no token of id {wrong}") from None
    # A token that ends within a character has a part of it, as the next one has.
    begins_within = [b"\x80" <= one[:1] < b"\xc0" for one in encoding.decode_tokens_bytes(ids)]
    ends = [start + within for start, within in zip(offsets, begins_within)][1:] + [len(text)]
    tokens = [
        PlacedToken(one, start, max(start, end), number)
        for number, (one, start, end) in enumerate(zip(ids, offsets, ends))
    ]
    return {"text": text, "side": side_of(encoding, text, 0, tokens), "count": len(ids)}


def _is_token(encoding: Encoding, token: int) -> bool:
    try:
        encoding.decode_single_token_bytes(token)
    except (KeyError, OverflowError):
        return False
    return True
