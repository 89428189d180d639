"""The user's own ignore file, found as git finds it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat_bpe.files.git import parse, read_settings
from compat_bpe.files.walk import Walk
from tests.examples import scaled

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


@pytest.fixture(scope="module", autouse=True)
def _git() -> None:
    if shutil.which("git") is None and not os.environ.get("CI"):
        pytest.skip("git is not installed")


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
    command = ["git", "config", "--file", str(path), "core.excludesFile"]
    read = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [f"{one}\n" for _, one in parse(path.read_text())] == [read]


@settings(
    max_examples=scaled(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=texts)
def test_settings_are_those_that_git_reads(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
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
    subprocess.run(["git", "init", "-q", top], check=True)
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
    found = {os.path.relpath(file.path, top) for file in Walk().find([str(top)])}
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=top,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    assert found == {path for path in listed.split("\0")[:-1] if ".gitignore" not in path}
    return files - found


def test_default_is_below_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = home / "repository"
    assert ignored(top) == set()
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.log\n")
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
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.log\n")
    (home / ".gitconfig").write_text("[core]\nexcludesFile =\n")
    assert ignored(home / "repository") == set()
    assert read_settings(str(home / "repository/.git"), "/top").excludes_file is None


def test_worktrees_and_submodules_have_it(home: Path) -> None:
    top = home / "repository"
    (home / "mine").write_text("*.log\n")
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/exclude").write_text("*.tmp\n")

    def git(*args: object) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *map(str, args)],
            cwd=top,
            check=True,
            capture_output=True,
        )

    git("config", "core.excludesFile", "~/mine")
    git("add", "a.txt")
    git("commit", "-m", "first")
    git("worktree", "add", home / "tree")
    for name in ("x.log", "x.tmp"):
        (home / "tree" / name).write_text("x")
    assert ignored(home / "tree") == {"x.log", "x.tmp"}
    git("clone", "-q", "--separate-git-dir", home / "elsewhere", top, home / "other")
    (home / "other/x.log").write_text("x")
    assert ignored(home / "other") == set()
    with open(home / "elsewhere/config", "a") as config:
        config.write("[core]\nexcludesFile = ~/mine\n")
    assert ignored(home / "other") == {"x.log"}


def test_outside_of_a_repository_it_does_not_hold(home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.log\n")
    (home / "plain").mkdir()
    (home / "plain/b.log").write_text("x")
    assert [file.path for file in Walk().find([str(home / "plain")])] == [
        str(home / "plain" / "b.log")
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[core]\nname = x\n= y\n", "bad config line 3"),
        ('[core]\nname = "x\n', "bad config line 2"),
        ("[include]\npath = .gitconfig\n", "includes too many files, one in the other"),
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
    (home / ".config/git").mkdir(parents=True)
    Path(standard).write_text("*.log\n")
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
    subprocess.run(
        ["git", "config", "core.ignoreCase", "true"], cwd=home / "repository", check=True
    )
    (home / "repository/sub/.gitignore").write_text("D.log\n")
    assert ignored(home / "repository") == {"sub/d.log"}
    found = Walk().find([str(home / "repository/sub")])
    assert [os.path.basename(file.path) for file in found] == ["e.bak"]
