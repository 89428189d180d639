"""``compat-bpe lsp``: its options; the server itself is tested in tests/lsp."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.exact import run


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--tcp", "localhost:9257"], "No such option"),
        (["more"], "unexpected extra argument"),
    ],
)
def test_wrong_usage(arguments: list[str], reason: str) -> None:
    status, out, err = run("lsp", *arguments)
    assert (status, out) == (2, b"")
    assert reason in err


@pytest.mark.parametrize("options", [[], ["--stdio"]])
def test_nobody_who_is_served(options: list[str]) -> None:
    command = [sys.executable, "-m", "compat_bpe", "lsp", *options]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
