"""Baselines: encodings that split text by a rule, without a vocabulary that was learned.

Subword vocabularies are compared with them: bytes, characters, words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..pattern.splitter import Splitter
from ..pipeline.core import Definition
from ..pipeline.decoders.bytes import CharacterDecoder, WordDecoder
from ..pipeline.models.wordpiece import Characters, WholeChunks
from ..pipeline.special_tokens import NOTHING, AllowedSpecial, DisallowedSpecial, SpecialTokens
from .core import EncodingCore
from .encoding import Encoding
from .published import find


class _Words(NamedTuple):
    """A rule that splits text into words.

    Args:
        pattern: matches a word; the rest of a text is left out.
        between: the text between two words when they are decoded.
    """

    pattern: str
    between: str


#: The rules by the names of their encodings.
_RULES = {
    "words": _Words(r"\S+", " "),
    "words_and_punctuation": _Words(r"\w+|[^\w\s]", " "),
    "categories": _Words(r"\p{L}+|\p{M}+|\p{N}+|\p{P}+|\p{S}+|\p{Z}+|\p{C}+", ""),
}
#: A character, or a run of characters. The pattern only divides the work.
_RUNS = r"\s+|\S+"


class Baseline(Encoding):
    """An encoding by a rule.

    - ``bytes``: each byte of UTF-8; the id is its value.
    - ``characters``: each character; the id is its code point.
    - ``words``: runs of characters other than white space.
    - ``words_and_punctuation``: runs of letters, marks, digits and underscores, and each other
      character, without white space.
    - ``categories``: runs of characters of one Unicode category: letters, marks, numbers,
      punctuation, symbols, separators, others.

    Words are numbered in the order of their first occurrence in this process, so ids mean nothing
    elsewhere; counts do.

    >>> from compat_bpe import get_encoding
    >>> enc = get_encoding("words_and_punctuation")
    >>> enc.count("to be, or not")
    5
    >>> enc.decode(enc.encode("to be, or"))
    'to be , or'
    """

    reference = "baseline"

    @classmethod
    def shipped(cls, name: str) -> Baseline:
        """Return a new object for a baseline; ``KeyError`` if there is none."""
        baseline = cls.__new__(cls)
        baseline._set_up_rule(name)
        return baseline

    def _set_up_rule(self, name: str) -> None:
        tokens: dict[bytes, int] = {}
        if name == "bytes":
            tokens = {bytes([value]): value for value in range(256)}
            self._set_up(name, _RUNS, tokens, 255, {}, None)
        else:
            if name == "characters":
                pattern, self.max_token_value = _RUNS, 0x10FFFF
                model: Characters | WholeChunks = Characters()
                make_decoder: Callable[[], Any] = CharacterDecoder
            else:
                pattern, between = _RULES[name]
                self.max_token_value = 0
                model = words = WholeChunks()
                tokens = words.tokens
                make_decoder = lambda: WordDecoder(words.words, between)  # noqa: E731
            definition = Definition(
                added=SpecialTokens({}),
                splitter=Splitter(pattern),
                model=model,
                tokens=lambda: tokens,
                other_tokens=dict,
                make_decoder=make_decoder,
            )
            self.name = name
            self._pat_str = pattern
            self._special_tokens = {}
            self._special_token_values = set()
            self._special_names = frozenset()
            self.core = EncodingCore(definition)
        self._ships = True

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = "all",
    ) -> list[list[int]]:
        """Return the ids of each text, encoded in this process, since it has numbered the words."""
        return [self.encode_ordinary(one) for one in text]

    def __getstate__(self) -> object:
        return self.name

    def __setstate__(self, value: object) -> None:
        if not isinstance(value, str):
            raise ValueError(f"the state of a pickled Baseline is a {type(value).__name__}")
        # Word numbers are those of this process.
        self.__dict__ = find(value, type(self).shipped).__dict__

    def recipe(self) -> tuple[Callable[..., Encoding], dict[str, Any]]:
        return Baseline.shipped, {"name": self.name}
