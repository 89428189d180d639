"""Files and sets of files are written whole or not at all, and keep what belongs to their names."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compat_bpe.files import write
from compat_bpe.files.write import is_special, locked, put_in_place, write_files, written_whole
from tests.files.systems import failing


def test_files_are_written_and_replaced(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"a longer text")
    write_files([(old, b"one"), (str(new), b"")])
    assert (old.read_bytes(), new.read_bytes()) == (b"one", b"")
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]


def test_no_file_is_replaced_before_all_are_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def files(error: BaseException) -> Iterator[tuple[Path, bytes]]:
        yield path, b"new"
        assert path.read_bytes() == b"old"
        raise error

    for error in (KeyboardInterrupt(), OSError(5, "of another file", "other")):
        with pytest.raises(type(error)) as raised:
            write_files(files(error))
        assert raised.value is error
        assert getattr(error, "filename", "other") == "other"
        assert os.listdir(tmp_path) == ["file"]
    assert path.read_bytes() == b"old"


def test_two_at_once_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def files() -> Iterator[tuple[Path, bytes]]:
        yield path, b"outer"
        write_files([(path, b"inner")])
        assert path.read_bytes() == b"inner"

    write_files(files())
    assert path.read_bytes() == b"outer"
    assert os.listdir(tmp_path) == ["file"]


def test_the_error_names_the_file(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing" / "file")
    with pytest.raises(FileNotFoundError) as raised:
        write_files([(tmp_path / "one", b"1"), (missing, b"2")])
    assert str(raised.value) == f"[Errno 2] No such file or directory: {missing!r}"
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="links and modes as on Unix")
def test_a_link_is_replaced_and_the_mode_is_that_of_a_new_file(tmp_path: Path) -> None:
    path, target, new = (tmp_path / name for name in ("link", "target", "new"))
    target.write_bytes(b"kept")
    path.symlink_to(target)
    write_files([(path, b"data")])
    assert (path.is_symlink(), path.read_bytes(), target.read_bytes()) == (False, b"data", b"kept")
    new.write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(new.stat().st_mode)


def stream(path: Path, *pieces: bytes) -> None:
    with written_whole(str(path)) as file:
        for piece in pieces:
            file.write(piece)


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    stream(tmp_path / "a", b"one", b"two")
    stream(tmp_path / "a", b"three")
    assert (tmp_path / "a").read_bytes() == b"three"
    assert os.listdir(tmp_path) == ["a"]


def test_the_same_content_gives_the_same_compressed_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream(tmp_path / "a.gz", b"one")
    monkeypatch.setattr(time, "time", lambda: 1e9)
    stream(tmp_path / "b.gz", b"one")
    data = (tmp_path / "a.gz").read_bytes()
    assert gzip.decompress(data) == b"one"
    assert data == (tmp_path / "b.gz").read_bytes()
    assert data[4:8] == bytes(4)


@pytest.mark.parametrize("name", ["a", "a.gz"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_after_an_error_everything_is_as_before(
    name: str, error: type[BaseException], tmp_path: Path
) -> None:
    def fail() -> None:
        with written_whole(str(tmp_path / name)) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == []
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"old"


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "none" / "a")
    with pytest.raises(FileNotFoundError) as caught:
        stream(Path(path), b"")
    assert caught.value.filename == path


def test_links_and_devices(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a")
    stream(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"new"
    stream(Path(os.devnull), b"new")
    assert not Path(os.devnull).is_file()


posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes as on POSIX")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("error", [OSError(errno.EIO, "broken"), KeyboardInterrupt()])
@pytest.mark.parametrize("with_links", [True, False])
def test_at_whatever_call_it_fails_all_is_old_or_all_is_new(
    tmp_path: Path, error: BaseException, with_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not with_links:  # as on FAT, or in a browser
        monkeypatch.delattr(os, "link")
        monkeypatch.setattr("tests.files.systems.CALLS", ("replace", "fsync", "open", "chmod"))
    old = {"a": b"old a", "b": b"old b"}
    new = {"a": b"new a", "b": b"new b", "c": b"new c"}
    number, outcomes = 0, set()
    while True:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, data in old.items():
            (folder / name).write_bytes(data)
            (folder / name).chmod(0o600)
        with failing(number, error) as called, suppress(OSError, KeyboardInterrupt):
            write_files((folder / name, data) for name, data in new.items())
        found = contents(folder)
        if called[number - 1 : number] == ["remove"]:  # what cannot be removed in the end stays
            found = {name: found[name] for name in found if not name.endswith((".tmp", ".old"))}
        assert found in (old, new), called
        outcomes.add(tuple(found))
        if len(called) < number:
            break
    assert found == new
    assert len(outcomes) == 2
    assert number > 15


def test_nothing_is_changed_if_one_cannot_be_replaced(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "c").mkdir()
    with pytest.raises(IsADirectoryError) as raised:
        write_files((tmp_path / name, b"new") for name in ("a", "b", "c"))
    assert raised.value.filename == str(tmp_path / "c")
    assert "->" not in str(raised.value)
    (tmp_path / "c").rmdir()
    assert contents(tmp_path) == {"a": b"old", "b": b"old"}


@posix
def test_a_write_protected_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o444)
    if os.access(tmp_path / "a", os.W_OK):  # root may write anywhere
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError):
        write_files([(tmp_path / "a", b"new")])
    assert contents(tmp_path) == {"a": b"old"}


@posix
@pytest.mark.parametrize("wanted", [0o600, 0o640, 0o755, 0o666])
def test_the_mode_of_what_is_replaced_is_kept(tmp_path: Path, wanted: int) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_bytes(b"old")
        path.chmod(wanted)
    write_files([(paths[0], b"new"), (paths[1], b"new")])
    with written_whole(str(paths[2])) as file:
        (part,) = (path for path in tmp_path.iterdir() if path.suffix == ".tmp")
        assert mode(part) == 0o600, "it may be private"
        file.write(b"new")
    assert [(path.read_bytes(), mode(path)) for path in paths] == [(b"new", wanted)] * 3


@posix
@pytest.mark.parametrize(("wanted", "is_replaced"), [(0o600, False), (0o640, False), (0o666, True)])
def test_where_modes_cannot_be_changed_no_private_file_becomes_readable(
    tmp_path: Path, wanted: int, is_replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, target = tmp_path / "part", tmp_path / "target"
    part.write_bytes(b"new")
    part.chmod(0o644)
    target.write_bytes(b"old")
    target.chmod(wanted)

    def chmod(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no modes here")

    monkeypatch.setattr(os, "chmod", chmod)
    with suppress(PermissionError):
        put_in_place([(str(part), str(target))])
    if is_replaced:
        assert (target.read_bytes(), mode(target)) == (b"new", 0o644)
    else:
        assert (target.read_bytes(), mode(target)) == (b"old", wanted)


@posix
def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_files([(tmp_path / "a", b""), (tmp_path / "b", b"")])
        with written_whole(str(tmp_path / "c")):
            pass
    finally:
        os.umask(before)
    assert {mode(path) for path in tmp_path.iterdir()} == {0o640}


@posix
def test_hard_links_keep_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    os.link(tmp_path / "a", tmp_path / "b")
    write_files([(tmp_path / "a", b"new"), (tmp_path / "c", b"new")])
    assert contents(tmp_path) == {"a": b"new", "b": b"old", "c": b"new"}


@posix
def test_a_pipe_or_a_device_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_files([(path, b"data"), (os.devnull, b"data")])
    reader.join()
    assert read == [b"data"]
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


@posix
def test_standard_output_is_not_replaced_when_it_is_a_file(tmp_path: Path) -> None:
    script = "from compat_bpe.files.write import write_files; write_files([('/dev/stdout', b'x')])"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert Path("/dev/stdout").is_symlink()
    assert is_special("/dev/stdout")
    assert contents(tmp_path) == {"out": b"x"}


def test_a_long_name(tmp_path: Path) -> None:
    name = "é" * 120
    write_files([(tmp_path / name, b"1"), (tmp_path / "b", b"2")])
    write_files([(tmp_path / name, b"3"), (tmp_path / "b", b"4")])
    assert contents(tmp_path) == {name: b"3", "b": b"4"}


def test_a_lock_holds_for_threads_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "_LOCK_PATIENCE", 0.0)
    with locked([str(tmp_path), str(tmp_path / ".")]):
        with (
            pytest.raises(OSError, match="another program has locked it") as raised,
            locked([str(tmp_path)]),
        ):
            pass
        assert raised.value.filename == os.path.realpath(tmp_path)
    with locked([str(tmp_path)]):
        pass
    assert os.listdir(tmp_path) == []


@posix
def test_without_locks_nothing_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    write_files([(tmp_path / "a", b"1"), (tmp_path / "b", b"2")])
    assert contents(tmp_path) == {"a": b"1", "b": b"2"}


#: Writes a set of files again and again, slowly.
_WRITER = """
import os, sys, time
from compat_bpe.files.write import write_files
real = os.replace
def replace(*paths):
    time.sleep(0.001)
    real(*paths)
