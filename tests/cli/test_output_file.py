"""No file that exists is overwritten unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compat_bpe.cli.output import CommandError
from compat_bpe.cli.output_file import check_new_file, check_no_input


def _is_ours(beginning: bytes) -> bool:
    return beginning.startswith(b"ours")


def test_a_new_file(tmp_path: Path) -> None:
    check_new_file(str(tmp_path / "new"))


def test_a_file_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"precious")
    with pytest.raises(CommandError, match=r"a\.md: it exists; --force overwrites it"):
        check_new_file(str(path), is_own=_is_ours)
    check_new_file(str(path), force=True)
    assert path.read_bytes() == b"precious"


def test_own_earlier_output(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"ours, from yesterday")
    check_new_file(str(path), is_own=_is_ours)
    with pytest.raises(CommandError, match="it exists"):
        check_new_file(str(path))


def test_a_broken_link_is_something(tmp_path: Path) -> None:
    path = tmp_path / "link"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CommandError, match="it exists"):
        check_new_file(str(path), is_own=_is_ours)


def test_a_directory_or_none(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="it is a directory"):
        check_new_file(str(tmp_path), force=True)
    with pytest.raises(CommandError, match="there is no directory"):
        check_new_file(str(tmp_path / "no" / "page.html"), force=True)


def test_what_is_not_overwritten_by_writing() -> None:
    check_new_file(os.devnull)


def test_an_input_is_refused_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder/a").write_bytes(b"a")
    Path("b").write_bytes(b"b")
    os.symlink("folder/a", "link")
    for inputs in (["b", "folder/a"], ["folder"], ["link"], ["../" + tmp_path.name + "/folder/a"]):
        with pytest.raises(CommandError, match=r"folder/a: it is one of the inputs[,;]"):
            check_no_input(["new", "folder/a"], inputs)
    check_no_input(["new", "folder/a"], ["b", "missing", "-"])
    check_no_input(["folder", "missing"], ["folder", "missing"])
    with open("b") as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(CommandError, match=r"^b: it is one of the inputs, as standard input;"):
            check_no_input(["b"], ["-"])
    monkeypatch.setattr("sys.stdin", None)
    check_no_input(["b"], ["-"])
