"""Texts of a DataFrame in a task: decoded, prepared, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..corpus.chunk_counts import ChunkCounter, Counts, Spill
from ..corpus.documents import DocumentPart, parts_of
from ..corpus.prepare import Amount, CorpusCounts, Preparation, prepare
from ..encodings.encoding import Encoding
from ..train.bpe.byte_tokens import BYTES, make_encoding
from ..unicode.surrogates import repair

#: The most distinct chunks that a worker holds before it gives them to Spark; see ``Spill``.  128
#: MB of English have fewer, so each goes through Java once.
HELD = 1 << 19

#: The parts of 16 bits of the sum of digests, so that no sum of Spark's overflows.
_LIMBS = 16


class Prepared(NamedTuple):
    """A document that was prepared.

    Args:
        kept: the documents that are left of it, each as its parts.
        held_out: the parts that are held out.
        counts: the counts of it alone.
    """

    kept: list[list[DocumentPart]]
    held_out: list[DocumentPart]
    counts: CorpusCounts


class _Recorder:
    """A set of digests that has none, and notes all."""

    def __init__(self) -> None:
        self.digests: list[bytes] = []

    def __contains__(self, digest: object) -> bool:
        return False

    def add(self, digest: bytes) -> None:
        self.digests.append(digest)


class _Player:
    """A set of digests of which is known, for each that is asked for in turn, if it has it."""

    def __init__(self, first: Iterable[int]) -> None:
        self._first = frozenset(first)
        self._number = -1

    def __contains__(self, digest: object) -> bool:
        self._number += 1
        return self._number not in self._first

    def add(self, digest: bytes) -> None:
        pass


def digests_of(text: str, preparation: Preparation) -> list[bytes]:
    r"""Return the digests of all lines, or of the document, that may be duplicates; in order.

    >>> lines = Preparation(drop_duplicates="lines")
    >>> first, second, third = digests_of("a\nb\n\na\n", lines)
    >>> first == third, first == second
    (True, False)
    """
    seen = _Recorder()
    for _ in prepare(parts_of([repair(text)], "", ""), preparation, seen=seen):
        pass
    return seen.digests


def prepared(
    text: str, group: str, preparation: Preparation, first: Sequence[int] = ()
) -> Prepared:
    r"""Prepare one document with the functions that prepare a corpus on one machine.

    Args:
        text: its text.
        group: the group of its parts.
        preparation: the steps.
        first: the numbers of those of ``digests_of`` that came first in the corpus.

    >>> found = prepared("a\nb\n\na\n", "", Preparation(drop_duplicates="lines"), [1])
    >>> [part.text for part in found.kept[0]], found.counts.dropped_lines
    (['b\n\n'], 2)
    """
    counts = CorpusCounts()
    kept: list[list[DocumentPart]] = [[]]
    held_out: list[DocumentPart] = []
    parts = parts_of([repair(text)], group, "")
    for part in prepare(parts, preparation, held_out.append, counts, _Player(first)):
        kept[-1].append(part)
        if part.is_last:
            kept.append([])
    return Prepared(kept[:-1], held_out, counts)


class Figures:
    """The sums of the counts of documents, by names that Spark adds up by.

    Instead of the digest of all text, which depends on the order of the rows, they have the sum of
    the digests of what is kept of each row, modulo 2**256.
    """

    def __init__(self, rules: int = 0) -> None:
        self.sums: Counter[str] = Counter()
        self._rules = rules

    def add(self, document: Prepared) -> None:
        """Add those of a document."""
        counts, sums = document.counts, self.sums
        for kind in ("read", "kept", "held_out"):
            for name, value in vars(getattr(counts, kind)).items():
                sums[f"{kind}.{name}"] += value
        for number, value in enumerate(counts.masked):
            sums[f"masked.{number}"] += value
        sums["dropped_lines"] += counts.dropped_lines
        sums["dropped_documents"] += counts.dropped_documents
        if document.kept:
            value = int(counts.sha256, 16)
            for limb in range(_LIMBS):
                sums[f"sha256.{limb}"] += value >> 16 * limb & 0xFFFF

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as ``CorpusCounts.as_dict`` does, but for the digest of all text."""
        sums = self.sums
        total = sum(sums[f"sha256.{limb}"] << 16 * limb for limb in range(_LIMBS))
        figures: dict[str, Any] = {
            kind: {name: sums[f"{kind}.{name}"] for name in vars(Amount())}
            for kind in ("read", "kept", "held_out")
        }
        return {
            **figures,
            "masked": [sums[f"masked.{number}"] for number in range(self._rules)],
            "dropped_lines": sums["dropped_lines"],
            "dropped_documents": sums["dropped_documents"],
            "sha256": None,
            "sha256_sum": f"{total % 2**256:064x}",
        }


def counted_in_portions(
    encoding: Encoding, parts: Iterable[DocumentPart], by_group: bool
) -> Iterator[Counts]:
    """Yield the counts of the chunks of documents, whenever they are many, and at the end.

    Args:
        encoding: the encoding that splits the text.
        parts: the parts of the documents.
        by_group: True to count each group for itself.
    """
    full: list[Counts] = []
    counter = ChunkCounter(encoding, workers=1, spill=Spill(full.append, HELD))
    for text, group, _, is_last in parts:
        counter.feed(text, group if by_group else "", is_last=is_last)
        while full:
            yield full.pop()
    counter.finish()
    yield from full


def splitter_of(pattern: str) -> Encoding:
    """Return an encoding that splits by a pattern, or by the name of one, as training does.

    Raises:
        ValueError: the pattern is not valid.
    """
    return make_encoding("chunks", pattern, BYTES, [])


def partition_counts(texts: Iterable[str], pattern: str = "gpt2") -> Counter[str]:
    """Return the chunks of texts and their counts: the part of the work that a task has.

    It needs neither Spark nor Arrow, so other systems can use it, Dask and Ray for instance: the
    counts of all parts of a corpus are then added up.

    Args:
        texts: the documents of a part of the corpus.
        pattern: the pattern that splits them, or its name, as in ``train_bpe``.

    Raises:
        ValueError: the pattern is not valid.
        TypeError: a text is not a str.

    >>> partition_counts(["a dog", "a cat"])
    Counter({'a': 2, ' dog': 1, ' cat': 1})
    """
    with ChunkCounter(splitter_of(pattern), workers=1) as counter:
        for text in texts:
            counter.feed(text)
        return counter.finish().get("", Counter())
