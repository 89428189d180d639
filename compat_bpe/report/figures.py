"""The figures of a report on vocabularies: counts, and the ratios of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Callable, NamedTuple, TypeVar

from ..encodings.encoding import Encoding
from ..parallel.lazy import cached_property
from ..pipeline.chunks import is_byte_level
from .curves import Check
from .unreachable import Unreachable, unreachable_tokens


class Sizes(NamedTuple):
    """The size of some text.

    Args:
        documents: the number of documents that are not empty.
        bytes: the size in bytes of UTF-8.
        characters: the number of code points.
        words: the number of runs of characters between white space, as in ``str.split``. In
            writing without spaces between words, such as Chinese and Thai, a run is a clause or a
            sentence.
    """

    documents: int = 0
    bytes: int = 0
    characters: int = 0
    words: int = 0


class TokenCounts(NamedTuple):
    """The tokens and chunks that an encoding makes of some text.

    Args:
        tokens: the number of tokens.
        chunks: the number of chunks (pre-tokens) before any merging.
        whole_chunks: the number of chunks that are a single token, and not unknown.
        unknown: the number of tokens that stand for what is unknown; None if the vocabulary has no
            such token.
        lost: the number of words that decoding the tokens of a document does not give back, as
            often as they are in it.
    """

    tokens: int = 0
    chunks: int = 0
    whole_chunks: int = 0
    unknown: int | None = None
    lost: int = 0


_Counts = TypeVar("_Counts", Sizes, TokenCounts)


def add_counts(counts: Iterable[_Counts], zero: _Counts) -> _Counts:
    sums: Iterable[Any] = map(_sum, zip(zero, *counts))
    return type(zero)(*sums)


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


class TermTokens(NamedTuple):
    """A term and the bytes of its tokens, alone and after a space."""

    term: str
    alone: Sequence[bytes]
    after_space: Sequence[bytes]


class TokenUse(NamedTuple):
    """A token and the number of times that it occurs.

    Args:
        id: its id.
        token: its bytes; those of the token as in the vocabulary if it is no byte-level one.
        times: the number of times.
        size: the length in bytes of what it is decoded to.
    """

    id: int
    token: bytes
    times: int
    size: int


class EncodingReport:
    """The figures of one encoding on a corpus.

    Args:
        encoding: the encoding.
        groups: the counts of each group.
        uses: the number of times that each used token occurs, by its id.
        terms: words or names whose tokens are shown.
    """

    def __init__(
        self,
        encoding: Encoding,
        groups: Mapping[str, TokenCounts],
        uses: Mapping[int, int],
        terms: Iterable[str] = (),
    ) -> None:
        self._encoding = encoding
        self._uses = uses
        self.groups = groups
        self.total = add_counts(groups.values(), TokenCounts())
        self.terms = [TermTokens(term, self._cut(term), self._cut(" " + term)) for term in terms]

    @property
    def times(self) -> Mapping[int, int]:
        """The number of times that each used token occurs, by its id."""
        return self._uses

    @cached_property
    def mergeable(self) -> int | None:
        """The number of tokens that are neither special nor added; None if there is no end of them.

        It is None for baselines without a vocabulary, such as words.
        """
        is_open = self._encoding.reference == "baseline" and not self._encoding.core.model.is_text
        return None if is_open else len(self._encoding.ordinary_tokens())

    @property
    def used(self) -> int:
        """The number of mergeable tokens that occur in the corpus."""
        if self.mergeable is None:
            return len(self._uses)
        return self.mergeable - len(self._unused)

    @property
    def unused(self) -> int | None:
        """The number of mergeable tokens that do not occur in the corpus; None as ``mergeable``."""
        return None if self.mergeable is None else len(self._unused)

    def share(self, tokens: int | None) -> float | None:
        """Return the share of the mergeable tokens; None if it is not defined."""
        return None if tokens is None or not self.mergeable else tokens / self.mergeable

    @cached_property
    def _unused(self) -> list[bytes]:
        known = self._encoding.ordinary_tokens()
        return [token for token, number in known.items() if number not in self._uses]

    @cached_property
    def unreachable(self) -> Sequence[Unreachable] | None:
        """The unused tokens that no text can have; None if this is not known for the model.

        It is known for byte-level BPE (see ``report.unreachable``).
        """
        if not is_byte_level(self._encoding.core):
            return None
        return list(unreachable_tokens(self._encoding, self._unused))

    @cached_property
    def uses(self) -> Sequence[TokenUse]:
        """All used tokens, most frequent first; equally frequent ones are sorted by id."""
        ordered = sorted(self._uses.items(), key=lambda item: (-item[1], item[0]))
        return [
            TokenUse(number, self._bytes[number], times, self._size(number))
            for number, times in ordered
        ]

    @cached_property
    def _bytes(self) -> Mapping[int, bytes]:
        """The bytes of each token."""
        return _Bytes(self._encoding)

    def _size(self, number: int) -> int:
        if self._encoding.core.definition.make_decoder is None:
            return len(self._bytes[number])
        return self._encoding.core.token_length(number)

    def _cut(self, term: str) -> list[bytes]:
        return [self._bytes[number] for number in self._encoding.encode_ordinary(term)]

    def longest(self, number: int) -> list[TokenUse]:
        """Return the longest used tokens in bytes; of equal lengths, the more frequent first."""
        return sorted(self.uses, key=lambda use: -use.size)[:number]

    def by_length(self) -> dict[int, int]:
        """Return the number of tokens in the corpus by their length in bytes."""
        lengths: Counter[int] = Counter()
        for use in self.uses:
            lengths[use.size] += use.times
        return dict(sorted(lengths.items()))

    @cached_property
    def covered(self) -> Sequence[int]:
        """The bytes that the most frequent token covers, the two most frequent, and so on.

        The last number is that of all bytes, unless the encoding normalizes or leaves something
        out.
        """
        return list(accumulate(use.size * use.times for use in self.uses))


class _Bytes(dict[int, bytes]):
    """The bytes of each token."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding.core.bytes_by_id())
        self._encoding = encoding

    def __missing__(self, number: int) -> bytes:
        # A baseline's, which has no vocabulary.
        return self._encoding.decode_single_token_bytes(number)


