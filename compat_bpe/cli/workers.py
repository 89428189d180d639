"""The decision if files are worth worker processes."""

from __future__ import annotations

#: The least size in bytes for workers: starting them takes as long as counting this.
WORTH_WORKERS = 3_000_000


def most_workers(size: int, jobs: int | None) -> int:
    """Return the largest number of workers; 0 if they are not worth it or cannot be started.

    Args:
        size: the size of all files in bytes.
        jobs: the largest number of processes; None for as many as can run at the same time.
    """
    if jobs == 1 or size < WORTH_WORKERS:
        return 0
    from ..parallel.processes import may_start, processors  # small inputs do not need it

    most = jobs or processors()
    return most if most > 1 and may_start() else 0
