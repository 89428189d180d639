"""Messages on a pair of byte streams: a header with the length, then JSON in UTF-8."""

from __future__ import annotations

import json
import re
import sys
import threading
from typing import Any, BinaryIO

from ..files.whole import json_message
from .errors import INVALID_REQUEST, PARSE_ERROR, RpcError

#: The greatest length of a message in bytes.  50 MB of text may take 300 MB as JSON.
LONGEST = 1 << 30
#: The greatest length of a line of a header.
_LONGEST_LINE = 1 << 13
#: The bytes of a message that is too long that are read, and dropped, at a time.
_PORTION = 1 << 20

#: At the end of a line, since the rest of a broken message may come before it.
_LENGTH = re.compile(rb"Content-Length:[ \t]*(\d{1,18})[ \t]*\r?\n\Z", re.IGNORECASE)
_OTHER_HEADER = re.compile(rb"Content-Type:", re.IGNORECASE)


class Disconnected(Exception):
    """The other side is gone."""


class Wire:
    """Two byte streams on which messages are read and written.

    Args:
        reader: the stream to read from; one thread reads.
        writer: the stream to write to; several threads may write.
    """

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    def read(self) -> tuple[Any, int]:
        """Return the next message, and its length in bytes.

        Raises:
            Disconnected: there is none any more.
            RpcError: something is no message; the next one can be read all the same.
        """
        length = self._read_header()
        if length > LONGEST:
            while length > 0:
                length -= len(self._read_bytes(min(length, _PORTION)))
            raise RpcError(INVALID_REQUEST, f"a message of more than {LONGEST:,} bytes")
        data = self._read_bytes(length)
        try:
            # A byte that is no UTF-8 spoils a character, not the message.
            return json.loads(data.decode("utf-8", "replace")), length
        except (ValueError, RecursionError, MemoryError) as error:
            raise RpcError(
                PARSE_ERROR, f"a message is no JSON: {json_message(str(error))}"
            ) from None

    def write(self, message: dict[str, Any]) -> None:
        """Write a message.

        Raises:
            Disconnected: nobody reads it.
        """
        # Escapes also are the only form in which a surrogate can be sent.
        data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        try:
            with self._lock:
                self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
                self._writer.flush()
        except (OSError, ValueError):  # ValueError: the stream is closed
            raise Disconnected from None

    def _read_header(self) -> int:
        """Return the length of the next message; skip what is no header."""
        length: int | None = None
        is_broken = False
        while True:
            try:
                line = self._reader.readline(_LONGEST_LINE)
            except (OSError, ValueError):
                raise Disconnected from None
            if not line:
                raise Disconnected
            if line in (b"\r\n", b"\n"):
                if length is not None:
                    break
                continue
            match = _LENGTH.search(line)
            if match is not None:
                length = int(match[1])
                is_broken = is_broken or match.start() > 0
            elif not _OTHER_HEADER.match(line):
                is_broken = True
        if is_broken:
            print("compat-bpe lsp: something was no message, and was skipped", file=sys.stderr)
        return length

    def _read_bytes(self, length: int) -> bytes:
        try:
            data = self._reader.read(length)
        except (OSError, ValueError):
            raise Disconnected from None
        if len(data) < length:
            raise Disconnected
        return data
