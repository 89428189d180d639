"""Git's settings and index, read as git does."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compat_bpe.files.git import parse, read_index, read_settings
from compat_bpe.files.walk import Walk
from tests.examples import scaled, shared_fixture
from tests.files.systems import found_as_by_git, git, make, make_special

KEYS = ("core.excludesfile", "include.path")

# A tab within a value is not among them: versions of git do not agree on it.
PARTS = [
    *["[core]", "[Core]", '[core "x"]', "[core.x]", "[include]", "[", "]", '[core "a\\"]'],
    *["excludesFile", "ExcludesFile", "path", "name", " = ", "=", "\n", "\n  ", " ", "\r\n"],
    *["a", "~/x", '"', '"a b"', '"#c"', "\\\\", '\\"', "\\n", "\\t", "\\\n", "\\q", "\\"],
    *["#c", "; x", '# "', "é", "a  b", "\v", ".", "-", "1", "\ufeff"],
]
texts = st.builds(
    "{}{}".format,
    st.sampled_from(["", "[core]\n", "[core]excludesfile=", "[include]\npath = "]),
    st.lists(st.sampled_from(PARTS), max_size=12).map("".join),
)


@pytest.mark.parametrize(
    "value",
    [
        *("\\\n  a", "\\\n\\\n \t b", ' \\\n "" c', '"\\\n  d"', "e\\\n  f", "g \\\n  h", "i \\\n"),
        *("\\\n  # j", '""  k', '" "  l', "\\\n"),
    ],
)
def test_blanks_after_a_line_that_goes_on(tmp_path: Path, value: str) -> None:
    """Git leaves blanks out until a value has begun, also in the lines that follow."""
    path = tmp_path / "config"
    path.write_text(f"[core]\n\texcludesFile ={value}\n")
    read = git("config", "--file", path, "core.excludesFile").decode()
    assert [f"{one}\n" for _, one in parse(path.read_text())] == [read]


@settings(
    max_examples=scaled(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(text="[core]excludesfile=x \\")
@given(text=texts)
def test_settings_are_those_that_git_reads(home: Path, text: str) -> None:
    path = home / "config"
    path.write_bytes(text.encode())
    done = subprocess.run(
        ["git", "config", "--file", path, "--no-includes", "--null", "--list"],
        capture_output=True,
        check=False,
    )
    # As it is read from the file: without a mark at its beginning.
    settings = parse(text.encode().decode("utf-8-sig").replace("\r\n", "\n"))
    if done.returncode:
        assert done.stderr.startswith(b"fatal: bad config line ")
        with pytest.raises(ValueError, match="bad config line "):
            list(settings)
        return
    ours = list(settings)
    items = [item.partition("\n") for item in done.stdout.decode().split("\0")[:-1]]
    theirs = [(key, value if equals else None) for key, equals, value in items if key in KEYS]
    assert [(key, value) for key, value in ours if key in KEYS] == theirs


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a repository ``repository`` in it, which has some files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    top = tmp_path / "repository"
    (top / "sub").mkdir(parents=True)
    git("init", "-q", top)
    for name in ("a.txt", "b.log", "c.tmp", "sub/d.log", "sub/e.bak"):
        (top / name).write_text(name)
    return tmp_path


def ignored(top: Path) -> set[str]:
    """The files of a repository that are ignored; git has to agree."""
    files = {
        os.path.relpath(os.path.join(folder, name), top)
        for folder, _, names in os.walk(top)
        for name in names
        if not {".git", ".gitignore"} & {*folder.split(os.sep), name}
    }
    return files - found_as_by_git(top)


def ignore_logs(home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.log\n")


def test_default_is_below_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = home / "repository"
    assert ignored(top) == set()
    ignore_logs(home)
    assert ignored(top) == {"b.log", "sub/d.log"}
    (home / "xdg/git").mkdir(parents=True)
    (home / "xdg/git/ignore").write_text("*.tmp\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    assert ignored(top) == {"c.tmp"}


def test_all_other_rules_come_before_it(home: Path) -> None:
    top = home / "repository"
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    (home / "mine").write_text("*.log\n*.tmp\n*.bak\n/a.txt\n")
    assert ignored(top) == {"a.txt", "b.log", "c.tmp", "sub/d.log", "sub/e.bak"}
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/exclude").write_text("!*.tmp\n!*.bak\n")
    (top / "sub/.gitignore").write_text("!*.log\n*.bak\n")
    assert ignored(top) == {"a.txt", "b.log", "sub/e.bak"}


FILES = ("system", "xdg/git/config", ".gitconfig", "repository/.git/config")


@pytest.mark.parametrize("number", range(1, len(FILES) + 1))
def test_the_last_file_that_says_it_wins(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(home / "system"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    (home / "xdg/git").mkdir(parents=True)
    for path, pattern in zip(FILES[:number], ["a.txt", "b.log", "c.tmp", "sub/d.log"]):
        rules = home / f"rules for {pattern.replace('/', '-')}"
        rules.write_text(f"{pattern}\n")
        with open(home / path, "a") as file:
            file.write(f'[CORE]\nEXCLUDESFILE = "{rules}" ; mine\n')
    assert ignored(home / "repository") == {["a.txt", "b.log", "c.tmp", "sub/d.log"][number - 1]}
    if number > 1:
        # The user's two files are replaced by one.
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "system"))
        expected = "sub/d.log" if number == len(FILES) else "a.txt"
        assert ignored(home / "repository") == {expected}
        monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.name")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", "x")
        monkeypatch.setenv("GIT_CONFIG_KEY_1", "Core.ExcludesFile")
        monkeypatch.setenv("GIT_CONFIG_VALUE_1", str(home / "rules for a.txt"))
        assert ignored(home / "repository") == {"a.txt"}


def test_system_file_may_be_left_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "system").write_text("[core]\nexcludesfile = ~/mine\n")
    (home / "mine").write_text("*.log\n")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(home / "system"))
    assert ignored(home / "repository") == set()  # as these tests say of it
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "0")
    assert ignored(home / "repository") == {"b.log", "sub/d.log"}


def test_included_files_and_relative_paths(home: Path) -> None:
    (home / "more").mkdir()
    (home / ".gitconfig").write_text("[include]\npath = more/one\npath = missing\n")
    (home / "more/one").write_text("[include]\npath = two\n[core]\nname = x\n")
    (home / "more/two").write_text("[core]\nexcludesFile = sub/rules\n")
    (home / "repository/sub/rules").write_text("*.log\nrules\n")
    assert ignored(home / "repository") == {"b.log", "sub/d.log", "sub/rules"}


def test_set_to_nothing_there_is_none(home: Path) -> None:
    ignore_logs(home)
    (home / ".gitconfig").write_text("[core]\nexcludesFile =\n")
    assert ignored(home / "repository") == set()
    assert read_settings(str(home / "repository/.git"), "/top").excludes_file is None


def test_worktrees_and_submodules_have_it(home: Path) -> None:
    top = home / "repository"
    (home / "mine").write_text("*.log\n")
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/exclude").write_text("*.tmp\n")
    git("config", "core.excludesFile", "~/mine", folder=top)
    git("add", "a.txt", folder=top)
    git("commit", "-m", "first", folder=top)
    git("worktree", "add", home / "tree", folder=top)
    for name in ("x.log", "x.tmp"):
        (home / "tree" / name).write_text("x")
    assert ignored(home / "tree") == {"x.log", "x.tmp"}
    git("clone", "-q", "--separate-git-dir", home / "elsewhere", top, home / "other", folder=top)
    (home / "other/x.log").write_text("x")
    assert ignored(home / "other") == set()
    with open(home / "elsewhere/config", "a") as config:
        config.write("[core]\nexcludesFile = ~/mine\n")
    assert ignored(home / "other") == {"x.log"}


def test_outside_of_a_repository_it_does_not_hold(home: Path) -> None:
    ignore_logs(home)
    (home / "plain").mkdir()
    (home / "plain/b.log").write_text("x")
    (found,) = Walk().find([str(home / "plain")])
    assert found.path == str(home / "plain/b.log")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[core]\nname = x\n= y\n", "bad config line 3"),
        ('[core]\nname = "x\n', "bad config line 2"),
        ("[include]\npath = .gitconfig\n", "Includes are nested too deeply"),
    ],
)
def test_a_damaged_file_is_named(home: Path, text: str, problem: str) -> None:
    (home / ".gitconfig").write_text(text)
    for path in ("repository", "repository/sub"):
        found = [(file.path, file.problem) for file in Walk().find([str(home / path)])]
        assert found == [(str(home / ".gitconfig"), problem)]


def test_files_of_another_user_are_passed_over_as_by_git(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = str(home / "repository/.git")
    opened: list[str] = []

    def refuse(path: str) -> None:
        opened.append(path)
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("compat_bpe.files.git.read_gits_text", refuse)
    with pytest.raises(PermissionError):
        read_settings(git, "/top")
    assert opened == [
        str(home / ".config/git/config"),
        str(home / ".gitconfig"),
        str(home / "repository/.git/config"),
    ]


def test_the_default_is_passed_over_if_it_is_another_users(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standard = str(home / ".config/git/ignore")
    ignore_logs(home)
    git = str(home / "repository/.git")
    assert read_settings(git, "/top").excludes_file == standard
    monkeypatch.setattr(os, "access", lambda path, mode: path != standard)
    assert read_settings(git, "/top").excludes_file is None


@pytest.mark.parametrize("value", [None, "", "true", "On", "YES", "0", "1", "-2", "no", "False"])
@pytest.mark.parametrize("place", ["repository/.git/config", ".gitconfig"])
def test_case_is_ignored_where_git_does(home: Path, value: str | None, place: str) -> None:
    top = home / "repository"
    # Git has set it on a disk where it is true.
    subprocess.run(["git", "config", "--unset", "core.ignoreCase"], cwd=top, check=False)
    written = "ignoreCase" if value is None else f"ignoreCase = {value}"
    with open(home / place, "a") as file:
        file.write(f"[core]\n{written}\n")
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/exclude").write_text("*.TMP\n")
    (top / ".gitignore").write_text("B.log\n")
    (top / "sub/.gitignore").write_text("/D.*\n")
    is_ignored = value in (None, "true", "On", "YES", "1", "-2")
    assert ignored(top) == ({"b.log", "c.tmp", "sub/d.log"} if is_ignored else set())


def test_case_is_ignored_below_without_rules_at_the_top(home: Path) -> None:
    git("config", "core.ignoreCase", "true", folder=home / "repository")
    (home / "repository/sub/.gitignore").write_text("D.log\n")
    assert ignored(home / "repository") == {"sub/d.log"}
    found = Walk().find([str(home / "repository/sub")])
    assert [os.path.basename(file.path) for file in found] == ["e.bak"]


FORMS = {
    "version 2": (),
    "version 4": (["update-index", "--index-version", "4"],),
    "split": (["update-index", "--split-index"],),
}


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


@pytest.mark.parametrize("form", FORMS)
def test_what_is_tracked_is_found(repository: Path, form: str) -> None:
    for arguments in FORMS[form]:
        git(*arguments)
    assert find() == FOUND
    assert find("build") == ["build/deep/kept.md", "build/new.py"]
    assert [file.path for file in Walk(ignore=False).find(["build"])][-1] == "build/other/new.md"


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


def test_an_index_with_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "--object-format=sha256")
    make("a.md", "b.md")
    Path(".gitignore").write_text("*.md\n")
    git("add", "-f", "a.md")
    assert find() == ["a.md"]


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


def test_a_sparse_index_has_the_files_that_are_there(repository: Path) -> None:
    make("far/x.md", "far/deep/y.md", "near/z.md", "near/new.md")
    git("add", "-f", "far", "near/z.md")
    git("commit", "-q", "-m", "x")
    git("sparse-checkout", "set", "--cone", "--sparse-index", "near", "build/deep")
    assert b"far/" in read_index(str(repository / ".git"), 20)
    make("far/new.md")
    assert find() == ["CLAUDE.md", "a.py", "build/deep/kept.md", "build2", "near/z.md"]


def test_a_repository_in_an_ignored_folder_is_not_tracked(repository: Path) -> None:
    make("build/deep/inner/a.md")
    git("init", "-q", folder="build/deep/inner")
    git("add", "a.md", folder="build/deep/inner")
    assert find() == FOUND


def test_a_folder_in_place_of_a_tracked_file_is_ignored(repository: Path) -> None:
    os.remove("CLAUDE.md")
    make("CLAUDE.md/a.py")
    assert find() == FOUND[1:]


def test_names_in_conflict_and_those_meant_to_be_added_are_tracked(repository: Path) -> None:
    make("intent.md")
    git("add", "-f", "-N", "intent.md")  # an index of version 3
    blob = git("hash-object", "-w", "a.py").strip().decode()
    stages = "".join(f"100644 {blob} {stage}\tlocal.md\n" for stage in (1, 2, 3))
    git("update-index", "--index-info", given=stages.encode())
    assert find() == sorted([*FOUND, "intent.md", "local.md"])


def test_case_does_not_matter_where_git_ignores_it(repository: Path) -> None:
    os.rename("CLAUDE.md", "Claude.md")
    assert find() == FOUND[1:]
    git("config", "core.ignoreCase", "true")
    assert find() == ["Claude.md", *FOUND[1:]]


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
    found_as_by_git(files)


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
        (
            str(tmp_path / ".git/index"),
            "Damaged, or of a kind unknown here; run git status for details",
        )
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
    make_special(tmp_path / "index", special)
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