os.replace, os.fsync = replace, id
for _ in range(10):
    write_files([(name, sys.argv[1].encode()) for name in sys.argv[2:]])
"""


def test_two_writers_at_once_do_not_mix(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, data, *names], cwd=tmp_path)
        for data, names in (("one", "abcd"), ("two", "dcba"))
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert contents(tmp_path) in [dict.fromkeys("abcd", data) for data in (b"one", b"two")]


@posix
def test_a_killed_writer_leaves_the_old_files(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"old")
    script = (
        "import os\nfrom compat_bpe.files.write import write_files\n"
        "real = os.replace\n"
        "def replace(part, target):\n"
        "    real(part, target)\n"
        "    os.kill(os.getpid(), 9)\n"
        "os.replace = replace\n"
        "write_files([('a', b'new'), ('b', b'new')])\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path).returncode == -9
    found = contents(tmp_path)
    assert (found["a"], found["b"]) == (b"new", b"old")
    (old,) = (data for name, data in found.items() if name.startswith("a.") and "old" in name)
    assert old == b"old"
    write_files([(tmp_path / "a", b"next"), (tmp_path / "b", b"next")])  # no lock is left
    assert (tmp_path / "a").read_bytes() == b"next"


@posix
def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    import resource

    (tmp_path / "a").write_bytes(b"old")
    script = (
        "import signal\nfrom compat_bpe.files.write import write_files\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "write_files([('a', b'new'), ('b', bytes(5000))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        capture_output=True,
    )
    assert b"File too large: 'b'" in done.stderr
    assert contents(tmp_path) == {"a": b"old"}


class Locked:
    """Stands for a call that Windows refuses while another program has the file open."""

    def __init__(self, call: Any, times: float, winerror: int | None) -> None:
        self._call = call
        self._times = times
        self._winerror = winerror
        self.calls = 0

    def __call__(self, *paths: Any) -> None:
        self.calls += 1
        if self.calls <= self._times:
            error = PermissionError(errno.EACCES, "The process cannot access the file", paths[0])
            if self._winerror is not None:
                error.winerror = self._winerror  # type: ignore[attr-defined,unused-ignore]
            raise error
        self._call(*paths)


@pytest.fixture
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes by sleep alone."""
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(write, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))


