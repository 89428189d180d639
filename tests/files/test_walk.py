from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from compat_bpe.files.walk import Walk

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX links and pipes")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(path)


def find(*paths: str, **options: Any) -> list[str]:
    return [file.path for file in Walk(**options).find(paths)]


def test_order_is_that_of_names_in_each_directory() -> None:
    make("d/b", "d/a.py", "d/a/z", "d/a-", "d/B", "d/é")
    assert find("d") == ["d/B", "d/a/z", "d/a-", "d/a.py", "d/b", "d/é"]
    assert find("d/a", "d/b", "d/a") == ["d/a/z", "d/b", "d/a/z"]


def test_a_path_is_shown_as_it_was_given() -> None:
    make("d/a")
    assert find(".", "./d/", "d/../d") == ["./d/a", "./d/a", "d/../d/a"]


def test_hidden_files_are_found_if_asked_and_git_never() -> None:
    make(".a", ".d/b", "d/.c", ".git/HEAD", "d/.git/HEAD")
    assert find(".") == []
    assert find(".", hidden=True) == ["./.a", "./.d/b", "./d/.c"]
    assert find(".d", ".a", ".git") == [".d/b", ".a", ".git/HEAD"]


def test_ignore_files_are_not_asked_about_what_was_named() -> None:
    make("a.log", "build/b.log", "build/c")
    Path(".gitignore").write_text("*.log\nbuild/\n")
    Path(".git").mkdir()
    assert find(".") == []
    assert find("a.log", "build") == ["a.log", "build/c"]
    assert find(".", ignore=False) == ["./a.log", "./build/b.log", "./build/c"]


def test_rules_of_the_repository_hold_in_a_directory_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    make("a/b/c.log", "a/b/d.log", "a/b/e")
    Path(".gitignore").write_text("/a/b/c.log\n*.log\n")
    Path("a/.gitignore").write_text("!d.log\n")
    assert find("a/b") == ["a/b/c.log", "a/b/d.log", "a/b/e"]  # there is no repository
    Path(".git").mkdir()
    assert find("a/b") == ["a/b/d.log", "a/b/e"]
    monkeypatch.chdir("a/b")
    assert find(".") == ["./d.log", "./e"]


@posix
def test_links_in_a_directory_are_not_followed_those_that_are_named_are() -> None:
    make("d/a", "d/sub/b")
    Path("d/loop").symlink_to("..", target_is_directory=True)
    Path("d/sub/self").symlink_to("self")
    Path("d/again").symlink_to("a")
    Path("d/broken").symlink_to("nothing")
    Path("link").symlink_to("d", target_is_directory=True)
    assert find("d") == ["d/a", "d/sub/b"]
    assert find("link", "d/again") == ["link/a", "link/sub/b", "d/again"]
    assert find("d/loop") == ["d/loop/d/a", "d/loop/d/sub/b"]


@posix
def test_what_is_no_file_is_passed_over() -> None:
    make("d/a")
    os.mkfifo("d/pipe")
    assert find("d") == ["d/a"]
    (pipe,) = Walk().find(["d/pipe"])
    assert (pipe.size, pipe.is_regular) == (None, False)


def test_globs_are_of_the_current_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    make("src/a.py", "src/gen/b.py", "src/gen/c.md", "docs/src/d.py")
    assert find(".", include=["*.py"]) == ["./docs/src/d.py", "./src/a.py", "./src/gen/b.py"]
    assert find("src", include=["/src/*.py"]) == ["src/a.py"]
    assert find("src", "docs", exclude=["/src/gen"]) == ["src/a.py", "docs/src/d.py"]
    assert find("src", exclude=["gen/"]) == ["src/a.py"]
    assert find("docs", include=["docs/"]) == ["docs/src/d.py"]
    # Of a directory elsewhere, in that.
    monkeypatch.chdir("docs")
    assert find("../src", include=["/*.py"]) == ["../src/a.py"]


