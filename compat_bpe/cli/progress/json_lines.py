"""Progress for programs that show it: JSON objects on standard error, one a line.

Each has the keys ``stage`` and ``seconds``, the time since the command began. Stages are:

- ``read``, ``learn``: ``done`` and ``total`` (null if it is not known) in the ``unit``; of files,
  also ``files`` and ``total_files``. Twice a second at most, and at the beginning and the end.
- ``estimate``: of what is left, ``least_seconds``, ``most_seconds``, ``least_bytes`` and
  ``most_bytes`` (of memory), and the ``size`` of the text in bytes; ``train`` only, and only of
  some megabytes.
- ``finished``: the ``status``, 0 or 2, and what the command adds: ``train`` says why learning
  ``stopped``, and the number of ``tokens``.
- ``failed``: the ``status``, and the ``error`` as on standard error, or ``ended by signal 15``.

The last line is one of the last two, unless the process is killed, or the options were wrong.
Messages stand on lines of their own, and begin with ``compat-bpe: ``, not with a brace.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

#: Seconds between two lines of a stage.
_INTERVAL = 0.5

_KEY = "compat_bpe.json_progress"


class JsonProgress:
    """A writer of such lines."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = 0.0
        self._result: dict[str, Any] = {}

    def write(self, stage: str, **values: Any) -> None:
        """Write a line."""
        import json  # every bar looks here, and few are for programs

        now = time.monotonic()
        self._next = now + _INTERVAL
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
        help="Write progress to standard error as JSON objects, one a line, instead of a bar.",
    )(with_progress)
