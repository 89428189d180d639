"""Counting the chunks of a corpus, exactly or in bounded memory; chunks that come with counts.

Text arrives in pieces, and only the text after the last cut point is held back (see
``Core.next_cut_point``). So memory grows with the number of distinct chunks, not with the corpus.
With a ``Spill`` it is bounded: counts are handed over when there are many. Worker processes share
the splitting of a large corpus.

Counts may come from another program or from other machines. A row is a chunk and its count, and
perhaps its group. The counts of a chunk that is in several rows are added up.

Exact counts need memory or disk for every distinct chunk, and most chunks occur once. A *summary*
holds at most *m* chunks. When there are more, the count of rank *m + 1*, called *c*, is subtracted
from all counts, and chunks with nothing left are dropped. (This is the summary of Misra and Gries;
that such summaries can be merged in any order is from "Mergeable summaries" by Agarwal and others,
2012.)

The property: each count is too low by at most ``error``, the sum of all these *c*, and ``error`` is
at most ``missing / (m + 1)``, where ``missing`` is the number of occurrences that are in no count.
So a chunk that occurs more often than ``total / (m + 1)`` times is always there.

The argument: whenever *c* is subtracted, at least *m + 1* chunks lose *c* each, so ``missing``
grows by *(m + 1) c* or more, and ``error`` by *c*. In a merge, both are those of the two summaries
added up, before something is subtracted again. So the bound holds for any order and any parts in
which chunks are counted and summaries are merged, though the counts may differ.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any, Callable, NamedTuple, Union

from ..encodings.encoding import Encoding
from ..formats.checked_json import is_unicode
from ..parallel.pool import Pool, Tell
from ..parallel.processes import processors
from ..pipeline.core import texts_of_chunks
from ..pipeline.cutter import PORTION, Cutter, portions
from ..unicode.surrogates import repair

#: The number of characters counted at a time.
_SHARE = 1 << 18
#: The number of characters from which workers save more time than starting them takes.
_WORTH_WORKERS = 4_000_000

#: The frequency of each chunk, by group.
Counts = dict[str, Counter[str]]
#: A part of a text, and True if it begins at a cut point within its text.
Waiting = tuple[str, bool]

#: The most characters for each chunk of ``Spill.most``, on average: chunks may be long.
_LENGTH = 128


class Spill(NamedTuple):
    """The way to hand counts over before all text is counted.

    Args:
        take: called with counts of a part of the text; the same chunk may come again.
        most: the most distinct chunks that a process holds before it hands them over, besides
            those of one more portion of text.
    """

    take: Callable[[Counts], None]
    most: int


class ChunkCounter:
    """A counter of the chunks, by group, of texts that arrive in pieces.

    Args:
        encoding: the encoding that splits the text.
        workers: the most worker processes to use for a large corpus; none if it is 1. None for one
            per processor.
        spill: the way to hand counts over early; ``finish`` hands over the rest, and returns none.

    Raises:
        ValueError: ``workers`` is not positive.

    >>> from compat_bpe import get_encoding
    >>> counter = ChunkCounter(get_encoding("gpt2"))
    >>> counter.feed("a do", is_last=False)
    >>> counter.feed("g and a dog")
    >>> counter.finish()
    {'': Counter({' dog': 2, 'a': 1, ' and': 1, ' a': 1})}
    """

    def __init__(
        self, encoding: Encoding, workers: int | None = None, spill: Spill | None = None
    ) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers is {workers}; it must be 1 or more")
        self._encoding = encoding
        self._cutter = Cutter(encoding, frozenset(), whole_chunks=True)
        self._is_within = False
        self._waiting: defaultdict[str, list[Waiting]] = defaultdict(list)
        self._waiting_size = 0
        self._size = 0
        self._counts: Counts = defaultdict(Counter)
        #: The number of added tokens between the chunks that were counted so far.
        self.added_tokens = 0
        self._spill = spill
        self._full = _Full(None if spill is None else spill.most)
        self._most_workers = processors() if workers is None else workers
        self._workers: Pool | None = None

    def __enter__(self) -> ChunkCounter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._workers is not None:
            self._workers.__exit__()

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one.

        Args:
            text: any text; surrogates are repaired as in ``Encoding.encode_ordinary``.
            group: the group to count it for.
            is_last: True if the text ends with this piece; False if the next piece continues it.

        Raises:
            TypeError: ``text`` is not a str.
            OSError: a worker process has been killed.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        if is_last and not self._is_within and len(text) <= PORTION:
            self._add(text, group, goes_on=False)
            return
        cutter = self._cutter
        for portion in portions(text):
            part = cutter.feed(portion)
            self._add(part, group, goes_on=cutter.encoding is not self._encoding)
        self._is_within = not is_last
        if is_last:
            part = cutter.finish()
            self._add(part, group, goes_on=cutter.encoding is not self._encoding)

    def add(
        self, counts: Counted, group: str = "", check: Callable[[str], None] = lambda chunk: None
    ) -> None:
        """Add chunks that come with their counts.

        Args:
            counts: the chunks and their counts; see ``rows_of``.
            group: the group of chunks that come without one.
            check: called with each chunk; raises an error if it cannot be one.

        Raises:
            TypeError, ValueError: as ``rows_of`` and ``check``.
        """
        known = self._counts
        for chunk, count, own in rows_of(counts, group):
            check(chunk)
            known[own][chunk] += count

    def finish(self) -> Counts:
        """Return the counts of everything fed.

        Raises:
            OSError: a worker process has been killed.
        """
        self.so_far()
        self._hand_over()
        return dict(self._counts)

    def so_far(self) -> Counts:
        """Return the counts of all texts that have ended, except those that were handed over.

        More may be fed. Until then, the counts must not be changed.

        Raises:
            OSError: a worker process has been killed.
        """
        self._pass_on()
        if self._workers is not None:
            for told in self._workers.finish():
                self._told(*told)
            self._workers.__exit__()
            self._workers = None
        return self._counts

    def _add(self, text: str, group: str, *, goes_on: bool) -> None:
        if not text:
            return
        self._waiting[group].append((text, goes_on))
        self._waiting_size += len(text)
        if self._waiting_size >= _SHARE:
            self._pass_on()

    def _pass_on(self) -> None:
        """Have the waiting texts counted, here or by a worker."""
        waiting = dict(self._waiting)
        self._waiting.clear()
        self._size += self._waiting_size
        self._waiting_size = 0
        if self._size > _WORTH_WORKERS and self._workers is None and self._most_workers > 1:
            arguments = (*self._encoding.recipe(), self._full.most)
            workers = Pool(_CountingWorker, arguments, self._most_workers).__enter__()
            if workers.size:
                self._workers = workers
            else:
                self._most_workers = 1
        if self._workers is None:
            self.added_tokens += count(self._encoding, waiting, self._counts)
            if self._full.is_after(waiting, self._counts):
                self._hand_over()
        else:
            for told in self._workers.give(waiting):
                self._told(*told)

    def _told(self, counts: Counts, added_tokens: int) -> None:
        """Take the counts of a worker."""
        self.added_tokens += added_tokens
        if self._spill is None:
            _add_counts(self._counts, counts)
        else:
            self._spill.take(counts)

    def _hand_over(self) -> None:
        if self._spill is not None:
            self._spill.take(dict(self._counts))
            self._counts.clear()


def count(encoding: Encoding, texts: Mapping[str, list[Waiting]], counts: Counts) -> int:
    """Count the chunks of the texts of each group; return the number of added tokens in them."""
    added = 0
    for group, some in texts.items():
        counter = counts.setdefault(group, Counter())
        for text, goes_on in some:
            core = (encoding.continued if goes_on else encoding).core
            for chunks, token in texts_of_chunks(core, repair(text)):
                counter.update(chunks)
                added += token is not None
    return added


def _add_counts(counts: Counts, others: Counts) -> None:
    for group, other in others.items():
        known = counts.setdefault(group, Counter())
        if known:
            known.update(other)
        else:
            counts[group] = other


class _Full:
    """Decides when the counts are too many and are handed over.

    Args:
        most: as in ``Spill``; None for never.
    """

    def __init__(self, most: int | None) -> None:
        self.most = most
        self._characters = 0

    def is_after(self, texts: Mapping[str, list[Waiting]], counts: Counts) -> bool:
        """Return True if the counts are to be handed over after these texts."""
        if self.most is None:
            return False
        # The chunks together are no longer than the text that they are from.
        self._characters += sum(len(text) for some in texts.values() for text, _ in some)
        is_full = (
            sum(map(len, counts.values())) >= self.most or self._characters >= self.most * _LENGTH
        )
        if is_full:
            self._characters = 0
        return is_full


class _CountingWorker:
    """Counts in a process of its own, and tells the counts at the end or when there are many."""

    def __init__(
        self, make: Callable[..., Encoding], arguments: dict[str, Any], most: int | None
    ) -> None:
        self._encoding = make(**arguments)
        self._counts: Counts = {}
        self._added_tokens = 0
        self._full = _Full(most)

    def do(self, task: Mapping[str, list[Waiting]], tell: Tell) -> None:
        self._added_tokens += count(self._encoding, task, self._counts)
        if self._full.is_after(task, self._counts):
            self.finish(tell)
            self._counts = {}
            self._added_tokens = 0

    def finish(self, tell: Tell) -> None:
        tell((self._counts, self._added_tokens))


#: Chunks with their counts: a mapping, or rows.
Counted = Union[Mapping[str, int], Iterable[Union["tuple[str, int]", "tuple[str, int, str]"]]]

#: The highest count of a row: Parquet files and SentencePiece keep it in 64 bits with a sign.
MOST = (1 << 63) - 1

#: The most characters of a chunk that a message shows.
_SHOWN = 60


class NotAChunkError(ValueError):
    """The error for a counted text that training would not take as one chunk."""


def rows_of(counts: Counted, group: str = "") -> Iterator[tuple[str, int, str]]:
    """Yield checked rows, without those whose count is 0.

    Args:
        counts: the chunks and their counts.
        group: the group of rows without one.

    Raises:
        TypeError: a chunk is not a str, or ``counts`` is neither a mapping nor made of rows.
        ValueError: a chunk is empty or has a surrogate; a count is negative, above ``MOST``, or
            not an integer.

    >>> list(rows_of({"the": 3, " dog": 2})), list(rows_of([("the", 3, "en"), (" le", 0)]))
    ([('the', 3, ''), (' dog', 2, '')], [('the', 3, 'en')])
    >>> list(rows_of([("the", 3), ("dog", -1)]))
    Traceback (most recent call last):
    ValueError: row 2: the count of 'dog' is -1; it must be 0 or more
    """
    rows: Iterable[Any] = counts.items() if isinstance(counts, Mapping) else counts
    if isinstance(rows, (str, bytes)):
        raise TypeError("counts is a text; pass a mapping of chunks to counts, or pairs of them")
    for number, row in enumerate(rows, 1):
        own = group
        try:
            if len(row) == 2:
                chunk, count = row
            else:
                chunk, count, own = row
        except (TypeError, ValueError):
            raise TypeError(
                f"row {number} must be a chunk and a count, perhaps with a group, not {row!r:.99}"
            ) from None
        is_text = isinstance(chunk, str) and chunk and is_unicode(chunk)
        if type(count) is not int or not 0 < count <= MOST or not is_text:
            try:
                count = checked_count(chunk, count)
                check_chunk(chunk)
            except (TypeError, ValueError) as error:
                raise type(error)(f"row {number}: {error}") from None
            if not count:
                continue
        yield chunk, count, own


def check_chunk(chunk: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` if a value cannot be a chunk.

    >>> check_chunk("")
    Traceback (most recent call last):
    ValueError: the chunk is empty
    """
    if not isinstance(chunk, str):
        raise TypeError(f"a chunk must be a str, not {type(chunk).__name__}")
    if not chunk:
        raise ValueError("the chunk is empty")
    if not is_unicode(chunk):
        raise ValueError(f"the chunk {shown(chunk)} has a surrogate, which UTF-8 cannot hold")


