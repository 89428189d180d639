"""``Session``: the work for one client, from its first message to its last.

One thread reads messages, another one works on them in their order. Long work is done in steps,
between which other messages are answered. Messages about a document wait for the work on that
document, so no message overtakes a change of its document.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any, Callable, NamedTuple, Union

from ..fit.edited_document import Unit
from . import rpc
from .documents import Notices, OpenDocument, diagnostics, position_at
from .rpc import Disconnected, Params, RpcError, Wire, error_as_json, is_id, uri_in
from .settings import Encodings, read_settings

#: The bytes of messages that may wait; then no more are read for a while.
_MOST_WAITING = 1 << 24
#: The bytes that are added to the length of each message, for its objects.
_OF_EACH = 1 << 11
#: The longest time in seconds that messages may delay work in steps.
_PATIENCE = 0.1

#: The result of a handler, or the steps towards it.
Steps = Generator[None, None, Any]
Handler = Callable[["Session", Params], Any]
Id = Union[int, str]

#: Put where a message would be, when the client is gone.
_END = object()
_NOTHING = object()


class _Task(NamedTuple):
    """Work in steps."""

    steps: Steps
    done: Callable[[Any, Exception | None], None]
    request: Id | None


class Session:
    """The work for one client.

    Args:
        wire: the connection to it.
        requests, notifications: the handlers by method.
    """

    def __init__(
        self, wire: Wire, requests: dict[str, Handler], notifications: dict[str, Handler]
    ) -> None:
        self.settings = read_settings(None)
        self.encodings = Encodings()
        self.unit: Unit = "utf-16"
        self.documents: dict[str, OpenDocument] = {}
        self.notices = Notices(self._tell)
        #: True if the client has given settings that are used.
        self.has_settings = False
        #: The settings as they were sent last.
        self.last_settings: object = None
        #: Why the settings that were sent last are not used; empty if they are.
        self.problem = ""
        #: The messages that the user was shown since the settings last changed.
        self.told: set[str] = set()
        #: The capabilities that the client has told.
        self.client = Abilities()
        #: The kinds of display that were announced to the client, by their settings.
        self.announced: set[str] = set()
        self.is_initialized = self.is_shut_down = self.is_over = False
        self._wire = wire
        self._requests = requests
        self._notifications = notifications
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self._read_bytes = self._done_bytes = 0
        self._tasks: deque[_Task] = deque()
        self._last_step = 0.0
        #: Requests that are not answered yet, and the cancelled ones among them.
        self._open: set[Id] = set()
        self._cancelled: set[Id] = set()
        #: The numbers of changes of each document that were read, and that were handled.
        self._changes_read: dict[object, int] = {}
        self._changes_handled: dict[object, int] = {}
        self._asked: dict[str, Callable[[Any], None]] = {}
        self._asked_count = 0

    def run(self) -> int:
        """Work until the client ends the session, or is gone; return the exit status."""
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while not self.is_over:
                message = self._next()
                if message is _END:
                    break
                try:
                    self._work(message)
                except Disconnected:
                    raise
                except Exception as error:  # a bug here must not lose the documents
                    self.log(error_as_json(error)["message"])
            for number in list(self._open):  # requests in steps, or that wait for a document
                ended = RpcError(rpc.REQUEST_CANCELLED, "the server has ended")
                self._answer(number, None, ended)
        except Disconnected:
            pass
        return 0 if self.is_shut_down or not self.is_initialized else 1

    def _work(self, message: Any) -> None:
        """Work on a message, if there is one, and on other work that is due."""
        if message is not _NOTHING:
            self._take(message)
        late = monotonic() - self._last_step > _PATIENCE
        if self._tasks and (message is _NOTHING or late):
            self._step()
        self.notices.send()

    # Messages to the client

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self._wire.write({"method": method, "params": params})

    def ask(self, method: str, params: dict[str, Any] | None, take: Callable[[Any], None]) -> None:
        """Send a request; ``take`` gets its result, unless it is an error."""
        self._asked_count += 1
        number = f"compat-bpe-{self._asked_count}"
        self._asked[number] = take
        self._wire.write(
            {"id": number, "method": method, **({} if params is None else {"params": params})}
        )

    def show(self, message: str) -> None:
        """Show the user an error, once, unless the client has a status for it."""
        if message in self.told or self.client.has_status:
            return
        self.told.add(message)
        self.notify("window/showMessage", {"type": 1, "message": f"compat-bpe: {message}"})

    def log(self, message: str) -> None:
        """Write a warning into the client's log."""
        self.notify("window/logMessage", {"type": 2, "message": f"compat-bpe: {message}"})

    def _tell(self, uri: str) -> None:
        """Send the count of a document, and its diagnostics if they have changed."""
        opened = self.documents.get(uri)
        if opened is None or opened.steps is not None:
            return
        shown = self.settings.shown
        if shown["didCount"]:
            params: dict[str, Any] = {
                "uri": uri,
                "version": opened.version,
                "count": opened.count(),
                "encoding": opened.document.encoding.name,
            }
            if opened.answer.note:
                params["encoding"], params["note"] = "", opened.answer.note
            if self.problem or opened.problem:
                params["problem"] = self.problem or opened.problem
            if opened.budget is not None:
                params["limit"] = opened.budget
                at = opened.exceeds_at()
                if at is not None:
                    params["passedAt"] = position_at(opened.document, at, self.unit)
            self.notify("compatBpe/didCount", params)
        if self.client.pulls_diagnostics:
            return
        problems = diagnostics(opened, self.unit) if shown["diagnostics"] else []
        if problems != opened.published:
            opened.published = problems
            params = {"uri": uri, "version": opened.version, "diagnostics": problems}
            self.notify("textDocument/publishDiagnostics", params)

    # For handlers

    def document(self, params: Params) -> OpenDocument:
        """Return the document that parameters name.

        Raises:
            RpcError: it is not open.
        """
        identifier = params.inner("textDocument")
        opened = self.documents.get(identifier.text("uri"))
        if opened is None:
            raise identifier.wrong("uri", f"no document {identifier.text('uri')!r} is open")
        return opened

    def is_outdated(self, uri: str) -> bool:
        """Return True if a change of a document has been read, but not made yet."""
        return self._changes_read.get(uri, 0) > self._changes_handled.get(uri, 0)

    def work_on(
        self, opened: OpenDocument, steps: Iterator[None], done: Callable[[Exception | None], None]
    ) -> None:
        """Change a document in steps; messages about it wait until it is done."""
        opened.steps = all_steps = _as_generator(steps)

        def finish(_result: object, error: Exception | None) -> None:
            opened.steps = None
            done(error)
            waiting, opened.waiting = opened.waiting, []
            for message in waiting:
                self.dispatch(message)

        self._run(all_steps, finish, None)

    def give_up(self, opened: OpenDocument) -> None:
        """Give up the work on a document, and the messages that wait for it."""
        self._tasks = deque(task for task in self._tasks if task.steps is not opened.steps)
        opened.steps = None
        waiting, opened.waiting = opened.waiting, []
        for message in waiting:
            self._count_change(message)
            if "id" in message:
                error = RpcError(rpc.CONTENT_MODIFIED, "the document was closed")
                self._answer(message["id"], None, error)

    def cancel(self, number: object) -> None:
        """Cancel a request that works in steps or waits for a document."""
        for task in self._tasks:
            if task.request is not None and task.request == number:
                self._tasks.remove(task)
                task.steps.close()
                return self._answer(task.request, None, None)
        for opened in self.documents.values():
            for message in opened.waiting:
                if "id" in message and message["id"] == number:
                    opened.waiting.remove(message)
                    return self._answer(message["id"], None, None)
        return None

    # Messages from the client

    def _read(self) -> None:
        """Read messages; the only work of its thread."""
        try:
            while True:
                try:
                    message, size = self._wire.read()
                except RpcError as error:
                    message, size = error, 0
                self._note(message)
                size += _OF_EACH
                self._read_bytes += size
                self._inbox.put((message, size))
                is_notice = isinstance(message, dict) and "id" not in message
                if is_notice and message.get("method") == "exit":
                    return  # rather than wait for more while the process ends
                while self._read_bytes - self._done_bytes > _MOST_WAITING and not self.is_over:
                    sleep(0.005)
        except Disconnected:
            pass
        finally:
            self._inbox.put((_END, 0))

    def _note(self, message: Any) -> None:
        """Note cancelled requests and changes of documents as soon as they are read."""
        if not isinstance(message, dict):
            return
        method, params = message.get("method"), message.get("params")
        if is_id(message.get("id")) and method is not None:
            self._open.add(message["id"])
        elif method == "$/cancelRequest" and isinstance(params, dict):
            number = params.get("id")
            if is_id(number) and number in self._open:
                self._cancelled.add(number)
        elif method == "textDocument/didChange":
            uri = uri_in(params)
            self._changes_read[uri] = self._changes_read.get(uri, 0) + 1

    def _next(self) -> Any:
        """Return the next message, or ``_NOTHING`` when other work is due."""
        try:
            if self._tasks:
                message, size = self._inbox.get_nowait()
            else:
                message, size = self._inbox.get(timeout=self.notices.seconds_left())
        except Empty:
            return _NOTHING
        self._done_bytes += size
        return message

    def _take(self, message: Any) -> None:
        """Check a message that was read, and work on it."""
        if isinstance(message, RpcError):
            self._wire.write({"id": None, "error": error_as_json(message)})
        elif not isinstance(message, dict):
            self._refuse(None, "a message must be an object")
        elif "method" not in message and ("result" in message or "error" in message):
            take = self._asked.pop(str(message.get("id")), None)
            if take is not None and "result" in message:
                take(message["result"])
        elif not isinstance(message.get("method"), str):
            self._refuse(message.get("id"), "a message must have a method")
        elif "id" in message and not is_id(message["id"]):
            self._refuse(None, "the id of a request must be a number or a string")
        else:
            self.dispatch(message)

    def _refuse(self, number: Any, reason: str) -> None:
        error = RpcError(rpc.INVALID_REQUEST, reason)
        self._wire.write({"id": number if is_id(number) else None, "error": error_as_json(error)})

    def dispatch(self, message: dict[str, Any]) -> None:
        """Work on a message, or let it wait for its document."""
        method, params = message["method"], message.get("params")
        opened = self.documents.get(uri_in(params))
        if opened is not None and opened.steps is not None:
            if method != "textDocument/didClose":
                opened.waiting.append(message)
                return
            self.give_up(opened)
        self._count_change(message)
        if "id" in message:
            self._handle_request(message["id"], method, params)
        else:
            self._handle_notification(method, params)

    def _count_change(self, message: dict[str, Any]) -> None:
        if message["method"] == "textDocument/didChange":
            uri = uri_in(message.get("params"))
            self._changes_handled[uri] = self._changes_handled.get(uri, 0) + 1

    def _handle_request(self, number: Id, method: str, params: Any) -> None:
        def done(result: Any, error: Exception | None) -> None:
            self._answer(number, result, error)

        handler = self._requests.get(method)
        if number in self._cancelled:
            done(None, None)
        elif self.is_shut_down:
            done(None, RpcError(rpc.INVALID_REQUEST, "the server is shut down"))
        elif not self.is_initialized and method != "initialize":
            done(None, RpcError(rpc.NOT_INITIALIZED, "the first request must be initialize"))
        elif handler is None:
            done(None, RpcError(rpc.METHOD_NOT_FOUND, f"there is no method {method!r:.80}"))
        else:
            self._call(handler, params, done, number)

    def _handle_notification(self, method: str, params: Any) -> None:
        def done(_result: Any, error: Exception | None) -> None:
            if error is not None:
                self.log(f"{method}: {error_as_json(error)['message']}")

        handler = self._notifications.get(method)
        may_come = method == "exit" or (self.is_initialized and not self.is_shut_down)
        if handler is not None and may_come:
            self._call(handler, params, done, None)

    def _answer(self, number: Id, result: Any, error: Exception | None) -> None:
        self._open.discard(number)
        if number in self._cancelled:
            self._cancelled.discard(number)
            error = RpcError(rpc.REQUEST_CANCELLED, "the request was cancelled")
        if error is None:
            self._wire.write({"id": number, "result": result})
        else:
            self._wire.write({"id": number, "error": error_as_json(error)})

    # Work

    def _call(
        self,
        handler: Handler,
        params: Any,
        done: Callable[[Any, Exception | None], None],
        request: Id | None,
    ) -> None:
        try:
            result = handler(self, Params({} if params is None else params))
        except Disconnected:
            raise
        except Exception as error:
            done(None, error)
            return
        if isinstance(result, Generator):
            self._run(result, done, request)
        else:
            done(result, None)

    def _run(
        self, steps: Steps, done: Callable[[Any, Exception | None], None], request: Id | None
    ) -> None:
        """Begin work in steps; mostly the first step completes it."""
        self._tasks.append(_Task(steps, done, request))
        self._tasks.rotate(1)
        self._step()

    def _step(self) -> None:
        task = self._tasks.popleft()
        result = failed = None
        try:
            next(task.steps)
        except StopIteration as stop:
            result = stop.value
        except Disconnected:
            raise
        except Exception as error:
            failed = error
        else:
            self._tasks.append(task)
            self._last_step = monotonic()
            return
        task.done(result, failed)
        self._last_step = monotonic()


