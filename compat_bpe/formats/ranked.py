"""A vocabulary by ranks with its pattern, as several formats of JSON hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .checked_json import Json


class Ranked(NamedTuple):
    """The content of a file.

    Args:
        pattern: the pattern with its place in the file, for the message if it turns out wrong.
        ranks: each token and its rank, which is its id.
        special_tokens: names and ids.
    """

    pattern: Json
    ranks: dict[bytes, int]
    special_tokens: dict[str, int]


def check_size(part: Json | None, ranks: Mapping[bytes, int], special: Mapping[str, int]) -> None:
    """Refuse a vocabulary of another size than its file says, by the rules of tiktoken.

    Args:
        part: the number of tokens, ``explicit_n_vocab`` of tiktoken; None or 0 if none is said.
        ranks: the tokens.
        special: the special tokens.

    Raises:
        ValueError: there are more or fewer tokens, or the highest id is another.
    """
    if part is None or not part.number():
        return
    count = len(ranks) + len(special)
    highest = max(*ranks.values(), *special.values())
    if not part.number() == count == highest + 1:
        part.fail(f"is {part.number()}, but there are {count} tokens up to id {highest}")
