"""Files are read in the roots alone."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from compat_bpe.mcp import calls as module
from compat_bpe.mcp.calls import CallError, Roots, folders_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with files, beside a secret."""
    folder = tmp_path / "root"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner/a.txt").write_text("hello")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/a.txt").write_text("secret")
    (tmp_path / "root-beside").mkdir()
    (tmp_path / "root-beside/a.txt").write_text("secret")
    return folder


def read(root: Path, path: str) -> bytes:
    with Roots([str(root)]).open(path) as file:
        return file.read()


def test_files_in_a_root_are_read(root: Path) -> None:
    assert read(root, "inner/a.txt") == b"hello"
    assert read(root, str(root / "inner/../inner/a.txt")) == b"hello"
    (root / "link").symlink_to("inner", target_is_directory=True)
    assert read(root, "link/a.txt") == b"hello"


@pytest.mark.parametrize(
    "path", ["../secret/a.txt", "inner/../../secret/a.txt", "../root-beside/a.txt", "/etc/passwd"]
)
def test_a_path_that_leads_outside_is_refused(root: Path, path: str) -> None:
    with pytest.raises(CallError, match="outside the roots"):
        read(root, path)


@pytest.mark.parametrize("target", ["../secret/a.txt", "/etc/passwd"])
def test_a_link_that_leads_outside_is_refused(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    with pytest.raises(CallError, match="outside the roots"):
        read(root, "link")
    (root / "folder").symlink_to("../secret", target_is_directory=True)
    with pytest.raises(CallError, match="outside the roots"):
        read(root, "folder/a.txt")


@pytest.mark.parametrize("stepwise", [True, False])
@pytest.mark.parametrize("what", ["inner", "inner/a.txt"])
def test_a_link_that_comes_after_the_check_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch, what: str, stepwise: bool
) -> None:
    monkeypatch.setattr(module, "_STEPWISE", stepwise and module._STEPWISE)
    roots = Roots([str(root)])
    real = roots.resolve("inner/a.txt")

    def resolve_and_move(path: str) -> str:
        moved = root / what
        moved.rename(root / "moved")
        moved.symlink_to(Path("../secret" if what == "inner" else "../../secret/a.txt"))
        return real

    monkeypatch.setattr(roots, "resolve", resolve_and_move)
    with pytest.raises(CallError, match="moved while being opened"):
        roots.open("inner/a.txt")


def test_what_is_swapped_all_the_time_never_gives_the_secret(root: Path) -> None:
    roots = Roots([str(root)])
    is_over = threading.Event()

    def swap() -> None:
        inner, moved = root / "inner", root / "moved"
        while not is_over.is_set():
            inner.rename(moved)
            inner.symlink_to("../secret", target_is_directory=True)
            inner.unlink()
            moved.rename(inner)

    thread = threading.Thread(target=swap)
    thread.start()
    contents = set()
    try:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            try:
                with roots.open("inner/a.txt") as file:
                    contents.add(file.read())
            except CallError:
                pass
    finally:
        is_over.set()
        thread.join()
    assert contents <= {b"hello"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_refused_without_waiting(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(CallError, match="pipe: not a regular file"):
        read(root, "pipe")


def test_a_device_is_refused() -> None:
    with pytest.raises(CallError, match="null: not a regular file"):
        Roots(["/dev"]).open("null")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nothing.txt", "there is no such file or folder in the roots"),
        ("inner", "not a regular file|is a directory"),
        ("a\0b", "NUL"),
        ("x" * 5000, "no such file|too long"),
    ],
)
def test_errors_are_sentences(root: Path, path: str, message: str) -> None:
    with pytest.raises(CallError, match=message):
        read(root, path)


def test_without_roots_nothing_is_read() -> None:
    with pytest.raises(CallError, match="--root"):
        Roots([]).open("/etc/passwd")


def test_a_root_is_a_folder(root: Path) -> None:
    with pytest.raises(CallError, match="no such folder"):
        Roots([str(root / "inner/a.txt")])


def test_several_roots_are_searched_in_their_order(root: Path) -> None:
    beside = root.parent / "root-beside"
    (beside / "b.txt").write_text("b")
    roots = Roots([str(root / "inner"), str(beside)])
    with roots.open("a.txt") as file:
        assert file.read() == b"hello"
    with roots.open("b.txt") as file:
        assert file.read() == b"b"


def test_roots_of_a_client_are_addresses(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    uris = [folder.as_uri(), "file://elsewhere/tmp", "http://localhost/tmp", "file:tmp", "//["]
    assert folders_of(uris) == [str(folder)]
