"""The word-level model of a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...pipeline.models.words import WordLevel
from ..checked_json import Json
from .base import definition_of_pieces, read_vocabulary, refuse_extension

if TYPE_CHECKING:
    from ...pipeline.definition import Definition
    from ...pipeline.pre_tokenizers.base import PreTokenizerStep


class WordLevelPart(NamedTuple):
    """A word-level model as in a file; see ``ModelPart`` for the methods."""

    vocabulary: dict[str, int]
    unknown: str = "<unk>"

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.vocabulary)

    def define(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
        """Return the definition of a tokenizer with this model."""
        return definition_of_pieces(WordLevel(*self), steps, self.vocabulary)

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> WordLevelPart:
        """Raise ``ValueError``: there are no merges that would make more tokens."""
        return refuse_extension("word-level")

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file."""
        return {
            "type": "WordLevel",
            "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])),
            "unk_token": self.unknown,
        }


def read_word_level(part: Json) -> WordLevelPart:
    """Return the word-level model of a file.

    Raises:
        ValueError: it is damaged.
    """
    return WordLevelPart(read_vocabulary(part["vocab"]), part["unk_token"].text())
