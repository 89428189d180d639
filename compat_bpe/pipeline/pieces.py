"""The vocabulary of a model of SentencePiece: its pieces, their scores and their types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import add

#: What spaces are written as.
SPACE = "\u2581"

#: The types of pieces.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
#: The types of pieces that may be in text.
IN_TEXT = frozenset((NORMAL, USER_DEFINED, UNUSED))

#: SentencePiece looks at this many user-defined symbols that begin at one place, the shortest ones.
_MOST_AT_ONE_PLACE = 64


class Pieces:
    """A vocabulary.

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
        if set(self.types) <= {NORMAL}:
            return dict(zip(self.texts, range(len(self.texts))))
        # A NUL may be a piece by mistake; it counts for nothing.
        return {
            text: number
            for number, (text, kind) in enumerate(zip(self.texts, self.types))
            if kind in IN_TEXT and text != "\0"
        }

    @cached_property
    def reserved(self) -> dict[str, int]:
        """The other pieces and their ids."""
        return {
            text: number
            for number, (text, kind) in enumerate(zip(self.texts, self.types))
            if kind not in IN_TEXT
        }

    @cached_property
    def used(self) -> dict[str, int]:
        """The pieces that text may become, and their ids: those in text that are not unused."""
        if UNUSED not in self.types:
            return self.ids
        types = self.types
        return {text: number for text, number in self.ids.items() if types[number] != UNUSED}

    @cached_property
    def user_defined(self) -> list[str]:
        """The user-defined symbols that can be found in text, the longest first."""
        if USER_DEFINED not in self.types:
            return []
        found = {text for text, kind in zip(self.texts, self.types) if kind == USER_DEFINED}
        reached = [
            text
            for text in found
            if sum(text[:end] in found for end in range(1, len(text))) < _MOST_AT_ONE_PLACE
        ]
        return sorted(reached, key=lambda text: (-len(text), text))

    @cached_property
    def symbols(self) -> re.Pattern[str] | None:
        """A pattern for the longest user-defined symbol at a place; None if there are none."""
        if not self.user_defined:
            return None
        return re.compile("|".join(map(re.escape, self.user_defined)))

    @cached_property
    def byte_ids(self) -> list[int]:
        """The id of each byte."""
        return [self.reserved[f"<0x{byte:02X}>"] for byte in range(256)]

    @cached_property
    def pairs(self) -> frozenset[str]:
        """All pairs of characters that follow each other in a piece that may be in text."""
        found: set[str] = set()
        for text in self.ids:
            if len(text) > 1:
                found.update(map(add, text, text[1:]))
        return frozenset(found)

    @cached_property
    def before_space(self) -> frozenset[str]:
        """All characters that a space follows in a piece."""
        return frozenset(
            text[at - 1]
            for text in self.ids
            if SPACE in text[1:]
            for at in range(1, len(text))
            if text[at] == SPACE
        )

    @cached_property
    def after_space(self) -> frozenset[str]:
        """All characters that follow a space in a piece."""
        return frozenset(
            text[at + 1]
            for text in self.ids
            if SPACE in text[:-1]
            for at in range(len(text) - 1)
            if text[at] == SPACE
        )

    def apart(self, text: str) -> list[str]:
        """Return a text, cut between all characters that do not follow each other in a piece.

        No piece reaches over such a place, so each part has pieces of its own.
        """
        pairs = self.pairs
        cuts = [at for at, pair in enumerate(map(add, text, text[1:]), 1) if pair not in pairs]
        if not cuts:
            return [text]
        return list(map(text.__getitem__, map(slice, [0, *cuts], [*cuts, len(text)])))

    def ids_of(self, pieces: Iterable[tuple[str, int]]) -> list[int]:
        """Return the ids of a text that has been made pieces.

        Args:
            pieces: each piece and its id; an unknown one has that of the unknown piece.

        Each unknown piece is written as bytes, if there are any.  If not, unknown pieces that
        follow each other become one id.
        """
        unk_id = self.unk_id
        found: list[int] = []
        if self.byte_fallback:
            byte_ids = self.byte_ids
            for text, number in pieces:
                if number == unk_id:
                    found += map(byte_ids.__getitem__, text.encode())
                else:
                    found.append(number)
            return found
        was_unknown = False
        for _, number in pieces:
            is_unknown = number == unk_id
            if not (is_unknown and was_unknown):
                found.append(number)
            was_unknown = is_unknown
        return found

    def bytes_by_kind(self, unk_surface: str) -> tuple[dict[bytes, int], dict[int, bytes]]:
        """Return the bytes of pieces that text may become and their ids; and those of all others.

        A byte that is a piece twice, as a character and as a byte, is among the others as a byte.
        """
        texts, types = self.texts, self.types
        tokens = {text.replace(SPACE, " ").encode(): number for text, number in self.used.items()}
        others: dict[int, bytes] = {}
        inside = set(tokens.values())
        for number, (text, kind) in enumerate(zip(texts, types)):
            if number in inside:
                continue
            if kind == BYTE:
                others[number] = bytes((int(text[3:5], 16),))
            elif kind == CONTROL:
                others[number] = b""
            else:
                shown = unk_surface if kind == UNKNOWN else text.replace(SPACE, " ")
                others[number] = shown.encode()
        return tokens, others
