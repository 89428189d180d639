"""Outputs under faults: old files whole or new files whole, nothing left behind, no input changed.

A case writes files by a random function or command. The k-th call to the system fails, is
interrupted, or is where the process is killed; or the disk takes no large file; or another process
writes the same files.
"""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import signal
import stat
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from compat_bpe import Encoding
from compat_bpe.cli.app import cli
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.files.write import write_files, written_whole
from compat_bpe.train.write import write_vocabulary
from tests.files.systems import failing

_ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EPERM, errno.ENOENT, errno.EDQUOT)

#: The ends of names beside those of outputs.
_BESIDE = (".tmp", ".old")

#: The names and contents of files, and their modes.
_State = dict[str, tuple[bytes, int]]

_TEXT = "hug pug hugs, hugged pugs\n"

_COMMANDS: tuple[list[str], ...] = (
    ["split", "-e", "gpt2", "-n", "2", "-o", "out/part-", "--force", "in/a.txt"],
    ["corpus", "counts", "-j", "1", "-o", "out/counts.tsv", "--force", "in"],
    ["corpus", "counts", "-j", "1", "-o", "out/counts.jsonl.gz", "--force", "in"],
    ["report", "-e", "gpt2", "--html", "out/page.html", "--force", "in"],
    ["train", "-j", "1", "-n", "260", "-o", "out", "--force", "--name", "own", "in"],
    ["train", "-j", "1", "--merges", "2", "-o", "out", "--force", "--format", "gpt2", "in"],
    ["extend", "-j", "1", "-e", "bytes", "-n", "2", "-o", "out", "--force", "in"],
)


def _files(random: Random) -> Callable[[], None]:
    names = random.sample(["a", "b", "c", "d.json", "e" * 250], random.randint(1, 4))
    contents = [random.choice([b"", b"new", bytes(20_000)]) for _ in names]
    return lambda: write_files([(f"out/{name}", data) for name, data in zip(names, contents)])


def _streamed(random: Random) -> Callable[[], None]:
    name = random.choice(["out/a", "out/b.gz"])

    def write() -> None:
        with written_whole(name) as file:
            file.write(b"new")
            file.write(bytes(10_000))

    return write


def _vocabulary(random: Random) -> Callable[[], None]:
    formats = random.sample(["tiktoken", "gpt2", "vocab-merges", "token-map"], 2)
    specials = random.choice([{}, {"<|end|>": 256}])
    return lambda: _write_vocabulary("out", formats, specials)


def _write_vocabulary(folder: str, formats: list[str], specials: dict[str, int]) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    pattern = PATTERNS["gpt2"]
    own = Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)
    write_vocabulary(folder, own, pattern="gpt2", formats=formats, force=True)


def _command(random: Random) -> Callable[[], None]:
    arguments = random.choice(_COMMANDS)

    def run() -> None:
        text = io.TextIOWrapper(io.BytesIO(), "utf-8")
        with redirect_stdout(text), redirect_stderr(text):
            try:
                cli(arguments, prog_name="compat-bpe")
            except SystemExit as end:
                if end.code:
                    raise OSError(f"status {end.code}") from None

    return run


def attack(random: Random) -> None:
    """Write some files while something goes wrong."""
    before = os.getcwd()
    folder = tempfile.mkdtemp()
    os.environ["SOURCE_DATE_EPOCH"] = "1"  # the time in a page
    try:
        os.chdir(folder)
        _set_up(random)
        run = random.choice([_files, _streamed, _vocabulary, _command])(random)
        kind = random.choice([_fault, _fault, _fault, _killed, _full, None])
        if kind is None:
            _two(random)
        else:
            inputs = _state("in")
            kind(random, run, *_expected(run))
            assert _state("in") == inputs
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def _set_up(random: Random) -> None:
    """Make the inputs, and some of the files that will be replaced."""
    os.mkdir("in")
    Path("in/a.txt").write_text(_TEXT * random.randint(1, 5))
    Path("in/b.txt").write_text(_TEXT)
    os.mkdir("out")
    names = [
        *("a", "b", "b.gz", "c", "d.json", "e" * 250, "counts.tsv", "counts.jsonl.gz", "page.html"),
        *("manifest.json", "merges.txt", "vocab.bpe", "encoder.json", "own.tiktoken"),
        *("changes.json", "part-0001.txt", "part-0002.txt", "tokenizer.json", "token_map.tsv"),
    ]
    for name in random.sample(names, random.randint(0, len(names))):
        Path("out", name).write_bytes(f"old {name}".encode() * random.choice([1, 2000]))
        os.chmod(f"out/{name}", random.choice([0o600, 0o644, 0o640, 0o755]))
    if random.random() < 0.3:  # files that a later vocabulary removes
        _write_vocabulary("out", random.sample(["tiktoken", "gpt2", "token-map"], 2), {})


def _state(folder: str) -> _State:
    """Return the files of a folder, in which there is nothing else."""
    found = _state_of_files(folder)
    assert found.keys() == {*os.listdir(folder)}, os.listdir(folder)
    return found


def _state_of_files(folder: str) -> _State:
    return {
        entry.name: (Path(entry.path).read_bytes(), stat.S_IMODE(entry.stat().st_mode))
        for entry in os.scandir(folder)
        if entry.is_file(follow_symlinks=False)
    }


