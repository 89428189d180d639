"""What is encoded otherwise by one vocabulary than by another that splits text in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..corpus.chunk_counts import ChunkCounter
from ..encodings.encoding import Encoding
from ..pipeline.chunks import chunk_bytes


class Change(NamedTuple):
    """A chunk that has other ids.

    Args:
        chunk: its bytes.
        frequency: how often it comes.
        before, after: its ids.
    """

    chunk: bytes
    frequency: int
    before: list[int]
    after: list[int]


class Changes(NamedTuple):
    """How some texts are encoded.

    Args:
        before, after: how many tokens their chunks have in all.
        chunks: the chunks whose ids differ, that which saves most first.
    """

    before: int
    after: int
    chunks: list[Change]


def changes(old: Encoding, new: Encoding, texts: Iterable[str]) -> Changes:
    """What of some texts is encoded otherwise.

    Names of special tokens are text as any other.

    Args:
        old: an encoding.
        new: one that splits text in the same way, for instance ``extend(old, …).encoding``.
        texts: what to look at.

    Raises:
        ValueError: a text has a byte that one of the vocabularies has no token for.
        TypeError: a text is no str, or ``texts`` is a single one.
        OSError: a worker process has been killed.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.train.extend import extend
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
    with ChunkCounter(old) as counter:
        for text in texts:
            counter.feed(text)
        counts: dict[bytes, int] = {}
        for found in counter.finish().values():
            for chunk, count in found.items():
                counts[chunk_bytes(old.core, chunk)] = count
    return changes_of(old, new, counts)


def changes_of(old: Encoding, new: Encoding, counts: Mapping[bytes, int]) -> Changes:
    """The same for chunks that are counted."""
    before = after = 0
    differing = []
    for chunk, frequency in counts.items():
        then = old.core.model.ids_of(chunk)
        now = new.core.model.ids_of(chunk)
        before += len(then) * frequency
        after += len(now) * frequency
        if then != now:
            differing.append(Change(chunk, frequency, then, now))
    differing.sort(key=lambda one: ((len(one.after) - len(one.before)) * one.frequency, one.chunk))
    return Changes(before, after, differing)
