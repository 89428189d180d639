"""Models over whole words and over characters, and WordPiece, which cuts words into pieces.

WordPiece cuts a word into the longest pieces of the vocabulary, from left to right. The first piece
of a word has no mark. Every other piece has a prefix, usually ``##``, which marks that it continues
a word. At each place the longest piece that fits is taken, and that choice is never reconsidered.
If nothing fits at some place, the *whole* word is one unknown token.

``WordLevel`` has a vocabulary of whole words. ``Characters`` and ``WholeChunks`` have none: each
character, or each chunk, is a token.
"""

from __future__ import annotations

from operator import itemgetter

from ...caches import cached_property, getter, shareable
from .base import ChunkToken, TextModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Union

    from .base import Ids

    #: The ids of pieces: one id, or a nested sequence of ids in order.
    Taken = Union[int, tuple["Taken", ...]]

#: The length in characters from which pieces and words are long. Shorter ones take at most that
#: many tries for a piece.
_LONG = 128

#: The number of bits of a character, which are below those of a node in the key of an edge.
_BITS = 21
#: The link of a node at which the plain rule fails.
_DEAD = -1


class _WordModel(TextModel):
    """The common part of ``WordLevel`` and ``WordPiece``: a vocabulary with an unknown token.

    Args:
        vocabulary: each token and its id.
        unknown: the token for an unknown word.
    """

    #: An unknown word of any length is one token.
    is_complete = False

    def __init__(self, vocabulary: Mapping[str, int], unknown: str) -> None:
        self.vocabulary = vocabulary
        self._id_of = getter(vocabulary)
        self.unknown = unknown

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None if there is none."""
        return self.vocabulary.get(self.unknown)

    def _id_of_unknown(self, chunk: str) -> int:
        """Return the id for an unknown chunk.

        Raises:
            ValueError: the unknown token is not in the vocabulary.
        """
        token_id: int | None = self._id_of(self.unknown)
        if token_id is None:
            shown = chunk if len(chunk) <= 40 else chunk[:40] + "…"
            raise ValueError(
                f"{shown!r} is not in the vocabulary, and neither is {self.unknown!r}, the "
                "unknown token"
            )
        return token_id


class WordLevel(_WordModel):
    """The model in which each chunk is a token.

    Args:
        vocabulary: each token and its id.
        unknown: the token for all other chunks.

    >>> WordLevel({"hi": 0, "[UNK]": 1}, "[UNK]").encode("hey")
    (1,)
    """

    def encode(self, chunk: str) -> Ids:
        """Return the id of a chunk.

        Raises:
            ValueError: the chunk is unknown, and the unknown token is not in the vocabulary.
        """
        token_id = self._id_of(chunk)
        return (self._id_of_unknown(chunk) if token_id is None else token_id,)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the token of a chunk, with its place; errors as in ``encode``."""
        (token_id,) = self.encode(chunk)
        text = chunk if chunk in self.vocabulary else self.unknown
        return [ChunkToken(token_id, text, 0, len(chunk.encode()))]


class WordPiece(_WordModel):
    """The model that cuts a word into its longest pieces.

    Args:
        vocabulary: each piece and its id.
        unknown: the token for a word that cannot be cut into pieces.
        prefix: the beginning of every piece of a word except the first.
        longest_word: the greatest length in characters of a word that is cut; longer ones are
            unknown.

    >>> pieces = ["hug", "##gs", "##g", "##s", "h", "##u", "[UNK]"]
    >>> model = WordPiece({piece: number for number, piece in enumerate(pieces)}, "[UNK]")
    >>> model.encode("hugs"), model.encode("hugt")
    ((0, 3), (6,))
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        unknown: str,
        prefix: str = "##",
        longest_word: int = 100,
    ) -> None:
        super().__init__(vocabulary, unknown)
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

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the pieces of a word with their places; errors as in ``encode``."""
        if len(self._names) < len(self.vocabulary):
            # Pieces share an id, so an id does not say which piece it is.
            tokens = self._numbered.find(chunk)
            return [token._replace(id=self.vocabulary[token.text]) for token in tokens]
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

        At each place, only the lengths of pieces with the next character are tried.

        Raises:
            ValueError: the word is unknown, and the unknown token is not in the vocabulary.
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
        """The same model with a unique id for each piece."""
        ids = dict(zip(self.vocabulary, range(len(self.vocabulary))))
        return WordPiece(ids, self.unknown, self.prefix, self.longest_word)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {token_id: piece for piece, token_id in self.vocabulary.items()}


