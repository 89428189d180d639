"""Worker processes that are copies of this one, and so have all that it has loaded."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO


class ForkedProcess:
    """A copy of this process that does some work and ends; see ``processes.may_fork``.

    An interrupt from the keyboard does not reach it. It has the methods of ``subprocess.Popen``
    that a pool needs.

    Args:
        work: the work; its arguments are the input and the output of the process.
        others: such processes that run. The copy closes its ends of their pipes, so that each
            process sees the end of its input when this process ends.

    Raises:
        OSError: the process cannot be copied.
    """

    def __init__(
        self, work: Callable[[IO[bytes], IO[bytes]], None], others: Iterable[ForkedProcess]
    ) -> None:
        source, self_in = os.pipe()
        self_out, target = os.pipe()
        try:
            self._id = os.fork()
        except OSError:
            for end in (source, self_in, self_out, target):
                os.close(end)
            raise
        if not self._id:
            for other in others:
                os.close(other.stdin.fileno())
                os.close(other.stdout.fileno())
            os.close(self_in)
            os.close(self_out)
            _live(work, source, target)
        os.close(source)
        os.close(target)
        self.stdin: IO[bytes] = open(self_in, "wb")  # noqa: SIM115
        self.stdout: IO[bytes] = open(self_out, "rb")  # noqa: SIM115
        self._has_ended = False

    def kill(self) -> None:
        """End the process at once."""
        if not self._has_ended:
            with suppress(ProcessLookupError):
                os.kill(self._id, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until the process has ended."""
        if not self._has_ended:
            with suppress(ChildProcessError):  # the caller ignores SIGCHLD
                os.waitpid(self._id, 0)
            self._has_ended = True


def _live(work: Callable[[IO[bytes], IO[bytes]], None], source: int, target: int) -> None:
    """Do the work in the copy, which then ends: what called this process is not its concern."""
    try:
        os.setsid()
        if hasattr(gc, "freeze"):
            gc.freeze()  # a collection would write to all objects, and so copy them
        with open(source, "rb") as input_, open(target, "wb") as output:
            work(input_, output)
    except Exception:
        traceback.print_exc()
    finally:
        # Nothing is flushed that the original has in its buffers.
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(0)
