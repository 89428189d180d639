"""The options of learning a Unigram vocabulary, checked where they are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...formats.checked_json import is_unicode
from ..bpe.learner import MOST_TOKENS
from ..options import check_least, check_special_names

#: The greatest ``max_piece_length``.
LONGEST_PIECE = 1024


@dataclass(frozen=True)
class UnigramOptions:
    """The options of learning a Unigram vocabulary, named as in tokenizers' ``UnigramTrainer``.

    Args:
        vocab_size: the number of pieces, special tokens included. There are fewer if too few
            substrings recur, and more if the characters alone take as many as this.
        unk_token: the unknown token, the first one unless it is among ``special_tokens``. Without
            it, text with a character that is no piece cannot be encoded.
        special_tokens: the names of special tokens, which come first.
        initial_alphabet: characters that are pieces even if they are in no word.
        shrinking_factor: the share of the pieces that a round of pruning leaves.
        n_sub_iterations: the number of steps of EM in a round.
        max_piece_length: the length in characters of the longest piece.
        seed_size: the number of pieces to begin with.

    Raises:
        ValueError: an option is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.

    >>> UnigramOptions(8000, unk_token="<unk>", special_tokens=["<s>", "</s>"]).first_pieces
    ('<unk>', '<s>', '</s>')
    """

    vocab_size: int = 8000
    unk_token: str | None = None
    special_tokens: Iterable[str] = ()
    initial_alphabet: Iterable[str] = ()
    shrinking_factor: float = 0.75
    n_sub_iterations: int = 2
    max_piece_length: int = 16
    seed_size: int = 1_000_000

    def __post_init__(self) -> None:
        if isinstance(self.special_tokens, str):
            raise TypeError(
                f"special_tokens is the str {self.special_tokens!r}; pass a list of names"
            )
        # Copies: an iterator ends, and what the caller changes later was not checked.
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        object.__setattr__(self, "initial_alphabet", tuple(self.initial_alphabet))
        check_least("vocab_size", self.vocab_size, 1)
        check_least("n_sub_iterations", self.n_sub_iterations, 1)
        check_least("max_piece_length", self.max_piece_length, 1)
        check_least("seed_size", self.seed_size, 1)
        if self.vocab_size > MOST_TOKENS:
            raise ValueError(
                f"a vocabulary of {self.vocab_size} is too large: {MOST_TOKENS} at most"
            )
        if self.max_piece_length > LONGEST_PIECE:
            raise ValueError(
                f"max_piece_length is {self.max_piece_length}; it must be {LONGEST_PIECE} or less"
            )
        if not 0 <= self.shrinking_factor < 1:
            raise ValueError(
                f"shrinking_factor is {self.shrinking_factor}; it must be 0 or more and less than 1"
            )
        self._check_names()

    @property
    def first_pieces(self) -> tuple[str, ...]:
        """The special tokens, with the unknown token, in the order of their ids."""
        names = tuple(self.special_tokens)
        if self.unk_token is None or self.unk_token in names:
            return names
        return (self.unk_token, *names)

    @property
    def target(self) -> int:
        """The number of pieces, the placeholder included, at which pruning ends."""
        return self.vocab_size * 11 // 10

    def _check_names(self) -> None:
        check_special_names(self.first_pieces)
        for char in self.initial_alphabet:
            if len(char) != 1 or not is_unicode(char):
                raise ValueError(f"{char!r} in initial_alphabet is not one character")
        if len(self.first_pieces) > self.vocab_size:
            raise ValueError(
                f"a vocabulary of {self.vocab_size} is too small for "
                f"{len(self.first_pieces)} special tokens"
            )
