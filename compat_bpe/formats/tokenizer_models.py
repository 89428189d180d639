"""The models in a ``tokenizer.json``: WordPiece, word level and Unigram.

``ModelPart`` is their common protocol. BPE is in ``tokenizer_bpe``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..pipeline.core import Definition
from ..pipeline.pre_tokenizers.splitter import make_splitter
from ..pipeline.special_tokens import SpecialTokens
from . import RANK_LIMIT
from .checked_json import Json, is_unicode, read_float

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from ..pipeline.models.base import Model
    from ..pipeline.pre_tokenizers.base import PreTokenizerStep

    class ModelPart(Protocol):
        """The ``model`` of a ``tokenizer.json``."""

        @property
        def vocabulary(self) -> Mapping[str, int]:
            """Each token, written as in the file, and its id."""

        @property
        def size(self) -> int:
            """The number of tokens. Added tokens get the ids from here on."""

        def define(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
            """Return the definition of a tokenizer that has only a pre-tokenizer and this model.
            Args:
                steps: the steps of the pre-tokenizer, whose chunks it gets.
                source: the name of the file, for messages.
            Raises:
                ValueError: the model is wrong.
            """

        def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
            """Return the model as in a file, with a vocabulary that may have more tokens."""


#: The upper bound of ids, itself excluded; tokenizers keeps them in 32 unsigned bits.
ID_LIMIT = 1 << 32


def definition_of(
    model: Model,
    steps: Sequence[PreTokenizerStep],
    tokens: Callable[[], dict[bytes, int]],
    highest: int,
    *,
    other_tokens: Mapping[int, bytes] | None = None,
    pieces: Callable[[], Mapping[int, str]] | None = None,
    cuts_at_joints: bool = False,
) -> Definition:
    """Return the definition of a tokenizer that has only a pre-tokenizer and a model.

    Args:
        model, tokens, highest, pieces, cuts_at_joints: as in ``Definition``.
        steps: the steps of the pre-tokenizer that remain for the splitter.
        other_tokens: the bytes of ids that are not in ``tokens``.
    """
    return Definition(
        added=SpecialTokens({}),
        splitter=make_splitter(steps),
        model=model,
        tokens=tokens,
        other_tokens=lambda: other_tokens or {},
        pieces=pieces,
        cuts_at_joints=cuts_at_joints,
        steps=steps,
        highest=highest,
    )


def definition_of_pieces(
    model: Model,
    steps: Sequence[PreTokenizerStep],
    vocabulary: Mapping[str, int],
    *,
    cuts_at_joints: bool = False,
) -> Definition:
    """Return the definition for a model over characters, whose pieces are their own text."""
    return definition_of(
        model,
        steps,
        partial(bytes_of, vocabulary),
        max(vocabulary.values(), default=-1),
        pieces=lambda: dict(zip(vocabulary.values(), vocabulary)),
        cuts_at_joints=cuts_at_joints,
    )


def bytes_outside(pieces: Iterable[tuple[int, str]], ids: Iterable[int]) -> dict[int, bytes]:
    """Return the bytes of the pieces whose ids are not among some."""
    inside = set(ids)
    return {number: piece.encode() for number, piece in pieces if number not in inside}


def bytes_of(vocabulary: Mapping[str, int]) -> dict[bytes, int]:
    """Return the bytes of each token of a vocabulary of text, and its id."""
    return dict(zip(map(str.encode, vocabulary), vocabulary.values()))


def refuse_extension(kind: str) -> NoReturn:
    """Raise ``ValueError`` for a kind of model that cannot have more tokens."""
    raise ValueError(f"a {kind} vocabulary cannot be extended: only byte-level BPE can be")


def flag(part: Json, name: str) -> bool:
    """Return a flag; False if it is left out or null."""
    value = part.get(name)
    return value is not None and value.truth()


def read_vocabulary(part: Json) -> dict[str, int]:
    """Return a vocabulary from token to id. As in tokenizers, tokens may share an id.

    Raises:
        ValueError: an id is out of range, or a token is not text.
    """
    vocabulary = part.mapping()
    ids = vocabulary.values()
    are_ids = set(map(type, ids)) <= {int} and min(ids, default=0) >= 0
    if are_ids and max(ids, default=0) < ID_LIMIT and is_unicode("".join(vocabulary)):
        return vocabulary
    for name in vocabulary:
        number = part[name].number()
        if not is_unicode(name):
            part.fail(f"the token {name!r} has a lone surrogate")
        if not 0 <= number < ID_LIMIT:
            part.fail(f"the id of {name!r} is not from 0 to {ID_LIMIT - 1}")
    raise AssertionError("nothing is wrong with the vocabulary")


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
        from ..pipeline.models.wordpiece import WordPiece

        return definition_of_pieces(WordPiece(*self), steps, self.vocabulary)

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
        from ..pipeline.models.wordpiece import WordLevel

        return definition_of_pieces(WordLevel(*self), steps, self.vocabulary)

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


_INTEGER_LIMIT = 1 << 64


class UnigramPart(NamedTuple):
    """A Unigram model as in a file; see ``ModelPart`` for the methods.

    ``pieces`` and ``scores`` are by id. A piece may occur several times; its last id counts.
    """

    pieces: Sequence[str]
    scores: Sequence[float]
    unknown: int | None
    byte_fallback: bool = False

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each piece and its id."""
        return dict(zip(self.pieces, range(len(self.pieces))))

    @property
    def size(self) -> int:
        """The number of ids; if pieces recur, it is greater than the number of different ones."""
        return len(self.pieces)

    def define(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
        """Return the definition of a tokenizer with this model."""
        from ..pipeline.models.unigram import Unigram

        try:
            model = Unigram(*self)
        except ValueError as error:
            raise ValueError(f"{source}: model: vocab: {error}") from None
        ids = model.ids
        others: dict[int, bytes] = {}
        if len(ids) < len(self.pieces):
            others = bytes_outside(enumerate(self.pieces), ids.values())
        return definition_of(
            model,
            steps,
            partial(bytes_of, ids),
            len(self.pieces) - 1,
            other_tokens=others,
            pieces=lambda: dict(enumerate(self.pieces)),
        )

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file.

        Raises:
            ValueError: ``vocabulary`` has a piece that is not in the model, so it has no score.
        """
        if vocabulary.keys() - set(self.pieces):
            refuse_extension("Unigram")
        return {
            "type": "Unigram",
            "unk_id": self.unknown,
            "vocab": list(map(list, zip(self.pieces, map(written_float, self.scores)))),
            "byte_fallback": self.byte_fallback,
        }


def read_unigram(part: Json) -> UnigramPart:
    """Return the Unigram model of a file.

    Raises:
        ValueError: it is damaged.
    """
    pieces, scores = _read_pieces(part["vocab"])
    unknown = part.get("unk_id")
    if unknown is not None:
        if not pieces:
            part["vocab"].fail("there are no pieces, not even the unknown one")
        if not 0 <= unknown.number() < len(pieces):
            unknown.fail(f"must be from 0 to {len(pieces) - 1}, the greatest id of a piece")
    byte_fallback = "byte_fallback" in part.mapping() and part["byte_fallback"].truth()
    return UnigramPart(pieces, scores, None if unknown is None else unknown.number(), byte_fallback)


def _read_pieces(part: Json) -> tuple[Sequence[str], Sequence[float]]:
    """Return the pieces and their scores; the usual case is fast."""
    listed = part.sequence()
    if len(listed) >= RANK_LIMIT:
        part.fail(f"there are {RANK_LIMIT} pieces or more")
    if set(map(type, listed)) == {list} and set(map(len, listed)) == {2}:
        pieces, scores = zip(*listed)
        are_pieces = set(map(type, pieces)) == {str} and is_unicode("".join(pieces))
        if are_pieces and set(map(type, scores)) == {float}:
            return pieces, scores
    found = [_read_piece(item) for item in part.items()]
    return [piece for piece, _ in found], [score for _, score in found]


def _read_piece(item: Json) -> tuple[str, float]:
    members = item.sequence()
    if len(members) != 2:
        item.fail(f"must be a piece and its score, not {len(members)} values")
    piece, score = members
    text = Json(piece, item.source, f"{item.place}[0]").text()
    if type(score) is float:
        return text, score
    number = Json(score, item.source, f"{item.place}[1]")
    if type(score) is not int:
        number.fail(f"the score of {text!r} must be a number")
    if -_INTEGER_LIMIT < score < _INTEGER_LIMIT:
        return text, float(score)
    try:
        return text, read_float(str(score))
    except ValueError as error:
        number.fail(str(error))


def written_float(value: float) -> float:
    """Return the float to write so that tokenizers reads ``value``.

    Python writes a float as the shortest number that it reads as that float.

    Raises:
        ValueError: tokenizers reads no float near this value as the value.
    """
    below = above = value
    for _ in range(8):
        for candidate in (below, above):
            if read_float(repr(candidate)) == value:
                return candidate
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
    raise ValueError(f"{value!r} cannot be written so that tokenizers reads it")
