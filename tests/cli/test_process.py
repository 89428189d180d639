"""What shows only in a process of its own: pipes, terminals, signals, statuses and imports."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from compat_bpe import get_encoding
from compat_bpe.cli.counting import _PART, WORTH_WORKERS
from tests.cli.running import (
    ROOT,
    TIMEOUT,
    Terminal,
    cases,
    command,
    environment,
    on_terminal,
    posix,
    refused,
    run,
    run_process,
    started,
    sweep,
    wait_for,
    write,
)
from tests.memory import on_linux, run_and_peak

GPT2 = ["-e", "gpt2"]
LINE = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. 你好\r\n"


# Pipes and files.


def test_there_and_back_through_pipes() -> None:
    write({"a": "naïve 😀\r\n<|endoftext|>\0\n\n" * 3000})
    pipe = (
        'cat a | "$0" -m compat_bpe encode -e gpt2 --packed'
        ' | "$0" -u -m compat_bpe decode -e gpt2 --packed'
    )
    done = run_process("-c", pipe, sys.executable, program=["sh"])
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == Path("a").read_bytes()


@posix
def test_devices_and_open_files() -> None:
    write({"a": "hello world"})
    reading, writing = os.pipe()
    os.write(writing, b"hello world")
    os.close(writing)
    paths = ["/dev/null", "/dev/stdin", f"/dev/fd/{reading}", "a"]
    done = run_process("count", *GPT2, *paths, input=b"hello", pass_fds=[reading])
    os.close(reading)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [int(line.split()[0]) for line in done.stdout.splitlines()] == [0, 1, 2, 2, 5]
    for name in ("/dev/zero", "/dev/urandom"):  # one that never ends is no text
        done = run_process("count", name)
        assert done.returncode == 2
        assert done.stderr.startswith(f"compat-bpe: {name}: ".encode())


@posix
def test_names_and_options_that_are_no_text(tmp_path: Path) -> None:
    name = b"caf\xe9\xff"
    folder = os.path.join(os.fsencode(tmp_path), name)
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    for file, data in ((name, b"hello world"), (b"binary" + name, b"\0")):
        Path(os.fsdecode(os.path.join(folder, file))).write_bytes(data)
    path = b"./" + name + b"/"
    for stdio in ("utf-8", "latin-1", "ascii"):
        env = environment(PYTHONIOENCODING=stdio)
        flat = run_process("count", "-v", *GPT2, ".", b"missing" + name, env=env)
        assert flat.returncode == 2
        lines = [line.split(None, 1) for line in flat.stdout.splitlines()]
        assert lines == [[b"2", path + name], [b"2", b"total"]]
        missing, skipped = sorted(flat.stderr.splitlines(), key=lambda line: b"skipped" in line)
        assert skipped.startswith(b"compat-bpe: " + path + b"binary" + name + b": skipped: ")
        assert missing == b"compat-bpe: missing" + name + b": No such file or directory"
    tree = run_process("count", *GPT2, "--tree", ".", env=env)
    names = [line.split(None, 1)[1] for line in tree.stdout.splitlines()]
    assert names == [b"./", b"`-- " + name + b"/", b"`-- " + name]
    done = run_process("split", *GPT2, "-n", "1", "-o", name, name, cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == name + b"0001.txt\n" + name + b"0002.txt\n"
    second = os.path.join(folder, name + b"0002.txt")
    assert Path(os.fsdecode(second)).read_bytes() == b" world"
    done = run_process("truncate", *GPT2, "-n", "1", "--marker", name, name, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


# Terminals.


def counting(*args: Any, **options: Any) -> Any:
    """Start ``count`` as on a terminal; standard input is that of the tests, if none is given."""
    options.setdefault("stdin", None)
    return started("count", *GPT2, *args, env=environment(TERM="xterm"), **options)


@posix
def test_waiting_is_said_but_not_to_who_wants_quiet() -> None:
    os.mkfifo("pipe")
    write({"a": "hello"})
    terminal = Terminal()
    streams = {"stdin": terminal.fd, "stdout": -1, "stderr": terminal.fd}
    with counting("pipe", "a", "-", **streams) as process:
        writer = "a program that writes to it"
        wait_for(f"compat-bpe: pipe: a named pipe; waiting for {writer}\n".encode(), terminal)
        write({"pipe": "hello world"})
        wait_for(b"compat-bpe: reading standard input; Ctrl-D on an empty line ends it\n", terminal)
        terminal.type(b"\x04")
        out, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert [int(line.split()[0]) for line in out.splitlines()] == [2, 1, 0, 3]
    terminal.text()
    terminal = Terminal()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.fd)
    with counting("-q", "-", **streams) as process:
        terminal.type(b"hello\n\x04")
        process.wait(TIMEOUT)
    assert process.returncode == 0
    assert b"compat-bpe" not in terminal.text()


@posix
@pytest.mark.parametrize(
    ("args", "text", "written"),
    [
        ("truncate -n 9 --report -e gpt2", "hello", "hello\ncompat-bpe: a.txt: not cut"),
        ("truncate -n 9 --report -e gpt2", "hello\n", "hello\ncompat-bpe: a.txt: not cut"),
        sweep("decode -e gpt2", "31373 " * 20_000 + "x", "hello\ncompat-bpe: a.txt: 'x'"),
        sweep("show --ids", "hello", '  "hello"\ncompat-bpe: a.txt: 1 token'),
    ],
)
def test_a_message_begins_a_line(args: str, text: str, written: str) -> None:
    write({"a.txt": text})
    words = [*args.split(), "a.txt"]
    assert written in run_process(*words, stderr=subprocess.STDOUT).stdout.decode()
    if "show" not in args:  # a terminal has its last line without the name of the file
        assert written in on_terminal(*words)
    # Nothing is added to output that goes elsewhere.
    done = run_process(*words)
    assert done.stdout.endswith(b"\n") == (text.endswith("\n") or "show" in args)
    assert done.stderr.startswith(b"compat-bpe: a.txt: ")


_TURNED = "a\u202eb\u2066\u200f.txt"


@posix
def test_names_do_not_act_on_a_terminal() -> None:
    write({_TURNED: "hug pug hugs\n", "b\x1b[2J": b"\xff"})
    env = environment(PYTHONIOENCODING="utf-8")
    shown = on_terminal("count", *GPT2, _TURNED, "b\x1b[2J", "none\u2069", env=env)
    assert "a\\u202eb\\u2066\\u200f.txt" in shown
    assert "b\\x1b[2J: " in shown
    assert "none\\u2069: No such file" in shown
    assert not {"\u202e", "\u2066", "\u2069", "\u200f", "\x1b"} & {*shown}
    # In a pipe they are exact.
    done = run_process("count", *GPT2, _TURNED, env=env)
    assert done.stdout.decode() == f"6 {_TURNED}\n"


# Closed streams, full disks and signals.

#: What reads standard input and writes to standard output.
FILTERS = [
    "truncate -n 5 -e gpt2",
    "encode -e gpt2",
    "count -e gpt2",
    "--help",
    sweep("split -n 5 --separator - -e gpt2"),
    *map(sweep, ("show -e gpt2", "decode -e gpt2", "models", "count --json")),
]


@posix
@pytest.mark.parametrize("args", FILTERS)
def test_closed_pipe_is_quiet(args: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run_process(*args.split(), input=b"31373 " * 2000, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


full_disk = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


@full_disk
@pytest.mark.parametrize(
    "args", ["decode -e gpt2", "count -e gpt2", sweep("show -e gpt2"), sweep("--version")]
)
def test_full_disk_is_one_line(args: str) -> None:
    with open("/dev/full", "wb") as full:
        done = run_process(*args.split(), input=b"1", stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"compat-bpe: standard output: No space left on device\n"


@posix
@cases(
    """
