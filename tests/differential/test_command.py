"""``compat-bpe count`` on this repository, file by file, against tiktoken and git."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from tests.differential.reference import Pair

ROOT = Path(compat_bpe.__file__).parent.parent


def count(*args: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "compat_bpe", "count", "-e", "cl100k_base", *args, "."],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(count("--json"))
    return found


def test_every_file_of_this_repository(
    result: dict[str, Any], get_pair: Callable[[str], Pair]
) -> None:
    theirs = get_pair("cl100k_base").theirs
    assert len(result["files"]) > 200
    for file in result["files"]:
        data = (ROOT / file["path"]).read_bytes()
        text = data.decode()
        expected = {
            "path": file["path"],
            "tokens": len(theirs.encode_ordinary(text)),
            "bytes": len(data),
            "characters": len(text),
        }
        assert file == expected
    assert result["errors"] == []


def test_files_are_those_that_git_lists(result: dict[str, Any]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git repository")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    paths = {os.fsdecode(path) for path in listed.split(b"\0") if path}
    visible = {
        path
        for path in paths
        if not any(part.startswith(".") for part in path.split("/")) and (ROOT / path).is_file()
    }
    found = [file["path"] for file in result["files"]]
    skipped = [file["path"] for file in result["skipped"]]
    assert sorted(found + skipped) == sorted(os.path.join(".", path) for path in visible)
    assert {os.path.splitext(path)[1] for path in skipped} == {".pack"}


def test_tree_has_the_same_counts(result: dict[str, Any]) -> None:
    sums: dict[str, int] = {}
    for file in result["files"]:
        parts = file["path"].split("/")
        sums[file["path"]] = file["tokens"]
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth]) + "/"
            sums[folder] = sums.get(folder, 0) + file["tokens"]
    found: dict[str, int] = {}
    folders: list[str] = []
    for line in count("--tree").splitlines():
        tokens, lines, name = re.fullmatch(r" *(\d+) ([|`│├└─ -]*)(.*)", line).groups()  # type: ignore[union-attr]
        depth = len(lines) // 4
        folders[depth:] = [name]
        found["".join(folders)] = int(tokens)
    assert found == sums
