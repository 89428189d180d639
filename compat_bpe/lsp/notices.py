"""Messages that follow the changes of a document: its count, and the place of its budget."""

from __future__ import annotations

from time import monotonic
from typing import Any, Callable, Protocol

from ..fit.document import Unit
from .abilities import Abilities
from .documents import OpenDocument
from .places import position_at, range_at
from .settings import Settings

#: The least time between two counts of a document, in seconds.
INTERVAL = 0.05
#: The name of the server in diagnostics.
SOURCE = "compat-bpe"
#: The characters in which something visible is looked for, to underline it.
_NEAR = 1000


class Receiver(Protocol):
    """The part of a session that notices need."""

    unit: Unit
    settings: Settings
    documents: dict[str, OpenDocument]
    client: Abilities

    def notify(self, method: str, params: dict[str, Any]) -> None: ...


class Notices:
    """Tells a client the counts of changed documents, each at most once in an interval.

    A change after a pause is told at once, others together when the interval is over.

    Args:
        receiver: the session of the client.
        clock: the function that gives the time in seconds.
    """

    def __init__(self, receiver: Receiver, clock: Callable[[], float] = monotonic) -> None:
        self._receiver = receiver
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
            opened = self._receiver.documents.get(uri)
            if opened is not None and opened.steps is None:
                self._tell(opened)

    def _tell(self, opened: OpenDocument) -> None:
        shown = self._receiver.settings.shown
        if shown["didCount"]:
            params: dict[str, Any] = {
                "uri": opened.uri,
                "version": opened.version,
                "count": opened.count(),
                "encoding": opened.document.encoding.name,
            }
            if opened.answer.note:
                params["encoding"], params["note"] = "", opened.answer.note
            if opened.budget is not None:
                params["limit"] = opened.budget
                at = opened.exceeds_at()
                if at is not None:
                    params["passedAt"] = position_at(opened.document, at, self._receiver.unit)
            self._receiver.notify("compatBpe/didCount", params)
        if self._receiver.client.pulls_diagnostics:
            return
        problems = diagnostics(opened, self._receiver.unit) if shown["diagnostics"] else []
        if problems != opened.published:
            opened.published = problems
            self._receiver.notify(
                "textDocument/publishDiagnostics",
                {"uri": opened.uri, "version": opened.version, "diagnostics": problems},
            )


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
