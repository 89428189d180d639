"""``compat-bpe count`` on a repository, file by file, against tiktoken and git."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from tests.differential.reference import Pair

ROOT = Path(compat_bpe.__file__).parent.parent

#: What of this checkout is in the repository that is counted, and in that of the sweep.
PARTS = ["compat_bpe/encodings", "compat_bpe/version.py", "docs", ".gitignore"]
ALL = ["compat_bpe", "docs", "tests", "README.md", ".gitignore"]


def run(command: list[str], folder: Path) -> bytes:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout


def count(folder: Path, *args: str) -> str:
    command = [sys.executable, "-m", "compat_bpe", "count", "-e", "cl100k_base", *args, "."]
    return run(command, folder).decode()


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.sweep)])
def copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with files of this checkout, whatever else lies there."""
    top = tmp_path_factory.mktemp("copy")
    for name in PARTS if request.param == "some" else ALL:
        (top / name).parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, top / name)
        else:
            shutil.copy(ROOT / name, top / name)
    for folder in ("venv", "env"):
        (top / folder / "lib").mkdir(parents=True)
        (top / folder / "lib" / "ignored.py").touch()
    (top / "linked").symlink_to(top / "docs")
    run(["git", "init", "-q"], top)
    return top


@pytest.fixture(scope="module")
def result(copy: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(count(copy, "--json"))
    return found


def test_every_file_of_this_repository(
    copy: Path, result: dict[str, Any], get_pair: Callable[[str], Pair]
) -> None:
    theirs = get_pair("cl100k_base").theirs
    assert len(result["files"]) > 50
    for file in result["files"]:
        data = (copy / file["path"]).read_bytes()
        text = data.decode()
        expected = {
            "path": file["path"],
            "tokens": len(theirs.encode_ordinary(text)),
            "bytes": len(data),
            "characters": len(text),
        }
        assert file == expected
    assert result["errors"] == []


def test_files_are_those_that_git_lists(copy: Path, result: dict[str, Any]) -> None:
    listed = run(["git", "ls-files", "-z", "--others", "--exclude-standard"], copy)
    paths = {os.fsdecode(path) for path in listed.split(b"\0") if path}
    visible = {path for path in paths if not any(part.startswith(".") for part in path.split("/"))}
    # Git lists a link, and a walk does not follow it.
    visible.remove("linked")
    found = [file["path"] for file in result["files"]]
    skipped = [file["path"] for file in result["skipped"]]
    assert sorted(found + skipped) == sorted(os.path.join(".", path) for path in visible)
    assert {os.path.splitext(path)[1] for path in skipped} == {".pack"}


def test_tree_has_the_same_counts(copy: Path, result: dict[str, Any]) -> None:
    sums: dict[str, int] = {}
    for file in result["files"]:
        parts = file["path"].split("/")
        sums[file["path"]] = file["tokens"]
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth]) + "/"
            sums[folder] = sums.get(folder, 0) + file["tokens"]
    found: dict[str, int] = {}
    folders: list[str] = []
    for line in count(copy, "--tree").splitlines():
        tokens, lines, name = re.fullmatch(r" *(\d+) ([|`│├└─ -]*)(.*)", line).groups()  # type: ignore[union-attr]
        depth = len(lines) // 4
        folders[depth:] = [name]
        found["".join(folders)] = int(tokens)
    assert found == sums
