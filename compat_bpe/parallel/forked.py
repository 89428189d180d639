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
        self._status: int | None = None

    def kill(self) -> None:
        """End the process at once."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._id, signal.SIGKILL)

    def poll(self) -> int | None:
        """Return a number if the process has ended, None if it runs."""
        self._wait(os.WNOHANG)
        return self._status

    def wait(self) -> int | None:
        """Wait until the process has ended."""
        self._wait(0)
        return self._status

    def _wait(self, options: int) -> None:
        if self._status is None:
            try:
                ended, status = os.waitpid(self._id, options)
            except ChildProcessError:  # the caller ignores SIGCHLD
                ended, status = self._id, 0
            if ended:
                self._status = status


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
