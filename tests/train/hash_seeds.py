"""Runs of one script in processes that order what is in a set in different ways."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def outputs(script: str, workers: Sequence[int] = (1, 1)) -> set[bytes]:
    """Run a script once for each number of workers, each time with another hash seed.

    Args:
        script: run in the folder of the repository; ``sys.argv[1]`` is the number of workers.
        workers: a number for each run.

    Returns:
        The different outputs: one, if neither seeds nor workers play a part.
    """
    assert len(workers) > 1
    found = set()
    for seed, number in enumerate(workers, 1):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", script, str(number)]
        found.add(subprocess.check_output(command, cwd=ROOT, env=environment))
    assert b"" not in found, "the script prints nothing"
    return found