encode -e gpt2 → <&- → standard input: closed
encode -e gpt2 → >&- → standard output: closed
count -e gpt2 → <&- → standard input is closed
count -e gpt2 → >&- → standard output: closed
""",
    "args closed said",
)
def test_closed_stream_is_one_line(args: str, closed: str, said: str) -> None:
    line = f'exec "$0" -m compat_bpe {args} {closed}'
    done = run_process("-c", line, sys.executable, program=["sh"], input=b"a")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", f"compat-bpe: {said}\n".encode())


@full_disk
@pytest.mark.parametrize("is_full", [True, False])
@cases(
    """
count -e gpt2 missing a → 2
count -e gpt2 --max 1 a → 1
count -e gpt2 d a → 0
train -o b -n 257 --force --json-progress a → 0
""",
    "args status",
)
def test_messages_that_cannot_be_written_change_nothing(
    args: str, status: str, is_full: bool
) -> None:
    write({"a": "hello world", "d/binary": b"\0"})
    expected = run(*args.split())
    assert expected.status == int(status)
    assert expected.err
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full", "wb") as full:
        done = run_process(*args.split(), stderr=full if is_full else writing)
    os.close(writing)
    assert (done.returncode, done.stdout) == (int(status), expected.out)


@posix
@pytest.mark.parametrize(
    ("args", "stdin", "out"),
    [("decode", b"31373 995\n", b"hello world"), ("count a -", b"", b"2 a\n")],
)
def test_an_interrupt_is_quiet(args: str, stdin: bytes, out: bytes) -> None:
    write({"a": "hello world"})
    with started(*args.split(), *GPT2) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(stdin)
        process.stdin.flush()
        found = process.stdout.readline() if b"\n" in out else process.stdout.read(len(out))
        assert found.strip() == out.strip()  # now it waits for more
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (130, b"")


@posix
@pytest.mark.parametrize(("is_open", "with_workers"), [(False, False), (True, True)])
def test_waiting_for_a_pipe_can_be_interrupted(is_open: bool, with_workers: bool) -> None:
    os.mkfifo("pipe")
    write({"a": "hello\n" * (WORTH_WORKERS if with_workers else 1)})
    jobs = ["-j", "2"] if with_workers else []
    with counting(*jobs, "a", "pipe", stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stdout.readline().endswith(b"a\n")
        if is_open:
            writing = os.open("pipe", os.O_WRONLY)
            os.write(writing, b"hello ")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        if is_open:
            os.close(writing)
    assert (process.returncode, out, err) == (130, b"", b"")


#: The command, which gets a signal when its files are on the disk, but not in place.
_SIGNALLED = """
import os, signal, sys
from compat_bpe.cli import main

