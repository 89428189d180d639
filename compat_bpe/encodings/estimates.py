"""What makers publish about the tokens of models that have no public tokenizer.

An estimate is the number of characters divided by a factor that the maker publishes, or a number
of tokens times a factor that the caller has measured. It is made only for a caller who asks for
one. It is no encoding: there are no ids, and nothing says where tokens begin.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple, Union

from .families import NotPublic
from .model_names import resolve_model


class Factor(NamedTuple):
    """The number of characters to a token that a maker publishes.

    Args:
        maker: the name of the maker.
        characters: the number of characters.
        words: what the maker says, for messages.
        source: the address of the page that says so.
        seen: the date on which the page was looked at.
        caveat: what else is published about the number; may be empty.
    """

    maker: str
    characters: float
    words: str
    source: str
    seen: str
    caveat: str = ""

    def tokens(self, characters: int) -> int:
        """Return the approximate number of tokens of a text, rounded up.

        >>> factor = factor_for_model("claude-sonnet-4-5")
        >>> factor.tokens(0), factor.tokens(7), factor.tokens(8)
        (0, 2, 3)
        """
        return ceil(characters / self.characters)

    @property
    def reason(self) -> str:
        """The reason for which a number is an estimate, with the source and its date."""
        said = f"{self.maker} says {self.words} ({self.source}, {self.seen})"
        return f"{said}; {self.caveat}" if self.caveat else said


class OwnFactor(NamedTuple):
    """A factor that a caller has measured, by which another number of tokens is multiplied.

    Args:
        times: the factor; exact, so that 1.1 times 10 is 11.
        of: the maker's factor whose estimate is multiplied, or the name of the encoding whose
            tokens are.
    """

    times: Fraction
    of: Factor | str

    @classmethod
    def of_text(cls, times: str, of: Factor | str) -> OwnFactor:
        """Return a factor that is written in digits, as ``"1.18"``."""
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
        divisor = Fraction(1 if isinstance(self.of, str) else self.of.characters)
        return ceil(number * self.times / divisor)

    @property
    def reason(self) -> str:
        """The reason for which a number is an estimate.

        >>> OwnFactor.of_text("1.18", "o200k_base").reason
        'your factor of 1.18 times the tokens of o200k_base'
        """
        if isinstance(self.of, str):
            what = f"the tokens of {self.of}"
        else:
            # What a caller has measured has in it what the maker adds.
            what = f"the number that follows from this: {self.of._replace(caveat='').reason}"
        return f"your factor of {float(self.times):g} times {what}"


Estimate = Union[Factor, OwnFactor]

#: The name of a family → its maker's factor. A family that is not here gets no estimate.
FACTORS: dict[str, Factor] = {
    "Claude's models": Factor(
        "Anthropic",
        3.5,
        "a token is approximately 3.5 English characters",
        "https://platform.claude.com/docs/en/about-claude/glossary",
        "2026-11-23",
        # https://platform.claude.com/docs/en/build-with-claude/token-counting
        "Claude 4.7 and later models make approximately 30 percent more tokens, "
        "which are not in the number",
    ),
    "Gemini's models that Google's SDK does not count locally": Factor(
        "Google",
        4,
        "a token is about 4 characters",
        "https://ai.google.dev/gemini-api/docs/tokens",
        "2026-11-23",
    ),
}


def factor_for_model(model_name: str) -> Factor | None:
    """Return the factor that estimates the tokens of a model.

    Returns:
        None if the model needs no estimate, since it has a public tokenizer, or is not known.

    Raises:
        KeyError: the model has no public tokenizer, and no factor of its maker is known.

    >>> factor_for_model("anthropic/claude-sonnet-4-5").characters
    3.5
    >>> factor_for_model("gpt-4o") is None
    True
    """
    family = resolve_model(model_name)
    if not isinstance(family, NotPublic):
        return None
    factor = FACTORS.get(family.name)
    if factor is None:
        raise KeyError(
            f"{family.why(model_name)}; it cannot be estimated: no number of characters to a "
            "token is known that its maker publishes"
        )
    return factor
