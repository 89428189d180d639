"""WordPiece as the model of a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...pipeline.models.words import WordPiece
from ..checked_json import Json
from .base import definition_of_pieces, read_vocabulary, refuse_extension

if TYPE_CHECKING:
    from ...pipeline.definition import Definition
    from ...pipeline.pre_tokenizers.base import PreTokenizerStep


class WordPiecePart(NamedTuple):
    """A WordPiece model as in a file; see ``ModelPart`` for the methods."""

    vocabulary: dict[str, int]
    unknown: str = "[UNK]"
    prefix: str = "##"
    longest_word: int = 100

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.vocabulary)

    def define(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
        """Return the definition of a tokenizer with this model."""
        return definition_of_pieces(WordPiece(*self), steps, self.vocabulary)

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> WordPiecePart:
        """Raise ``ValueError``: the pieces of a word may all change with one more piece."""
        return refuse_extension("WordPiece")

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file."""
        return {
            "type": "WordPiece",
            "unk_token": self.unknown,
            "continuing_subword_prefix": self.prefix,
            "max_input_chars_per_word": self.longest_word,
            "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])),
        }


def read_wordpiece(part: Json) -> WordPiecePart:
    """Return the WordPiece model of a file.

    Raises:
        ValueError: it is damaged.
    """
    longest = part["max_input_chars_per_word"]
    if longest.number() < 0:
        longest.fail("must be 0 or more")
    return WordPiecePart(
        read_vocabulary(part["vocab"]),
        part["unk_token"].text(),
        part["continuing_subword_prefix"].text(),
        longest.number(),
    )
