"""Encoding many texts at once: in threads if they run in parallel, else in worker processes.

With a global interpreter lock, threads gain nothing here, and a worker process needs a few tenths
of a second to load the vocabulary. So a small batch is encoded one text after the other. A large
batch, or one long text, is encoded in this process and in workers at the same time.

Long texts are cut at cut points, so that the ids of their pieces are those of the whole
(``Core.next_cut_point``). This process takes shares from the front. Its workers load the
vocabulary and then take shares from the back. Neighbouring texts have chunks in common, and each
process merges a chunk only once.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..caches import has_gil
from ..parallel.processes import processors

if TYPE_CHECKING:
    from ..parallel.pool import Pool, Tell
    from ..pipeline.cutter import TextEncoder


#: The least size in characters of a batch for workers: encoding it takes as long as starting one.
WORTH_WORKERS = 4_000_000

#: Encoding this many characters builds most of the parts that are built when first needed.
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
    """Encode the beginning of a text, so that lazy parts are built once, not in each thread."""
    if isinstance(item, str):
        # An error in the text is raised in its turn. Cutting the text may also have caused one.
        with suppress(ValueError):
            function(item[:_BEGINNING])


def processes_for(texts: Sequence[object], num_threads: int) -> int:
    """Return the number of processes that encode some texts fastest; 1 is this process alone."""
    processes = min(num_threads, processors())
    if processes < 2 or not has_gil():
        return 1
    size = sum(len(text) for text in texts if isinstance(text, str))
    return processes if size >= WORTH_WORKERS else 1


#: The characters in a share. Shares are small so that all processes end at about the same time.
SHARE = 250_000

#: The widths in characters of the windows searched for a cut point. Most texts have one every few
#: words.
_WINDOWS = (1 << 10, 1 << 14)


class _Piece(NamedTuple):
    """A text, or a part of one between two cut points."""

    #: The index of the text.
    owner: int
    text: str
    #: True if the piece continues the text.
    goes_on: bool


#: Some pieces in the order of the texts.
_Share = Sequence[_Piece]

#: The ids of a share: how many each piece has, and all of them. Arrays are pickled as bytes.
_Ids = tuple["array[int]", "array[int]"]


def encode_in_workers(
    encoding: TextEncoder,
    recipe: tuple[Callable[..., TextEncoder], dict[str, Any]],
    texts: Sequence[str],
    allowed: Set[str],
    processes: int,
) -> list[list[int]] | None:
    """Return the ids of each text, encoded by this process and by workers.

    Args:
        encoding: the encoding.
        recipe: the function that makes it elsewhere, and its arguments; see ``Encoding.recipe``.
        texts: the texts, without disallowed special tokens.
        allowed: the names of special tokens that become their token.
        processes: the largest number of processes, this one included.

    Returns:
        The ids of each text. None if no worker can be started here, if there is nothing to share,
        or if a text cannot be encoded. Encoding the texts one after the other then raises the
        error.
    """
    shares = list(_shares(_pieces(encoding, texts, allowed)))
    workers = min(processes, len(shares)) - 1
    if workers < 1:
        return None
    import pickle  # imported here: few batches are large

    from ..parallel.pool import Pool, WorkerKilled

    found: dict[int, _Ids] = {}
    encode = partial(_encode_share, encoding, allowed)
    try:
        with Pool(_Worker, (*recipe, allowed), workers) as pool:
            if not pool.size:
                return None
            for index, ids in _encoded(pool, encode, shares):
                found[index] = ids
    except (WorkerKilled, pickle.PicklingError):
        pass
    except ValueError:
        return None
    if None in found.values():
        return None
    for index, share in enumerate(shares):
        if index not in found:  # the worker that had it was killed
            found[index] = encode(share)
    return _joined(shares, found, len(texts))


def _encoded(
    pool: Pool, encode: Callable[[_Share], _Ids], shares: Sequence[_Share]
) -> Iterator[tuple[int, _Ids]]:
    """Yield the index and the ids of each share, as they come.

    A worker gets half of an equal part of the rest at a time. So it seldom waits for this process,
    which is busy, and all end at about the same time.

    Raises:
        WorkerKilled: after all other shares, if a worker was killed.
        ValueError: a text cannot be encoded.
    """
    processes = pool.size + 1
    first, last = 0, len(shares)  # the shares between them are still to be handed out
    while True:
        size = max(1, (last - first) // (2 * processes))
        while first < last and pool.offer((last - size, shares[last - size : last])):
            last -= size
            size = max(1, (last - first) // (2 * processes))
        if first < last:
            begun, here = first, shares[first : first + 1]
            first += 1
        else:
            taken = pool.take_back()
            if taken is None:
                break
            begun, here = taken
        for index, share in enumerate(here, begun):
            yield index, encode(share)
        yield from pool.arrived()
    yield from pool.run(())


def _pieces(encoding: TextEncoder, texts: Sequence[str], allowed: Set[str]) -> Iterator[_Piece]:
    """Yield the texts in order, long ones in pieces of about ``SHARE`` characters."""
    from ..pipeline.processors import keeps_text  # imported here, as above

    processor = encoding.core.definition.processor
    # A post-processor that omits or repeats a text needs the whole text.
    may_cut = processor is None or keeps_text(processor)
    for owner, text in enumerate(texts):
        start = 0
        if may_cut:
            for place in range(SHARE, len(text) - SHARE // 2, SHARE):
                cut = _cut_after(encoding, text, place, allowed) if place > start else None
                if cut is not None:
                    yield _Piece(owner, text[start:cut], start > 0)
                    start = cut
        yield _Piece(owner, text[start:] if start else text, start > 0)


def _cut_after(encoding: TextEncoder, text: str, start: int, names: Set[str]) -> int | None:
    """Return a cut point soon after ``start``; None if none is found."""
    next_cut_point = encoding.core.next_cut_point
    for window in _WINDOWS:
        end = min(start + window, len(text))
        cut = next_cut_point(text, start, end, names)
        if cut is None:
            cut = next_cut_point(text, start, end, names, fine=True)
        if cut is not None:
            return cut
    return None


def _shares(pieces: Iterable[_Piece]) -> Iterator[_Share]:
    """Yield the pieces in lists of about ``SHARE`` characters."""
    share: list[_Piece] = []
    size = 0
    for piece in pieces:
        share.append(piece)
        size += len(piece.text)
        if size >= SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _joined(
    shares: Sequence[_Share], found: Mapping[int, _Ids], number_of_texts: int
) -> list[list[int]]:
    """Return the ids of each text from those of the shares."""
    joined: list[list[int]] = [[] for _ in range(number_of_texts)]
    for index, share in enumerate(shares):
        lengths, ids = found[index]
        start = 0
        for piece, length in zip(share, lengths):
            joined[piece.owner] += ids[start : start + length].tolist()
            start += length
    return joined


def _encode_share(encoding: TextEncoder, allowed: Set[str], share: _Share) -> _Ids:
    """Return the ids of a share.

    Raises:
        ValueError: a text cannot be encoded.
    """
    encoded = [
        (encoding.continued if piece.goes_on else encoding).encode(
            piece.text, allowed_special=allowed, disallowed_special=()
        )
        for piece in share
    ]
    return array("I", map(len, encoded)), array("I", chain.from_iterable(encoded))


class _Worker:
    """A worker that encodes shares."""

    def __init__(
        self, make: Callable[..., TextEncoder], arguments: dict[str, Any], allowed: Set[str]
    ) -> None:
        self._encode = partial(_encode_share, make(**arguments), allowed)

    def do(self, task: tuple[int, Sequence[_Share]], tell: Tell) -> None:
        """Send the index and the ids of each share; None as ids if it cannot be encoded."""
        first, shares = task
        for index, share in enumerate(shares, first):
            ids: _Ids | None
            try:
                ids = self._encode(share)
            except ValueError:
                ids = None
            tell((index, ids))

    def finish(self, tell: Tell) -> None:
        pass
