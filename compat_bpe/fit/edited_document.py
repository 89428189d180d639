"""``Document``: an edited text with its number of tokens at any time.

The text is held in pieces that begin and end at cut points (``Core.next_cut_point``), where the ids
of the two sides are those of the whole. So the tokens of all pieces together are those of the
text. The two characters beside a position decide whether it is a cut point. So an edit can only
change the tokens of the pieces that it touches, and of a piece whose neighbour now begins or ends
with another character.

The first piece is counted as the beginning of a text, and all others as text that continues. A
piece that becomes the first one, or stops being the first one, is counted again.

No piece ends between a carriage return and its line feed, so the line ends of the pieces add up, as
bytes and units do. A place is found by the sums in the nodes of the tree and by a search in one
piece. That takes logarithmic time, and the time for the piece, which is long only where a text has
no cut point. Unchanged pieces keep this property: an edit takes the old character on each side of
it into its own pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from operator import index
from typing import Literal, NamedTuple

from ..pipeline.cutter import TextEncoder, check_encoding, last_cut_point
from ..pipeline.offsets import locate
from ..unicode.surrogates import not_a_text
from .piece_tree import LongPieceTokens, Measure, Merged, PieceTree, Place

#: The number of characters after which a piece ends, at the next cut point. Most of the time of a
#: keystroke goes into recounting a piece. Smaller pieces take more memory, and longer to find.
PIECE = 128

#: The approximate number of characters that one step of an edit counts.
_STEP = 1 << 14


#: The units of columns and offsets: bytes, UTF-16 code units, or characters.
Unit = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile("\r\n|\r|\n")


class Position(NamedTuple):
    """A place in a text: a line and a column, both counted from 0."""

    line: int
    column: int


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_MEASURES: dict[Unit, Measure] = {"utf-8": _utf8, "utf-16": _utf16, "utf-32": len}


def measure_of(unit: Unit) -> Measure:
    """Return the function that counts the units of a text.

    Raises:
        ValueError: there is no such unit.

    >>> [measure_of(unit)("a\\U0001f600") for unit in ("utf-8", "utf-16", "utf-32")]
    [5, 3, 2]
    """
    measure = _MEASURES.get(unit)
    if measure is None:
        raise ValueError(f"unit is {unit!r}; it must be one of {', '.join(_MEASURES)}")
    return measure


class PlacedToken(NamedTuple):
    """A token of a document.

    Args:
        id: its id.
        start, end: its range in the text, in characters. The range covers each character of which
            the token has a byte, so the tokens of one character share it.
        number: the number of tokens before it.
    """

    id: int
    start: int
    end: int
    number: int


class Document:
    """A text that is edited; its tokens are counted as it changes.

    An edit takes the time to count the new text, and hardly longer in a large document than in a
    small one. It takes longer only if no cut point is near: the text between the nearest cut
    points is then split again, and counted again unless it is one chunk, such as a million letters
    in a row. Some tokenizers have no cut points in any text, because of their normalizers or a
    pattern that looks back.

    Places are offsets in characters, as in a string. They are strict: a range that reaches out of
    the document is an error. Lines and columns, and offsets in UTF-8 and UTF-16, are converted in
    logarithmic time. A line ends with a line feed, a carriage return, or both, as in editors. If
    an edit raises an exception, nothing has changed. Only one thread at a time may edit a
    document. ``copy.copy(document)`` takes no time, and each copy is edited independently.

    Args:
        encoding: the encoding to count by.
        text: the initial text; any text, even with surrogates.

    Raises:
        TypeError: ``text`` is not a str.
        ValueError: the vocabulary has no token for some byte of the text.

    >>> from compat_bpe import get_encoding
    >>> document = Document(get_encoding("o200k_base"), "def hello():\\n    pass\\n")
    >>> document.count
    6
    >>> document.replace(17, 21, "return 'world'")
    >>> document.text
    "def hello():\\n    return 'world'\\n"
    >>> document.count, document.count_range(0, 12)
    (8, 3)
    """

    __slots__ = ("_encoding", "_long_pieces", "_tree")

    def __init__(self, encoding: TextEncoder, text: str = "") -> None:
        check_encoding(encoding)
        self._encoding = encoding
        self._long_pieces = LongPieceTokens(encoding)
        self._tree = PieceTree([], [])
        self.replace(0, 0, text)

    def __repr__(self) -> str:
        tree = self._tree
        return f"<Document of {tree.chars} characters, {tree.tokens} tokens of {self.encoding!r}>"

    def __len__(self) -> int:
        """Return the number of characters of the text."""
        return self._tree.chars

    @property
    def encoding(self) -> TextEncoder:
        """The encoding that tokens are counted by."""
        return self._encoding

    @property
    def count(self) -> int:
        """The number of tokens of the text: ``encoding.count(text)``."""
        return self._tree.tokens

    @property
    def text(self) -> str:
        """The whole text, joined anew each time."""
        return "".join(self._tree.pieces())

    def slice(self, start: int, end: int) -> str:
        """Return the text from ``start`` to ``end``: ``text[start:end]``.

        Raises:
            IndexError, TypeError: as ``replace``.

        >>> from compat_bpe import get_encoding
        >>> Document(get_encoding("gpt2"), "hello world").slice(6, 8)
        'wo'
        """
        start, end = self._checked(start, end)
        if start == end:
            return ""
        skipped = start - self._tree.find(start).start
        return "".join(self._tree.pieces(start, end))[skipped : skipped + end - start]

    def count_range(self, start: int, end: int) -> int:
        """Return the number of tokens of ``text[start:end]``, counted as a text of its own.

        Raises:
            IndexError, TypeError: as ``replace``.

        >>> from compat_bpe import get_encoding
        >>> Document(get_encoding("gpt2"), "hello world").count_range(0, 8)
        2
        """
        start, end = self._checked(start, end)
        if start == end:
            return 0
        tree = self._tree
        first, last = tree.find(start), tree.find(end - 1)
        if first.start == last.start:
            return self._count_part(first, start, end, self._encoding)
        between = last.tokens_before - first.tokens_before - first.tokens
        # The range is a text of its own, and its last part continues it.
        after = self._count_part(last, start, end, self._encoding.continued, within=True)
        return self._count_part(first, start, end, self._encoding) + between + after

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace the text from ``start`` to ``end`` by ``new``.

        Args:
            start, end: character offsets, ``0 <= start <= end <= len(document)``.
            new: any text. The halves of a surrogate pair that an edit brings together count as
                one character.

        Raises:
            IndexError: the offsets are out of range or not in order.
            TypeError: an offset is not an integer, or ``new`` is not a str.
            ValueError: the vocabulary has no token for some byte of ``new``.

        >>> from compat_bpe import get_encoding
        >>> document = Document(get_encoding("gpt2"), "hello world")
        >>> document.replace(5, 11, "!")
        >>> document.text
        'hello!'
        """
        for _ in self.replacing(start, end, new):
            pass

    def replacing(self, start: int, end: int, new: str) -> Iterator[None]:
        """Replace as ``replace`` does, in short steps that let other work run between them.

        The document changes with the last step. To cancel the edit, leave out the remaining steps.
        Do not edit the document in any other way between them.

        >>> from compat_bpe import get_encoding
        >>> document = Document(get_encoding("gpt2"))
        >>> for step in document.replacing(0, 0, "hello world " * 10_000):
        ...     assert document.count == 0
        >>> document.count
        20001
        """
        start, end = self._checked(start, end)
        text = _checked_text(new)
        tree = self._tree
        begin = stop = 0
        if tree.chars:
            # The characters beside the edit get other neighbours, so cut points there may be lost.
            first = last = tree.find(max(start - 1, 0))
            if end >= first.start + len(first.piece) < tree.chars:
                last = tree.find(min(end, tree.chars - 1))
            begin, stop = first.start, last.start + len(last.piece)
            text = first.piece[: start - begin] + text + last.piece[end - last.start :]
        if len(text) < PIECE // 2:
            # Small pieces are joined to their neighbours, so that there are never many.
            after = tree.find(stop).piece if stop < tree.chars else ""
            # If the beginning is removed, another piece becomes the first one.
            if len(text) + len(after) <= 2 * PIECE or not (text or begin):
                text, stop = text + after, stop + len(after)
            before = tree.find(begin - 1).piece if begin else ""
            if len(text) + len(before) <= 2 * PIECE:
                text, begin = before + text, begin - len(before)
        pieces: list[str] = []
        counts: list[int] = []
        encoding = self._encoding.continued if begin else self._encoding
        since = 0
        for piece in self._cut(text):
            if since >= _STEP:
                since = 0
                yield
            pieces.append(piece)
            merged = self._long_pieces.merged(piece)
            counts.append(encoding.count(piece) if merged is None else len(merged.ids))
            encoding = self._encoding.continued
            since += len(piece)
        self._tree = tree.replaced(begin, stop, pieces, counts)

    def tokens(self, start: int, end: int) -> list[PlacedToken]:
        """Return the tokens of the document that have a part of ``text[start:end]``.

        These are tokens of the whole text, so the first and the last may reach out of the range.

        Raises:
            IndexError, TypeError: as ``replace``.

        >>> from compat_bpe import get_encoding
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
        >>> Document(get_encoding("gpt2"), "hello world").token(1)
        PlacedToken(id=995, start=5, end=11, number=1)
        """
        if not 0 <= index(number) < self._tree.tokens:
            raise IndexError(
                f"there is no token {number}: the document has {self._tree.tokens} tokens, counted "
                "from 0"
            )
        place = self._tree.find_token(number)
        within = number - place.tokens_before
        merged = self._long_pieces.merged(place.piece)
        if merged is None:
            return self._tokens_of(place)[within]
        return _placed(place, merged, within, within + 1)[0]

    def range_around(self, offset: int, limit: int) -> tuple[int, int]:
        """Return a range that contains every text of ``limit`` tokens that touches an offset.

        Text from before the range up to the offset has more tokens, and so has text from the offset
        to behind the range. The reason: text between two cut points has the same tokens in any
        text, and on each side the range has whole pieces with more tokens than the limit.

        Raises:
            IndexError, TypeError: as ``replace``.

        >>> from compat_bpe import get_encoding
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
        >>> Document(get_encoding("gpt2"), "one\r\ntwo\n").lines
        3
        """
        return self._tree.total(_line_ends) + 1

    def line_range(self, line: int) -> tuple[int, int]:
        r"""Return the offsets at which a line, counted from 0, begins and ends.

        The line end is not in the range.

        Raises:
            IndexError: the document has no such line.

        >>> from compat_bpe import get_encoding
        >>> Document(get_encoding("gpt2"), "one\r\ntwo\n").line_range(1)
        (5, 8)
        """
        lines = self.lines
        if not 0 <= index(line) < lines:
            raise IndexError(
                f"there is no line {line}: the document has {lines} lines, counted from 0"
            )
        start = self._line_start(line)
        if line == lines - 1:
            return start, self._tree.chars
        end = self._line_start(line + 1)
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
        >>> document = Document(get_encoding("gpt2"), "one\n\U0001f600 two")
        >>> document.position(5), document.position(5, "utf-16")
        (Position(line=1, column=1), Position(line=1, column=2))
        """
        self._checked(offset, offset)
        line = self._line_of(offset)
        start = self._line_start(line)
        return Position(line, self.units(offset, unit) - self.units(start, unit))

    def offset(self, line: int, column: int, unit: Unit = "utf-32") -> int:
        r"""Return the offset in characters of a line and a column.

        A column beyond the end of the line means its end, as in editors. A column within a
        character means the beginning of that character.

        Raises:
            IndexError: the document has no such line, or the column is negative.
            ValueError: there is no such unit.

        >>> from compat_bpe import get_encoding
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
        >>> document = Document(get_encoding("gpt2"), "\U0001f600 two")
        >>> document.units(1, "utf-8"), document.units(1, "utf-16")
        (4, 2)
        """
        self._checked(offset, offset)
        measure = measure_of(unit)
        if measure is len or not offset:
            return offset
        place = self._tree.find_amount(len, offset - 1, measure)
        return place.other_before + measure(place.piece[: offset - place.before])

    def offset_of_units(self, units: int, unit: Unit) -> tuple[int, int]:
        """Return the offset in characters after a number of units, and the units left over.

        If the place is within a character, the offset is its beginning, and some units are left.

        Raises:
            IndexError: the document has fewer units.
            ValueError: there is no such unit.

        >>> from compat_bpe import get_encoding
        >>> Document(get_encoding("gpt2"), "\U0001f600 two").offset_of_units(3, "utf-8")
        (0, 3)
        """
        measure = measure_of(unit)
        total = self._tree.total(measure)
        if not 0 <= index(units) <= total:
            raise IndexError(f"there is no unit {units}: the document has {total} units of {unit}")
        if measure is len or not units:
            return units, 0
        place = self._tree.find_amount(measure, units - 1)
        low, high, rest = 0, len(place.piece), units - place.before
        # Each step measures half as much, so all of them take the time of the piece.
        while low < high:
            middle = (low + high + 1) // 2
            more = measure(place.piece[low:middle])
            if more <= rest:
                low, rest = middle, rest - more
            else:
                high = middle - 1
        return place.other_before + low, rest

    def _cut(self, text: str) -> Iterator[str]:
        """Yield a text as pieces."""
        start = 0
        while len(text) - start > 2 * PIECE:
            end = self._end_of_piece(text, start)
            yield text[start:end]
            start = end
        if start < len(text):
            yield text[start:]

    def _end_of_piece(self, text: str, start: int) -> int:
        """Return the end of the piece that begins at ``start``."""
        next_cut_point = self._encoding.core.next_cut_point
        first, last = start + PIECE - 1, start + 2 * PIECE
        cut = next_cut_point(text, first, last) or next_cut_point(text, first, last, fine=True)
        if cut is None:
            # A long chunk becomes a piece of its own, apart from the text before it.
            before = last_cut_point(self._encoding, text[start : start + PIECE], PIECE)
            cut = start + before if before else next_cut_point(text, first, fine=True)
        while cut is not None and text[cut - 1 : cut + 1] == "\r\n":
            cut = next_cut_point(text, cut, fine=True)
        return len(text) if cut is None else cut

    def _count_part(
        self, place: Place, start: int, end: int, encoding: TextEncoder, *, within: bool = False
    ) -> int:
        """Return the tokens of the piece's part of the text from ``start`` to ``end``.

        Args:
            place: the piece.
            start, end: a range with some of the piece.
            encoding: the encoding to count the part by.
            within: True if the part continues a text.
        """
        part = place.piece[max(start - place.start, 0) : end - place.start]
        is_known = len(part) == len(place.piece) and (
            bool(place.start) == within or self._encoding.continued is self._encoding
        )
        return place.tokens if is_known else encoding.count(part)

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

    def _line_start(self, line: int) -> int:
        """Return the offset in characters at which a line begins; there must be that line."""
        if not line:
            return 0
        place = self._tree.find_amount(_line_ends, line - 1)
        ends = _LINE_END.finditer(place.piece)
        return place.other_before + next(islice(ends, line - place.before - 1, None)).end()

    def _line_of(self, offset: int) -> int:
        """Return the line of an offset in characters.

        The offset between a carriage return and its line feed is in the line that they end.
        """
        if not offset:
            return 0
        place = self._tree.find_amount(len, offset - 1, _line_ends)
        inside = offset - place.before
        ends = place.other_before + _line_ends(place.piece[:inside])
        return ends - (place.piece[inside - 1 : inside + 1] == "\r\n")

    def _checked(self, start: int, end: int) -> tuple[int, int]:
        start, end = index(start), index(end)
        if not 0 <= start <= end <= self._tree.chars:
            raise IndexError(
                f"range {start} to {end} is outside of the document, which has {self._tree.chars} "
                "characters; it must be 0 <= start <= end <= len(document)"
            )
        return start, end


def _checked_text(text: str) -> str:
    if not isinstance(text, str):
        raise not_a_text(text)
    # A subclass may have a "+" of its own.
    return "".join((text,))


def _placed(place: Place, merged: Merged, first: int, last: int) -> list[PlacedToken]:
    """Return some tokens of a long piece, with their places in the document."""
    return [
        PlacedToken(token, place.start + start, place.start + end, number)
        for number, (token, start, end) in enumerate(
            merged.places(first, last), place.tokens_before + first
        )
    ]
