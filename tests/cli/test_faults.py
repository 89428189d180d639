"""What no command expects: memory, nesting, an interrupt, names that act on a terminal."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from compat_bpe.cli import app as group
from compat_bpe.cli import cli
from compat_bpe.cli.commands import count as count_module
from tests.cli.running import (
    COMMAND,
    TIMEOUT,
    Run,
    Terminal,
    environment,
    posix,
    run_process,
    runner,
)

_TEXT = "hug pug hugs\n"

#: The commands that write files, and one of the files of each.
_WRITING = {
    "split": (["split", "-e", "gpt2", "-n2", "--suffix", ".tsv", "-o", "p-"], "p-0001.tsv"),
    "counts": (["corpus", "counts", "-o", "c.tsv"], "c.tsv"),
    "merge": (["corpus", "counts", "--merge", "-o", "c.tsv"], "c.tsv"),
    "report": (["report", "-e", "gpt2", "--html", "page.tsv"], "page.tsv"),
    "train": (["train", "-n", "260", "-o", ".", "--name", "v"], "merges.txt"),
    "extend": (["extend", "-e", "bytes", "-n", "1", "-o", "."], "tokenizer.json"),
}  # fmt: skip


@pytest.mark.parametrize("name", _WRITING)
@pytest.mark.parametrize("how", ["path", "standard input", "a hard link"])
def test_no_command_overwrites_its_input(
    name: str,
    how: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    arguments, output = _WRITING[name]
    content = b"chunk\tcount\nhug\t3\n"
    path = tmp_path / output
    path.write_bytes(content)
    inputs = [] if how == "standard input" else [output]
    if how == "a hard link":
        os.link(path, tmp_path / "other.tsv")
        inputs = ["other.tsv"]
    monkeypatch.chdir(tmp_path)
    with open(path, encoding="utf-8") as source:
        monkeypatch.setattr(sys, "stdin", source)
        with pytest.raises(SystemExit) as caught:
            cli([*arguments, "--force", *inputs], prog_name="compat-bpe")
    captured = capfd.readouterr()
    assert (caught.value.code, captured.out) == (2, "")
    assert "it is one of the inputs" in captured.err
    assert path.read_bytes() == content
    assert len(os.listdir(tmp_path)) == 1 + (how == "a hard link")


def test_standard_output_is_no_file_that_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(_TEXT)
    with open(tmp_path / "page.html", "wb") as out:
        arguments = ("report", "-e", "gpt2", "--html", "page.html", "--force", "a.txt")
        done = run_process(*arguments, cwd=tmp_path, stdout=out)
    assert (done.returncode, done.stderr) == (
        2,
        b"compat-bpe: page.html: standard output goes there, too; write elsewhere\n",
    )


@posix
@pytest.mark.parametrize("name", ["counts", "report"])
def test_the_mode_of_an_output_is_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (command, *arguments), output = _WRITING[name]
    (tmp_path / "in").write_text(_TEXT)
    (tmp_path / output).write_text("old")
    (tmp_path / output).chmod(0o600)
    result = runner(command, tmp_path, monkeypatch)(*arguments, "--force", "in")
    assert result.status == 0
    assert stat.S_IMODE((tmp_path / output).stat().st_mode) == 0o600


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner("count", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "compat-bpe: there is not enough memory for this\n"),
        (RecursionError(), "compat-bpe: something in the input is nested too deeply\n"),
        (OverflowError("too large"), "compat-bpe: a number is too large: too large\n"),
        (OSError(5, "broken", "a"), "compat-bpe: a: broken\n"),
    ],
)
def test_an_error_that_is_not_expected_is_a_line_and_status_2(
    error: Exception, message: str, count: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(count_module, "chosen_answer", fail)
    assert count("--max", "1", stdin=b"hug") == (2, "", message)


def test_a_mistake_of_ours_is_a_traceback_and_status_2(
    count: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_module, "chosen_answer", None)
    status, out, err = count("--max", "1", stdin=b"hug")
    assert (status, out) == (2, "")
    assert "TypeError: 'NoneType' object is not callable" in err


@posix
def test_memory_that_is_not_there(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(160 << 20)
    done = run_process(
        *("split", "-e", "gpt2", "-n", "5", "--json", path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20)),
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


@posix
@pytest.mark.parametrize(
    "arguments",
    [["count", "."], ["train", "-n", "260", "-o", "v"], ["corpus", "counts", "-o", "c.tsv"]],
)
def test_a_current_directory_that_is_gone(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.txt").write_text(_TEXT)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(SystemExit) as caught:
        cli([*arguments, str(tmp_path / "a.txt")], prog_name="compat-bpe")
    assert caught.value.code == 2
    message = "compat-bpe: the current directory: No such file or directory\n"
    assert capfd.readouterr() == ("", message)


#: Interrupts the process when it imports the module that is named.
_INTERRUPTED = """
import importlib.abc, os, runpy, signal, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == os.environ["AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["compat-bpe", "count", "-e", "gpt2", "-c", "hug"]
from compat_bpe.cli import main
main()
"""


@posix
@pytest.mark.parametrize(
    "module",
    ["compat_bpe.encodings.encoding", "click", "compat_bpe.cli.commands.count"],
)
def test_an_interrupt_while_modules_are_imported(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED],
        env=environment(AT=module),
        capture_output=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_an_interrupt_of_another_program_that_imports_the_package() -> None:
    script = _INTERRUPTED.replace('"compat-bpe",', '"other",')
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(AT="compat_bpe.install"),
        capture_output=True,
        timeout=TIMEOUT,
    )
    assert done.returncode not in (0, 130)
    assert b"KeyboardInterrupt" in done.stderr


_SIGNALLED = """
import os, signal, sys
# A signal of Windows alone, by one that is there.
signal.SIGBREAK = signal.SIGUSR1
import compat_bpe.cli.app
from compat_bpe.cli import main
class Files:
    def read(*_):
        os.kill(os.getpid(), signal.SIGBREAK)
class Input:
    buffer = Files()
    def isatty(_):
        return False
    def fileno(_):
        return 0
sys.stdin = Input()
sys.argv = ["compat-bpe", "truncate", "-e", "gpt2", "-n", "1"]
try:
    main()
finally:
    print("cleaned up")
"""


@posix
def test_ctrl_break_of_windows_is_like_other_signals() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED],
        env=environment(),
        capture_output=True,
        timeout=TIMEOUT,
    )
    expected = 128 + signal.SIGUSR1
    assert (done.returncode, done.stdout.split(), done.stderr) == (
        expected,
        [b"cleaned", b"up"],
        b"",
    )


@pytest.mark.parametrize(
    ("code", "status"),
    [(errno.EPIPE, 1), (errno.EINVAL, 1), (errno.ENOSPC, 2)],
)
def test_a_closed_pipe_of_windows_is_a_closed_pipe(
    code: int, status: int, count: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, "of standard output")

    monkeypatch.setattr(group, "_CLOSED_PIPE", (errno.EPIPE, errno.EINVAL))
    monkeypatch.setattr(count_module, "chosen_answer", fail)
    if status == 1:
        assert count("--max", "1", stdin=b"hug").status == 1
    else:
        with pytest.raises(OSError, match="of standard output"):
            count("--max", "1", stdin=b"hug")


_TURNED = "a\u202eb\u2066\u200f.txt"


@posix
def test_names_do_not_act_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / _TURNED).write_text(_TEXT)
    (tmp_path / "b\x1b[2J").write_bytes(b"\xff")
    terminal = Terminal()
    subprocess.run(
        [*COMMAND, "count", "-e", "gpt2", _TURNED, "b\x1b[2J", "none\u2069"],
        cwd=tmp_path,
        env=environment(PYTHONIOENCODING="utf-8"),
        stdin=subprocess.DEVNULL,
        stdout=terminal.fd,
        stderr=terminal.fd,
        timeout=TIMEOUT,
    )
    shown = terminal.text().decode()
    assert "a\\u202eb\\u2066\\u200f.txt" in shown
    assert "b\\x1b[2J: " in shown
    assert "none\\u2069: No such file" in shown
    assert not {"\u202e", "\u2066", "\u2069", "\u200f", "\x1b"} & {*shown}


@posix
def test_names_in_a_pipe_are_exact_but_for_controls(tmp_path: Path) -> None:
    (tmp_path / _TURNED).write_text(_TEXT)
    env = environment(PYTHONIOENCODING="utf-8")
    done = run_process("count", "-e", "gpt2", _TURNED, cwd=tmp_path, env=env)
    assert done.stdout.decode() == f"6 {_TURNED}\n"
    done = run_process("count", "-e", "gpt2", "--json", _TURNED, cwd=tmp_path, env=env)
    assert json.loads(done.stdout)["files"][0]["path"] == _TURNED


@pytest.mark.parametrize(
    "arguments", [["x\x1b[2J"], ["count", "--max", "\x1b[2J"], ["split", "-n1", "a", "\x1b[2J"]]
)
def test_wrong_usage_quotes_no_escape_sequence(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli(arguments, prog_name="compat-bpe")
    captured = capfd.readouterr()
    assert caught.value.code == 2
    assert "\\x1b[2J" in captured.err
    assert "\x1b" not in captured.err
