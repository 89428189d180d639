"""Commands that read one text: files that cannot be read, terminals and named pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli.exact import run
from tests.cli.process import COMMAND, TIMEOUT, environment, posix

READERS = [
    ["show"],
    ["encode"],
    ["decode"],
    ["truncate", "-n", "5"],
    ["split", "-n", "5", "--json"],
]
readers = pytest.mark.parametrize("args", READERS, ids=lambda args: args[0])


@readers
def test_a_file_without_permission_is_one_line(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"1")
    really_open: Any = open

    def refuse(path: Any, *more: Any, **options: Any) -> Any:
        if path == "a.txt":
            raise PermissionError(13, "Permission denied", path)
        return really_open(path, *more, **options)

    monkeypatch.setattr(os, "access", lambda *_args, **_options: False)
    monkeypatch.setattr("builtins.open", refuse)
    assert run(*args, "-e", "gpt2", "a.txt") == (2, b"", "compat-bpe: a.txt: Permission denied\n")


#: Runs commands as a user who is not root, and so does not pass every check.
_UNPRIVILEGED = """
import array, difflib, os, sys  # imported late, when they may not be readable any more
from compat_bpe import get_encoding
from compat_bpe.cli import cli
from compat_bpe.cli.commands import decode, encode, show, split, truncate
from compat_bpe.fit import split_text
enc = get_encoding("gpt2")
enc.truncate("a b", 1), enc.decode([1])
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for args in eval(sys.argv[1]):
    try:
        cli([*args, "-e", "gpt2", "a.txt"], prog_name="compat-bpe")
    except SystemExit as exit:
        print(exit.code)
"""


@posix
def test_a_file_of_someone_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # its content is found from the working directory
    (tmp_path / "a.txt").write_bytes(b"1")
    (tmp_path / "a.txt").chmod(0o000)
    done = subprocess.run(
        [sys.executable, "-c", _UNPRIVILEGED, repr(READERS)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stderr.decode() == "compat-bpe: a.txt: Permission denied\n" * len(READERS)
    assert done.stdout.split() == [b"2"] * len(READERS)


@posix
@readers
def test_a_terminal_is_told_that_it_is_read(args: list[str]) -> None:
    import pty

    ours, theirs = pty.openpty()
    os.write(ours, b"1\n\x04")
    try:
        done = subprocess.run(
            [*COMMAND, *args, "-e", "gpt2"],
            env=environment(),
            stdin=theirs,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    finally:
        os.close(theirs)
        os.close(ours)
    said = b"compat-bpe: reading standard input; Ctrl-D on an empty line ends it\n"
    assert done.stderr.startswith(said)
    assert done.returncode == 0
    assert done.stdout


@posix
@readers
def test_a_named_pipe_is_read_as_a_stream(args: list[str], tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(b"1 2",))
    writer.start()
    done = run(*args, "-e", "gpt2", str(path))
    writer.join()
    assert done[:2] == run(*args, "-e", "gpt2", stdin=b"1 2")[:2]
    assert done.status == 0


@readers
def test_standard_input_has_its_name_in_messages(args: list[str]) -> None:
    status, _, err = run(*args, "-e", "gpt2", stdin=b"\xff")
    assert status == 2
    assert err.startswith("compat-bpe: standard input: ")
