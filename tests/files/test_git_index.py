"""What git tracks is found although a rule ignores it; the index is read without git."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files.git import read_index
from compat_bpe.files.walk import Walk
from tests.examples import shared_fixture

needs_git = pytest.mark.skipif(
    shutil.which("git") is None and not os.environ.get("CI"), reason="git is not installed"
)

FORMS = {
    "version 2": (),
    "version 4": (["update-index", "--index-version", "4"],),
    "split": (["update-index", "--split-index"],),
}


def git(*arguments: str, folder: str | Path = ".", given: bytes = b"") -> bytes:
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    settings += ["-c", "protocol.file.allow=always"]
    return subprocess.run(
        ["git", *settings, *arguments], cwd=folder, input=given, stdout=subprocess.PIPE, check=True
    ).stdout


def make(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(path)


def find(*paths: str) -> list[str]:
    return [os.path.normpath(file.problem or file.path) for file in Walk().find(paths or ["."])]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that ignores all but Python, and tracks some of what it ignores."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    make("CLAUDE.md", "a.py", "local.md", "build/deep/kept.md", "build/gone.md", "build/new.py")
    make("build/other/new.md", "build2", "builds/a.md")
    Path(".gitignore").write_text("*.md\nbuild/\nbuilds\n")
    git("add", "-f", "CLAUDE.md", "a.py", "build/deep/kept.md", "build/gone.md")
    os.remove("build/gone.md")
    return tmp_path


FOUND = ["CLAUDE.md", "a.py", "build/deep/kept.md", "build2"]


@needs_git
@pytest.mark.parametrize("form", FORMS)
def test_what_is_tracked_is_found(repository: Path, form: str) -> None:
    for arguments in FORMS[form]:
        git(*arguments)
    assert find() == FOUND
    assert find("build") == ["build/deep/kept.md", "build/new.py"]
    assert [file.path for file in Walk(ignore=False).find(["build"])][-1] == "build/other/new.md"


@needs_git
def test_a_split_index_has_what_was_added_and_removed_since(repository: Path) -> None:
    names = [f"many/{number:03}.md" for number in range(200)]
    make(*names)
    git("add", "-f", "many")
    git("update-index", "--split-index")
    git("config", "splitIndex.maxPercentChange", "100")
    gone = ["many/003.md", *(f"many/{number:03}.md" for number in range(60, 195))]
    git("rm", "-q", "--cached", *gone)
    Path("many/100.md").write_text("other")
    make("many/005.md", "many/new.md")
    git("add", "-f", "many/100.md", "many/005.md", "many/new.md")
    Path("many/005.md").write_text("changed")
    git("add", "-f", "many/005.md")
    data = Path(".git/index").read_bytes()
    assert b"link" in data
    assert len(data) < 8000, "most names are in the shared index"
    expected = git("ls-files", "-z").split(b"\0")[:-1]
    assert read_index(str(repository / ".git"), 20) == sorted(expected)
    assert len(expected) == 4 + 200 - 136 + 2
    assert find("many") == sorted(os.fsdecode(name) for name in expected if b"many" in name)


@needs_git
def test_an_index_with_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "--object-format=sha256")
    make("a.md", "b.md")
    Path(".gitignore").write_text("*.md\n")
    git("add", "-f", "a.md")
    assert find() == ["a.md"]


@needs_git
def test_a_worktree_and_a_submodule_have_an_index_of_their_own(repository: Path) -> None:
    git("commit", "-q", "-m", "x")
    git("worktree", "add", "-q", "tree.md/linked")
    make("tree.md/linked/b.md", "tree.md/linked/c.md")
    Path("tree.md/linked/.gitignore").write_text("*.md\n")
    git("add", "-f", "b.md", folder="tree.md/linked")
    tracked = ["CLAUDE.md", "a.py", "build/deep/kept.md", "build/gone.md"]
    assert find("tree.md/linked") == [
        f"tree.md/linked/{path}" for path in (*tracked[:2], "b.md", *tracked[2:])
    ]
    # The submodule is tracked, its folder ignored; in it, its own index counts.
    git("submodule", "--quiet", "add", "-f", str(repository), "sub.md")
    make("sub.md/d.md", "sub.md/e.md")
    Path("sub.md/.gitignore").write_text("*.md\n")
    git("add", "-f", "d.md", folder="sub.md")
    assert find() == [*FOUND, *(f"sub.md/{path}" for path in (*tracked, "d.md"))]


@needs_git
def test_a_sparse_index_has_the_files_that_are_there(repository: Path) -> None:
    make("far/x.md", "far/deep/y.md", "near/z.md", "near/new.md")
    git("add", "-f", "far", "near/z.md")
    git("commit", "-q", "-m", "x")
    git("sparse-checkout", "set", "--cone", "--sparse-index", "near", "build/deep")
    assert b"far/" in read_index(str(repository / ".git"), 20)
    make("far/new.md")
    assert find() == ["CLAUDE.md", "a.py", "build/deep/kept.md", "build2", "near/z.md"]


@needs_git
def test_a_repository_in_an_ignored_folder_is_not_tracked(repository: Path) -> None:
    make("build/deep/inner/a.md")
    git("init", "-q", folder="build/deep/inner")
    git("add", "a.md", folder="build/deep/inner")
    assert find() == FOUND


@needs_git
def test_a_folder_in_place_of_a_tracked_file_is_ignored(repository: Path) -> None:
    os.remove("CLAUDE.md")
    make("CLAUDE.md/a.py")
    assert find() == FOUND[1:]


@needs_git
def test_names_in_conflict_and_those_meant_to_be_added_are_tracked(repository: Path) -> None:
    make("intent.md")
    git("add", "-f", "-N", "intent.md")  # an index of version 3
    blob = git("hash-object", "-w", "a.py").strip().decode()
    stages = "".join(f"100644 {blob} {stage}\tlocal.md\n" for stage in (1, 2, 3))
    git("update-index", "--index-info", given=stages.encode())
    assert find() == sorted([*FOUND, "intent.md", "local.md"])


@needs_git
def test_case_does_not_matter_where_git_ignores_it(repository: Path) -> None:
    os.rename("CLAUDE.md", "Claude.md")
    assert find() == FOUND[1:]
    git("config", "core.ignoreCase", "true")
    assert find() == ["Claude.md", *FOUND[1:]]


@needs_git
@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_a_tracked_link_is_passed_over_as_any(repository: Path) -> None:
    os.symlink("CLAUDE.md", "AGENTS.md")
    git("add", "-f", "AGENTS.md")
    assert find() == FOUND


# What a repository tracks of its files, under random rules.

NAMES = ["a", "b.md", "c.py", "é"]
FOLDERS = ["", "x", "x/y", "x/y/z", "b.md.d"]
PATHS = [os.path.join(folder, name) for folder in FOLDERS for name in NAMES]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("tracked")
    for path in PATHS:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).touch()
    git("init", "-q", folder=top)
    return top


@needs_git
@shared_fixture()
@given(
    tracked=st.lists(st.sampled_from(PATHS), unique=True, max_size=6),
    rules=st.lists(
        st.sampled_from(
            ["*", "x", "x/", "/x/y", "y", "*.md", "!*.md", "!x", "x/y/*", "!y/z", "é", "z/a", "*/"]
        ),
        max_size=4,
    ),
    inner=st.lists(st.sampled_from(["*", "!z", "y", "a", "!*/", "!b.md"]), max_size=2),
    form=st.sampled_from(list(FORMS)),
)
def test_what_git_lists_is_found(
    files: Path, tracked: list[str], rules: list[str], inner: list[str], form: str
) -> None:
    (files / ".git/index").unlink(missing_ok=True)
    git("add", "-f", "--", *tracked, folder=files) if tracked else None
    for arguments in FORMS[form]:
        git(*arguments, folder=files)
    (files / ".gitignore").write_text("\n".join(rules), encoding="utf-8")
    (files / "x/.gitignore").write_text("\n".join(inner))
    listed = git("ls-files", "-co", "--exclude-standard", "-z", folder=files).split(b"\0")
    names = {os.fsdecode(path) for path in listed if path}
    found = {os.path.relpath(file.path, files) for file in Walk().find([str(files)])}
    assert found == {path for path in names if os.path.basename(path) != ".gitignore"}


# Damage


def index(*names: bytes, version: int = 2, number: int | None = None, end: bytes = b"") -> bytes:
    """Return an index with some names; in version 4, each as it is written there."""
    data = struct.pack(">4sLL", b"DIRC", version, len(names) if number is None else number)
    for name in names:
        length = struct.pack(">H", min(len(name), 0xFFF))
        entry = bytes(26) + b"\x81\xa4" + bytes(32) + length + name + b"\0"
        data += entry + bytes(-len(entry) % 8 if version < 4 else 0)
    return data + end + bytes(20)


DAMAGED = {
    "empty": b"",
    "another file": b"#!/bin/sh\n" * 10,
    "version 1": index(b"a", version=1),
    "version 5": index(b"a", version=5),
    "too few entries": index(b"a", number=2),
    "far too few entries": index(b"a", number=0xFFFFFFFF),
    "cut in an entry": index(b"a" * 50)[:-60],
    "a name without an end": index(b"a", version=4, number=1)[:75] + b"a" * 30,
    "more is cut than there is": index(b"\x05a", version=4),
    "a number without an end": index(b"\xff" * 40, version=4),
    "an extension that has to be known": index(b"a", end=b"abcd\0\0\0\0"),
    "an extension beyond the end": index(b"a", end=b"TREE\0\0\1\0"),
    "a shared index that is gone": index(b"a", end=b"link\0\0\0\x14" + b"\1" * 20),
    "a link that is too short": index(b"a", end=b"link\0\0\0\2ab"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_index_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    make("a.md", "d/b.md", "e.py", ".git/HEAD")
    Path(".git/index").write_bytes(DAMAGED[what])
    Path(".gitignore").write_text("*.md\n")
    found = [file for file in Walk().find(["."]) if file.problem]
    assert [(file.path, file.problem) for file in found] == [
        (str(tmp_path / ".git/index"), "Damaged, or of a kind unknown here; git status says more")
    ]
    found = [*Walk(ignore=False).find(["."])]
    assert [file.path for file in found] == ["./a.md", "./d/b.md", "./e.py"]


def test_bitmaps_of_a_split_index_end(tmp_path: Path) -> None:
    shared, link = b"\1" * 20, b"link"
    names = [b"%02d" % number for number in range(70)]
    (tmp_path / f"sharedindex.{shared.hex()}").write_bytes(index(*names))

    def with_bitmaps(*words: int) -> list[bytes]:
        bitmap = struct.pack(f">LL{len(words)}QL", 70, len(words), *words, 0)
        empty = struct.pack(">LLQL", 0, 1, 0, 0)
        body = shared + bitmap + empty
        data = index(b"other", end=link + struct.pack(">L", len(body)) + body)
        (tmp_path / "index").write_bytes(data)
        return read_index(str(tmp_path), 20)

    one = 1 << 33  # a word of its own follows
    assert with_bitmaps(one, 0b101) == [*names[1:2], *names[3:], b"other"]
    assert with_bitmaps(1 | 1 << 1) == [*names[64:], b"other"]  # a row of 64 ones
    assert with_bitmaps(2 | one, 0b1) == [*names[:64], *names[65:], b"other"]
    assert with_bitmaps(0) == [*names, b"other"]
    for words in ([one], [1 | 0xFFFFFFFF << 1], [2 | one, 1 << 40], [one | 0xFFFFFFFF << 1, 1]):
        with pytest.raises(OSError, match="Damaged"):
            with_bitmaps(*words)


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices with names")
@pytest.mark.parametrize("special", ["fifo", "/dev/zero"])
def test_an_index_is_a_regular_file(tmp_path: Path, special: str) -> None:
    if special == "fifo":
        os.mkfifo(tmp_path / "index")
    else:
        (tmp_path / "index").symlink_to(special)
    assert read_index(str(tmp_path), 20) == []


def test_an_index_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index").write_bytes(index(b"a"))
    assert read_index(str(tmp_path), 20) == [b"a"]
    monkeypatch.setattr("compat_bpe.files.git.LARGEST", 90)
    with pytest.raises(OSError, match="Larger than 90 bytes"):
        read_index(str(tmp_path), 20)


def test_names_that_begin_alike_take_no_more_memory_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = index(b"\0" + b"a" * 5000, *[b"\1b"] * 999, version=4)
    (tmp_path / "index").write_bytes(data)
    assert len(read_index(str(tmp_path), 20)) == 2
    monkeypatch.setattr("compat_bpe.files.git.LARGEST", len(data))
    with pytest.raises(OSError, match="Damaged"):
        read_index(str(tmp_path), 20)
