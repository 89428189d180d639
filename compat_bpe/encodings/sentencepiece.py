"""``SentencePiece``: an encoding by a SentencePiece model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import compress
from math import exp
from typing import TYPE_CHECKING, Any

from ..formats.sentencepiece import SentencePieceModel
from ..pipeline.added_tokens import AddedTokens
from ..pipeline.decoders.pieces import SentencePieceDecoder
from ..pipeline.models.sentencepiece.base import (
    BYTE,
    CONTROL,
    UNKNOWN,
    UNUSED,
    PlacedPiece,
    SentencePieceBase,
    SentencePieceVocabulary,
)
from ..pipeline.models.sentencepiece.bpe import SentencePieceBPE
from ..pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from ..pipeline.special_tokens import NOTHING, AllowedSpecial, DisallowedSpecial, allowed_names
from ..pipeline.tokenized import Padding, Tokenized, Truncation
from ..unicode.surrogates import repair
from .encoding import Encoding, offsets_of
from .tokenizer import Text, Tokenizer, words_of

if TYPE_CHECKING:
    from ..pipeline.normalizers.base import Normalizer


#: The most ways to cut a text in one call.
_MOST_WAYS = 512


class SentencePiece(Tokenizer):
    """An encoding with exactly the ids of sentencepiece 0.2.3.

    Use it like any ``Encoding``. It also has the methods of ``SentencePieceProcessor``. The name of
    a control piece such as ``<s>`` is plain text in a text, except with the model of a GGUF file,
    where it is a special token.

    Args:
        name: the name that ``repr`` shows.
        definition: the content of the ``.model`` file.

    Raises:
        ValueError: a part of the definition is wrong.
    """

    reference = "sentencepiece"
    definition: SentencePieceModel  # type: ignore[assignment]

    def __init__(self, name: str, definition: SentencePieceModel) -> None:
        super().__init__(name, definition)  # type: ignore[arg-type]
        types = definition.types
        chosen = types.translate(bytes(kind == CONTROL for kind in range(256)))
        self._special_token_values = set(compress(range(len(types)), chosen))
        parts: Any = self.core.definition
        self._model: SentencePieceBase = parts.model
        self._added: AddedTokens = parts.added
        self._normalizer: Normalizer = parts.added.normalize
        self._decoder: SentencePieceDecoder = parts.make_decoder()

    # Text to ids

    def encode(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        add_bos: bool = False,
        add_eos: bool = False,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
        add_special_tokens: bool = False,
        is_pretokenized: bool = False,
    ) -> list[int]:
        """Return the ids of a text.

        Args:
            text: any string; surrogates are repaired.
            pair: always None, since SentencePiece has no pairs of texts.
            add_bos, add_eos: add the id for the beginning before the ids, or for the end after
                them.
            allowed_special, disallowed_special: as in ``Encoding.encode``.
            add_special_tokens: add both of these ids, if the model has them.
            is_pretokenized: always False, since SentencePiece does not take words.

        Raises:
            ValueError: the model has no piece for the beginning or the end; there is a pair, or
                the text is given as words.
            ValueError, TypeError: as in ``Encoding.encode``.
        """
        if pair is not None:
            raise ValueError(f"{self!r} does not accept pairs of texts: encode each text by itself")
        if is_pretokenized:
            raise ValueError(f"{self!r} does not accept words: encode the text that they come from")
        (text,) = words_of(text, False)
        ids = Encoding.encode(
            self, text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        if add_bos or (add_special_tokens and self.bos_id >= 0):
            ids.insert(0, self._required(self.bos_id, self.definition.bos_piece))
        if add_eos or (add_special_tokens and self.eos_id >= 0):
            ids.append(self._required(self.eos_id, self.definition.eos_piece))
        return ids

    def _required(self, id_: int, name: str) -> int:
        if id_ < 0:
            raise ValueError(f"{self!r} has no control piece {name!r}")
        return id_

    def encode_as_pieces(self, text: str) -> list[str]:
        """Return the pieces of a text; an unknown piece is returned as its text."""
        return [piece.text for piece in self._model.find(self.normalize(text))]

    def encode_with_offsets(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
        add_special_tokens: bool = False,
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        is_pretokenized: bool = False,
    ) -> Tokenized:
        """Return the pieces of a text with their places; see ``encode_as_placed_pieces``.

        Args:
            text, pair, allowed_special, disallowed_special, add_special_tokens, is_pretokenized: as
                in ``encode``.
            truncation, padding: as in ``Tokenizer.encode_with_offsets``. The part that truncation
                cuts off has no ids for the beginning and the end.

        Raises:
            ValueError, TypeError: as in ``encode``, and as in ``Truncation.applied``.
        """
        self.encode("", pair, is_pretokenized=is_pretokenized)  # to check the arguments
        (text,) = words_of(text, False)
        allowed = allowed_names(text, self._special_names, allowed_special, disallowed_special)
        both = (self.bos_id, self.eos_id) if add_special_tokens else ()
        ends = [id_ for id_ in both if id_ >= 0]
        pieces = placed_pieces(self._added, self._model, repair(text), allowed)
        tokenized = Tokenized(
            [one.id for one in pieces],
            [one.piece for one in pieces],
            [(one.begin, one.end) for one in pieces],
            [0] * len(pieces),
        )
        if truncation is not None:
            tokenized, _ = truncation.applied(tokenized, None, len(ends))
        if ends:
            before = [id_ for id_ in ends if id_ == self.bos_id]
            after = [id_ for id_ in ends if id_ == self.eos_id]
            names = self.definition.texts
            tokenized = Tokenized(
                [*before, *tokenized.ids, *after],
                [
                    *map(names.__getitem__, before),
                    *tokenized.tokens,
                    *map(names.__getitem__, after),
                ],
                [(0, 0)] * len(before) + tokenized.offsets + [(0, 0)] * len(after),
                [None] * len(before) + tokenized.word_ids + [None] * len(after),
                special_tokens_mask=[1] * len(before) + [0] * len(tokenized) + [1] * len(after),
                overflowing=tokenized.overflowing,
            )
        return tokenized if padding is None else padding.applied([tokenized])[0]

    def encode_as_placed_pieces(self, text: str) -> list[PlacedPiece]:
        """Return the pieces of a text with their places, as ``SentencePieceProcessor`` does.

        The space that is put before the text has an empty place. The last byte of an unknown
        character has the character's place. Its other bytes have an empty place where it begins.
        """
        return placed_pieces(self._added, self._model, repair(text), frozenset())

    def normalize(self, text: str) -> str:
        """Return the normalized text, which is then cut into pieces."""
        return self._normalizer(repair(text))

    def nbest_encode(self, text: str, nbest_size: int) -> list[list[int]]:
        """Return the ids of the ways to cut a text into pieces with the highest scores.

        Args:
            text: any string.
            nbest_size: the number of ways, from 1 to 512. There may be fewer. Ways of the same
                score have no defined order, as in sentencepiece.

        Raises:
            ValueError: the number is not in this range, or this is not a Unigram model.
        """
        return [self.pieces.ids_of(way) for way in self._best(self.normalize(text), nbest_size)]

    def sample_encode(
        self, text: str, alpha: float = 0.1, nbest_size: int = -1, *, seed: int | None = None
    ) -> list[int]:
        """Return the ids of a random way to cut a text into pieces.

        Args:
            text: any string.
            alpha: for Unigram, the sharpness: with 0 all ways are equally likely; a higher value
                makes the best ways likelier. For BPE, the probability that a merge is left out.
            nbest_size: for Unigram, the number of best ways to choose from; all if it is negative,
                and only the best way if it is 0 or 1.
            seed: makes the result repeatable. Results differ from sentencepiece's with every seed.

        Raises:
            ValueError: ``alpha`` is negative or not a number, ``nbest_size`` is more than 512, or
                the model is neither Unigram nor BPE.
        """
        if not 0 <= alpha < float("inf"):
            raise ValueError(f"alpha is {alpha}; it must be 0 or more")
        if nbest_size > _MOST_WAYS:
            raise ValueError(f"nbest_size is {nbest_size}; it must be at most {_MOST_WAYS}")
        from random import Random

        random = Random(seed)
        normalized = self.normalize(text)
        model = self._model
        if isinstance(model, SentencePieceBPE):
            return self.pieces.ids_of(model.sample(normalized, alpha, random))
        if not isinstance(model, SentencePieceUnigram):
            raise ValueError(
                f"{self!r} is neither Unigram nor BPE: it splits a text in only one way"
            )
        if nbest_size in (0, 1):
            return list(model.encode(normalized))
        lattice = model.lattice(normalized)
        if nbest_size < 0:
            return self.pieces.ids_of(lattice.sample(alpha, random))
        ways = self._best(normalized, nbest_size)
        scores = [alpha * lattice.score(way) for way in ways]
        weights = [exp(score - max(scores)) for score in scores]
        return self.pieces.ids_of(random.choices(ways, weights)[0])

    def _best(self, normalized: str, count: int) -> list[list[tuple[str, int]]]:
        model = self._model
        if not 1 <= count <= _MOST_WAYS:
            raise ValueError(f"nbest_size is {count}; it must be from 1 to {_MOST_WAYS}")
        if not isinstance(model, SentencePieceUnigram):
            raise ValueError(f"{self!r} is not a Unigram model: it splits a text in only one way")
        if count == 1 or not normalized:
            return [model.quick_split(normalized)]
        return model.lattice(normalized).best(count)

    # Ids to text

    def decode_pieces(self, pieces: Sequence[str]) -> str:
        """Return the text of some pieces; a piece outside the vocabulary stands for itself."""
        return self._decoder.decode_pieces(pieces)

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of some ids, and the place in it where each piece begins.

        Returns:
            The text, and for each id the index of the character with the piece's first byte.

        Raises:
            UnicodeDecodeError: the bytes are not UTF-8.
            KeyError, OverflowError: as in ``decode``.
        """
        texts = self._decoder.texts(tokens)
        pieces = [text.encode("utf-8", "surrogateescape") for text in texts]
        return self.decode_bytes(tokens).decode(), offsets_of(pieces)

    # The vocabulary

    @property
    def pieces(self) -> SentencePieceVocabulary:
        """The vocabulary."""
        return self._model.pieces

    @property
    def vocab_size(self) -> int:
        """The number of pieces."""
        return len(self.definition.texts)

    def id_to_piece(self, token: int) -> str:
        """Return the piece with an id; ``KeyError`` if there is none."""
        return self.definition.texts[self._checked(token)]

    def piece_to_id(self, piece: str) -> int:
        """Return the id of a piece. Any other text has the id of the unknown piece, or else -1."""
        return self.pieces.id_of(piece)

    def get_score(self, token: int) -> float:
        """Return the score of the piece with an id; ``KeyError`` if there is none."""
        return self.definition.scores[self._checked(token)]

    def is_unknown(self, token: int) -> bool:
        """Return True if an id is the unknown piece's; ``KeyError`` if no piece has it."""
        return self._type(token) == UNKNOWN

    def is_control(self, token: int) -> bool:
        """Return True if an id is a control piece's; ``KeyError`` if no piece has it."""
        return self._type(token) == CONTROL

    def is_unused(self, token: int) -> bool:
        """Return True if an id is an unused piece's; ``KeyError`` if no piece has it."""
        return self._type(token) == UNUSED

    def is_byte(self, token: int) -> bool:
        """Return True if an id is a byte's; ``KeyError`` if no piece has it."""
        return self._type(token) == BYTE

    @property
    def unk_id(self) -> int:
        """The id of the unknown piece; -1 if no piece has its name in the model."""
        return self._of_type(self.definition.unk_piece or "<unk>", UNKNOWN)

    @property
    def bos_id(self) -> int:
        """The id for the beginning of a text; -1 if there is none."""
        return self._of_type(self.definition.bos_piece or "<s>", CONTROL)

    @property
    def eos_id(self) -> int:
        """The id for the end of a text; -1 if there is none."""
        return self._of_type(self.definition.eos_piece or "</s>", CONTROL)

    @property
    def pad_id(self) -> int:
        """The id for padding; -1 if there is none."""
        return self._of_type(self.definition.pad_piece or "<pad>", CONTROL)

    def _of_type(self, piece: str, kind: int) -> int:
        id_ = self.pieces.id_of(piece)
        return id_ if id_ >= 0 and self.definition.types[id_] == kind else -1

    def _type(self, token: int) -> int:
        return self.definition.types[self._checked(token)]

    def _checked(self, token: int) -> int:
        if not 0 <= token < self.vocab_size:
            raise KeyError(f"{token} is not in the vocabulary")
        return token

    # The differences from a tokenizer.json

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> Tokenizer:
        """Raise ``ValueError``: new tokens have no scores, by which pieces are merged."""
        self.definition.extended(name, tokens, merges)
        return self

    def with_special(self, names: Set[str]) -> Tokenizer:
        """Return the encoding itself, since it has no added tokens."""
        return self

    def recipe(self) -> tuple[Callable[..., Encoding], dict[str, Any]]:
        return SentencePiece, self._by_value()

    def __setstate__(self, value: object) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"the state of a pickled SentencePiece is a {type(value).__name__}")
        SentencePiece.__init__(self, **value)