def checked_count(chunk: object, count: Any) -> int:
    """Return a count as an ``int``; those of numpy, for instance, are of other types.

    Raises:
        ValueError: it is negative, above ``MOST``, or not an integer.

    >>> checked_count("a", 2.5)
    Traceback (most recent call last):
    ValueError: the count of 'a' is 2.5; it must be an integer
    """
    try:
        if isinstance(count, bool):
            raise TypeError
        number = index(count)
    except TypeError:
        raise ValueError(
            f"the count of {shown(chunk)} is {count!r:.60}; it must be an integer"
        ) from None
    if abs(number) > MOST:
        raise ValueError(f"the count of {shown(chunk)} is beyond {MOST:,}, the highest possible")
    if number < 0:
        raise ValueError(f"the count of {shown(chunk)} is {number}; it must be 0 or more")
    return number


def shown(chunk: object) -> str:
    """Return a chunk for a message, cut if it is long."""
    if isinstance(chunk, str) and len(chunk) > _SHOWN:
        return f"{chunk[:_SHOWN]!r}…"
    return repr(chunk)


class Summary(NamedTuple):
    """Counts of the most frequent chunks.

    Args:
        most: the most chunks that it holds.
        counts: the chunks, each with a count that is at most the true one.
        error: the most that a count is too low; a chunk that is not there has the count 0.
    """

    most: int
    counts: dict[str, int]
    error: int


