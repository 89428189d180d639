"""WordPiece: a word is cut into the longest pieces of the vocabulary, from left to right.

The first piece of a word is written as it is. Every other one has a prefix, mostly ``##``, which
says that it continues a word. At each place the longest piece that fits is taken, and that choice
is never reconsidered. If nothing fits at some place, the *whole* word is one unknown token.
"""

from __future__ import annotations

from operator import itemgetter

from ....parallel.lazy import cached_property
from ...cache import getter, shareable
from ..text_model import ChunkToken, TextModel
from ..word_level import fail_unknown
from .links import LinkedPieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..base import Ids

#: The length in characters from which pieces and words are long. Below it there are at most as
#: many tries for a piece.
_LONG = 128


class WordPiece(TextModel):
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

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        unknown: str,
        prefix: str = "##",
        longest_word: int = 100,
    ) -> None:
        self.vocabulary = vocabulary
        self._id_of = getter(vocabulary)
        self.unknown = unknown
        self.prefix = prefix
        self.longest_word = longest_word

    @cached_property
    def _first(self) -> _Pieces:
        """The pieces that begin a word."""
        return _Pieces(self.vocabulary, "", self.longest_word)

    @cached_property
    def _others(self) -> _Pieces:
        """The pieces that continue a word, without the prefix."""
        if not self.prefix:
            return self._first
        return _Pieces(self.vocabulary, self.prefix, self.longest_word)

    @cached_property
    def _longest(self) -> int:
        return max(self._first.longest, self._others.longest)

    @property
    def unknown_id(self) -> int | None:
        """The id of the token that stands for what is unknown; None if there is none."""
        return self.vocabulary.get(self.unknown)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the pieces of a word with their places; errors as in ``encode``."""
        if len(self._names) < len(self.vocabulary):
            # Pieces share an id, so an id does not say which piece it is.
            tokens = self._numbered.find(chunk)
            return [one._replace(id=self.vocabulary[one.text]) for one in tokens]
        ids = self.encode(chunk) if self._is_long(chunk) else self.plain(chunk)
        size = len(chunk.encode())
        if len(ids) == 1:
            return [ChunkToken(ids[0], self._names[ids[0]], 0, size)]
        tokens = []
        at = 0
        for token_id in ids:
            name = self._names[token_id]
            end = at + len((name[len(self.prefix) :] if tokens else name).encode())
            tokens.append(ChunkToken(token_id, name, at, end))
            at = end
        return tokens

    def plain(self, chunk: str) -> Ids:
        """Return the ids of a word's pieces by the plain rule; errors as in ``encode``."""
        if len(chunk) > self.longest_word:
            return (self._id_of_unknown(chunk),)
        ids: list[int] = []
        start = 0
        while start < len(chunk):
            prefix = self.prefix if start else ""
            for end in range(min(len(chunk), start + self._longest), start, -1):
                token_id = self._id_of(prefix + chunk[start:end])
                if token_id is not None:
                    break
            else:
                return (self._id_of_unknown(chunk),)
            ids.append(token_id)
            start = end
        return tuple(ids)

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a word's pieces.

        At each place only the lengths are tried that a piece with the next character has.

        Raises:
            ValueError: the word is unknown, and the vocabulary has no token for that.
        """
        length = len(chunk)
        if length > self.longest_word:
            return (self._id_of_unknown(chunk),)
        pieces = self._first
        whole = pieces.ids.get(chunk)
        if whole is not None:
            return (whole,)
        if self._is_long(chunk):
            linked = self._linked.encode(chunk)
            return (self._id_of_unknown(chunk),) if linked is None else linked
        ids: list[int] = []
        start = 0
        while start < length:
            left = length - start
            find = pieces.ids.get
            for size in pieces.lengths.get(chunk[start], ()):
                if size <= left:
                    token_id = find(chunk[start : start + size])
                    if token_id is not None:
                        ids.append(token_id)
                        start += size
                        break
            else:
                return (self._id_of_unknown(chunk),)
            pieces = self._others
        return tuple(ids)

    def _is_long(self, chunk: str) -> bool:
        """Return True if pieces are so long that trying them would take too long."""
        return len(chunk) >= _LONG <= self._longest

    @cached_property
    def _linked(self) -> LinkedPieces:
        return LinkedPieces(self._first.ids, self._others.ids)

    @cached_property
    def _numbered(self) -> WordPiece:
        """The same model with an id of its own for each piece."""
        ids = dict(zip(self.vocabulary, range(len(self.vocabulary))))
        return WordPiece(ids, self.unknown, self.prefix, self.longest_word)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {token_id: piece for piece, token_id in self.vocabulary.items()}

    def _id_of_unknown(self, chunk: str) -> int:
        token_id: int | None = self._id_of(self.unknown)
        return fail_unknown(chunk, self.unknown) if token_id is None else token_id


class _Pieces:
    """The pieces with a prefix, without it.

    Args:
        vocabulary: all pieces and their ids.
        prefix: the beginning of the pieces that are meant.
        longest: the greatest length in characters, without prefix, that can be in a word.
    """

    def __init__(self, vocabulary: Mapping[str, int], prefix: str, longest: int) -> None:
        start = len(prefix)
        ids_by_piece = vocabulary
        if prefix:
            names = [piece for piece in vocabulary if piece.startswith(prefix)]
            ids = map(vocabulary.__getitem__, names)
            ids_by_piece = dict(zip([piece[start:] for piece in names], ids))
        if "" in ids_by_piece or max(map(len, ids_by_piece), default=0) > longest:
            ids_by_piece = {
                piece: n for piece, n in ids_by_piece.items() if 0 < len(piece) <= longest
            }
        self.ids: Mapping[str, int] = shareable(ids_by_piece)
        lengths: dict[str, list[int]] = shareable()
        for first, length in sorted(set(zip(map(itemgetter(0), self.ids), map(len, self.ids)))):
            lengths.setdefault(first, []).insert(0, length)
        #: For each first character the lengths of its pieces, the greatest first.
        self.lengths = lengths
        self.longest = max((these[0] for these in lengths.values()), default=0)
