"""Files of many kinds, repositories, Windows as far as it can be had here, calls that go wrong."""

from __future__ import annotations

import builtins
import io
import ntpath
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import pytest

from compat_bpe.files.walk import Walk


def make(*paths: str) -> None:
    """Write some files, and the folders that they are in."""
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(path)


def make_special(path: Path, special: str) -> None:
    """Make a pipe, ``"fifo"``, or a link to a device."""
    if special == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(special)


def git(*arguments: str | Path, folder: str | Path = ".", given: bytes = b"") -> bytes:
    """Run git, and skip the test where there is none."""
    if shutil.which("git") is None and not os.environ.get("CI"):
        pytest.skip("git is not installed")
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    settings += ["-c", "protocol.file.allow=always"]
    return subprocess.run(
        ["git", *settings, *arguments], cwd=folder, input=given, stdout=subprocess.PIPE, check=True
    ).stdout


def found_as_by_git(top: Path) -> set[str]:
    """The files of a repository that a walk finds; git has to list the same."""
    listed = git("ls-files", "-co", "--exclude-standard", "-z", folder=top).split(b"\0")
    names = {os.fsdecode(path) for path in listed if path}
    found = {os.path.relpath(file.path, top) for file in Walk().find([str(top)])}
    assert found == {path for path in names if os.path.basename(path) != ".gitignore"}
    return found


@contextmanager
def windows_paths() -> Iterator[None]:
    """Let ``os`` cut and join paths as on Windows; no file can be opened meanwhile."""
    with mock.patch.multiple(os, path=ntpath, sep="\\", altsep="/"):
        yield


@contextmanager
def windows_newlines() -> Iterator[None]:
    """Let files that are opened as text translate the ends of lines as on Windows."""
    plain = io.open

    def opened(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        stream = plain(file, mode, *args, **options)
        newline = args[3] if len(args) > 3 else options.get("newline")
        if isinstance(stream, io.TextIOWrapper) and "r" not in mode and newline is None:
            stream.reconfigure(newline="\r\n")
        return stream

    with mock.patch.object(io, "open", opened), mock.patch.object(builtins, "open", opened):
        yield


#: The calls that writing makes.
CALLS = ("replace", "link", "fsync", "open", "remove", "chmod", "rename", "mkdir")


@contextmanager
def failing(
    number: int, error: BaseException | Callable[[], object], *, done_before: bool = False
) -> Iterator[list[str]]:
    """Let the call of a number raise an error; yields the names of the calls so far.

    Args:
        number: the number, from 1 on.
        error: the error, or a function that is called instead of raising one.
        done_before: True if what was called is done nevertheless; opening would lose its result.
    """
    called: list[str] = []

    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            called.append(name)
            if len(called) == number:
                if done_before and name != "open":
                    real(*args, **options)
                if isinstance(error, BaseException):
                    raise error
                error()
            return real(*args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            # Waiting for the disk shows nothing.
            real = (lambda _: None) if name == "fsync" else getattr(os, name)
            patch.setattr(os, name, wrapped(name, real))
        yield called
