"""The result of extending a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...encodings.encoding import Encoding
from ..diff import Changes
from ..run.results import LearnedMerge


class Term(NamedTuple):
    """A term, before and after extending.

    Args:
        text: the term, with a space before it or without.
        before, after: its ids in the old and in the new vocabulary.
        reason: the reason why it is not one token; empty if it is.
    """

    text: str
    before: list[int]
    after: list[int]
    reason: str


class Extended(NamedTuple):
    """The result of extending a vocabulary.

    Args:
        encoding: the new encoding.
        merges: the added merges, in the order of the new ids, one for each new token.
            ``frequency`` is 0 for merges of a term. A token that no merge makes, such as a whole
            word, is ``left``, and ``right`` is empty.
        terms: the terms, with and without a space.
        changes: the chunks of the texts that are encoded differently.
        tokens: the new tokens, in the order of their ids.
    """

    encoding: Encoding
    merges: list[LearnedMerge]
    terms: list[Term]
    changes: Changes
    tokens: Sequence[bytes]
