"""The difference between two vocabularies that split text in the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..corpus.chunk_counts import ChunkCounter
from ..encodings.encoding import Encoding
from .bpe.beginning import check_byte_level


class Change(NamedTuple):
    """A chunk with different ids in the two vocabularies.

    Args:
        chunk: its bytes.
        frequency: its number of occurrences.
        before, after: its ids in the old and in the new vocabulary.
    """

    chunk: bytes
    frequency: int
    before: list[int]
    after: list[int]


class Changes(NamedTuple):
    """The difference between two vocabularies on some texts.

    Args:
        before, after: the number of tokens of the texts in the old and in the new vocabulary, as
            ``Encoding.count`` gives it.
        chunks: the chunks whose ids differ, the one that saves most tokens first.
    """

    before: int
    after: int
    chunks: list[Change]


def changes(old: Encoding, new: Encoding, texts: Iterable[str]) -> Changes:
    """Return the chunks of texts that two vocabularies encode differently.

    Names of special tokens are plain text.

    Args:
        old: an encoding.
        new: an encoding that splits text in the same way, such as ``extend(old, …).encoding``.
        texts: the texts to compare on.

    Raises:
        ValueError: a vocabulary is no byte-level BPE; or a text has a byte for which one of the
            vocabularies has no token.
        TypeError: a text is not a str, or ``texts`` is a single str.
        OSError: a worker process has been killed.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.train.extend.extend import extend
    >>> gpt2 = get_encoding("gpt2")
    >>> new = extend(gpt2, terms=["qubit"], with_space=False).encoding
    >>> found = changes(gpt2, new, ["qubit", "qubit or bit"])
    >>> found.before, found.after
    (6, 4)
    >>> found.chunks[0]
    Change(chunk=b'qubit', frequency=2, before=[421, 2545], after=[50257])
    """
    if isinstance(texts, str):
        raise TypeError("texts is a str; pass a list of texts")
    for encoding in (old, new):
        check_byte_level(encoding, "compared by chunks")
    with ChunkCounter(old) as counter:
        for text in texts:
            counter.feed(text)
        counts: Counter[bytes] = Counter()
        for group_counts in counter.finish().values():
            for chunk, count in group_counts.items():
                counts[old.core.model.to_bytes(chunk)] += count
    return changes_of(old, new, counts, counter.added_tokens)


def changes_of(
    old: Encoding, new: Encoding, counts: Mapping[bytes, int], added_tokens: int = 0
) -> Changes:
    """Return the changes, as ``changes`` does, for chunks that are already counted.

    Args:
        old, new: as in ``changes``.
        counts: the chunks.
        added_tokens: the number of added tokens between them, which both vocabularies have.
    """
    before = after = added_tokens
    differing = []
    for chunk, frequency in counts.items():
        then = old.core.byte_level.ids_of(chunk)
        now = new.core.byte_level.ids_of(chunk)
        before += len(then) * frequency
        after += len(now) * frequency
        if then != now:
            differing.append(Change(chunk, frequency, then, now))
    return Changes(before, after, in_order(differing))


def in_order(changes: Iterable[Change]) -> list[Change]:
    """Return changes, the one that saves most tokens first."""
    return sorted(
        changes, key=lambda one: ((len(one.after) - len(one.before)) * one.frequency, one.chunk)
    )