@pytest.mark.usefixtures("_clock")
@pytest.mark.parametrize("count", [1, 2])
def test_a_file_that_another_program_has_open_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", locked_call := Locked(os.replace, 3, 32))
    write_files([(tmp_path / name, b"new") for name in "ab"[:count]])
    assert contents(tmp_path) == dict.fromkeys("ab"[:count], b"new")
    assert locked_call.calls == 3 + count


@pytest.mark.usefixtures("_clock")
@pytest.mark.parametrize("winerror", [32, 5, 87, None])
def test_it_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, winerror: int | None
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", locked_call := Locked(os.replace, float("inf"), winerror))
    with pytest.raises(PermissionError) as raised:
        write_files([(tmp_path / "a", b"new")])
    assert raised.value.filename == str(tmp_path / "a")
    assert contents(tmp_path) == {"a": b"old"}
    # In a second, one each 0.02 seconds; the sum of these is no exact one.
    assert locked_call.calls in ((51, 52) if winerror in (32, 5) else (1,))


def test_a_folder_with_two_names_is_locked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "_LOCK_PATIENCE", 0.0)
    # As on a Mac, where a real path has the letters that were typed.
    monkeypatch.setattr(os.path, "realpath", os.fspath)
    with locked([str(tmp_path), str(tmp_path / ".")]):
        pass
