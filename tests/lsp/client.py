"""A client of the server for tests: requests and notifications over pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import IO, Any

from compat_bpe.lsp.server import serve

URI = "file:///work/text.py"
NOTES = "file:///work/notes.md"
CODE = """\
import re

class Area:
    def about(self):
        return 1

@cached
async def first(x):  # 😀
    return x

export const not_in_python = 1
"""

#: Seconds after which the server is taken to hang.
PATIENCE = 60


class Failed(Exception):
    """The error that answers a request."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]


class Client:
    """The client's side of a connection."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader = reader
        self._writer = writer
        self._last = 0
        self._inbox: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.notices: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.errors: list[dict[str, Any]] = []
        self.answer_asked: Callable[[dict[str, Any]], Any] = lambda _message: None
        self._answers: dict[object, dict[str, Any]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            line = self._reader.readline()
            if not line:
                break
            length = int(line.split(b":")[1])
            self._reader.readline()
            self._inbox.put(json.loads(self._reader.read(length)))
        self._inbox.put(None)

    def write(self, data: bytes) -> None:
        self._writer.write(data)
        self._writer.flush()

    def send(self, message: object) -> None:
        data = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object = None) -> int:
        """Send a request and return its number."""
        self._last += 1
        self.send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def take(self) -> bool:
        """Take one message from the server; return False if it is gone."""
        message = self._inbox.get(timeout=PATIENCE)
        if message is None:
            return False
        if "method" in message and "id" in message:
            self.asked.append(message)
            self.send({"id": message["id"], "result": self.answer_asked(message)})
        elif "method" in message:
            self.notices.append(message)
        elif message["id"] is None:
            self.errors.append(message["error"])
        else:
            self._answers[message["id"]] = message
        return True

    def answer(self, number: int) -> Any:
        """Return the answer to a request."""
        while number not in self._answers:
            assert self.take(), "the server is gone"
        message = self._answers.pop(number)
        if "error" in message:
            raise Failed(message["error"])
        return message["result"]

    def code_of(self, number: int) -> int | None:
        """Return the code of the error that answers a request; None if there is none."""
        try:
            self.answer(number)
        except Failed as failed:
            return failed.code
        return None

    def request(self, method: str, params: object = None) -> Any:
        return self.answer(self.ask(method, params))

    def wait_for(self, method: str, is_it: Callable[[Any], bool] = lambda _: True) -> Any:
        """Return the parameters of the first such notification from now on."""
        seen = 0
        while True:
            for notice in self.notices[seen:]:
                seen += 1
                if notice["method"] == method and is_it(notice["params"]):
                    self.notices.remove(notice)
                    return notice["params"]
            assert self.take(), "the server is gone"

    def shown(self, method: str = "window/showMessage") -> list[str]:
        """Return the messages to the user so far, after all that was sent is done."""
        self.request("compatBpe/fits", {"text": "", "limit": 0})
        return [one["params"]["message"] for one in self.notices if one["method"] == method]

    # What clients do

    def initialize(self, options: object = None, **capabilities: object) -> dict[str, Any]:
        found: dict[str, Any] = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": "file:///work",
                "capabilities": capabilities,
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        return found

    def open(self, text: str, uri: str = URI, language: str = "python", version: int = 1) -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, *changes: dict[str, Any], version: int = 2, uri: str = URI) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def close(self, uri: str = URI) -> None:
        self.notify("textDocument/didClose", about(uri))

    def configure(self, settings: object) -> list[str]:
        """Send settings; return the messages that are shown for them."""
        seen = len(self.shown())
        self.notify("workspace/didChangeConfiguration", {"settings": settings})
        return self.shown()[seen:]

    def count(self, uri: str = URI, **params: object) -> Any:
        return self.request("compatBpe/count", about(uri, **params))["count"]

    def text(self, uri: str = URI) -> str:
        """Return the text that the server has."""
        asked = about(uri, position=position(0, 0), limit=10**6, template="{prefix}{suffix}")
        tokens = self.request("compatBpe/fitPrompt", asked)
        assert not tokens["suffixWasCut"]
        found: str = tokens["suffix"]
        return found

    def leave(self) -> None:
        self.request("shutdown")
        self.notify("exit")
        while self.take():
            pass


def about(uri: str = URI, **params: object) -> dict[str, Any]:
    """Return the parameters of a request about a document."""
    return {"textDocument": {"uri": uri}, **params}


def position(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def span(line: int, character: int, end_line: int, end_character: int) -> dict[str, Any]:
    return {"start": position(line, character), "end": position(end_line, end_character)}


def insert(line: int, character: int, text: str) -> dict[str, Any]:
    return {"range": span(line, character, line, character), "text": text}


@contextmanager
def server() -> Iterator[tuple[Client, list[int]]]:
    """A server in this process; its exit status is put in the list when it ends."""
    to_server, from_server = os.pipe(), os.pipe()
    status: list[int] = []
    with (
        os.fdopen(to_server[0], "rb") as reader,
        os.fdopen(from_server[1], "wb") as writer,
        os.fdopen(to_server[1], "wb") as client_writer,
        os.fdopen(from_server[0], "rb") as client_reader,
    ):

        def run() -> None:
            status.append(serve(reader, writer))
            writer.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        client = Client(client_reader, client_writer)
        try:
            yield client, status
        finally:
            client_writer.close()
            thread.join(PATIENCE)
            assert not thread.is_alive(), "the server does not end"


@contextmanager
def client_of(options: object = None, **capabilities: object) -> Iterator[Client]:
    """A client that is initialized, of a server in this process."""
    with server() as (client, status):
        client.initialize(options, **capabilities)
        yield client
        client.leave()
    assert status == [0]


COMMAND = [sys.executable, "-m", "compat_bpe", "lsp"]


@contextmanager
def process(*arguments: str) -> Iterator[tuple[Client, subprocess.Popen[bytes]]]:
    """A server in a process of its own."""
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        try:
            yield Client(running.stdout, running.stdin), running
        finally:
            running.kill()
