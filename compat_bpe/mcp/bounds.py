"""The bounds of a call of a tool, and the error for what is beyond them."""

from __future__ import annotations

import time
from typing import NamedTuple


class CallError(Exception):
    """An error that is the answer to a call: a sentence for the agent."""


class Bounds(NamedTuple):
    """The most that a call may take.

    Args:
        text: the characters of all texts in its arguments, as JSON.
        file: the bytes of a file.
        files: the number of files.
        total: the bytes of all files; the characters of all parts, which may overlap.
        parts: the parts of a text that is split.
        tools: the tools of a list.
        seconds: the time.
    """

    text: int = 4_000_000
    file: int = 16_000_000
    files: int = 20_000
    total: int = 64_000_000
    parts: int = 10_000
    tools: int = 1_000
    seconds: float = 60.0


#: The most characters of a name, a path or a glob.
LONGEST = 4096

#: The largest number in arguments and results.
LARGEST = 10**12

#: Those of the server.
BOUNDS = Bounds()


class Clock:
    """The time that a call has left; another thread may stop it.

    Args:
        seconds: the time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped = False

    def stop(self) -> None:
        """Let the next check fail: nobody waits for the result."""
        self._stopped = True

    def check(self) -> None:
        """Raise ``CallError`` if the time is over."""
        if self._stopped or time.monotonic() > self._end:
            raise self.error()

    def error(self) -> CallError:
        """Return the error for a call whose time is over."""
        return CallError(f"this takes more than {self._seconds:g} s: give less text or fewer files")
