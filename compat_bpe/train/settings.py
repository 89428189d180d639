"""The settings of training, checked where they are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..encodings.encoding import Encoding
from ..formats.checked_json import is_unicode
from ..pipeline.byte_level import BYTE_TO_UNICODE, UNICODE_TO_BYTE, decode_bytes
from ..pipeline.chunks import is_byte_level
from .bpe.learner import MOST_TOKENS
from .checked_numbers import check_integer as check_integer
from .checked_numbers import check_least as check_least

if TYPE_CHECKING:
    from .convergence import Convergence

#: The tokens that training begins with, in the order of their ids.
BYTES = [bytes([byte]) for byte in BYTE_TO_UNICODE]

#: The largest weight of a group; its inverse is the smallest.  With these, no number overflows.
_MOST_WEIGHT = 1e9


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of training a byte-level BPE vocabulary.

    Args:
        vocab_size and all others: as in ``train_bpe``.

    Raises:
        ValueError: a setting is impossible.  The message names it.  ``Trainer`` checks the pattern.
        TypeError: ``special_tokens`` is a single str.

    >>> TrainingSettings(300, special_tokens=["<|end|>"]).most_merges
    43
    >>> TrainingSettings(200)
    Traceback (most recent call last):
    ValueError: a vocabulary of 200 is too small: with all single bytes and special tokens it has \
256 tokens or more
    """

    vocab_size: int | None = None
    num_merges: int | None = None
    pattern: str = "gpt2"
    special_tokens: Iterable[str] = ()
    min_frequency: int = 1
    max_token_length: int | None = None
    weights: Mapping[str, float] | None = None
    convergence: Convergence | None = None

    def __post_init__(self) -> None:
        if isinstance(self.special_tokens, str):
            raise TypeError(
                f"special_tokens is the str {self.special_tokens!r}; pass a list of names"
            )
        # Copies: an iterator ends, and what the caller changes later was not checked.
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if self.weights is not None:
            object.__setattr__(self, "weights", dict(self.weights))
        self._check_special_tokens()
        self._check_size()
        check_least("max_token_length", self.max_token_length, 1)
        check_least("min_frequency", self.min_frequency, 0)
        check_weights(self.weights or {})

    @property
    def least_tokens(self) -> int:
        """The number of tokens without any merge: single bytes and special tokens."""
        return len(BYTES) + len(tuple(self.special_tokens))

    @property
    def most_merges(self) -> int:
        """The number of merges that are learned unless nothing is left to merge."""
        most = MOST_TOKENS - len(BYTES)
        if self.num_merges is not None:
            most = min(most, self.num_merges)
        if self.vocab_size is not None:
            most = min(most, self.vocab_size - self.least_tokens)
        return most

    def _check_special_tokens(self) -> None:
        check_special_names(self.special_tokens)
        for name in self.special_tokens:
            if not {*BYTES}.isdisjoint(spellings(name)):
                raise ValueError(
                    f"the special token {name!r} is written like a single byte's token"
                )

    def _check_size(self) -> None:
        size, least = self.vocab_size, self.least_tokens
        check_has_end(size, self.num_merges, self.convergence)
        check_least("num_merges", self.num_merges, 0)
        check_integer("vocab_size", size)
        if size is not None and size < least:
            raise ValueError(
                f"a vocabulary of {size} is too small: with all single bytes and special "
                f"tokens it has {least} tokens or more"
            )
        if size is not None and size > MOST_TOKENS:
            raise ValueError(f"a vocabulary of {size} is too large: {MOST_TOKENS} at most")


def check_byte_level(encoding: Encoding, done: str) -> None:
    """Raise ``ValueError`` if an encoding is no byte-level BPE; ``done`` says what cannot be done.

    >>> from compat_bpe import get_encoding
    >>> check_byte_level(get_encoding("words"), "extended")
    Traceback (most recent call last):
    ValueError: 'words' is no byte-level BPE, so it cannot be extended
    """
    if not is_byte_level(encoding.core):
        raise ValueError(f"{encoding.name!r} is no byte-level BPE, so it cannot be {done}")


def check_has_end(
    vocab_size: int | None, num_merges: int | None, convergence: Convergence | None
) -> None:
    """Raise ``ValueError`` if nothing says when learning stops."""
    converges = convergence is not None and convergence.patience is not None
    if vocab_size is None and num_merges is None and not converges:
        raise ValueError("give vocab_size, num_merges or convergence")


def check_special_names(names: Iterable[str]) -> None:
    """Raise ``ValueError`` if a name cannot be that of a special token, or comes twice."""
    seen: set[str] = set()
    for name in names:
        if not name:
            raise ValueError("a special token has an empty name")
        if not is_unicode(name):
            raise ValueError(f"the special token {name!r} has a lone surrogate")
        if name in seen:
            raise ValueError(f"the special token {name!r} is named twice")
        seen.add(name)


def check_weights(weights: Mapping[str, float]) -> None:
    """Raise ``ValueError`` if the weight of a group is not positive, or is out of all proportion.

    >>> check_weights({"en": 1e300})
    Traceback (most recent call last):
    ValueError: the weight of 'en' is 1e+300; it must be from 1e-09 to 1e+09
    """
    for group, weight in weights.items():
        if not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise ValueError(f"the weight of {group!r} is {weight!r:.60}; it must be positive")
        if not 1 / _MOST_WEIGHT <= weight <= _MOST_WEIGHT:
            raise ValueError(
                f"the weight of {group!r} is {weight!r:.60}; it must be from "
                f"{1 / _MOST_WEIGHT:g} to {_MOST_WEIGHT:g}"
            )


def spellings(name: str) -> list[bytes]:
    """Return the tokens that a file may write like a special token.

    One is the name as text.  The other is read from the name by GPT-2's byte alphabet, if it has
    all characters of the name.

    >>> spellings("Ġa"), spellings("世")
    ([b'\\xc4\\xa0a', b' a'], [b'\\xe4\\xb8\\x96'])
    """
    found = [name.encode()]
    if UNICODE_TO_BYTE.keys() >= set(name):
        found.append(decode_bytes(name))
    return found
