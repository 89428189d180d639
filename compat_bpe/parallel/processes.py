"""Worker processes: when they may be started, and how. ``pool`` is imported only when it is used.

They are plain child processes that are fed over pipes. ``multiprocessing`` is not used: it runs the
caller's main module once more in each child. A library may be called where that is not allowed:
from a thread, a daemon, a script without a guard.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

_CODE = "import sys; sys.path[:] = {path!r}; from {module} import work; work()"

#: The beginnings of the names of Python's own programs.
_PYTHONS = ("python", "pypy", "graalpy")

#: The flags of a new process. Only on Windows does ``subprocess`` have them.
_ON_WINDOWS = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW")


def may_start() -> bool:
    """Return True if this Python can be started once more.

    In a frozen program, or one that embeds Python, it cannot: ``sys.executable`` is the program
    itself, and would open its windows once more. So its file must be named like a Python.
    """
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith(_PYTHONS) and not getattr(sys, "frozen", False)


def may_fork() -> bool:
    """Return True if a copy of this process can go on as a worker.

    That is on Linux, if the process has a single thread, those of libraries included: in a copy,
    the locks of other threads would stay locked for ever.
    """
    if sys.platform != "linux":
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def processors() -> int:
    """Return the number of processes that can run at the same time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def start_worker(module: str) -> subprocess.Popen[bytes]:
    """Start a process that calls ``work()`` of a module, with pipes as its input and output.

    An interrupt from the keyboard does not reach it; it would print a traceback. On Windows it
    opens no console of its own.

    Raises:
        OSError: the process cannot be started.
    """
    import subprocess

    return subprocess.Popen(
        [sys.executable, "-c", _CODE.format(path=sys.path, module=module)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        creationflags=sum(getattr(subprocess, name, 0) for name in _ON_WINDOWS),
    )
