"""What makers publish about the tokens of models that have no public tokenizer.

An estimate is the number of characters divided by a factor that the maker publishes. It is made
only for a caller who asks for one. It is no encoding: there are no ids, and nothing says where
tokens begin.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

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
