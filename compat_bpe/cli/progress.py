"""The progress of a command: a bar on a terminal, or lines of JSON for a program.

Every command runs within ``Work``, and work that can be measured within a bar of its own. Where
there is a timer (on all systems except Windows), every command that takes longer than a second
shows progress by then.

The lines of JSON are on standard error. Each has the keys ``stage`` and ``seconds``, the time since
the command began. Stages are:

- ``read``, ``learn``: ``done`` and ``total`` (null if it is not known) in the ``unit``; of files,
  also ``files`` and ``total_files``. Twice a second at most, and at the beginning and the end.
- ``estimate``: of the remaining work, ``least_seconds``, ``most_seconds``, ``least_bytes`` and
  ``most_bytes`` (of memory), and the ``size`` of the text in bytes; only by ``train``, and only
  for some megabytes or more.
- ``finished``: the ``status``, 0 or 2; for ``train`` also the reason why learning ``stopped``, and
  the number of ``tokens``.
- ``failed``: the ``status``, and the ``error`` as on standard error, or ``ended by signal 15``.

The last line is one of the last two, unless the process is killed, or the options were wrong.
Messages are on lines of their own, which begin with ``compat-bpe: ``, not with a brace.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from functools import wraps
from typing import Any, Callable, TextIO, TypeVar

import click

from .output import Screen, is_terminal, plural

_Progress = TypeVar("_Progress", bound="Progress")

#: Seconds until a bar appears: shorter work needs none.
_DELAY = 1.0
#: Seconds between two updates of the bar.
_INTERVAL = 0.1
#: The largest width of the bar in characters.
_WIDTH = 40


class Progress:
    """A bar on the last line of a terminal.

    It appears only when the command has taken a second, and only if standard error is a terminal
    that can go back to the beginning of a line. With ``--json-progress``, there are lines of JSON
    instead.

    Args:
        total: the number of things to do; None if it is not known.
        what: the noun for these things.
        stream: the terminal; standard error unless given.
        is_quiet: never draw the bar.
        until_output: draw the bar only until there is output for a terminal or a pipe; write no
            JSON.
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
        until_output: bool = False,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._total = total
        self._what = what
        self._done = 0
        #: The line on the terminal; empty if there is none.
        self._drawn = ""
        self._until_output = until_output
        self._json = None if until_output else current()
        self._is_drawn = not is_quiet and self._json is None and self._is_terminal()
        self._start: float = _active[0]._start if _active else time.monotonic()
        self._next = self._start + _DELAY if self._is_drawn else float("inf")

    def __enter__(self: _Progress) -> _Progress:
        self._write_json()
        if self._is_drawn and not _active:
            _start_timer()
        if _active:
            _active[-1].clear()
        _active.append(self)
        Screen.clear_bar = self.clear
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        if self in _active:
            # An abandoned generator may end later than the bar around it.
            at = _active.index(self)
            for inner in _active[at + 1 :]:
                inner.clear()
            del _active[at:]
        Screen.clear_bar = _active[-1].clear if _active else lambda: None
        if self._is_drawn and not _active:
            _stop_timer()
        self._write_json()

    def advance(self, number: int) -> None:
        """Add a number of things that are done; call it after the work, not before."""
        self._done += number
        self._refresh()

    def clear(self) -> None:
        """Remove the bar, so that something else can be written; it is drawn again later."""
        drawn, self._drawn = self._drawn, ""
        if drawn:
            # The timer must not draw before that is written.
            self._next = max(self._next, time.monotonic() + _INTERVAL)
            self._write("\r" + " " * len(drawn) + "\r")

    def _is_terminal(self) -> bool:
        return os.environ.get("TERM") != "dumb" and is_terminal(self._stream)

    def _refresh(self) -> None:
        if self._json is not None and self._json.is_due:
            self._write_json()
        self.draw()

    def draw(self) -> None:
        """Draw the bar if it is due."""
        now = time.monotonic()
        if now < self._next or not self._may_draw():
            return
        self._next = now + _INTERVAL
        # The last column stays free: some terminals go to the next line after it.
        line = self._line(self._columns() - 1)
        if line != self._drawn:
            self._write("\r" + line + " " * (len(self._drawn) - len(line)))
            self._drawn = line

    def _may_draw(self) -> bool:
        """Return False if a bar would disturb typing, output that is read, or another bar."""
        if self in _active and self is not _active[-1]:
            return False
        if Screen.is_typed or not (Screen.is_at_line_start or not is_terminal(sys.stdout)):
            return False
        return not (self._until_output and Screen.has_output and _is_read())

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
        return f"{self._done:,} {self._what}, {self._seconds()} s"

    def _seconds(self) -> int:
        return int(time.monotonic() - self._start)

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
        except RuntimeError:  # the timer interrupted a write
            pass


