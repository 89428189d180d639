"""WordPiece: a word is cut into the longest pieces of the vocabulary, from left to right.

The first piece of a word is written as it is.  Every other one has a prefix, mostly ``##``, which
says that it continues a word.  At each place the longest piece that fits is taken, and that choice
is never reconsidered.  If nothing fits at some place, the *whole* word is one unknown token.
"""

from __future__ import annotations

from .found import Found
from .word_level import fail_unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .base import Ids


class WordPiece:
    """The model that cuts a word into its longest pieces.

    Args:
        vocabulary: each piece and its id.
        unknown: the token for a word that cannot be cut into pieces.
        prefix: the beginning of every piece but the first of a word.
        longest_word: the greatest length in characters of a word that is cut; longer ones are
            unknown.

    >>> pieces = ["hug", "##gs", "##g", "##s", "h", "##u", "[UNK]"]
    >>> model = WordPiece({piece: number for number, piece in enumerate(pieces)}, "[UNK]")
    >>> model.encode("hugs"), model.encode("hugt")
    ((0, 3), (6,))
    """

    #: An unknown word is one token, however long it is.
    is_complete = False
    is_text = False

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        unknown: str,
        prefix: str = "##",
        longest_word: int = 100,
    ) -> None:
        self.vocabulary = vocabulary
        self.unknown = unknown
        self.prefix = prefix
        self.longest_word = longest_word
        #: The pieces that begin a word, and those that continue one, without the prefix.
        self._first = _Pieces(vocabulary, "")
        self._others = _Pieces(vocabulary, prefix) if prefix else self._first

    @property
    def to_bytes(self) -> Callable[[str], bytes]:
        """The function that returns the bytes of a chunk."""
        return str.encode

    def find(self, chunk: str) -> list[Found]:
        """Return the pieces of a word with their places, by the plain rule.

        Raises:
            ValueError: the word is unknown, and the vocabulary has no token for that.
        """
        found: list[Found] = []
        start = at = 0
        while start < len(chunk) <= self.longest_word:
            prefix = self.prefix if start else ""
            for end in range(len(chunk), start, -1):
                piece = prefix + chunk[start:end]
                if piece in self.vocabulary:
                    break
            else:
                break
            to = at + len(chunk[start:end].encode())
            found.append(Found(self.vocabulary[piece], piece, at, to))
            start, at = end, to
        if start == len(chunk):
            return found
        return [Found(self._id_of_unknown(chunk), self.unknown, 0, len(chunk.encode()))]

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a word's pieces; errors as in ``find``.

        At each place only the lengths are tried that a piece with the next character has.
        """
        length = len(chunk)
        if length > self.longest_word:
            return (self._id_of_unknown(chunk),)
        whole = self._first.ids.get(chunk)
        if whole is not None:
            return (whole,)
        ids: list[int] = []
        start = 0
        pieces = self._first
        while start < length:
            find = pieces.ids.get
            for size in pieces.lengths.get(chunk[start], ()):
                number = find(chunk[start : start + size])
                # A piece that reaches over the end of the word is a shorter one, tried below.
                if number is not None and start + size <= length:
                    ids.append(number)
                    start += size
                    break
            else:
                return (self._id_of_unknown(chunk),)
            pieces = self._others
        return tuple(ids)

    def merge(self, data: bytes) -> list[int]:
        """Raise ``ValueError``: nothing is merged."""
        raise ValueError("a WordPiece vocabulary is no byte-level BPE: nothing is merged")

    def encode_segment(self, segment: str, chunks: Callable[[str], list[str]]) -> Ids | None:
        """Return None: there is no faster way than chunk by chunk."""
        return None

    def clear_cache(self) -> None:
        """Do nothing: the model has no cache."""

    def _id_of_unknown(self, chunk: str) -> int:
        found = self.vocabulary.get(self.unknown)
        return fail_unknown(chunk, self.unknown) if found is None else found


class _Pieces:
    """The pieces with a prefix, without it.

    Args:
        vocabulary: all pieces and their ids.
        prefix: the beginning of the pieces that are meant.
    """

    def __init__(self, vocabulary: Mapping[str, int], prefix: str) -> None:
        start = len(prefix)
        self.ids = {
            piece[start:]: number
            for piece, number in vocabulary.items()
            if len(piece) > start and piece.startswith(prefix)
        }
        lengths: dict[str, set[int]] = {}
        for piece in self.ids:
            lengths.setdefault(piece[0], set()).add(len(piece))
        #: For each first character the lengths of its pieces, the greatest first.
        self.lengths = {char: sorted(found, reverse=True) for char, found in lengths.items()}
