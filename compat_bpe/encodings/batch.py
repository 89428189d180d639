"""Encoding many texts at once: in threads if they run in parallel, else in worker processes.

With a global interpreter lock, threads gain nothing here. A process takes a few tenths of a second
to load the vocabulary. So with such a lock, small batches are encoded one text after the other,
and large ones by worker processes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from ..parallel.processes import processors
from ..pipeline.lookup import has_gil

if TYPE_CHECKING:
    from ..fit.text_encoder import TextEncoder

#: The least size in characters of a batch for workers: starting one takes as long as encoding this.
WORTH_WORKERS = 4_000_000

#: Characters that a worker gets at a time: few, so that all workers end at about the same time.
_SHARE = 500_000

#: Characters at the beginning of a text that set up most of what is set up when first needed.
_BEGINNING = 1000

T = TypeVar("T")
R = TypeVar("R")


def map_in_order(function: Callable[[T], R], items: Sequence[T], num_threads: int) -> list[R]:
    """Return ``function(item)`` of each item, in order; in threads if they run in parallel."""
    threads = min(num_threads, len(items), processors())
    if threads > 1 and not has_gil():
        from concurrent.futures import ThreadPoolExecutor  # only free-threaded Python needs it

        _set_up(function, items[0])
        try:
            with ThreadPoolExecutor(threads) as executor:
                return list(executor.map(function, items))
        except RuntimeError as error:
            if "start new thread" not in str(error):
                raise
    return list(map(function, items))


def _set_up(function: Callable[[Any], R], item: object) -> None:
    """Encode the beginning of a text, so that what is set up once is not set up in each thread."""
    if isinstance(item, str):
        # A fault of the text is raised in its turn; a cut may also have made one.
        with suppress(ValueError):
            function(item[:_BEGINNING])


def worth_workers(texts: Sequence[object], num_threads: int) -> bool:
    """Return True if worker processes would encode some texts sooner than this process."""
    if not has_gil() or min(num_threads, len(texts), processors()) < 2:
        return False
    return sum(len(text) for text in texts if isinstance(text, str)) >= WORTH_WORKERS


def encode_in_workers(
    recipe: tuple[Callable[..., TextEncoder], dict[str, Any]],
    texts: Sequence[str],
    allowed: Set[str],
    num_threads: int,
) -> list[list[int]] | None:
    """Return the ids of each text, encoded by worker processes.

    Args:
        recipe: the function that makes the encoding, and its arguments; see ``Encoding.recipe``.
        texts: the texts, without disallowed special tokens.
        allowed: the names of special tokens that become their token.
        num_threads: the largest number of workers; there are never more than processors.

    Returns:
        The ids of each text; None if no worker can be started here, or one was killed.
    """
    import pickle  # only large batches need it

    from ..parallel.pool import Pool, WorkerKilled

    shares = list(_shares(texts))
    results: list[list[list[int]]] = [[] for _ in shares]
    try:
        number_of_workers = min(num_threads, len(shares), processors())
        with Pool(_EncodingWorker, (*recipe, allowed), number_of_workers) as pool:
            if not pool.size:
                return None
            for share_index, lengths, ids in pool.run(enumerate(shares)):
                flat = iter(ids)
                results[share_index] = [list(islice(flat, length)) for length in lengths]
    except (WorkerKilled, pickle.PicklingError):
        return None
    return [ids for share in results for ids in share]


def _shares(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, in lists of about ``_SHARE`` characters."""
    share: list[str] = []
    size = 0
    for text in texts:
        share.append(text)
        size += len(text)
        if size >= _SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


class _EncodingWorker:
    """A worker that encodes texts."""

    def __init__(
        self, make: Callable[..., TextEncoder], arguments: dict[str, Any], allowed: Set[str]
    ) -> None:
        self._encoding = make(**arguments)
        self._allowed = allowed

    def do(self, task: tuple[int, list[str]], tell: Callable[[Any], None]) -> None:
        """Tell the index of a share, how many ids each text has, and all ids."""
        number, texts = task
        encode = self._encoding.encode
        encoded = [
            encode(text, allowed_special=self._allowed, disallowed_special=()) for text in texts
        ]
        # Arrays are pickled as bytes, which is faster than lists.
        ids = array("I", chain.from_iterable(encoded))
        tell((number, array("I", map(len, encoded)), ids))

    def finish(self, tell: Callable[[Any], None]) -> None:
        pass
