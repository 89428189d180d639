"""The places of a ``Document``: its tokens, lines and columns, and offsets in other units."""

from __future__ import annotations

from operator import index
from typing import NamedTuple

from ..pipeline.offsets import locate
from . import positions
from .long_piece import LongPieces, Merged
from .piece_tree import PieceTree, Place
from .positions import Position, Unit
from .text_encoder import TextEncoder


class PlacedToken(NamedTuple):
    """A token of a document.

    Args:
        id: its id.
        start, end: the range of the text that it stands for, in characters. It covers each
            character of which the token has a byte, so the tokens of one character share it.
        number: the number of tokens before it.
    """

    id: int
    start: int
    end: int
    number: int


class Places:
    """A text in a tree of pieces, each with its tokens; the base of ``Document`` that reads it."""

    __slots__ = ("_encoding", "_long_pieces", "_tree")

    _encoding: TextEncoder
    _long_pieces: LongPieces
    _tree: PieceTree

    def slice(self, start: int, end: int) -> str:
        """Return the text from ``start`` to ``end``: ``text[start:end]``.

        Raises:
            IndexError, TypeError: as ``replace``.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> Document(get_encoding("gpt2"), "hello world").slice(6, 8)
        'wo'
        """
        start, end = self._checked(start, end)
        if start == end:
            return ""
        skipped = start - self._tree.find(start).start
        return "".join(self._tree.pieces(start, end))[skipped : skipped + end - start]

    def tokens(self, start: int, end: int) -> list[PlacedToken]:
        """Return the tokens of the document that have a part of ``text[start:end]``.

        These are tokens of the whole text, so the first and the last may reach out of the range.

        Raises:
            IndexError, TypeError: as ``replace``.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> [one[:3] for one in Document(get_encoding("gpt2"), "hello world").tokens(3, 6)]
        [(31373, 0, 5), (995, 5, 11)]
        """
        start, end = self._checked(start, end)
        tokens: list[PlacedToken] = []
        at = start
        while at < end:
            place = self._tree.find(at)
            tokens += self._tokens_between(place, start, end)
            at = place.start + len(place.piece)
        return tokens

    def token(self, number: int) -> PlacedToken:
        """Return a token of the document, counted from 0.

        Raises:
            IndexError: the document has no such token.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> Document(get_encoding("gpt2"), "hello world").token(1)
        PlacedToken(id=995, start=5, end=11, number=1)
        """
        if not 0 <= index(number) < self._tree.tokens:
            raise IndexError(f"token {number} of a document of {self._tree.tokens} tokens")
        place = self._tree.find_token(number)
        within = number - place.tokens_before
        merged = self._long_pieces.merged(place.piece)
        if merged is None:
            return self._tokens_of(place)[within]
        return _placed(place, merged, within, within + 1)[0]

    def range_around(self, offset: int, limit: int) -> tuple[int, int]:
        """Return a range around an offset that no text beside it with ``limit`` tokens leaves.

        Text that begins before the range and goes on to the offset has more tokens, and so does
        text that ends after the range. For between two cut points there are the same tokens,
        whatever is around, and on each side the range has whole pieces with more than the limit.

        Raises:
            IndexError, TypeError: as ``replace``.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> Document(get_encoding("gpt2"), "hello world\\n" * 1000).range_around(6000, 10)
        (5807, 6203)
        """
        self._checked(offset, offset)
        tree = self._tree
        start, end = 0, tree.chars
        if offset:
            before = tree.find(offset - 1).tokens_before
            if before > limit:
                start = tree.find_token(before - limit - 1).start
        if offset < tree.chars:
            place = tree.find(offset)
            after = place.tokens_before + place.tokens
            if after + limit < tree.tokens:
                place = tree.find_token(after + limit)
                end = place.start + len(place.piece)
        return start, end

    @property
    def lines(self) -> int:
        r"""The number of lines: one more than there are line ends.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> Document(get_encoding("gpt2"), "one\r\ntwo\n").lines
        3
        """
        return positions.line_count(self._tree)

    def line_range(self, line: int) -> tuple[int, int]:
        r"""Return the offsets at which a line, counted from 0, begins and ends.

        Its line end is not in the range.

        Raises:
            IndexError: the document has no such line.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> Document(get_encoding("gpt2"), "one\r\ntwo\n").line_range(1)
        (5, 8)
        """
        lines = self.lines
        if not 0 <= index(line) < lines:
            raise IndexError(f"line {line} of a document of {lines} lines; they count from 0")
        start = positions.line_start(self._tree, line)
        if line == lines - 1:
            return start, self._tree.chars
        end = positions.line_start(self._tree, line + 1)
        return start, end - (2 if self.slice(max(end - 2, 0), end) == "\r\n" else 1)

    def position(self, offset: int, unit: Unit = "utf-32") -> Position:
        r"""Return the line and the column of an offset in characters.

        Args:
            offset: from 0 to ``len(document)``.
            unit: the unit of the column: ``"utf-8"`` for bytes, ``"utf-16"`` for code units,
                ``"utf-32"`` for characters.

        Raises:
            IndexError, TypeError: as ``replace``.
            ValueError: there is no such unit.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> document = Document(get_encoding("gpt2"), "one\n\U0001f600 two")
        >>> document.position(5), document.position(5, "utf-16")
        (Position(line=1, column=1), Position(line=1, column=2))
        """
        self._checked(offset, offset)
        line = positions.line_of(self._tree, offset)
        start = positions.line_start(self._tree, line)
        return Position(line, self.units(offset, unit) - self.units(start, unit))

    def offset(self, line: int, column: int, unit: Unit = "utf-32") -> int:
        r"""Return the offset in characters of a line and a column.

        A column beyond the end of the line is its end, as in editors; one within a character is
        the beginning of that character.

        Raises:
            IndexError: the document has no such line, or the column is negative.
            ValueError: there is no such unit.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> document = Document(get_encoding("gpt2"), "one\n\U0001f600 two")
        >>> document.offset(1, 2, "utf-16"), document.offset(0, 99)
        (5, 3)
        """
        if index(column) < 0:
            raise IndexError(f"column {column} is negative; columns count from 0")
        start, end = self.line_range(line)
        if column >= self.units(end, unit) - (before := self.units(start, unit)):
            return end
        return self.offset_of_units(before + column, unit)[0]

    def units(self, offset: int, unit: Unit) -> int:
        """Return the number of units before an offset in characters.

        Raises:
            IndexError, TypeError, ValueError: as ``position``.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> document = Document(get_encoding("gpt2"), "\U0001f600 two")
        >>> document.units(1, "utf-8"), document.units(1, "utf-16")
        (4, 2)
        """
        self._checked(offset, offset)
        return positions.units_before(self._tree, offset, unit)

    def offset_of_units(self, units: int, unit: Unit) -> tuple[int, int]:
        """Return the offset that a number of units is before, in characters, and the units left.

        Units are left over if the place is within a character: its beginning is returned then.

        Raises:
            IndexError: the document has fewer units.
            ValueError: there is no such unit.

        >>> from compat_bpe import get_encoding
        >>> from compat_bpe.fit import Document
        >>> Document(get_encoding("gpt2"), "\U0001f600 two").offset_of_units(3, "utf-8")
        (0, 3)
        """
        total = self._tree.total(positions.measure_of(unit))
        if not 0 <= index(units) <= total:
            raise IndexError(f"unit {units} of a document of {total} units of {unit}")
        return positions.offset_of_units(self._tree, units, unit)

    def _tokens_between(self, place: Place, start: int, end: int) -> list[PlacedToken]:
        """Return the tokens of a piece that have a part of ``text[start:end]``."""
        merged = self._long_pieces.merged(place.piece)
        if merged is None:
            return [one for one in self._tokens_of(place) if one.start < end and one.end > start]
        low, high = max(start - place.start, 0), min(end - place.start, len(place.piece))
        return _placed(place, merged, *merged.numbers(low, high))

    def _tokens_of(self, place: Place) -> list[PlacedToken]:
        """Return the tokens of a piece, with their places in the document."""
        text, origin = place.piece, place.start
        if origin and self._encoding.continued is not self._encoding:
            # A prefix of a text is then put before another piece. Its last character is
            # enough of that, since the characters beside a position decide on a cut point.
            origin -= 1
            text = self.slice(origin, origin + 1) + text
        tokens = locate(self._encoding.core.definition, text, frozenset())
        return [
            PlacedToken(one.id, max(origin + one.start, place.start), origin + one.end, number)
            for number, one in enumerate(tokens[len(tokens) - place.tokens :], place.tokens_before)
        ]

    def _checked(self, start: int, end: int) -> tuple[int, int]:
        start, end = index(start), index(end)
        if not 0 <= start <= end <= self._tree.chars:
            raise IndexError(
                f"range {start} to {end} is outside of the document, which has {self._tree.chars} "
                "characters; it must be 0 <= start <= end <= len(document)"
            )
        return start, end


def _placed(place: Place, merged: Merged, first: int, last: int) -> list[PlacedToken]:
    """Return some tokens of a long piece, with their places in the document."""
    return [
        PlacedToken(token, place.start + start, place.start + end, number)
        for number, (token, start, end) in enumerate(
            merged.places(first, last), place.tokens_before + first
        )
    ]
