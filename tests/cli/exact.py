"""``compat-bpe`` run within this process, with exact bytes in and out."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple
from unittest import mock

from compat_bpe.cli import cli


class Result(NamedTuple):
    status: int
    out: bytes
    err: str


class _Written(io.BytesIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def run(
    *args: str,
    stdin: bytes | BinaryIO = b"",
    terminal: bool = False,
    charset: str = "utf-8",
) -> Result:
    """Run a command; standard output is a terminal or not, and has a charset."""
    source = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
    out, err = _Written(terminal), _Written(terminal)
    streams = (
        io.TextIOWrapper(source),
        io.TextIOWrapper(out, encoding=charset),
        io.TextIOWrapper(err, encoding=charset, errors="backslashreplace"),
    )
    status: object = None
    with mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]):
        try:
            cli(args, prog_name="compat-bpe")
        except SystemExit as exit:
            status = exit.code
    for written in streams[1:]:
        written.flush()
    assert isinstance(status, int)
    return Result(status, out.getvalue(), err.getvalue().decode(charset, "surrogateescape"))


@contextmanager
def small_blocks(size: int) -> Iterator[None]:
    """Read the input so many bytes at a time."""
    with mock.patch("compat_bpe.cli.input._BLOCK", size):
        yield


class _Endless(io.RawIOBase):
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._data * (len(buffer) // len(self._data))
        buffer[: len(data)] = data
        self._taken += len(data)
        assert self._taken < 1 << 20, "it is read on and on"
        return len(data)


def endless(data: bytes) -> BinaryIO:
    """Some bytes again and again, of which no more than a megabyte should be read."""
    return io.BufferedReader(_Endless(data))
