from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.cli.input import read_all, read_blocks
from compat_bpe.cli.output import CommandError, write_bytes, write_text
from tests.cli.exact import small_blocks
from tests.examples import shared_fixture


@shared_fixture()
@given(
    data=st.one_of(st.binary(max_size=50), st.text(max_size=50).map(lambda text: text.encode())),
    block=st.integers(1, 20),
)
def test_any_bytes_are_strict_utf8_or_refused_with_the_place(
    tmp_path: Path, data: bytes, block: int
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    with small_blocks(block):
        assert b"".join(read_blocks(str(path))) == data
        try:
            expected = data.decode()
        except UnicodeDecodeError as error:
            reason = f"byte 0x{data[error.start]:02x} at offset {error.start};"
            with pytest.raises(CommandError, match=reason):
                read_all(str(path))
        else:
            assert read_all(str(path)) == expected


def test_nothing_waits_for_a_full_block(monkeypatch: pytest.MonkeyPatch) -> None:
    arriving = [b"one", b"two", b""]

    class Pipe(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            data = arriving.pop(0)
            buffer[: len(data)] = data
            return len(data)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))
    assert list(read_blocks("-")) == [b"one", b"two"]


def test_a_stream_that_takes_little_at_a_time_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unbuffered(io.RawIOBase):
        taken = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.taken += bytes(data[:3])
            return len(data[:3])

    raw: Any = Unbuffered()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, write_through=True))
    write_bytes(b"hello world\r\n")
    assert raw.taken == b"hello world\r\n"


@pytest.mark.parametrize("color", [False, True])
def test_no_newline_is_translated(color: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    # As standard output is opened on Windows.
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "utf-8", newline="\r\n"))
    write_text("a\n\r\n\nb é", color=color)
    assert written.getvalue() == "a\n\r\n\nb é".encode()


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("color", [False, True])
def test_what_a_charset_does_not_have_is_escaped(
    terminal: bool, color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(written, "isatty", lambda: terminal, raising=False)
    stdout = io.TextIOWrapper(written, "cp437")
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(stdout, "isatty", lambda: terminal, raising=False)
    write_text("é … \U0001f600", color=color)
    stdout.flush()
    assert written.getvalue() == b"\x82 \\u2026 \\U0001f600"
