"""The common part of SentencePiece's models: the vocabulary of pieces, and a base class.

The models for whole words and for single characters are here, too, since they need nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import compress
from operator import add
from typing import NamedTuple

from ....caches import cached_property, shareable
from ...special_tokens import NameFinder, SortedNames
from ..base import ChunkToken, Joints, TextModel
from ..splitters import WholeSplitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..base import Ids

#: The sign for a space.
SPACE = "\u2581"

#: The types of pieces.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
#: The types of pieces that may be in text.
IN_TEXT = frozenset((NORMAL, USER_DEFINED, UNUSED))

#: SentencePiece considers this many user-defined symbols at one place, the shortest ones.
MOST_AT_ONE_PLACE = 64


class PlacedPiece(NamedTuple):
    """A piece at its place in a text.

    Args:
        id: its id.
        piece: the piece; for an unknown piece, its normalized text.
        surface: its part of the text.
        begin, end: the place of that part in the text, in characters.
    """

    id: int
    piece: str
    surface: str
    begin: int
    end: int


def of_types(types: bytes, chosen: Set[int]) -> bytes:
    """Return 1 for each piece that has one of some types, and 0 for the others.

    >>> list(of_types(bytes([UNKNOWN, NORMAL, NORMAL]), {NORMAL}))
    [0, 1, 1]
    """
    return types.translate(bytes(kind in chosen for kind in range(256)))


class SentencePieceVocabulary:
    """The pieces of a SentencePiece model.

    Args:
        texts: each piece, by id.
        scores: the score of each, a number of 32 bits.
        types: the type of each.
        byte_fallback: True if unknown characters are written as bytes.
    """

    def __init__(
        self, texts: Sequence[str], scores: Sequence[float], types: bytes, byte_fallback: bool
    ) -> None:
        self.texts = texts
        self.scores = scores
        self.types = types
        self.byte_fallback = byte_fallback
        #: The id of the unknown piece; -1 if there is none.
        self.unk_id = types.find(UNKNOWN)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The pieces that may be in text, and their ids."""
        ids = self._of_types(IN_TEXT)
        # A NUL may be a piece by mistake; it never matches.
        ids.pop("\0", None)
        return ids

    @cached_property
    def reserved(self) -> dict[str, int]:
        """The other pieces and their ids."""
        return self._of_types(frozenset((UNKNOWN, CONTROL, BYTE)))

    def _of_types(self, types: Set[int]) -> dict[str, int]:
        """Return the pieces of some types, and their ids."""
        chosen = of_types(self.types, types)
        return shareable(zip(compress(self.texts, chosen), compress(range(len(chosen)), chosen)))

    def id_of(self, text: str) -> int:
        """Return the id of a piece, or that of the unknown piece (-1 if there is none)."""
        reserved = self.reserved.get(text)
        return self.ids.get(text, self.unk_id) if reserved is None else reserved

    @cached_property
    def used(self) -> dict[str, int]:
        """The pieces that text may become, and their ids: ``ids`` without unused pieces."""
        if UNUSED not in self.types:
            return self.ids
        return self._of_types(IN_TEXT - {UNUSED})

    @cached_property
    def user_defined(self) -> list[str]:
        """The user-defined symbols that can be found in text, in their order."""
        if USER_DEFINED not in self.types:
            return []
        names = compress(self.texts, of_types(self.types, {USER_DEFINED}))
        return SortedNames(set(names)).begun_by_few(MOST_AT_ONE_PLACE)

    @cached_property
    def symbols(self) -> NameFinder | None:
        """A finder of the longest user-defined symbol at a place; None if there are none."""
        return NameFinder(self.user_defined) if self.user_defined else None

    @cached_property
    def byte_ids(self) -> list[int]:
        """The id of each byte."""
        return [self.reserved[f"<0x{byte:02X}>"] for byte in range(256)]

    @cached_property
    def pairs(self) -> frozenset[str]:
        """All pairs of characters that follow each other in a piece that may be in text."""
        pairs: set[str] = set()
        for text in self.ids:
            if len(text) > 1:
                pairs.update(map(add, text, text[1:]))
        return frozenset(pairs)

    @cached_property
    def before_space(self) -> frozenset[str]:
        """All characters that a space follows in a piece."""
        # No piece has a NUL. Most spaces are at the beginning of one, and are not looked at.
        parts = self._joined.replace("\0" + SPACE, "\0\0").split(SPACE)[:-1]
        # A part is empty between two spaces, and has a NUL for one at the beginning of a piece.
        return frozenset(char if char > "\0" else SPACE for char in {part[-1:] for part in parts})

    @cached_property
    def after_space(self) -> frozenset[str]:
        """All characters that follow a space in a piece."""
        chars = {part[:1] or SPACE for part in self._joined.split(SPACE)[1:]}
        return frozenset(chars) - {"\0"}

    @property
    def _joined(self) -> str:
        """All pieces as one text, between NULs, which no piece has."""
        return "\0".join(["", *self.ids, ""])

    @cached_property
    def find_parts(self) -> Callable[[str], list[str]] | None:
        """The function that cuts a text into parts that no piece crosses, if there is one.

        It cuts before ``▁``, and beside a character that is in no piece with another character. It
        also cuts between letters and punctuation, which pieces seldom have together, except at
        punctuation that some piece has beside a letter. The last part is empty.
        """
        if not self.before_space <= {SPACE}:
            return None
        pairs = [pair for pair in self.pairs if SPACE not in pair]
        chars = set("".join(pairs))
        words = set(filter(str.isalpha, chars))
        joining = {
            pair[0] if pair[1] in words else pair[1]
            for pair in pairs
            if (pair[0] in words) != (pair[1] in words)
        }
        above = "\U00010000-\U0010ffff"  # counts as joining: a class of these is slow
        word, sign = _one_of(words), _one_of(chars - words - joining)
        run = f"(?:{word}+|{sign}+)"
        return re.compile(
            f"{SPACE}*(?:[^{SPACE}{_escaped(chars)}{above}]"
            f"|{run}?(?:[{_escaped(joining)}{above}]+{run}?)*)"
        ).findall

    def are_apart(self, left: str, right: str) -> bool:
        """Return True if neither a piece nor a run of unknown characters has both characters.

        A run of unknown characters would be one token.
        """
        return left + right not in self.pairs and (
            self.byte_fallback or left in self.used or right in self.used
        )

    def parts(self, text: str) -> list[str]:
        """Return parts of a text that no piece reaches over, by the quicker of two ways.

        If pieces join many ideographs, these are letters to ``find_parts``: it leaves sentences.
        """
        find = self.find_parts
        if find is None or (self._joins_ideographs and is_mostly_ideographs(text)):
            return self.apart(text)
        return find(text)

    @cached_property
    def _joins_ideographs(self) -> bool:
        return sum(map("\u2e80\u2e80".__le__, self.pairs)) > 1000

    def apart(self, text: str) -> list[str]:
        """Return a text, cut between all characters that do not follow each other in a piece.

        No piece reaches across such a place, so each part has pieces of its own.
        """
        are_together = list(map(self.pairs.__contains__, map(add, text, text[1:])))
        if False not in are_together:
            return [text]
        cuts = [at for at, is_together in enumerate(are_together, 1) if not is_together]
        return list(map(text.__getitem__, map(slice, [0, *cuts], [*cuts, len(text)])))

    def blocks(self, text: str, least: int) -> Iterator[str]:
        """Yield parts of a text with ``least`` or more characters; the last may have fewer.

        Neither a piece nor a run of unknown characters reaches across their ends.
        """
        pairs, used, bytes_are_used = self.pairs, self.used, self.byte_fallback
        start, end = 0, least
        while end < len(text):
            left, right = text[end - 1], text[end]
            if left + right not in pairs and (bytes_are_used or left in used or right in used):
                yield text[start:end]
                start, end = end, end + least
            else:
                end += 1
        if start < len(text):
            yield text[start:]

    def ids_of(self, pieces: Iterable[tuple[str, int]]) -> list[int]:
        """Return the ids of a text that has been cut into pieces.

        Args:
            pieces: each piece and its id; an unknown text has the id of the unknown piece.

        Each unknown text is written as bytes, if the vocabulary has byte pieces. If not, unknown
        texts that follow each other become one id.
        """
        if self.byte_fallback:
            unk_id, byte_ids = self.unk_id, self.byte_ids
            ids: list[int] = []
            for text, token_id in pieces:
                if token_id == unk_id:
                    ids += map(byte_ids.__getitem__, text.encode())
                else:
                    ids.append(token_id)
            return ids
        return self.fused([token_id for _, token_id in pieces])

    def fused(self, ids: Sequence[int]) -> list[int]:
        """Return ids with one unknown piece for several that follow each other."""
        unk_id = self.unk_id
        before = (None, *ids)
        return [one for one, last in zip(ids, before) if one != unk_id or last != unk_id]

    def bytes_by_kind(self, unk_surface: str) -> tuple[dict[bytes, int], dict[int, bytes]]:
        """Return the bytes of the pieces that text may become, with their ids; and all others.

        If a byte is a piece twice, as a character and as a byte, the others have the byte.
        """
        texts, types = self.texts, self.types
        # No piece has a NUL.
        shown = "\0".join(self.used).replace(SPACE, " ").split("\0") if self.used else []
        tokens = dict(zip(map(str.encode, shown), self.used.values()))
        if len(tokens) == len(texts):
            return tokens, {}
        others: dict[int, bytes] = {}
        for token_id in set(range(len(texts))).difference(tokens.values()):
            text, kind = texts[token_id], types[token_id]
            if kind == BYTE:
                others[token_id] = bytes((int(text[3:5], 16),))
            elif kind == CONTROL:
                others[token_id] = b""
            else:
                written = unk_surface if kind == UNKNOWN else text.replace(SPACE, " ")
                others[token_id] = written.encode()
        return tokens, others


