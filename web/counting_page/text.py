"""The text of the page with its tokens: edited, drawn by cells, with places in UTF-16.

A token may end within a character, and a character that readers see may be several code points. A
browser can draw only whole ones. So neighbouring tokens that share such a character are in one
cell, and the cell says which they are. The cells of a part in one encoding are a side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence, Set
from copy import copy
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

from compat_bpe import Encoding
from compat_bpe.fit import Document, PlacedToken, split_text
from compat_bpe.pipeline.offsets import locate
from compat_bpe.unicode.clusters import long_clusters

#: The longest text whose tokens are drawn beside the messages.
_LONGEST = 20_000


class Cell(NamedTuple):
    """A part of a text with the tokens that have a part of it.

    Args:
        start, end: its place in the text, in characters.
        number: the number of tokens before its first one.
        ids: the ids of its tokens.
    """

    start: int
    end: int
    number: int
    ids: list[int]


def cells_of(text: str, start: int, tokens: Sequence[PlacedToken]) -> list[Cell]:
    r"""Return the cells of a part of a text, in order; what no token stands for is in none.

    Args:
        text: the part.
        start: its place in the whole text.
        tokens: the tokens that have a part of it, with places in the whole text.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.fit import Document
    >>> text = "a \U0001f469‍\U0001f469!"
    >>> tokens = Document(get_encoding("gpt2"), text).tokens(0, len(text))
    >>> [(one.start, one.end, len(one.ids)) for one in cells_of(text, 0, tokens)]
    [(0, 1, 1), (1, 5, 6), (5, 6, 1)]
    """
    end = start + len(text)
    clusters = iter(long_clusters(text))
    inside = next(clusters, None)
    found: list[Cell] = []
    for token in tokens:
        begin, stop = max(token.start, start), min(token.end, end)
        # Clusters that end before this token cannot be split by its beginning.
        while inside is not None and start + inside[1] <= begin:
            inside = next(clusters, None)
        splits_cluster = inside is not None and start + inside[0] < begin
        last = found[-1] if found else None
        if last is not None and (begin < last.end or begin == stop or splits_cluster):
            last.ids.append(token.id)
            found[-1] = last._replace(end=max(last.end, stop))
        else:
            found.append(Cell(begin, stop, token.number, [token.id]))
    return found


def utf16_lengths(text: str) -> list[int]:
    r"""Return the number of UTF-16 units before each character, and in all, as browsers count.

    >>> utf16_lengths("a\U0001f600b")
    [0, 1, 3, 4]
    """
    return [0, *accumulate(2 if char > "\uffff" else 1 for char in text)]


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
    """Return texts, each cut where it is too long to be drawn, their sides and numbers of tokens.

    >>> from compat_bpe import get_encoding
    >>> sides_of_texts(get_encoding("gpt2"), ["hello"])
    [{'text': 'hello', 'side': {'first': 0, 'cells': [[0, 5, 0, [31373], []]]}, 'count': 1}]
    """
    found = []
    for text in texts:
        shown = text[:_LONGEST]
        document = Document(encoding, text)
        side = side_of(encoding, shown, 0, document.tokens(0, len(shown)))
        found.append({"text": shown, "side": side, "count": document.count})
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
        raise ValueError(
            f"these ids are not whole characters: byte {error.start} is not UTF-8"
        ) from None
    except (KeyError, OverflowError):
        wrong = next(one for one in ids if not _is_token(encoding, one))
        raise ValueError(f"{encoding.name} has no token with the id {wrong}") from None
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


class Counted(Protocol):
    """A text that was counted: by pieces, or as a whole."""

    @property
    def count(self) -> int:
        """The number of tokens."""

    def tokens(self, start: int, end: int) -> list[PlacedToken]:
        """Return the tokens that have a part of the text from ``start`` to ``end``."""


class Tokens:
    """Tokens in order, found by their places.

    Args:
        tokens: the tokens; the ends of those that share a character are in order, too.
    """

    def __init__(self, tokens: list[PlacedToken]) -> None:
        self._tokens = tokens
        self._starts = [one.start for one in tokens]
        self._ends = [one.end for one in tokens]

    @property
    def count(self) -> int:
        """The number of tokens."""
        return len(self._tokens)

    def tokens(self, start: int, end: int) -> list[PlacedToken]:
        """Return the tokens that have a part of the text from ``start`` to ``end``."""
        if start >= end:
            return []
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        return self._tokens[first:last]


class Whole(Tokens):
    """A text encoded as a whole, with the names of special tokens taken for the tokens.

    Args:
        encoding: the encoding.
        text: the text.
        allowed: the names that are tokens.
    """

    def __init__(self, encoding: Encoding, text: str, allowed: Set[str]) -> None:
        self._encoding, self._text = encoding, text
        found = locate(encoding.core.definition, text, allowed)
        super().__init__(
            [PlacedToken(one.id, one.start, one.end, number) for number, one in enumerate(found)]
        )

    def cut(self, limit: int) -> int:
        """Return the end of the most whole tokens that, as a text, are within a limit.

        The place of a token begins at a character, so none is cut.
        """
        for number in range(limit, 0, -1):
            end = self._starts[number]
            kept = self._text[:end]
            ids = self._encoding.encode(kept, allowed_special="all", disallowed_special=())
            if len(ids) <= limit:
                return end
        return 0


class EditedText:
    """A text that is edited, and its tokens in some encodings.

    >>> from compat_bpe import get_encoding
    >>> text = EditedText()
    >>> text.choose([get_encoding("gpt2")], special=False)
    >>> text.replace(0, 0, "hello world")
    >>> text.counts()
    [2]
    """

    def __init__(self) -> None:
        self._encodings: list[Encoding] = []
        self._special = False
        self._documents: list[Document] = []
        self._whole: list[Whole | None] = []

    def choose(self, encodings: list[Encoding], *, special: bool) -> None:
        """Count by these encodings from now on.

        Args:
            encodings: one or more.
            special: True if the names of special tokens in the text are the tokens.

        Raises:
            ValueError: a vocabulary has no token for a part of the text.
        """
        text = self.text
        known = dict(zip(map(id, self._encodings), self._documents))
        documents = [known.get(id(one)) or Document(one, text) for one in encodings]
        self._encodings, self._documents, self._special = encodings, documents, special
        self._whole = [None for _ in encodings]

    @property
    def text(self) -> str:
        """The text."""
        return self._documents[0].text if self._documents else ""

    def __len__(self) -> int:
        """The number of characters of the text."""
        return len(self._documents[0])

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace the text between two places, in UTF-16 units.

        Raises:
            IndexError: the text has no such places.
            ValueError: a vocabulary has no token for a part of ``new``.
        """
        begin, stop = self.offset(start), self.offset(end)
        documents = list(map(copy, self._documents))  # which takes no time
        for document in documents:
            document.replace(begin, stop, new)
        # If one of them refused the text, all are as they were.
        self._documents = documents
        self._whole = [None for _ in self._documents]

    def offset(self, units: int) -> int:
        """Return the place in characters of one in UTF-16 units."""
        return self._documents[0].offset_of_units(units, "utf-16")[0]

    def units(self, offset: int) -> int:
        """Return the place in UTF-16 units of one in characters."""
        return self._documents[0].units(offset, "utf-16")

    def counts(self) -> list[int]:
        """Return the number of tokens in each encoding."""
        return [self._counted(column).count for column in range(len(self._documents))]

    def sizes(self) -> dict[str, int]:
        """Return the number of characters, of bytes in UTF-8 and of lines."""
        document = self._documents[0]
        length = len(document)
        return {
            "characters": length,
            "bytes": document.units(length, "utf-8"),
            "lines": document.lines if length else 0,
        }

    def blocks(self, ranges: Sequence[tuple[int, int]]) -> list[list[dict[str, Any]]]:
        """Return the cells of parts of the text, in each encoding.

        Args:
            ranges: the parts, in UTF-16 units; near each other, since the tokens of all from the
                first to the last are found in one step, which costs as much as its longest chunk.

        Returns:
            For each part, its side in each encoding.
        """
        places = [(self.offset(start), self.offset(end)) for start, end in ranges]
        if not places:
            return []
        low, high = min(places)[0], max(place[1] for place in places)
        columns = [
            Tokens(self._counted(column).tokens(low, high))
            for column in range(len(self._encodings))
        ]
        return [self._block(begin, stop, columns) for begin, stop in places]

    def _block(self, begin: int, stop: int, columns: list[Tokens]) -> list[dict[str, Any]]:
        text = self._documents[0].slice(begin, stop)
        return [
            side_of(encoding, text, begin, tokens.tokens(begin, stop))
            for encoding, tokens in zip(self._encodings, columns)
        ]

    def ids(self, column: int) -> list[int]:
        """Return the ids of all tokens in an encoding."""
        return [one.id for one in self._counted(column).tokens(0, len(self))]

    def count_part(self, start: int, end: int) -> list[int]:
        """Return the number of tokens, in each encoding, of a part of the text by itself.

        Args:
            start, end: the part, in UTF-16 units.

        >>> from compat_bpe import get_encoding
        >>> text = EditedText()
        >>> text.choose([get_encoding("gpt2")], special=False)
        >>> text.replace(0, 0, "one two three")
        >>> text.count_part(4, 13)
        [2]
        """
        part = self._documents[0].slice(self.offset(start), self.offset(end))
        if self._special:
            return [
                len(one.encode(part, allowed_special="all", disallowed_special=()))
                for one in self._encodings
            ]
        return [one.count(part) for one in self._encodings]

    def cut(self, column: int, limit: int) -> int | None:
        """Return the end, in UTF-16 units, of the longest prefix within a limit of tokens.

        Returns:
            The end; None if the whole text is within the limit.

        Raises:
            ValueError: the limit is negative.
        """
        if limit < 0:
            raise ValueError(f"limit is {limit}; it must be 0 or more")
        counted = self._counted(column)
        if counted.count <= limit:
            return None
        if isinstance(counted, Whole):
            return self.units(counted.cut(limit))
        kept = self._encodings[column].truncate(self.text, limit).kept
        return self.units(kept[0][1] if kept else 0)

    def split(self, column: int, limit: int) -> list[tuple[int, int]]:
        """Return the parts of the text that are within a limit, each as long as can be.

        Returns:
            Their beginnings and ends, in UTF-16 units.

        Raises:
            ValueError: the limit is below 1, or a character has more tokens; or names of special
                tokens in the text are tokens.

        >>> from compat_bpe import get_encoding
        >>> text = EditedText()
        >>> text.choose([get_encoding("gpt2")], special=False)
        >>> text.replace(0, 0, "one two three")
        >>> text.split(0, 2)
        [(0, 7), (7, 13)]
        """
        if isinstance(self._counted(column), Whole):
            raise ValueError("a text cannot be split while special tokens are counted")
        parts = split_text(self._encodings[column], self.text, limit)
        return [(self.units(one.start), self.units(one.end)) for one in parts]

    def _counted(self, column: int) -> Counted:
        encoding = self._encodings[column]
        if not self._special:
            return self._documents[column]
        whole = self._whole[column]
        if whole is None:
            text = self.text
            names = {name for name in encoding.special_tokens_set if name in text}
            if not names:
                return self._documents[column]
            whole = self._whole[column] = Whole(encoding, text, names)
        return whole