def summary(counts: Mapping[str, int] | Iterable[tuple[str, int]], most: int) -> Summary:
    """Return the summary of chunks and their counts.

    Args:
        counts: the chunks with their counts, in any order; a chunk may come several times.
        most: the most chunks to hold; up to twice as many are held on the way.

    Raises:
        ValueError: ``most`` is below 1.

    >>> summary([("a", 5), ("b", 1), ("a", 4), ("c", 2)], 2)
    Summary(most=2, counts={'a': 8, 'c': 1}, error=1)
    """
    if most < 1:
        raise ValueError(f"most is {most}; it must be 1 or more")
    known: dict[str, int] = {}
    error = 0
    limit = 2 * most
    for chunk, count in counts.items() if isinstance(counts, Mapping) else counts:
        known[chunk] = known.get(chunk, 0) + count
        if len(known) > limit:
            known, taken = _pruned(known, most)
            error += taken
    known, taken = _pruned(known, most)
    return Summary(most, known, error + taken)


def merged(first: Summary, second: Summary) -> Summary:
    """Return one summary of all chunks that two summaries were made of.

    If they hold different numbers of chunks, the result holds the smaller one.

    >>> one, two = summary({"a": 5, "b": 2}, 2), summary({"b": 2, "c": 1}, 2)
    >>> merged(one, two)
    Summary(most=2, counts={'b': 3, 'a': 4}, error=1)
    """
    most = min(first.most, second.most)
    small, large = sorted((first.counts, second.counts), key=len)
    known = dict(large)
    for chunk, count in small.items():
        known[chunk] = known.get(chunk, 0) + count
    known, taken = _pruned(known, most)
    return Summary(most, known, first.error + second.error + taken)


def _pruned(counts: dict[str, int], most: int) -> tuple[dict[str, int], int]:
    """Keep the counts of a number of chunks; return them, and the number taken from each."""
    if len(counts) <= most:
        return counts, 0
    taken = sorted(counts.values(), reverse=True)[most]
    return {chunk: n - taken for chunk, n in counts.items() if n > taken}, taken
