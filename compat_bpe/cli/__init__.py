"""The command ``compat-bpe``: one module for each of its commands."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn

    from .app import cli as cli


def __getattr__(name: str) -> object:
    """Import the group of all commands when it is asked for."""
    if name != "cli":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .app import cli

    return cli


def _leave(number: int, _frame: object) -> None:
    """End the process at once."""
    os._exit(128 + number)


def _end(number: int, _frame: object) -> None:
    """End the process after a signal, and clean up; a second one ends it at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)  # as a shell reports a program that a signal ended


#: The new objects after which garbage is looked for. By default there are 700, which takes a
#: twentieth of a short run; what is in cycles until then takes some megabytes at most.
_SEARCH_AFTER = 20_000


def main() -> None:
    """Run the command with the arguments of the process, and exit.

    The exit status is

    - 0 if all went well;
    - 1 if a limit was exceeded, for commands that say so, or if standard output is a closed pipe;
    - 2 for wrong usage, if anything could not be read or written, or if memory is short;
    - 130 if interrupted, 143 if told to end, and 129 if the terminal is gone; on Windows, 149 for
      Ctrl-Break and for a window that is closed.

    In these cases no partial files remain.
    """
    # An interrupt while modules are imported must not print a traceback; nothing needs cleanup yet.
    _handle("SIGINT", _leave)
    if hasattr(gc, "set_threshold"):
        gc.set_threshold(_SEARCH_AFTER)
    from .app import run

    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        _handle(name, _end)
    run()


def program() -> None:
    """Run ``main`` and end the process without freeing each object of a vocabulary.

    That would take a tenth of the time of a short run. Exit functions are called and streams are
    flushed. With a profiler, a debugger, or other threads, the process ends as Python ends it. It
    is for processes that do nothing else: no caller can catch the exit.
    """
    try:
        main()
    except SystemExit as ending:
        _exit(ending)


def _exit(ending: SystemExit) -> NoReturn:
    status = 0 if ending.code is None else ending.code
    if not isinstance(status, int) or _is_watched() or threading.active_count() > 1:
        raise ending
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # What could not be written there has been reported, or was a message.
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(status)


def _is_watched() -> bool:
    """Return True if a profiler or a debugger runs, which Python 3.12 has other hooks for, too."""
    monitoring = getattr(sys, "monitoring", None)
    tools = map(monitoring.get_tool, range(6)) if monitoring else ()
    return any(hook is not None for hook in (sys.gettrace(), sys.getprofile(), *tools))


def _handle(name: str, handler: Callable[[int, Any], Any]) -> None:
    """Set the handler of a signal in place of the default."""
    number = getattr(signal, name, None)
    # A signal that is ignored, as by `nohup`, stays ignored.
    replaced = (signal.SIG_DFL, signal.default_int_handler, _leave)
    if number is not None and signal.getsignal(number) in replaced:
        with suppress(ValueError):  # only the main thread may do it
            signal.signal(number, handler)