def _expected(run: Callable[[], None]) -> tuple[_State, _State]:
    """Return the files before and after the function, which is then undone."""
    old = _state("out")
    shutil.copytree("out", "copy")
    run()
    new = _state("out")
    for name in old.keys() & new.keys():
        assert old[name][1] == new[name][1], f"the mode of {name} is {new[name][1]:o}"
    shutil.rmtree("out")
    os.rename("copy", "out")
    return old, new


def _fault(random: Random, run: Callable[[], None], old: _State, new: _State) -> None:
    """One call to the system fails, or is interrupted: all is old, or all is new."""
    is_interrupt = random.random() < 0.4
    error = KeyboardInterrupt() if is_interrupt else OSError(random.choice(_ERRORS), "a fault")
    is_cleaning = False

    def fail() -> NoReturn:
        nonlocal is_cleaning
        is_cleaning = "rmtree" in {frame.name for frame in traceback.extract_stack()}
        raise error

    # A call that is interrupted may be done or not.
    number, done_before = random.randrange(1, 81), is_interrupt and random.random() < 0.5
    with (
        failing(number, fail, done_before=done_before) as called,
        suppress(OSError, KeyboardInterrupt),
    ):
        run()
    failed = "".join(called[number - 1 : number])
    if failed == "remove" or is_cleaning:  # what cannot be removed in the end stays
        found = _state_of_files("out")
        found = {name: one for name, one in found.items() if not name.endswith(_BESIDE)}
    else:
        found = _state("out")
    if failed == "chmod" and getattr(error, "errno", None) == errno.EPERM:
        # A disk without modes: a new file stays its owner's alone.
        found = {
            name: new[name] if one == (new.get(name, one)[0], 0o600) else one
            for name, one in found.items()
        }
    assert found in (old, new), (failed, error, _changes(old, found), _changes(new, found))


def _changes(old: _State, found: _State) -> list[str]:
    return sorted(name for name in old.keys() | found.keys() if old.get(name) != found.get(name))


def _killed(random: Random, run: Callable[[], None], old: _State, new: _State) -> None:
    """The process is killed: each file is whole, and all that was old is there, or all is new."""
    number = random.randrange(1, 81)

    def killed() -> None:
        with failing(number, lambda: os.kill(os.getpid(), signal.SIGKILL)):
            run()

    _wait(_child(killed))
    everything = _state_of_files("out")
    found = {name: one for name, one in everything.items() if not name.endswith(_BESIDE)}
    kept = [data for name, (data, _) in everything.items() if name.endswith(".old")]
    for name, (data, _) in found.items():
        assert data in [known[name][0] for known in (old, new) if name in known], name
    if any(found.get(name, (b"",))[0] != data for name, (data, _) in new.items()):
        for name, (data, _) in old.items():
            assert data in kept or found.get(name, (None,))[0] == data, f"{name} is lost"


def _full(random: Random, run: Callable[[], None], old: _State, new: _State) -> None:
    """The disk takes no file of more than some bytes: all is old, or all is new."""
    most = random.choice([0, 1, 100, 1_000, 5_000, 50_000])

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with suppress(OSError):
            run()

    assert _wait(_child(limited)) == 0
    assert _state("out") in (old, new), _changes(old, _state("out"))


def _two(random: Random) -> None:
    """Two processes write the same files: they are as if one had waited for the other."""
    names = random.sample(["a", "b", "c", "d.json", "merges.txt"], random.randint(2, 5))
    if random.random() < 0.5:
        shutil.rmtree("out")
        os.mkdir("out")
    pauses = [random.random() / 500 for _ in range(40)]
    writers: list[Callable[[], None]]
    if random.random() < 0.5:
        writers = [
            lambda: write_files([(f"out/{name}", b"one") for name in names]),
            lambda: write_files([(f"out/{name}", b"two") for name in reversed(names)]),
        ]
    else:
        folder = random.choice(["out", "new"])
        writers = [
            lambda: _write_vocabulary(folder, ["tiktoken", "gpt2", "token-map"], {}),
            lambda: _write_vocabulary(folder, ["gpt2", "vocab-merges"], {"<|end|>": 256}),
        ]
    expected = []
    for order in (writers, writers[::-1]):
        shutil.copytree("out", "copy")
        for writer in order:
            writer()
        expected.append({**_state("out"), **(_state("new") if os.path.isdir("new") else {})})
        shutil.rmtree("new", ignore_errors=True)
        shutil.rmtree("out")
        os.rename("copy", "out")

    def slowly(writer: Callable[[], None], own: list[float]) -> Callable[[], None]:
        real = os.replace

        def replace(*args: Any) -> None:
            time.sleep(own.pop() if own else 0)
            real(*args)

        def run() -> None:
            os.replace = replace  # type: ignore[assignment]
            writer()

        return run

    children = [_child(slowly(writer, pauses[number::2])) for number, writer in enumerate(writers)]
    assert [_wait(child) for child in children] == [0, 0]
    found = {**_state("out"), **(_state("new") if os.path.isdir("new") else {})}
    assert found in expected, [_changes(wanted, found) for wanted in expected]


def _child(run: Callable[[], None]) -> int:
    """Start a process that runs a function; return its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        run()
        status = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        os._exit(status)


def _wait(child: int) -> int:
    return os.waitpid(child, 0)[1]