def _as_generator(steps: Iterator[None]) -> Steps:
    yield from steps


class Abilities:
    """The capabilities of a client.

    Args:
        told: its capabilities, as it has sent them.

    >>> client = Abilities({"workspace": {"configuration": True, "codeLens": {}}})
    >>> client.can("workspace", "configuration"), client.can("workspace", "inlayHint")
    (True, False)
    """

    def __init__(self, told: object = None) -> None:
        self._told = told

    def can(self, *path: str) -> bool:
        """Return True if the client has a capability: true, or an object of options."""
        value = self._at(path)
        return value is True or isinstance(value, dict)

    def list_of(self, *path: str) -> list[str]:
        """Return the strings of a list; none if there is no such list."""
        value = self._at(path)
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    @property
    def commands(self) -> list[str]:
        """The commands that the client carries out by itself, in rust-analyzer's form."""
        return self.list_of("experimental", "commands", "commands")

    @property
    def has_status(self) -> bool:
        """True if the client shows the count of a document, and its problem, all the time."""
        return self.can("experimental", "status")

    @property
    def pulls_diagnostics(self) -> bool:
        """True if the client asks for diagnostics, again when told to; none come unasked then."""
        can_be_told = self.can("workspace", "diagnostics", "refreshSupport")
        return can_be_told and self.can("textDocument", "diagnostic")

    def _at(self, path: tuple[str, ...]) -> Any:
        value: Any = self._told
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value
