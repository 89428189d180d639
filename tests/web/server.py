"""A web server of this machine for a folder, with no headers of its own."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import BinaryIO


class _Line:
    """A connection that all share, with a number of bytes each second."""

    def __init__(self, rate: float) -> None:
        self._rate, self._free, self._lock = rate, 0.0, Lock()

    def send(self, source: BinaryIO, target: BinaryIO) -> None:
        while part := source.read(8192):
            with self._lock:
                # A thread that wakes too late must not make the line slower.
                since = max(self._free, time.monotonic() - 0.05)
                self._free = since + len(part) / self._rate
                wait = self._free - time.monotonic()
            time.sleep(max(wait, 0))
            target.write(part)


class _Quiet(SimpleHTTPRequestHandler):
    def __init__(self, *args: object, line: _Line | None, directory: str) -> None:
        self._line = line
        super().__init__(*args, directory=directory)  # type: ignore[arg-type]

    def copyfile(self, source: BinaryIO, outputfile: BinaryIO) -> None:  # type: ignore[override]
        if self._line is None:
            super().copyfile(source, outputfile)
        else:
            self._line.send(source, outputfile)

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        types = {".mjs": "text/javascript", ".wasm": "application/wasm"}
        return types.get(Path(path).suffix) or super().guess_type(path)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a browser that is closed breaks off what it loads


@contextlib.contextmanager
def served(folder: Path, rate: float | None = None) -> Iterator[str]:
    """Serve a folder, at most so many bytes a second; the value is its address, with a slash."""
    handler = partial(_Quiet, line=_Line(rate) if rate else None, directory=str(folder))
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()
