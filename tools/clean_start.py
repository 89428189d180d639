"""Put a process into a known state, whoever started it: a shell's job, nohup, cron or a test.

Only the standard library, so that it runs before anything is installed.
"""

from __future__ import annotations

import locale
import os
import signal
from collections.abc import Mapping
from contextlib import suppress

#: What a known environment has; a program that is to see another terminal or language is told.
_SET = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
#: What changes the results of programs: Python's and git's settings, languages, colours, pagers.
_DROPPED_PREFIXES = ("CLICOLOR", "GIT_", "LC_", "LESS", "PYTHON")
_DROPPED = set(
    """
        COLORTERM COLUMNS FORCE_COLOR LANGUAGE LINES LS_COLORS MANPAGER NO_COLOR PAGER
        PYTEST_ADDOPTS PYTEST_PLUGINS PY_COLORS
    """.split()
)
#: Where Python keeps what it compiles, which changes no result.
_KEPT = {"PYTHONPYCACHEPREFIX"}

#: Python ignores them to raise errors, and its children do not.
_IGNORED_BY_PYTHON = {
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)
}


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what changes the results of programs."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in _KEPT or not (name in _DROPPED or name.startswith(_DROPPED_PREFIXES))
    }
    return {**kept, **_SET}


def clean_start() -> None:
    """Set this process, and so what it starts, to a known state.

    Signals that it was started to ignore or to hold back have their defaults, the umask is 022,
    the locale C.UTF-8, standard input empty unless it is a terminal, and the environment cleaned.
    """
    _reset_signals()
    os.umask(0o022)
    if not os.isatty(0):  # somebody may sit there with a debugger
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        if empty:
            os.close(empty)
    cleaned = clean_environment(os.environ)
    for name in set(os.environ) - set(cleaned):
        del os.environ[name]
    os.environ.update(cleaned)
    with suppress(locale.Error):  # Windows and old systems have none of this name
        locale.setlocale(locale.LC_CTYPE, cleaned["LC_ALL"])


def _reset_signals() -> None:
    """Give signals that are ignored, as in a shell's background job, what Python sets at first."""
    for number in signal.valid_signals():
        if signal.getsignal(number) is not signal.SIG_IGN or number in _IGNORED_BY_PYTHON:
            continue
        is_interrupt = number == signal.SIGINT
        signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
