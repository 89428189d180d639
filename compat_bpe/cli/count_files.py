"""Counting the tokens of many files in several processes.

An interpreter counts with one processor. Worker processes are given names of files and parts of
large files, and count them as this process would.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Callable, NamedTuple

from ..files.walk import Found
from .counting import Counts, FileCounter, Outcome, Part
from .input import announce_wait
from .progress import FileProgress
from .workers import most_workers

if TYPE_CHECKING:
    from ..parallel.pool import Pool, Tell

#: Bytes that a worker gets at a time, at least and at most: the last shares are small, so that all
#: workers end at about the same time; the first are large, since files beside each other have
#: chunks in common, which a worker then merges once.
_SHARE, _LARGEST_SHARE = 500_000, 8_000_000

#: Bytes that a worker counts before it reports them.
_TOLD = 1 << 16

#: Some files, or parts of files, each with its index.
Share = Sequence["tuple[int, Part]"]


def count_files(
    counter: FileCounter,
    files: Sequence[Found],
    jobs: int | None,
    progress: FileProgress,
    announce: Callable[[str], None] = announce_wait,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each file, in their order; large inputs are counted by workers.

    Args:
        counter: the counter of files.
        files: the files.
        jobs: the largest number of processes; None for as many as can run at the same time.
        progress: the progress bar.
        announce: called with each path that may make a read wait, before it is opened.
    """

    def count_here(file: Found) -> Outcome:
        if file.problem:
            return Outcome(None, file.problem, was_read=False)
        if not file.is_regular:
            progress.clear()
            announce(file.path)
        return counter.count(Part(file.path), progress.advance)

    most = most_workers(sum(file.size or 0 for file in files if file.is_regular), jobs)
    parts: list[list[tuple[Part, int]]] = []
    if most:
        from .parts import parts_of  # small inputs do not need it

        parts = [
            parts_of(counter, file.path, file.size or 0) if file.is_regular else []
            for file in files
        ]
    if sum(map(len, parts)) < 2:
        for file in files:
            outcome = count_here(file)
            progress.file_done()
            yield outcome
        return

    from ..parallel.pool import Pool

    jobs_of = [(number, slot) for number, some in enumerate(parts) for slot in range(len(some))]
    outcomes: list[list[Outcome | None]] = [[None] * len(some) for some in parts]
    shares = _shares([part for some in parts for part in some], most)
    with Pool(_FileWorker, (counter,), min(most, len(shares)), forks=True) as pool:
        arriving = _outcomes(pool, shares, progress.advance)
        for number, file in enumerate(files):
            while None in outcomes[number]:
                arrived = next(arriving, None)
                if arrived is None:  # the worker that had it was killed
                    outcomes[number] = []
                else:
                    owner, slot = jobs_of[arrived[0]]
                    outcomes[owner][slot] = arrived[1]
                    if None not in outcomes[owner]:
                        progress.file_done()
            outcome_parts = [outcome for outcome in outcomes[number] if outcome is not None]
            if not outcome_parts:
                outcome_parts = [count_here(file)]
                progress.file_done()
            outcomes[number].clear()
            yield _joined(outcome_parts)


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a file from those of its parts, in their order."""
    tokens = size = characters = 0
    for outcome in outcomes:
        if outcome.counts is None:  # reading the file from its start would fail here first
            return outcome
        tokens += outcome.counts.tokens
        size += outcome.counts.bytes
        characters += outcome.counts.characters
    return outcomes[0]._replace(counts=Counts(tokens, size, characters))


def _outcomes(
    pool: Pool, shares: Sequence[Share], advance: Callable[[int], None]
) -> Iterator[tuple[int, Outcome]]:
    """Yield the index of each part and its outcome, as they come.

    A part is missing if the worker that had it was killed.

    Args:
        pool: the workers.
        shares: the shares for the workers.
        advance: called with the number of bytes each time some are counted.
    """
    from ..parallel.pool import WorkerKilled

    try:
        for message in pool.run(shares):
            advance(message.size)
            yield from message.outcomes
    except WorkerKilled:
        return


def _shares(parts: Sequence[tuple[Part, int]], workers: int) -> list[Share]:
    """Return shares of the parts, in order, the first ones larger than the last.

    A share has half of what each worker would get of the rest, within ``_SHARE`` and
    ``_LARGEST_SHARE``.
    """
    shares: list[Share] = []
    share: list[tuple[int, Part]] = []
    total = 0
    left = sum(size for _, size in parts)
    for index, (part, size) in enumerate(parts):
        share.append((index, part))
        total += size
        if total >= max(_SHARE, min(_LARGEST_SHARE, left // (2 * workers))):
            shares.append(share)
            left -= total
            share, total = [], 0
    if share:
        shares.append(share)
    return shares


class _Counted(NamedTuple):
    """A message of a worker: bytes that it has counted, and parts that are done."""

    size: int
    #: Indexes of parts, each with its outcome.
    outcomes: Sequence[tuple[int, Outcome]]


class _FileWorker:
    """A worker that counts files and parts of files."""

    def __init__(self, counter: FileCounter) -> None:
        self._counter = counter

    def do(self, task: Share, tell: Tell) -> None:
        """Tell how many bytes are counted, and the index and the outcome of each part."""
        untold = 0
        outcomes: list[tuple[int, Outcome]] = []

        def advance(size: int) -> None:
            nonlocal untold
            untold += size
            if untold >= _TOLD:
                tell_all()

        def tell_all() -> None:
            nonlocal untold
            tell(_Counted(untold, outcomes))
            outcomes.clear()
            untold = 0

        for index, part in task:
            outcome = self._counter.count(part, advance)
            outcomes.append((index, outcome))
        tell_all()

    def finish(self, tell: Tell) -> None:
        pass
