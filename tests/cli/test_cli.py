"""The command as a whole: its commands, completion, and the server for editors that it starts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from compat_bpe import get_encoding
from compat_bpe.cli import cli
from tests.cli.running import ROOT, TIMEOUT, environment, posix, run, run_process
from tests.cli.running import run as run_here
from tests.memory import on_linux, run_and_peak

COMMANDS = cli.list_commands(click.Context(cli))

GPT2 = ["-e", "gpt2"]


def test_all_commands_are_listed() -> None:
    status, out, err = run_here("--help")
    listed = [line.split()[0] for line in out.decode().partition("Commands:\n")[2].splitlines()]
    assert (status, err) == (0, "")
    assert listed == COMMANDS
    assert {"count", "truncate", "encode", "decode", "show", "split"} <= set(listed)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name: str) -> None:
    status, out, err = run_here(name, "--help")
    assert (status, err) == (0, "")
    assert re.search(rf"^ +\$ .*compat-bpe {name}\b", out.decode(), re.MULTILINE)
    assert run_here(name, "-h")[::2] == (0, "")


@pytest.mark.parametrize("args", [["nonsense"], ["--nonsense"], ["count", "--nonsense"]])
def test_wrong_usage(args: list[str]) -> None:
    status, out, err = run_here(*args)
    assert (status, out) == (2, b"")
    assert "onsense" in err


def test_a_command_imports_no_other_and_reads_no_vocabulary_for_its_help() -> None:
    script = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "from compat_bpe.cli import cli\n"
        "cli(['decode', '--help'], standalone_mode=False)\n"
        "assert any('decode' in name for name in opened), 'the hook sees nothing'\n"
        "print([name for name in opened if name.endswith('.pack')])\n"
        "room = 'compat_bpe.cli.commands.'\n"
        f"print(sorted({{room + name for name in {COMMANDS!r}}} & set(sys.modules)))\n"
        "cli(['--help'], standalone_mode=False)\n"
        "print([name for name in opened if name.endswith('.pack')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        stdout=subprocess.PIPE,
        timeout=TIMEOUT,
        check=True,
    )
    lines = done.stdout.decode().splitlines()
    assert lines.count("[]") == 2
    assert "['compat_bpe.cli.commands.decode']" in lines


@posix
def test_there_and_back_through_pipes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("naïve 😀\r\n<|endoftext|>\0\n\n".encode() * 3000)
    pipe = " | ".join(
        [
            'cat "$1"',
            '"$0" -m compat_bpe encode -e gpt2 --packed',
            '"$0" -u -m compat_bpe decode -e gpt2 --packed',
            '"$0" -m compat_bpe truncate -e gpt2 -n 1000000',
        ]
    )
    done = subprocess.run(
        ["sh", "-c", pipe, sys.executable, path],
        env=environment(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == path.read_bytes()


@posix
def test_truncate_stops_reading() -> None:
    with subprocess.Popen(
        ["sh", "-c", "while :; do echo one more line of it; done"], stdout=subprocess.PIPE
    ) as endless:
        done = run_process("truncate", *GPT2, "-n", "602", stdin=endless.stdout)
        assert endless.stdout is not None
        endless.stdout.close()
        endless.wait(TIMEOUT)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"one more line of it\n" * 100 + b"one more"


@posix
def test_names_and_options_that_are_no_text(tmp_path: Path) -> None:
    name = b"caf\xe9\xff"
    try:
        (tmp_path / os.fsdecode(name)).write_bytes(b"hello world")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    done = run_process("split", *GPT2, "-n", "1", "-o", name, name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == name + b"0001.txt\n" + name + b"0002.txt\n"
    assert (tmp_path / os.fsdecode(name + b"0002.txt")).read_bytes() == b" world"
    done = run_process("truncate", *GPT2, "-n", "1", "--marker", name, name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ["caf\udce9"],
        ["encode", "caf\udce9"],
        ["encode", "-e", "caf\udce9"],
        ["show", "-m", "caf\udce9"],
        ["models", "caf\udce9"],
        ["encode", *GPT2, "--allowed-special", "caf\udce9"],
        ["truncate", *GPT2, "-n", "\udce9"],
    ],
)
def test_what_is_no_text_in_an_argument_is_a_user_s_mistake(args: list[str]) -> None:
    status, out, err = run_here(*args)
    assert (status, out) == (2, b"")
    assert "udce9" in ascii(err)


@posix
def test_colors_on_a_terminal() -> None:
    import pty

    ours, theirs = pty.openpty()
    try:
        done = run_process(
            *("show", "-q", *GPT2),
            input=b"hello world\n",
            stdout=theirs,
            env=environment(TERM="xterm"),
        )
        shown = os.read(ours, 1000)
    finally:
        os.close(theirs)
        os.close(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    parts = [(46, "hello"), (43, " world"), (46, "\\n")]
    assert shown.decode() == "".join(f"\x1b[30m\x1b[{n}m{t}\x1b[0m" for n, t in parts) + "\r\n"


@on_linux
def test_a_large_input_takes_little_memory(tmp_path: Path) -> None:
    """Of the lines that come after some megabytes, nothing is kept."""
    line = "The quick brown fox jumps over the lazy dog, again and again.\n"
    path = tmp_path / "large"
    script = (
        "import sys\nfrom compat_bpe.cli import cli\ncli(sys.argv[1:], standalone_mode=False)\n"
    )
    peaks = []
    for number in (40_000, 120_000):
        path.write_bytes(line.encode() * number)
        args = ("encode", *GPT2, "--packed", "--jobs", "1", str(path))
        ids, peak = run_and_peak(script, *args, env=environment(), timeout=TIMEOUT)
        assert len(ids) == 4 * number * get_encoding("gpt2").count(line)
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 80_000 * len(line) / 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script(shell: str) -> None:
    status, out, err = run("completion", shell)
    assert (status, err) == (0, "")
    assert f"_COMPAT_BPE_COMPLETE={shell}_complete".encode() in out
    assert b"compat-bpe" in out
    assert out.endswith(b"\n")


def test_unknown_shell() -> None:
    status, out, err = run("completion", "cmd")
    assert (status, out) == (2, b"")
    assert "'cmd' is not one of 'bash', 'zsh', 'fish'" in err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compat-bpe", "trun"], ["truncate"]),
        (["compat-bpe", "count", "--model", "gpt-4"], ["gpt-4", "gpt-4.1", "gpt-4o"]),
    ],
)
def test_bash_completes(tmp_path: Path, words: list[str], expected: list[str]) -> None:
    script = tmp_path / "completion"
    script.write_bytes(run("completion", "bash").out)
    command = tmp_path / "compat-bpe"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compat_bpe "$@"\n')
    command.chmod(0o755)
    quoted = " ".join(f"'{word}'" for word in words)
    ask = (
        f"shopt -s progcomp; source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1};"
        f" _compat_bpe_completion '{command}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", ask],
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(done.stdout.decode().split()) == expected


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--tcp", "localhost:9257"], "No such option"),
        (["more"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_of_the_server_for_editors(arguments: list[str], reason: str) -> None:
    status, out, err = run("lsp", *arguments)
    assert (status, out) == (2, b"")
    assert reason in err


@pytest.mark.parametrize("options", [[], ["--stdio"]])
def test_nobody_who_is_served(options: list[str]) -> None:
    command = [sys.executable, "-m", "compat_bpe", "lsp", *options]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
