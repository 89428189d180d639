"""``Document``: a text that is edited, and how many tokens it has at any time.

The text lies in pieces that begin and end at safe cuts (``Core.next_cut``), where both sides
have the ids of the whole.  Whether a cut is safe is seen from the two characters beside it.  So the
tokens of all pieces together are those of the text, and an edit can only change those of the pieces
it touches, and of one whose neighbour begins or ends otherwise than before.
"""

from __future__ import annotations

from operator import index

from .limit import last_cut
from .piece_tree import PieceTree, Place
from .text_encoder import TextEncoder

#: Characters after which a piece ends, at the next safe cut.  To recount a piece is what a
#: keystroke mainly takes; smaller pieces take more memory, and longer to find.
PIECE = 128


class Document:
    """A text that is edited; its tokens are counted as it changes.

    An edit takes as long as what is put in takes to count, and hardly longer in a large document
    than in a small one.  It takes longer only where no safe cut is near, as within a million
    letters without anything between them, or in all texts by some tokenizers with normalizers or
    patterns that look back: the text from cut to cut is then counted anew.

    Places are character offsets, as in a string.  They are strict: a range that reaches out of the
    document is an error, not cut short.  If an edit raises an exception, nothing has changed.
    Several threads must not edit one document at once.  ``copy.copy(document)`` takes no time, and
    the two are then edited each for itself.

    Args:
        encoding: by which to count.
        text: what the document has at first; any text, surrogates too.

    Raises:
        TypeError: ``text`` is not a string.
        ValueError: the vocabulary has no token for some byte of it.

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

    __slots__ = ("_encoding", "_tree")

    def __init__(self, encoding: TextEncoder, text: str = "") -> None:
        self._encoding = encoding
        pieces = self._cut(_checked_text(text))
        self._tree = PieceTree(pieces, list(map(encoding.count, pieces)))

    def __repr__(self) -> str:
        tree = self._tree
        return f"<Document of {tree.chars} characters, {tree.tokens} tokens of {self.encoding!r}>"

    def __len__(self) -> int:
        """How many characters the text has."""
        return self._tree.chars

    @property
    def encoding(self) -> TextEncoder:
        """What tokens are counted by."""
        return self._encoding

    @property
    def count(self) -> int:
        """How many tokens the text has: ``encoding.count(text)``."""
        return self._tree.tokens

    @property
    def text(self) -> str:
        """All of the text, put together anew each time."""
        return "".join(self._tree.pieces())

    def slice(self, start: int, end: int) -> str:
        """The text from ``start`` to ``end``: ``text[start:end]``.

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
        """How many tokens the text from ``start`` to ``end`` has: ``encoding.count`` of it.

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
            return self._count_part(first, start, end)
        between = last.tokens_before - first.tokens_before - first.tokens
        return self._count_part(first, start, end) + between + self._count_part(last, start, end)

    def replace(self, start: int, end: int, new: str) -> None:
        """Put ``new`` where the text from ``start`` to ``end`` is.

        Args:
            start, end: character offsets, ``0 <= start <= end <= len(document)``.
            new: any text; what comes together, as halves of a surrogate pair, is counted as one.

        Raises:
            IndexError: the offsets are not such.
            TypeError: they are not integers, or ``new`` is not a string.
            ValueError: the vocabulary has no token for some byte of ``new``.

        >>> from compat_bpe import get_encoding
        >>> document = Document(get_encoding("gpt2"), "hello world")
        >>> document.replace(5, 11, "!")
        >>> document.text
        'hello!'
        """
        start, end = self._checked(start, end)
        text = _checked_text(new)
        tree = self._tree
        begin = stop = 0
        if tree.chars:
            # The characters beside the edit get other neighbours: cuts there may be safe no more.
            first = last = tree.find(max(start - 1, 0))
            if end >= first.start + len(first.piece) < tree.chars:
                last = tree.find(min(end, tree.chars - 1))
            begin, stop = first.start, last.start + len(last.piece)
            text = first.piece[: start - begin] + text + last.piece[end - last.start :]
        if len(text) < PIECE // 2:
            # Small pieces are joined to their neighbours, so that there never are many.
            after = tree.find(stop).piece if stop < tree.chars else ""
            if len(text) + len(after) <= 2 * PIECE:
                text, stop = text + after, stop + len(after)
            before = tree.find(begin - 1).piece if begin else ""
            if len(text) + len(before) <= 2 * PIECE:
                text, begin = before + text, begin - len(before)
        pieces = self._cut(text)
        counts = list(map(self._encoding.count, pieces))
        self._tree = tree.replaced(begin, stop, pieces, counts)

    def _cut(self, text: str) -> list[str]:
        """A text in pieces."""
        pieces = []
        start = 0
        while len(text) - start > 2 * PIECE:
            end = self._end_of_piece(text, start)
            pieces.append(text[start:end])
            start = end
        if start < len(text):
            pieces.append(text[start:])
        return pieces

    def _end_of_piece(self, text: str, start: int) -> int:
        """Where to end a piece that begins at a place."""
        next_cut = self._encoding.core.next_cut
        first, last = start + PIECE - 1, start + 2 * PIECE
        cut = next_cut(text, first, last) or next_cut(text, first, last, fine=True)
        if cut is None:
            # Something long: it is a piece apart from what is before it, if it can be.
            before = last_cut(self._encoding, text[start : start + PIECE], PIECE)
            cut = start + before if before else next_cut(text, first, fine=True)
        return len(text) if cut is None else cut

    def _count_part(self, place: Place, start: int, end: int) -> int:
        """The tokens of what a piece has of the text from ``start`` to ``end``."""
        part = place.piece[max(start - place.start, 0) : end - place.start]
        return place.tokens if len(part) == len(place.piece) else self._encoding.count(part)

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
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    # A subclass may have a "+" of its own.
    return "".join((text,))