def test_what_is_named_is_taken_whatever_the_globs_say() -> None:
    make("a.txt", "src/a.txt", "src/gen/b.txt", "src/gen/c.md")
    assert find("a.txt", "src", include=["*.nope"]) == ["a.txt"]
    assert find("a.txt", "src", exclude=["a.txt"]) == ["a.txt", "src/gen/b.txt", "src/gen/c.md"]
    # So is a directory; but what is in it has to match.
    assert find("src/gen", exclude=["gen/"]) == ["src/gen/b.txt", "src/gen/c.md"]
    assert find("src/gen", exclude=["src/", "*.md"]) == ["src/gen/b.txt"]


def reasons(*paths: str, **options: Any) -> str:
    walk = Walk(**options)
    assert list(walk.find(paths)) == []
    return walk.why_nothing()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"include": ["*.nope", "x"]}, "nothing matches --include '*.nope' or 'x'"),
        ({"exclude": ["*.py", "b"]}, "2 left out by --exclude '*.py' or 'b'"),
        ({"include": ["*.py"], "exclude": ["a*"]},
         "1 left out by --exclude 'a*'; nothing else matches --include '*.py'"),
    ],
)  # fmt: skip
def test_reasons_why_globs_leave_nothing(options: dict[str, Any], expected: str) -> None:
    make("d/a.py", "d/b/c.txt")
    assert reasons("d", **options) == expected


def test_reasons_why_a_directory_seems_empty() -> None:
    make("d/.a", "d/.b/c", "d/x.log", "d/y.log", "d/.git/HEAD")
    Path("d/.gitignore").write_text("*.log\n")
    assert reasons("d") == "3 hidden (see --hidden); 2 ignored (see --no-ignore)"
    Path("e/f").mkdir(parents=True)
    assert reasons("e") == reasons("e", exclude=["*.nope"]) == ""
    assert reasons("e", include=["*"]) == "nothing matches --include '*'"


@posix
def test_links_and_pipes_are_a_reason() -> None:
    Path("d").mkdir()
    os.mkfifo("d/pipe")
    assert reasons("d") == "1 passed over (symbolic links, pipes and devices)"
    Path("d/link").symlink_to("nothing")
    assert reasons("d") == "2 passed over (symbolic links, pipes and devices)"


def test_a_directory_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    make("d/a", "d/closed/b", "d/e")
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if os.path.basename(path) == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = [(file.path, file.problem) for file in Walk().find(["d"])]
    assert found == [("d/a", ""), ("d/closed", "Permission denied"), ("d/e", "")]
    (closed,) = Walk().find(["d/closed"])
    assert closed.is_named


def test_an_ignore_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    make("d/.gitignore", "d/a", "e")

    def refuse(path: str) -> str:
        if path.endswith(".gitignore"):
            raise PermissionError(13, "Permission denied", path)
        return ""

    monkeypatch.setattr("compat_bpe.files.ignore.read_gits_text", refuse)
    found = [(file.path, file.problem) for file in Walk().find(["d"])]
    assert found == [(os.path.join(os.getcwd(), "d", ".gitignore"), "Permission denied")]


def test_directories_may_be_deeper_than_calls() -> None:
    deepest = os.path.join("d", *"x" * 150, "a")
    make(deepest)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        found = find("d")
    finally:
        sys.setrecursionlimit(limit)
    assert found == [deepest]


def test_sizes_are_known_of_files_alone() -> None:
    make("d/a", "b")
    found = list(Walk().find(["d", "b", "missing", "-"]))
    assert [file.size for file in found[:3]] == [3, 1, 0]
    assert [file.is_regular for file in found] == [True, True, False, False]
    assert [file.argument for file in found] == [0, 1, 2, 3]
    assert [file.is_named for file in found] == [False, True, True, True]


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="there is no /dev/fd")
def test_what_another_process_has_under_the_same_name_is_told_apart() -> None:
    make("a")
    with open("a") as file:
        (found,) = Walk().find([f"/dev/fd/{file.fileno()}"])
    assert not found.is_regular
