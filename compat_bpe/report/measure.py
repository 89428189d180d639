"""Measuring encodings on a corpus: the number of tokens in each group, and the tokens used.

A corpus is a stream of parts of documents, so a corpus of any size takes little memory. The counts
are those of whole documents, wherever these are cut into parts: each encoding gets the text in
pieces that end at its own cut points (``pipeline.cutter``). An encoding without cut points (with a
pattern that looks back, or a normalizer) gets each document as a whole.

All figures are integers; the ratios (``figures``) are computed from them when they are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from ..corpus.documents import DocumentPart
from ..encodings.encoding import Encoding
from ..encodings.tokenizer import Tokenizer
from ..pipeline.core import joins_to_text
from ..pipeline.cutter import Cutter
from ..unicode.surrogates import repair
from ..unicode.text import words_of
from .figures import EncodingReport, Report, Sizes, TokenCounts, add_counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..pipeline.core import Core


def report(
    encodings: Mapping[str, Encoding],
    texts: Mapping[str, Iterable[str]],
    *,
    terms: Iterable[str] = (),
) -> Report:
    """Measure some encodings on texts.

    Args:
        encodings: the encodings by their names in the report.
        texts: the documents of each group. Special tokens in them are plain text.
        terms: words or names whose tokens the report shows.

    Raises:
        ValueError: a vocabulary has no token for a part of the text.

    >>> from compat_bpe import get_encoding
    >>> found = report({"gpt2": get_encoding("gpt2")}, {"en": ["A dog."], "fr": ["Un chien."]})
    >>> found.groups["en"], found.total
    (Sizes(documents=1, bytes=6, characters=6, words=2), \
Sizes(documents=2, bytes=15, characters=15, words=4))
    >>> found.encodings["gpt2"].groups["fr"]
    TokenCounts(tokens=4, chunks=3, whole_chunks=2, unknown=None, lost=0)
    """
    parts = (
        DocumentPart(text, group, "", True)
        for group, documents in texts.items()
        for text in documents
        if text
    )
    return report_parts(encodings, parts, groups=texts, terms=terms)


def report_parts(
    encodings: Mapping[str, Encoding],
    parts: Iterable[DocumentPart],
    *,
    groups: Iterable[str] = (),
    terms: Iterable[str] = (),
) -> Report:
    """Measure some encodings on the parts of a corpus, as ``read_corpus`` yields them.

    Args:
        encodings, terms: as in ``report``.
        parts: all parts of a document, then those of the next.
        groups: groups that the report always has, and first. Others follow in the order of the
            parts.

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
        {group: group_sizes.sizes() for group, group_sizes in sizes.items()},
        {name: counter.report(listed) for name, counter in zip(encodings, counters)},
    )


def _repaired(parts: Iterable[DocumentPart]) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield text without surrogates, its group, and whether a document begins and ends with it."""
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
        self._words += len(words_of(text))
        if not is_first and self._is_in_word and not text[0].isspace():
            self._words -= 1
        self._is_in_word = not text[-1].isspace()

    def sizes(self) -> Sizes:
        return Sizes(self._documents, self._bytes, self._characters, self._words)


class _Counter:
    """A counter of the tokens and chunks of one encoding."""

    def __init__(self, encoding: Encoding, groups: Iterable[str]) -> None:
        self._encoding = encoding
        self._core = encoding.core
        self._cutter = Cutter(encoding, frozenset(), whole_chunks=True)
        self._unknown = encoding.core.model.unknown_id
        self._uses: Counter[int] = Counter()
        self._groups = {group: TokenCounts() for group in groups}
        #: The words of the present document, and its ids; None if decoding cannot lose any.
        self._gives_back = joins_to_text(self._core) and not isinstance(encoding, Tokenizer)
        self._words: Counter[str] = Counter()
        self._ids: list[int] = []
        self._open = ""

    def add(self, text: str, group: str, is_first: bool, is_last: bool) -> None:
        if not self._gives_back:
            self._add_words(text, is_last)
        core: Core = self._core
        if not (is_first and is_last):
            text = self._cutter.feed(text)
            core = self._cutter.encoding.core
            if is_last:
                rest = self._cutter.finish()
                core = core if text else self._cutter.encoding.core
                text += rest
        counts = self._groups.get(group, TokenCounts())
        counted = self._count(core, text)
        if is_last and not self._gives_back:
            counted = counted._replace(lost=self._lost())
        self._groups[group] = add_counts([counts, counted], TokenCounts())

    def _add_words(self, text: str, is_last: bool) -> None:
        """Count the words of the next part of a document; the last one may go on."""
        text = self._open + text
        words = words_of(text)
        self._open = words.pop() if words and not is_last and not text[-1].isspace() else ""
        self._words.update(words)

    def _lost(self) -> int:
        """Return the number of words of a document that its ids do not give back."""
        self._words.subtract(words_of(self._encoding.decode(self._ids)))
        lost = sum(times for times in self._words.values() if times > 0)
        self._words.clear()
        self._ids.clear()
        return lost

    def _count(self, core: Core, text: str) -> TokenCounts:
        tokens = chunks = whole = unknown = 0
        uses = self._uses
        by_chunk = list(core.ids_by_chunk(text))
        if not self._gives_back:
            self._ids += chain.from_iterable(by_chunk)
        # Many chunks of a text are equal.
        for ids, count in Counter(by_chunk).items():
            tokens += len(ids) * count
            chunks += count
            if len(ids) == 1 and ids[0] != self._unknown:
                whole += count
            for number in ids:
                uses[number] += count
            unknown += ids.count(self._unknown) * count
        return TokenCounts(tokens, chunks, whole, None if self._unknown is None else unknown)

    def report(self, terms: Iterable[str]) -> EncodingReport:
        return EncodingReport(self._encoding, self._groups, self._uses, terms)
