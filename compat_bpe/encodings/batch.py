"""Encoding many texts at once: in threads if they run in parallel.

With a global interpreter lock, threads gain nothing here. A process takes a few tenths of a second
to load the vocabulary. So with such a lock, small batches are encoded one text after the other,
and large ones with the help of worker processes (see ``batch_workers``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from ..parallel.processes import processors
from ..pipeline.cache import has_gil

#: The least size in characters of a batch for workers: starting one takes as long as encoding this.
WORTH_WORKERS = 4_000_000

#: Characters at the beginning of a text that set up most of what is set up when first needed.
_BEGINNING = 1000

T = TypeVar("T")
R = TypeVar("R")


def map_in_order(function: Callable[[T], R], items: Sequence[T], num_threads: int) -> list[R]:
    """Return ``function(item)`` of each item, in order; in threads if they run in parallel.

    Raises:
        ValueError: ``num_threads`` is not positive.
    """
    if num_threads < 1:
        raise ValueError(f"num_threads is {num_threads}; it must be 1 or more")
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


def processes_for(texts: Sequence[object], num_threads: int) -> int:
    """Return the number of processes that encode some texts the soonest; 1 for this one alone."""
    processes = min(num_threads, processors())
    if processes < 2 or not has_gil():
        return 1
    size = sum(len(text) for text in texts if isinstance(text, str))
    return processes if size >= WORTH_WORKERS else 1
