"""tools/clean_start.py: what a process has after it, and what its children inherit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.clean_start import clean_environment

ROOT = Path(__file__).parents[1]

#: Begins as badly as a process can, and tells its state and what a child inherits.
_STARTED = """
import os, signal, subprocess, sys

numbers = [getattr(signal, name) for name in sys.argv[1:]]
for number in numbers:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.umask(0o077)

from tools.clean_start import clean_start

clean_start()
for number in numbers:
    handler = signal.getsignal(number)
    print(number.name, getattr(handler, "name", handler is signal.default_int_handler))
print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), repr(sys.stdin.read()), flush=True)
subprocess.run(["sh", "-c", "umask; exec env"])
"""


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_process_that_was_started_badly() -> None:
    kept = {"PATH": os.environ["PATH"], "HOME": "/home/me"}
    odd = {
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "1",
        "GIT_DIR": "/x",
        "LC_NUMERIC": "de_DE.UTF-8",
        "LANGUAGE": "de",
        "TERM": "xterm",
        "COLUMNS": "20",
        "NO_COLOR": "",
        "CLICOLOR_FORCE": "1",
        "PAGER": "less",
    }
    names = ["SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT", "SIGCHLD", "SIGPIPE"]
    done = subprocess.run(
        [sys.executable, "-c", _STARTED, *names],
        env={**kept, **odd},
        input="not read",
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    first, *others = done.stdout.splitlines()[: len(names)]
    assert first == "SIGINT True"
    assert others == [*(f"{name} SIG_DFL" for name in names[1:-1]), "SIGPIPE SIG_IGN"]
    mask, umask, *variables = done.stdout.splitlines()[len(names) :]
    assert (mask, int(umask, 8)) == ("set() ''", 0o022)
    inherited = dict(line.split("=", 1) for line in variables)
    assert {**kept, "LC_ALL": "C.UTF-8", "TERM": "dumb"}.items() <= inherited.items()
    assert not inherited.keys() & (odd.keys() - {"TERM"})


def test_the_tests_have_begun_so() -> None:
    assert clean_environment(os.environ).items() <= {**os.environ}.items()


def test_an_environment_for_children() -> None:
    given = {"PYTHONPYCACHEPREFIX": "/x", "HOME": "/root", "GIT_DIR": "x", "TERM": "xterm"}
    expected = {"PYTHONPYCACHEPREFIX": "/x", "HOME": "/root", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    assert clean_environment(given) == expected
