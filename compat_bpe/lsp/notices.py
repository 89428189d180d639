"""What follows the changes of a document: the times of messages, and the diagnostics."""

from __future__ import annotations

from time import monotonic
from typing import Any, Callable

from ..fit.document import Unit
from .documents import OpenDocument
from .places import range_at

#: The least time between two counts of a document, in seconds.
INTERVAL = 0.05
#: The name of the server in diagnostics.
SOURCE = "compat-bpe"
#: The characters in which something visible is looked for, to underline it.
_NEAR = 1000


class Notices:
    """The times at which a client is told of changed documents, of each once in an interval.

    A change after a pause is told at once, others together when the interval is over.

    Args:
        tell: called with the URI of a document that is due.
        clock: returns the time in seconds.
    """

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._due: dict[str, float] = {}
        self._told: dict[str, float] = {}

    def changed(self, uri: str) -> None:
        """Note that a document has another count, perhaps."""
        if uri not in self._due:
            now = self._clock()
            self._due[uri] = max(now, self._told.get(uri, now - INTERVAL) + INTERVAL)

    def forget(self, uri: str) -> None:
        """Forget a document that is closed."""
        self._due.pop(uri, None)
        self._told.pop(uri, None)

    def seconds_left(self) -> float | None:
        """Return the time until a message is due; None if there is none."""
        return max(0.0, min(self._due.values()) - self._clock()) if self._due else None

    def send(self) -> None:
        """Send what is due."""
        if not self._due:
            return
        now = self._clock()
        for uri in [uri for uri, due in self._due.items() if due <= now]:
            del self._due[uri]
            self._told[uri] = now
            self._tell(uri)


def diagnostics(opened: OpenDocument, unit: Unit) -> list[dict[str, Any]]:
    """Return the diagnostics of a document: one if it exceeds its budget.

    It is from the first token above the budget to the end of its line. If nothing in that can be
    seen, it is the next line with something.
    """
    document, budget, start = opened.document, opened.budget, opened.exceeds_at()
    if budget is None or start is None:
        return []
    near = document.slice(start, min(start + _NEAR, len(document)))
    if near.strip():
        start += len(near) - len(near.lstrip())
    end = document.line_range(document.position(start).line)[1]
    return [
        {
            "range": range_at(document, start, max(start, end), unit),
            "severity": 2,
            "source": SOURCE,
            "code": "budget",
            "message": f"{opened.in_words()} are {opened.count() - budget:,} over the budget of "
            f"{budget:,}: it is exceeded here",
        }
    ]
