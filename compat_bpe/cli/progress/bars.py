"""A progress bar on a terminal, or lines of JSON for a program."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, TextIO, TypeVar

from ..output import plural
from .json_lines import current

_Progress = TypeVar("_Progress", bound="Progress")

#: Seconds until a bar appears: shorter work needs none.
_DELAY = 1.0
#: Seconds between two updates of the bar.
_INTERVAL = 0.1
#: The largest width of the bar in characters.
_WIDTH = 40


class Progress:
    """A bar on the last line of a terminal.

    It appears only after a second, and only if standard error is a terminal that can go back to
    the beginning of a line. With ``--json-progress``, there are those of ``json_lines`` instead.

    Args:
        total: the number of things to do; None if it is not known.
        what: the noun for these things.
        stream: the terminal; standard error unless given.
        is_quiet: never draw the bar.
    """

    #: The stage that lines of JSON name.
    _stage = "learn"

    def __init__(
        self,
        total: int | None,
        what: str,
        stream: TextIO | None = None,
        *,
        is_quiet: bool = False,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._total = total
        self._what = what
        self._done = 0
        self._drawn = 0
        self._json = current()
        is_drawn = not is_quiet and self._json is None and self._is_terminal()
        self._next = time.monotonic() + _DELAY if is_drawn else float("inf")

    def __enter__(self: _Progress) -> _Progress:
        self._write_json()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        self._write_json()

    def advance(self, number: int) -> None:
        """Add a number of things that are done; call it after the work, not before."""
        self._done += number
        self._refresh()

    def clear(self) -> None:
        """Remove the bar, so that something else can be written; it is drawn again later."""
        if self._drawn:
            self._write("\r" + " " * self._drawn + "\r")
            self._drawn = 0

    def _is_terminal(self) -> bool:
        if self._stream is None or os.environ.get("TERM") == "dumb":
            return False
        try:
            return self._stream.isatty()
        except ValueError:  # it is closed
            return False

    def _refresh(self) -> None:
        if self._json is not None and self._json.is_due:
            self._write_json()
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        # The last column stays free: some terminals go to the next line after it.
        line = self._line(self._columns() - 1)
        self._write("\r" + line + " " * (self._drawn - len(line)))
        self._drawn = len(line)

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def _line(self, columns: int) -> str:
        if self._total is None:
            return self._without_total()[:columns]
        # A file may have grown since its size was looked at.
        part = min(self._done / self._total, 1.0) if self._total else 1.0
        # Rounded down, so that 100 % is the end.
        text = f"{int(part * 100):3}% of {self._with_total(self._total)}"
        width = min(_WIDTH, columns - len(text) - 3)
        if width < 1:
            return text[:columns]
        full = int(part * width)
        return f"[{'#' * full}{'.' * (width - full)}] {text}"

    def _without_total(self) -> str:
        return f"{self._done:,} {self._what}"

    def _with_total(self, total: int) -> str:
        return f"{total:,} {self._what}"

    def _write_json(self) -> None:
        if self._json is not None:
            self._json.write(self._stage, **self._figures())

    def _figures(self) -> dict[str, Any]:
        return {"done": self._done, "total": self._total, "unit": self._what}

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal has gone
            self._next = float("inf")


class FileProgress(Progress):
    """A bar for the bytes of some files.

    Args:
        files: the number of files.
        size: their size in bytes; None if it is not known.
        stream, is_quiet: as in ``Progress``.
    """

    _stage = "read"

    def __init__(
        self,
        files: int,
        size: int | None,
        stream: TextIO | None = None,
        *,
        is_quiet: bool = False,
    ) -> None:
        super().__init__(size, "bytes", stream, is_quiet=is_quiet)
        self._files = files
        self._files_done = 0

    def file_done(self) -> None:
        """Add a file that is done."""
        self._files_done += 1
        self._refresh()

    def _figures(self) -> dict[str, Any]:
        return {**super()._figures(), "files": self._files_done, "total_files": self._files}

    def _without_total(self) -> str:
        return f"{self._done / 1e6:,.1f} MB, {self._of_files()}"

    def _with_total(self, total: int) -> str:
        return f"{total / 1e6:,.1f} MB, {self._of_files()}"

    def _of_files(self) -> str:
        return f"{self._files_done:,} of {plural(self._files, 'file')}"
