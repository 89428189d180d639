"""``Document``: an edited text with its number of tokens at any time.

The text is held in pieces that begin and end at cut points (``Core.next_cut_point``), where the ids
of the two sides are those of the whole. So the tokens of all pieces together are those of the
text. The two characters beside a position decide whether it is a cut point. So an edit can only
change the tokens of the pieces that it touches, and of a piece whose neighbour now begins or ends
with another character.

The first piece is counted as the beginning of a text, and all others as text that goes on. A piece
that becomes the first one, or is the first one no more, is counted again.

No piece ends between a carriage return and its line feed, so the line ends of the pieces add up.
An edit cannot change that where pieces stay as they are: beside it, it takes a character that was
there before into its own pieces.
"""

from __future__ import annotations

from collections.abc import Iterator

from .document_places import Places
from .last_cut_point import last_cut_point
from .long_piece import LongPieces
from .piece_tree import PieceTree, Place
from .text_encoder import TextEncoder, check_encoding

#: The number of characters after which a piece ends, at the next cut point. A keystroke mainly
#: takes the time to recount a piece; smaller pieces take more memory, and longer to find.
PIECE = 128

#: The characters that are counted in one step of an edit in steps, about.
_STEP = 1 << 14


class Document(Places):
    """A text that is edited; its tokens are counted as it changes.

    An edit takes the time to count the new text, and hardly longer in a large document than in a
    small one. It takes longer only if no cut point is near: the text between the nearest cut
    points is then split again, and counted again unless it is one chunk, such as a million letters
    in a row. Some tokenizers have no cut points in any text, because of their normalizers or a
    pattern that looks back.

    Places are offsets in characters, as in a string. They are strict: a range that reaches out of
    the document is an error. Lines and columns, and offsets in UTF-8 and UTF-16, are converted in
    logarithmic time; a line ends with a line feed, a carriage return, or both, as in editors. If
    an edit raises an exception, nothing has changed. Several threads must not edit one document
    at once. ``copy.copy(document)`` takes no time, and the copies are
    then edited independently.

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

    __slots__ = ()

    def __init__(self, encoding: TextEncoder, text: str = "") -> None:
        check_encoding(encoding)
        self._encoding = encoding
        self._long_pieces = LongPieces(encoding)
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

    def count_range(self, start: int, end: int) -> int:
        """Return the number of tokens of ``text[start:end]``, counted by itself.

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
        # The range is a text of its own, in which the last part goes on.
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
        """Replace as ``replace`` does, in short steps between which something else may be done.

        The document changes with the last step, so the rest of the steps may be left out to give
        the edit up. It must not be edited otherwise in between.

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
            # If the beginning is taken out, another piece becomes the first one.
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
            # Something long: it becomes a piece of its own, apart from the text before it.
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
            start, end: a range that has some of it.
            encoding: the encoding to count the part by.
            within: True if the part goes on.
        """
        part = place.piece[max(start - place.start, 0) : end - place.start]
        is_known = len(part) == len(place.piece) and (
            bool(place.start) == within or self._encoding.continued is self._encoding
        )
        return place.tokens if is_known else encoding.count(part)


def _checked_text(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    # A subclass may have a "+" of its own.
    return "".join((text,))
