"""Estimates of the tokens of models that have no public tokenizer, by their makers' figures.

An estimate is the number of characters divided by a factor that the maker publishes, or a number
of tokens times a factor that the caller has measured. It is made only if the caller asks for it.
An estimate has no ids and no places where tokens begin.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple, Union

from .families import NotPublic
from .model_names import spelling_of


class Factor(NamedTuple):
    """The number of characters per token that a maker publishes.

    Args:
        maker: the name of the maker.
        characters: the number of characters.
        words: the maker's statement, for messages.
        source: the address of the page with the statement.
        seen: the date on which the page was read.
        caveat: another published statement about the number; may be empty.
        times: the factor by which the number is multiplied, by the caveat.
    """

    maker: str
    characters: float
    words: str
    source: str
    seen: str
    caveat: str = ""
    times: Fraction = Fraction(1)

    def tokens(self, characters: int) -> int:
        """Return the approximate number of tokens of a text, rounded up.

        >>> factor = FACTORS["Claude's models"]
        >>> factor.tokens(0), factor.tokens(7), factor.tokens(8)
        (0, 2, 3)
        """
        return ceil(characters * self.times / Fraction(self.characters))

    def limit(self, tokens: int) -> int:
        """Return the most characters whose estimate is at most a number of tokens.

        >>> FACTORS["Claude's models"].limit(3)
        10
        """
        return floor(tokens * Fraction(self.characters) / self.times)

    @property
    def reason(self) -> str:
        """The basis of the estimate, with the source and its date."""
        said = f"{self.maker} says {self.words} ({self.source}, {self.seen})"
        return f"{said}; {self.caveat}" if self.caveat else said


class OwnFactor(NamedTuple):
    """A factor that a caller has measured. Another number of tokens is multiplied by it.

    Args:
        times: the factor; exact, so that 1.1 times 10 is 11.
        of: the maker's factor whose estimate is multiplied, or the name of the encoding whose
            tokens are.
    """

    times: Fraction
    of: Factor | str

    @classmethod
    def of_text(cls, times: str, of: Factor | str) -> OwnFactor:
        """Return a factor that is written in digits, such as ``"1.18"``."""
        return cls(Fraction(times), of)

    def tokens(self, number: int) -> int:
        """Return the approximate number of tokens, rounded up.

        Args:
            number: the number of characters for a maker's factor, of tokens for an encoding.

        >>> OwnFactor.of_text("1.1", "o200k_base").tokens(10)
        11
        >>> OwnFactor.of_text("1.1", FACTORS["Claude's models"]).tokens(35)
        11
        """
        return ceil(number * self.times / self._divisor)

    def limit(self, tokens: int) -> int:
        """Return the most characters or tokens whose estimate is at most a number of tokens.

        >>> OwnFactor.of_text("1.1", "o200k_base").limit(10)
        9
        """
        return floor(tokens * self._divisor / self.times)

    @property
    def _divisor(self) -> Fraction:
        return Fraction(1 if isinstance(self.of, str) else self.of.characters)

    @property
    def reason(self) -> str:
        """The basis of the estimate.

        >>> OwnFactor.of_text("1.18", "o200k_base").reason
        'your factor of 1.18 times the tokens of o200k_base'
        """
        if isinstance(self.of, str):
            what = f"the tokens of {self.of}"
        else:
            # A measured factor includes what the caveat adds.
            what = f"this estimate: {self.of._replace(caveat='').reason}"
        return f"your factor of {float(self.times):g} times {what}"


Estimate = Union[Factor, OwnFactor]

_CLAUDE = Factor(
    "Anthropic",
    3.5,
    "a token is approximately 3.5 English characters",
    "https://platform.claude.com/docs/en/about-claude/glossary",
    "2026-11-23",
)
#: https://platform.claude.com/docs/en/build-with-claude/token-counting, seen on the same day.
_MORE_TOKENS = "Claude 4.7 and later models make approximately 30 percent more tokens"
_NEWER_CLAUDE = re.compile(r"claude-([a-z]+-)?(4[.-][7-9]|[5-9]|[1-9]\d)(?!\d)")
_OLDER_CLAUDE = re.compile(r"claude-([a-z]+-)?[1-4](?!\d)|claude-instant")

#: The name of a family → its maker's factor. Other families have no estimate.
FACTORS: dict[str, Factor] = {
    "Claude's models": _CLAUDE._replace(caveat=f"{_MORE_TOKENS}, which are not in the number"),
    "Gemini's models that Google's SDK does not count locally": Factor(
        "Google",
        4,
        "a token is about 4 characters",
        "https://ai.google.dev/gemini-api/docs/tokens",
        "2026-11-23",
    ),
}


def factor_of(model_name: str, family: NotPublic) -> Factor | None:
    """Return the factor that estimates the tokens of a model of a family; None if none is known.

    >>> from compat_bpe.encodings.model_names import resolve_model
    >>> family = resolve_model("claude-opus-4-7")
    >>> factor_of("claude-opus-4-7", family).tokens(35), factor_of("claude-3-opus", family).caveat
    (13, '')
    """
    factor = FACTORS.get(family.name)
    if factor is None or factor.maker != _CLAUDE.maker:
        return factor
    spelling = spelling_of(model_name)
    name = model_name if spelling is None else spelling.model
    if _NEWER_CLAUDE.match(name):
        return _CLAUDE._replace(
            caveat=f"{_MORE_TOKENS}, which are in the number", times=Fraction(13, 10)
        )
    # A name without a version may be either.
    return _CLAUDE if _OLDER_CLAUDE.match(name) else factor