def replace(*paths):
    os.kill(os.getpid(), getattr(signal, os.environ["SIGNAL"]))
    real(*paths)

real, os.replace = os.replace, replace
if os.environ["SIGNAL"] == "SIGBREAK":
    # A signal of Windows alone, by one that is there.
    signal.SIGBREAK = signal.SIGUSR1
if "IGNORED" in os.environ:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
main()
"""


def signalled(limit: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    args = ("split", *GPT2, "-n", limit, "-o", "p-")
    env = environment(**variables)
    return run_process(*args, code=_SIGNALLED, input=b"one two three", env=env)


@posix
@pytest.mark.parametrize(
    ("name", "status"),
    [("SIGTERM", 143), ("SIGHUP", 129), ("SIGBREAK", 128 + getattr(signal, "SIGUSR1", 0))],
)
def test_a_signal_leaves_no_parts_of_files(name: str, status: int) -> None:
    done = signalled("1", SIGNAL=name)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")
    assert os.listdir() == []


@posix
def test_a_signal_that_is_ignored_stays_so() -> None:
    done = signalled("9", SIGNAL="SIGHUP", IGNORED="1")
    assert (done.returncode, done.stdout) == (0, b"p-0001.txt\n")


#: Interrupts the process when it imports the module that is named.
_INTERRUPTED = """
import importlib.abc, os, signal, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == os.environ["AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = [os.environ["PROGRAM"], "count", "-e", "gpt2", "-c", "hug"]
from compat_bpe.cli import main
main()
"""


@posix
@pytest.mark.parametrize(
    "module", ["compat_bpe.encodings.encoding", "click", "compat_bpe.cli.commands.count"]
)
def test_an_interrupt_while_modules_are_imported(module: str) -> None:
    env = environment(AT=module, PROGRAM="compat-bpe")
    done = run_process(code=_INTERRUPTED, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_an_interrupt_of_another_program_that_imports_the_package() -> None:
    env = environment(AT="compat_bpe.install", PROGRAM="other")
    done = run_process(code=_INTERRUPTED, env=env)
    assert done.returncode not in (0, 130)
    assert b"KeyboardInterrupt" in done.stderr


#: The command in a program that has something to do at its end.
_WITH_AN_END = """
import atexit, os, sys, threading
atexit.register(lambda: print("at the end", flush=True))
from compat_bpe.cli import program
if "THREAD" in os.environ:
    threading.Timer(0.5, print, ["of a thread"]).start()
program()
"""


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize(("limit", "status"), [("9", 0), ("1", 1)])
def test_the_end_of_the_process(thread: bool, limit: str, status: int) -> None:
    args = ("count", *GPT2, "--total-only", "--max", limit, "-q", "-c", "one two three")
    env = environment(**({"THREAD": "1"} if thread else {}))
    done = run_process(*args, code=_WITH_AN_END, env=env)
    lines = done.stdout.decode().splitlines()
    expected = {"3", "at the end", *(["of a thread"] if thread else [])}
    assert (done.returncode, lines[-1], set(lines)) == (status, "at the end", expected)


def test_a_profiler_has_its_end() -> None:
    profiler = [sys.executable, "-m", "cProfile", "-m", "compat_bpe"]
    assert b" function calls " in run_process("--version", program=profiler).stdout


# Workers, large inputs and little memory.


def children(process: subprocess.Popen[bytes]) -> Iterator[int]:
    """The processes that a process has started."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # pid (name) state parent; in the name there may be anything.
            state, parent = stat.read_bytes().rpartition(b")")[2].split()[:2]
        except OSError:
            continue  # it has ended
        if int(parent) == process.pid and state != b"Z":
            yield int(stat.parent.name)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def wait_until(what: Any) -> None:
    end = time.monotonic() + TIMEOUT
    while not what():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")
@cases("interrupt → 130\nclosed pipe → 1\nkill → -9", "end status")
def test_no_worker_is_left(end: str, status: str) -> None:
    write({f"d/{name}": "hello world\n" * 100_000 for name in "abcd"})
    # While it waits for standard input, the workers count.
    with started("count", "-j", "2", *GPT2, "-", "d") as process:
        wait_until(lambda: len(list(children(process))) == 2)
        workers = list(children(process))
        if end == "interrupt":
            process.send_signal(signal.SIGINT)
        elif end == "kill":
            process.kill()
        else:
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
        out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out or b"", err) == (int(status), b"", b"")
    wait_until(lambda: not any(map(runs, workers)))


