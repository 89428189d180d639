"""What vocabularies make of a corpus: how many tokens, for which of its groups, and which ones.

A corpus is a stream of parts of documents, so that one of any size takes little memory.  The counts
are those of whole documents, wherever these are cut into parts: each encoding gets the text in
pieces that end at its own safe cuts (``fit.stream``).  An encoding without safe cuts (with a
pattern that looks back, or a normalizer) gets each document as a whole.

All figures are integers; the ratios in ``MEASURES`` are made of them when they are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Callable, NamedTuple, TypeVar

from compat_bpe.encoding import Encoding
from compat_bpe.engine.splitter import repair
from compat_bpe.fit.stream import Cutter
from compat_bpe.tokenizer import Tokenizer
from compat_bpe.train.corpus import Part
from compat_bpe.train.unreachable import Unreachable, mergeable_tokens, unreachable_tokens


class Sizes(NamedTuple):
    """What there is of text.

    Args:
        documents: how many documents that are not empty.
        bytes: of UTF-8.
        characters: code points.
        words: runs of characters without white space between them, as ``str.split`` has them.  In
            writing that has no spaces between words, as Chinese and Thai, such a run is a clause or
            a sentence.
    """

    documents: int = 0
    bytes: int = 0
    characters: int = 0
    words: int = 0


class TokenCounts(NamedTuple):
    """What an encoding makes of it.

    Args:
        tokens: how many.
        chunks: how many chunks (pre-tokens) the text is split into before any merging.
        whole_chunks: how many of them are a single token.
    """

    tokens: int = 0
    chunks: int = 0
    whole_chunks: int = 0


_Counts = TypeVar("_Counts", Sizes, TokenCounts)


def _sum(counts: Iterable[_Counts], zero: _Counts) -> _Counts:
    return type(zero)(*map(sum, zip(zero, *counts)))


class TermTokens(NamedTuple):
    """How a term is cut: the bytes of its tokens, alone and after a space."""

    term: str
    alone: tuple[bytes, ...]
    after_space: tuple[bytes, ...]


class TokenUse(NamedTuple):
    """A token, and how often it came."""

    id: int
    token: bytes
    times: int


class EncodingReport:
    """What one encoding made of a corpus.

    Args:
        groups: the counts of each group.
        uses: how often each token came that came at all.
        token_bytes: the bytes of each token.
        mergeable: the ids of the tokens that are not special and not added.
        unreachable: those of them that no text gives; see ``unreachable``.
        terms: how the terms are cut.
    """

    def __init__(
        self,
        groups: Mapping[str, TokenCounts],
        uses: Mapping[int, int],
        token_bytes: Mapping[int, bytes],
        mergeable: Collection[int],
        unreachable: Sequence[Unreachable],
        terms: Sequence[TermTokens],
    ) -> None:
        self.groups = groups
        self.total = _sum(groups.values(), TokenCounts())
        self.unreachable = unreachable
        self.terms = terms
        #: How many mergeable tokens there are, and how many of them came.
        self.mergeable = len(mergeable)
        self.met = len(uses.keys() & mergeable)
        self._uses = uses
        self._bytes = token_bytes

    @property
    def never_met(self) -> int:
        """How many mergeable tokens did not come."""
        return self.mergeable - self.met

    @cached_property
    def uses(self) -> Sequence[TokenUse]:
        """All tokens that came, the most frequent first; of two as frequent the lower id."""
        ordered = sorted(self._uses.items(), key=lambda item: (-item[1], item[0]))
        return [TokenUse(number, self._bytes[number], times) for number, times in ordered]

    def longest(self, number: int) -> list[TokenUse]:
        """The longest tokens that came, by their bytes; of two as long the more frequent first."""
        return sorted(self.uses, key=lambda use: -len(use.token))[:number]

    def by_length(self) -> dict[int, int]:
        """For each length in bytes how many of the tokens of the text have it."""
        found: Counter[int] = Counter()
        for use in self.uses:
            found[len(use.token)] += use.times
        return dict(sorted(found.items()))

    @cached_property
    def covered(self) -> Sequence[int]:
        """How many bytes of the text the most frequent token is, the two most frequent, and so on.

        The last one is all bytes, unless the encoding normalizes or leaves something out.
        """
        return list(accumulate(len(use.token) * use.times for use in self.uses))


class Report(NamedTuple):
    """What some encodings made of a corpus."""

    groups: Mapping[str, Sizes]
    encodings: Mapping[str, EncodingReport]

    @property
    def total(self) -> Sizes:
        """The sizes of all groups together."""
        return _sum(self.groups.values(), Sizes())


class Measure(NamedTuple):
    """A figure of a table.

    Args:
        key: its name in JSON.
        title: its name on a page.
        of: what it is of some text; None where it would be a division by zero.
        is_share: whether it is a share of one.
    """

    key: str
    title: str
    of: Callable[[Sizes, TokenCounts], float | None]
    is_share: bool = False


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
        "whole_chunks",
        "chunks that are one token",
        lambda s, t: _ratio(t.whole_chunks, t.chunks),
        is_share=True,
    ),
)
BYTES_PER_TOKEN, TOKENS_PER_CHARACTER, TOKENS_PER_WORD, WHOLE_CHUNKS = MEASURES

#: What encodings are compared with: a token for each character, byte or word.
BASELINES: Mapping[str, Callable[[Sizes], TokenCounts]] = {
    "char": lambda sizes: TokenCounts(sizes.characters),
    "byte": lambda sizes: TokenCounts(sizes.bytes),
    "word": lambda sizes: TokenCounts(sizes.words),
}


def balance(
    groups: Mapping[str, Sizes], counts: Mapping[str, TokenCounts]
) -> dict[str, float | None]:
    """The tokens per character of each group relative to the least of all groups.

    So 3.0 is a group whose text takes three times as many tokens as as much text of the best one.
    The greatest is the ratio of the extremes.  None where there is no text.

    >>> sizes = {"en": Sizes(characters=100), "zh": Sizes(characters=10), "xx": Sizes()}
    >>> balance(sizes, {"en": TokenCounts(20), "zh": TokenCounts(8), "xx": TokenCounts()})
    {'en': 1.0, 'zh': 4.0, 'xx': None}
    """
    of = TOKENS_PER_CHARACTER.of
    found = {group: of(sizes, counts[group]) for group, sizes in groups.items()}
    least = min(filter(None, found.values()), default=None)
    return {
        group: None if least is None or ratio is None else ratio / least
        for group, ratio in found.items()
    }


def report(
    encodings: Mapping[str, Encoding],
    texts: Mapping[str, Iterable[str]],
    *,
    terms: Iterable[str] = (),
) -> Report:
    """Measure some encodings on texts.

    Args:
        encodings: by the names they have in the report.
        texts: the documents of each group.  Special tokens in them are plain text.
        terms: words or names of which it is of interest how they are cut.

    Raises:
        ValueError: a vocabulary has no token for some byte of the text.

    >>> from compat_bpe import get_encoding
    >>> found = report({"gpt2": get_encoding("gpt2")}, {"en": ["A dog."], "fr": ["Un chien."]})
    >>> found.groups["en"], found.total
    (Sizes(documents=1, bytes=6, characters=6, words=2), \
Sizes(documents=2, bytes=15, characters=15, words=4))
    >>> found.encodings["gpt2"].groups["fr"]
    TokenCounts(tokens=4, chunks=3, whole_chunks=2)
    >>> BYTES_PER_TOKEN.of(found.total, found.encodings["gpt2"].total)
    2.142857142857143
    """
    parts = (
        Part(text, group, "", True)
        for group, documents in texts.items()
        for text in documents
        if text
    )
    return report_parts(encodings, parts, groups=texts, terms=terms)


def report_parts(
    encodings: Mapping[str, Encoding],
    parts: Iterable[Part],
    *,
    groups: Iterable[str] = (),
    terms: Iterable[str] = (),
) -> Report:
    """The same for the parts of a corpus, as ``read_corpus`` gives them.

    Args:
        encodings, terms: as in ``report``.
        parts: the parts of each document after one another.
        groups: groups that are in the report in any case, before others; these come in the order of
            the parts.

    Raises:
        ValueError: as in ``report``.
    """
    sizes = {group: _Sizes() for group in groups}
    counters = [_Counter(encoding, list(sizes)) for encoding in encodings.values()]
    for text, group, is_first, is_last in _repaired(parts):
        sizes.setdefault(group, _Sizes()).add(text, is_first)
        for counter in counters:
            counter.add(text, group, is_first, is_last)
    listed = list(terms)
    return Report(
        {group: found.sizes() for group, found in sizes.items()},
        {name: counter.report(listed) for name, counter in zip(encodings, counters)},
    )


def _repaired(parts: Iterable[Part]) -> Iterator[tuple[str, str, bool, bool]]:
    """Text without surrogates, its group, and whether a document begins and ends with it."""
    is_first = True
    for part in parts:
        yield repair(part.text), part.group, is_first, part.is_last
        is_first = part.is_last


class _Sizes:
    """The sizes of a group, while they are counted."""

    def __init__(self) -> None:
        self._documents = self._bytes = self._characters = self._words = 0
        self._is_in_word = False

    def add(self, text: str, is_first: bool) -> None:
        if not text:
            return
        self._documents += is_first
        self._characters += len(text)
        self._bytes += len(text) if text.isascii() else len(text.encode())
        self._words += len(text.split())
        if not is_first and self._is_in_word and not text[0].isspace():
            self._words -= 1
        self._is_in_word = not text[-1].isspace()

    def sizes(self) -> Sizes:
        return Sizes(self._documents, self._bytes, self._characters, self._words)


class _Counter:
    """Counts what one encoding makes of a corpus."""

    def __init__(self, encoding: Encoding, groups: Iterable[str]) -> None:
        self._encoding = encoding
        self._core = encoding._core_bpe
        self._cutter = Cutter(encoding, frozenset())
        self._uses: Counter[int] = Counter()
        self._groups = {group: TokenCounts() for group in groups}

    def add(self, text: str, group: str, is_first: bool, is_last: bool) -> None:
        if not (is_first and is_last):
            text = self._cutter.feed(text)
            if is_last:
                text += self._cutter.finish()
        counts = self._groups.get(group, TokenCounts())
        self._groups[group] = _sum([counts, self._count(text)], TokenCounts())

    def _count(self, text: str) -> TokenCounts:
        tokens = chunks = whole = 0
        uses = self._uses
        # Of a text's chunks many are the same.
        for ids, count in Counter(self._core.ids_by_chunk(text)).items():
            tokens += len(ids) * count
            chunks += count
            if len(ids) == 1:
                whole += count
            for number in ids:
                uses[number] += count
        return TokenCounts(tokens, chunks, whole)

    def report(self, terms: Sequence[str]) -> EncodingReport:
        mergeable = mergeable_tokens(self._encoding)
        token_bytes = _token_bytes(self._encoding)
        never_met = [token for token, number in mergeable.items() if number not in self._uses]

        def cut(term: str) -> tuple[bytes, ...]:
            return tuple(map(token_bytes.__getitem__, self._encoding.encode_ordinary(term)))

        return EncodingReport(
            self._groups,
            self._uses,
            token_bytes,
            mergeable.values(),
            list(unreachable_tokens(self._encoding, never_met)),
            [TermTokens(term, cut(term), cut(" " + term)) for term in terms],
        )


def _token_bytes(encoding: Encoding) -> dict[int, bytes]:
    """The bytes of each token, also where the encoding cannot decode."""
    found = {number: token for token, number in encoding._core_bpe.encoder.items()}
    if isinstance(encoding, Tokenizer):
        found.update(encoding._core_bpe.other_tokens)
    return found