class _Pieces:
    """The pieces that have a prefix, written without it.

    Args:
        vocabulary: all pieces and their ids.
        prefix: the prefix; may be empty.
        longest: the greatest length in characters of a piece, without the prefix, that is kept.
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


class LinkedPieces:
    """The longest pieces of a word in one pass over it, for pieces of any length.

    The plain rule goes back to the end of the last piece, and reads again the text that it had read
    as the beginning of a longer piece. For a piece of a million characters that takes too long.

    Here the pieces are a tree of characters. A node stands for the text read since the last piece.
    Its link is used when no longer piece follows: it has the pieces that the plain rule takes from
    that text, and the node of the remaining text. Each remaining text is shorter, so one pass over
    a word follows no more links than it reads characters. (This is the failure link of Aho and
    Corasick, as Song et al. use it in "Fast WordPiece Tokenization", 2021.)

    Args:
        first: the pieces that begin a word, and their ids.
        others: the pieces that continue a word, without their prefix.

    >>> LinkedPieces({"a": 0, "abcd": 1}, {"b": 2, "c": 3}).encode("abcab")
    >>> LinkedPieces({"a": 0, "abcd": 1}, {"b": 2, "c": 3}).encode("abcb")
    (0, 2, 3, 2)
    """

    def __init__(self, first: Mapping[str, int], others: Mapping[str, int]) -> None:
        #: The node at which a word begins, and the node at which it continues.
        self._begin, self._go_on = 0, 1
        self._edges: dict[int, int] = shareable()
        #: For each node, the pieces that are taken from its text, and the node of the rest.
        self._taken: list[Taken] = [(), ()]
        self._links = [_DEAD, _DEAD]
        levels: list[list[tuple[int, int]]] = []
        for root, pieces in ((self._begin, first), (self._go_on, others)):
            for piece, token_id in pieces.items():
                self._add(root, piece, token_id, levels)
        # A link goes to a node of fewer characters, whose own link is made before.
        for level in levels:
            for parent, key in level:
                self._link(parent, key)

    def _add(self, root: int, piece: str, number: int, levels: list[list[tuple[int, int]]]) -> None:
        node = root
        for depth, char in enumerate(piece):
            key = node << _BITS | ord(char)
            next_node = self._edges.get(key)
            if next_node is None:
                next_node = self._edges[key] = len(self._links)
                self._taken.append(())
                self._links.append(_DEAD)
                if depth == len(levels):
                    levels.append([])
                levels[depth].append((node, key))
            node = next_node
        self._taken[node] = number
        self._links[node] = self._go_on

    def _link(self, parent: int, key: int) -> None:
        """Link a node: follow links from its parent's until its last character is read."""
        node = self._edges[key]
        if self._links[node] != _DEAD:
            return  # it is a piece
        char = key & (1 << _BITS) - 1
        taken: list[Taken] = []
        at = parent
        while self._links[at] != _DEAD:
            taken.append(self._taken[at])
            at = self._links[at]
            target = self._edges.get(at << _BITS | char)
            if target is not None:
                self._taken[node] = taken[0] if len(taken) == 1 else tuple(taken)
                self._links[node] = target
                return

    def encode(self, word: str) -> tuple[int, ...] | None:
        """Return the ids of a word's pieces; None if no piece fits at some place."""
        taken: list[Taken] = []
        node = self._begin
        for char in map(ord, word):
            next_node = self._edges.get(node << _BITS | char)
            while next_node is None:
                taken.append(self._taken[node])
                node = self._links[node]
                if node == _DEAD:
                    return None
                next_node = self._edges.get(node << _BITS | char)
            node = next_node
        while word and node != self._go_on:
            taken.append(self._taken[node])
            node = self._links[node]
            if node == _DEAD:
                return None
        return _flat(taken)


def _flat(taken: list[Taken]) -> tuple[int, ...]:
    """Return the ids in order; the nesting may be too deep for recursion."""
    ids: list[int] = []
    left = taken[::-1]
    while left:
        last = left.pop()
        if isinstance(last, int):
            ids.append(last)
        else:
            left.extend(reversed(last))
    return tuple(ids)


class _OpenVocabulary(TextModel):
    """The common part of the models without a vocabulary."""

    #: The longest token depends on the text.
    is_complete = False
    unknown_id = None


class Characters(_OpenVocabulary):
    """The model in which each character is a token, and its code point is the id.

    >>> Characters().encode("né")
    (110, 233)
    """

    def encode(self, chunk: str) -> Ids:
        """Return the code points of a chunk."""
        return tuple(map(ord, chunk))

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the characters of a chunk, with their places."""
        tokens: list[ChunkToken] = []
        end = 0
        for char in chunk:
            start, end = end, end + len(char.encode())
            tokens.append(ChunkToken(ord(char), char, start, end))
        return tokens


class WholeChunks(_OpenVocabulary):
    """The model in which each chunk is a token, numbered in order of its first occurrence.

    Threads may share it without a lock: a chunk is first put at the end of ``words``, and its place
    there is its id. So no two chunks have the same id, and every returned id can be decoded. If two
    threads find a new chunk at the same time, both put it there. The first place in ``tokens``
    counts, and the other stays unused.

    >>> model = WholeChunks()
    >>> [*model.encode("to"), *model.encode("be"), *model.encode("to")]
    [0, 1, 0]
    >>> model.words
    [b'to', b'be']
    """

    def __init__(self) -> None:
        #: Each chunk that has occurred, as bytes, and its id; it grows.
        self.tokens: dict[bytes, int] = {}
        #: The chunk of each id; it grows.
        self.words: list[bytes] = []

    def encode(self, chunk: str) -> Ids:
        """Return the id of a chunk."""
        data = chunk.encode()
        tokens = self.tokens
        if data in tokens:
            return (tokens[data],)
        words = self.words
        token_id = len(words)
        words.append(data)
        if words[token_id] is not data:  # another thread has put one there meanwhile
            token_id = words.index(data, token_id)
        return (tokens.setdefault(data, token_id),)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the one token of a chunk, with its place."""
        (token_id,) = self.encode(chunk)
        return [ChunkToken(token_id, chunk, 0, len(chunk.encode()))]
