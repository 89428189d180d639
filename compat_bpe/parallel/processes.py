"""Worker processes: plain child processes that are fed over pipes.

They are not ``multiprocessing``'s, which runs the caller's main module once more in each child and
must not be used in many places a library is called from (a thread, a daemon, a script without a
guard).
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

_CODE = "import sys; sys.path[:] = {path!r}; from {module} import work; work()"


def may_start() -> bool:
    """Whether this Python can be started once more: in a frozen program it is that program."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def processors() -> int:
    """How many processes can run at the same time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def start_worker(module: str) -> subprocess.Popen[bytes]:
    """A process that calls ``work()`` of a module, which reads from a pipe and writes to one.

    What interrupts this process from the keyboard does not reach it: it would say so.

    Raises:
        OSError: it cannot be started.
    """
    import subprocess

    return subprocess.Popen(
        [sys.executable, "-c", _CODE.format(path=sys.path, module=module)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