class Report(NamedTuple):
    """The figures of some encodings on a corpus, and the learning curves of some of them."""

    groups: Mapping[str, Sizes]
    encodings: Mapping[str, EncodingReport]
    curves: Mapping[str, Sequence[Check]] = {}

    @property
    def total(self) -> Sizes:
        """The sizes of all groups together."""
        return add_counts(self.groups.values(), Sizes())


#: The forms of a ratio and of a share, for ``str.format``.
RATIO, SHARE = "{:.2f}", "{:.1%}"


class Measure(NamedTuple):
    """A figure of a table.

    Args:
        key: its name in JSON.
        title: its name on a page.
        of: computes it from sizes and counts; None instead of a division by zero.
        form: its form, for ``str.format``.
    """

    key: str
    title: str
    of: Callable[[Sizes, TokenCounts], float | None]
    form: str = RATIO


def _ratio(number: int, of: int) -> float | None:
    return number / of if of else None


MEASURES = (
    Measure("bytes_per_token", "bytes per token", lambda s, t: _ratio(s.bytes, t.tokens)),
    Measure(
        "tokens_per_character",
        "tokens per character",
        lambda s, t: _ratio(t.tokens, s.characters),
    ),
    Measure("tokens_per_word", "tokens per word", lambda s, t: _ratio(t.tokens, s.words)),
    Measure(
        "whole_chunk_share",
        "chunks that are one token",
        lambda s, t: _ratio(t.whole_chunks, t.chunks),
        SHARE,
    ),
    Measure(
        "unknown_share",
        "tokens that are unknown",
        lambda s, t: None if t.unknown is None else _ratio(t.unknown, t.tokens),
        "{:.2%}",
    ),
    Measure(
        "kept_word_share",
        "words that decoding gives back",
        lambda s, t: _ratio(s.words - t.lost, s.words),
        "{:.2%}",
    ),
)
BYTES_PER_TOKEN, TOKENS_PER_CHARACTER, TOKENS_PER_WORD, WHOLE_CHUNKS, UNKNOWN, KEPT = MEASURES

#: The baselines of comparisons: one token for each character, byte or word.
BASELINES: Mapping[str, Callable[[Sizes], TokenCounts]] = {
    "char": lambda sizes: TokenCounts(sizes.characters),
    "byte": lambda sizes: TokenCounts(sizes.bytes),
    "word": lambda sizes: TokenCounts(sizes.words),
}


def balance(
    groups: Mapping[str, Sizes], counts: Mapping[str, TokenCounts]
) -> dict[str, float | None]:
    """Return the tokens per character of each group, divided by the smallest of all groups.

    A group with 3.0 takes three times as many tokens as the best group for the same number of
    characters. The greatest value is the ratio of the worst group to the best. A group without
    text has None.

    >>> sizes = {"en": Sizes(characters=100), "zh": Sizes(characters=10), "xx": Sizes()}
    >>> balance(sizes, {"en": TokenCounts(20), "zh": TokenCounts(8), "xx": TokenCounts()})
    {'en': 1.0, 'zh': 4.0, 'xx': None}
    """
    of = TOKENS_PER_CHARACTER.of
    ratios = {group: of(sizes, counts[group]) for group, sizes in groups.items()}
    least = min(filter(None, ratios.values()), default=None)
    return {
        group: None if least is None or ratio is None else ratio / least
        for group, ratio in ratios.items()
    }


def worst_to_best(ratios: Mapping[str, float | None]) -> float | None:
    """Return the greatest value of a ``balance``; None if it has none."""
    return max(filter(None, ratios.values()), default=None)
