"""The edited text, counted by one or two encodings, with places in UTF-16 as browsers have them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence, Set
from copy import copy
from typing import Any, Protocol

from compat_bpe import Encoding
from compat_bpe.fit import Document, PlacedToken
from compat_bpe.pipeline.offsets import locate

from .sides import side_of


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
        found = locate(encoding.core.definition, text, allowed)
        super().__init__(
            [PlacedToken(one.id, one.start, one.end, number) for number, one in enumerate(found)]
        )

    def cut(self, encoding: Encoding, text: str, limit: int) -> int:
        """Return the end of the most whole tokens that, as a text, are within a limit.

        The place of a token begins at a character, so none is cut.
        """
        for number in range(limit, 0, -1):
            end = self._starts[number]
            kept = encoding.encode(text[:end], allowed_special="all", disallowed_special=())
            if len(kept) <= limit:
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
                first to the last are found at once: each look costs as much as its longest chunk.

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
        encoding, text = self._encodings[column], self.text
        if isinstance(counted, Whole):
            return self.units(counted.cut(encoding, text, limit))
        kept = encoding.truncate(text, limit).kept
        return self.units(kept[0][1] if kept else 0)

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
