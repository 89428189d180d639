"""What GitHub's runners do for a step: its variables, its expressions, its shell."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

TIMEOUT = 900  # seconds; only a network that hangs takes so long


def run(
    command: list[str | Path], cwd: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )


def run_well(command: list[str | Path], cwd: Path, environment: dict[str, str]) -> str:
    done = run(command, cwd, environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def plain_environment(home: Path) -> dict[str, str]:
    """Variables without those of the tests, and with a user for git."""
    left_out = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in left_out and not name.startswith("GIT")
    }
    users = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME",
             "EMAIL")}  # fmt: skip
    return {**kept, **users, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}


def filled(text: str, known: dict[str, str]) -> str:
    """Return a text with the values of its expressions, which have to be known."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: known[match[1]], text)
