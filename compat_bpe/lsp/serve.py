"""The server on standard input and output."""

from __future__ import annotations

import sys
from typing import BinaryIO

from .rpc import Wire
from .server import NOTIFICATIONS, REQUESTS
from .session import Session


def serve(reader: BinaryIO, writer: BinaryIO) -> int:
    """Serve one client on two byte streams; return the exit status.

    The status is 1 if a client has begun a session and has not shut the server down, else 0.
    """
    return Session(Wire(reader, writer), REQUESTS, NOTIFICATIONS).run()


def serve_stdio() -> int:
    """Serve one client on standard input and output; return the exit status.

    There is no other way: on a socket, every user of the machine could have files read.
    """
    # At its end Python closes its standard input, which must not wait for the thread that reads.
    reader = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115
    writer = sys.stdout.buffer
    # Text printed by mistake must not come between the messages.
    sys.stdout = sys.stderr
    return serve(reader, writer)