class Work(Progress):
    """The line of a command while it has no bar: it says how long the command has worked."""

    def __init__(self) -> None:
        super().__init__(None, "working", until_output=True)

    def __enter__(self) -> Work:
        Screen.begin()
        return super().__enter__()

    def _may_draw(self) -> bool:
        context = click.get_current_context(silent=True)
        if context is not None:
            is_server = context.info_name in ("lsp", "mcp")
            if is_server or context.params.get("quiet") or current() is not None:
                return False
        return super()._may_draw()

    def _without_total(self) -> str:
        return f"{self._what}, {self._seconds()} s"


#: The bars in use, each within the one before; the last one is drawn.
_active: list[Progress] = []


def _on_alarm(_number: int, _frame: object) -> None:
    # A pager may have the screen while a write to it waits.
    is_paged = Screen.has_output and _is_read() and not is_terminal(sys.stdout)
    if _active and not is_paged:
        _active[-1].draw()


def _start_timer() -> None:
    """Let the bar be drawn every tenth of a second, even if nothing advances."""
    if not hasattr(signal, "setitimer"):
        return
    try:
        if signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            return
        signal.signal(signal.SIGALRM, _on_alarm)
        # A read that waits is interrupted: Python then draws, and reads on.
        signal.setitimer(signal.ITIMER_REAL, _DELAY, _INTERVAL)
    except (OSError, ValueError):  # this is not the main thread, or a browser
        pass


def _stop_timer() -> None:
    if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is _on_alarm:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _is_read() -> bool:
    """Return True if standard output is a terminal or a pipe."""
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return True
    return is_terminal(sys.stdout) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class FileProgress(Progress):
    """A bar for the bytes of some files.

    Args:
        files: the number of files.
        size: their size in bytes; None if it is not known.
        stream, **options: as in ``Progress``.
    """

    _stage = "read"

    def __init__(
        self,
        files: int,
        size: int | None,
        stream: TextIO | None = None,
        **options: bool,
    ) -> None:
        super().__init__(size, "bytes", stream, **options)
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


#: Seconds between two lines of a stage.
_JSON_INTERVAL = 0.5

_KEY = "compat_bpe.json_progress"


class JsonProgress:
    """A writer of the lines of JSON."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = 0.0
        self._result: dict[str, Any] = {}

    def write(self, stage: str, **values: Any) -> None:
        """Write a line."""
        import json  # every bar looks here, and few are for programs

        now = time.monotonic()
        self._next = now + _JSON_INTERVAL
        line = {"stage": stage, **values, "seconds": round(now - self._start, 3)}
        try:
            sys.stderr.write(json.dumps(line) + "\n")
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # it is closed, or nobody reads it any more
            self._next = float("inf")

    @property
    def is_due(self) -> bool:
        """True if the last line was written long enough ago."""
        return time.monotonic() >= self._next

    def add_result(self, **values: Any) -> None:
        """Add keys to the last line."""
        self._result.update(values)

    def end(self, error: BaseException | None) -> None:
        """Write the last line.

        Args:
            error: what ended the command; None if nothing did.
        """
        if error is None or (isinstance(error, SystemExit) and error.code in (None, 0, 2)):
            status = 0 if error is None else error.code or 0
            self.write("finished", status=status, **self._result)
        else:
            status, reason = _failure(error)
            self.write("failed", status=status, error=reason)


def _failure(error: BaseException) -> tuple[int, str]:
    """Return the exit status for an error, and its reason."""
    if isinstance(error, click.ClickException):
        return error.exit_code, error.format_message()
    if isinstance(error, KeyboardInterrupt):
        return 130, "interrupted"
    if isinstance(error, SystemExit) and isinstance(error.code, int):  # as main() ends by a signal
        return error.code, f"ended by signal {error.code - 128}"
    if isinstance(error, MemoryError):
        return 2, "not enough memory"
    return 2, str(error) or type(error).__name__


def current() -> JsonProgress | None:
    """Return the writer of the command that runs; None unless ``--json-progress`` is given."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_KEY)


def json_progress_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option ``--json-progress``, which its progress bars look at."""

    @wraps(function)
    def with_progress(json_progress: bool, **options: Any) -> Any:
        if not json_progress:
            return function(**options)
        progress = JsonProgress()
        click.get_current_context().meta[_KEY] = progress
        try:
            result = function(**options)
        except BaseException as error:
            progress.end(error)
            raise
        progress.end(None)
        return result

    return click.option(
        "--json-progress",
        is_flag=True,
        help="Write progress to standard error as JSON objects, one per line, instead of a bar.",
    )(with_progress)