def placed_pieces(
    added: AddedTokens, model: SentencePieceBase, text: str, allowed: Set[str]
) -> list[PlacedPiece]:
    """Return the pieces of a text with their places; see ``encode_as_placed_pieces``.

    Args:
        added: finds added tokens, and normalizes the text between them.
        model: cuts the normalized text into pieces.
        text: a text without surrogates.
        allowed: the names of special tokens that become tokens.
    """
    pieces = model.pieces
    placed: list[PlacedPiece] = []
    for aligned, token in added.align(text, allowed):
        if token is not None:
            begin, end = aligned.places[0][0], aligned.places[-1][1]
            name = pieces.texts[token]
            placed.append(PlacedPiece(token, name, text[begin:end], begin, end))
            continue
        at, first = 0, len(placed)
        for piece, number in model.quick_split(aligned.text):
            begin = aligned.places[at][0]
            at += len(piece)
            end = aligned.places[at - 1][1]
            if number != pieces.unk_id:
                placed.append(PlacedPiece(number, piece, text[begin:end], begin, end))
            elif pieces.byte_fallback:
                numbers = [pieces.byte_ids[byte] for byte in piece.encode()]
                placed += [PlacedPiece(one, pieces.texts[one], "", begin, begin) for one in numbers]
                placed[-1] = placed[-1]._replace(surface=text[begin:end], end=end)
            elif len(placed) > first and placed[-1].id == number:
                last = placed[-1]
                surface = last.surface + text[begin:end]
                placed[-1] = PlacedPiece(number, last.piece + piece, surface, last.begin, end)
            else:
                placed.append(PlacedPiece(number, piece, text[begin:end], begin, end))
    return placed
