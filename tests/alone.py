"""A Python that has the standard library, and one place more to import from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import compat_bpe

ROOT = Path(compat_bpe.__file__).parents[1]


def run_alone(script: str, place: Path = ROOT, *flags: str) -> str:
    """Run a script with neither this folder nor any installed package; return what it prints.

    Args:
        script: it must end well, and say nothing on standard error.
        place: a folder or a zip that comes first on the path.
        flags: more flags for Python.
    """
    code = f"import sys; sys.path.insert(0, {str(place)!r})\n{script}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", *flags, "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
