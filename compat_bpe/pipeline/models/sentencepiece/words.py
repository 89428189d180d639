"""SentencePiece's models for whole words, and for single characters."""

from __future__ import annotations

import re

from ..joints import Joints
from .base import SentencePieceBase
from .vocabulary import SPACE

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
        """The places that no symbol reaches over."""
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