def is_mostly_ideographs(text: str) -> bool:
    """Return True if most characters of a text have three bytes, as those of Chinese do."""
    return not text.isascii() and len(text.encode()) > 2.5 * len(text)


def _escaped(chars: Set[str]) -> str:
    return "".join(re.escape(char) for char in sorted(chars) if char <= "\uffff")


def _one_of(chars: Set[str]) -> str:
    """Return a pattern for one of some characters."""
    return f"[{_escaped(chars)}]" if _escaped(chars) else "(?!)"


class SentencePieceBase(TextModel):
    """A model over characters, with a vocabulary of pieces.

    Args:
        pieces: the vocabulary.
    """

    def __init__(self, pieces: SentencePieceVocabulary) -> None:
        self.pieces = pieces
        #: True if every text has ids, and the unknown piece, which drops text, is never used.
        self.is_complete = pieces.byte_fallback
        #: The splitter that makes its chunks.
        self.splitter = WholeSplitter()

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None if there is none."""
        return self.pieces.unk_id if self.pieces.unk_id >= 0 else None

    def encode(self, chunk: str) -> Ids:
        """Return the ids of one chunk."""
        return tuple(self.pieces.ids_of(self.split(chunk)))

    def split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the pieces of one chunk, and their ids, by the plain rule.

        An unknown piece has the id of the unknown piece.
        """
        raise NotImplementedError

    def quick_split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the result of ``split``, in about n log n time."""
        return self.split(chunk)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the tokens of one chunk with their places.

        Bytes have their own places. Unknown texts that follow each other are one token, which shows
        their text.
        """
        pieces = self.pieces
        tokens: list[ChunkToken] = []
        at = 0
        for text, token_id in self.quick_split(chunk):
            data = text.encode()
            if token_id != pieces.unk_id:
                tokens.append(ChunkToken(token_id, text, at, at + len(data)))
            elif pieces.byte_fallback:
                for place, byte in enumerate(data, at):
                    byte_id = pieces.byte_ids[byte]
                    tokens.append(ChunkToken(byte_id, pieces.texts[byte_id], place, place + 1))
            elif tokens and tokens[-1].id == token_id:
                last = tokens[-1]
                tokens[-1] = ChunkToken(token_id, last.text + text, last.start, at + len(data))
            else:
                tokens.append(ChunkToken(token_id, text, at, at + len(data)))
            at += len(data)
        return tokens


_WORD = re.compile(f"{SPACE}[^{SPACE}]*|[^{SPACE}]+")


class SentencePieceWords(SentencePieceBase):
    """A model whose pieces are words. Each ``▁`` begins a word."""

    def split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the words and their ids."""
        get, unk_id = self.pieces.used.get, self.pieces.unk_id
        return [(word, get(word, unk_id)) for word in _WORD.findall(chunk)]


class SentencePieceCharacters(SentencePieceBase):
    """A model whose pieces are characters and user-defined symbols."""

    @property
    def joints(self) -> Joints:
        """The places that no symbol reaches across."""
        return Joints(self.pieces.are_apart)

    def split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the characters and symbols and their ids; the longest symbol wins."""
        get, unk_id = self.pieces.used.get, self.pieces.unk_id
        symbols = self.pieces.symbols
        parts: list[str] = []
        at = 0
        for start, end in symbols.spans(chunk) if symbols else ():
            parts += chunk[at:start]
            parts.append(chunk[start:end])
            at = end
        parts += chunk[at:]
        return [(part, get(part, unk_id)) for part in parts]