def test_one_large_file_in_several_processes() -> None:
    repeats = WORTH_WORKERS // len(LINE.encode()) + 1
    assert repeats * len(LINE.encode()) > 2 * _PART
    write({"a": LINE * repeats})
    done = run_process("count", "-j", "2", *GPT2, "a")
    expected = f"{repeats * get_encoding('gpt2').count(LINE)} a\n"
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, expected, b"")
    # A mistake is at the same place for all.
    with open("a", "ab") as file:
        size = file.tell()
        file.write(b"\xff")
    alone, together = (run_process("count", "-j", jobs, *GPT2, "a") for jobs in "12")
    assert (alone.returncode, alone.stderr) == (together.returncode, together.stderr)
    assert b"byte 0xff at offset %d;" % size in together.stderr


@posix
def test_memory_that_is_not_there() -> None:
    import resource

    with open("large", "wb") as file:
        file.truncate(160 << 20)
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (160 << 20, 160 << 20))
    done = run_process("split", *GPT2, "-n", "5", "--json", "large", preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


@on_linux
def test_a_large_input_takes_little_memory() -> None:
    """Of the lines that come after some megabytes, nothing is kept."""
    line = "The quick brown fox jumps over the lazy dog, again and again.\n"
    script = (
        "import sys\nfrom compat_bpe.cli import cli\ncli(sys.argv[1:], standalone_mode=False)\n"
    )
    peaks = []
    for number in (40_000, 80_000):
        write({"large": line * number})
        args = ("encode", *GPT2, "--packed", "--jobs", "1", "large")
        _, peak = run_and_peak(script, *args, env=environment(), timeout=TIMEOUT)
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 40_000 * len(line) / 2


# What is imported, and what the package needs.

#: Runs commands, and prints after each of them what it has opened and imported.
_OPENED = """
import sys
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
from compat_bpe.cli import cli
for line in sys.argv[2:]:
    try:
        cli(line.split())
    except SystemExit:
        pass
    packs = [name for name in opened if name.endswith(".pack")]
    print("found", len(packs), [name for name in sys.argv[1].split() if name in sys.modules])
assert any("cli" in name for name in opened), "the hook sees nothing"
"""


@pytest.mark.parametrize(
    ("args", "packs", "absent"),
    [
        (  # a small file needs few modules
            "count -e gpt2 a",
            1,
            "files.git parallel.pool parallel.processes fit cli.tokens cli.token_view "
            "cli.count_request check cli.commands.encode cli.commands.decode",
        ),
        # A command imports no other, and reads no vocabulary for its help.
        ("decode --help", 0, "cli.commands.count cli.commands.encode cli.commands.train"),
        ("--help", 0, "lsp mcp spark"),
        ("count --help", 0, "cli.commands.encode cli.commands.train"),
    ],
)
def test_what_is_not_needed_is_not_imported(args: str, packs: int, absent: str) -> None:
    write({"a": "hello world"})
    modules = " ".join(f"compat_bpe.{name}" for name in absent.split())
    done = run_process(f"multiprocessing tomllib {modules}", args, code=_OPENED)
    assert done.stdout.decode().endswith(f"found {packs} []\n"), done.stdout


def test_without_click_one_line_says_how_to_get_it() -> None:
    write({"click.py": "raise ModuleNotFoundError('no click', name='click')\n"})
    done = run_process("count", env=environment(PYTHONPATH=f"{os.getcwd()}{os.pathsep}{ROOT}"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"pip install click" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_the_version() -> None:
    done = run_process("--version")
    expected = ["compat-bpe", compat_bpe.__version__]
    assert (done.returncode, done.stdout.decode().split()) == (0, expected)


def test_nobody_who_is_served() -> None:
    for options in ([], ["--stdio"]):
        done = run_process("lsp", *options, input=b"")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_hook_of_pre_commit() -> None:
    text = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text("utf-8")
    (entry,) = re.findall(r"^  entry: compat-bpe (count .*)$", text, re.MULTILINE)
    write({"a.txt": "hello world", "b.txt": "<|endoftext|>"})
    message = "compat-bpe: b.txt: 7 tokens, over the limit of 6\n"
    for limit, said in (("7", (0, "")), ("6", (1, message))):
        assert command(f"{entry} --max {limit} -e gpt2 a.txt b.txt")[::2] == said
    assert "--per-file needs --max" in refused(f"{entry} a.txt")
