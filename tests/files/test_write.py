"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_bpe.files.write import write_files
from compat_bpe.tiktoken.load import dump_tiktoken_bpe


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


def test_a_directory_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises((IsADirectoryError, PermissionError)) as raised:
        dump_tiktoken_bpe({b"!": 0}, str(folder))
    assert raised.value.filename == str(folder)
    assert "->" not in str(raised.value)
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.skipif(os.name == "nt", reason="links and modes as on Unix")
def test_a_link_is_replaced_and_the_mode_is_that_of_a_new_file(tmp_path: Path) -> None:
    path, target, new = (tmp_path / name for name in ("link", "target", "new"))
    target.write_bytes(b"kept")
    path.symlink_to(target)
    write_files([(path, b"data")])
    assert (path.is_symlink(), path.read_bytes(), target.read_bytes()) == (False, b"data", b"kept")
    new.write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(new.stat().st_mode)
