"""``compat-bpe`` run within this process."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Callable, NamedTuple

import pytest

from compat_bpe.cli import cli


class Result(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Result]


def runner(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    """What runs a command with the arguments and standard input given, in ``folder``."""
    monkeypatch.chdir(folder)

    def run(*args: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            cli([command, *args], prog_name="compat-bpe")
        captured = capfd.readouterr()
        assert isinstance(caught.value.code, int)
        return Result(caught.value.code, captured.out, captured.err)

    return run
