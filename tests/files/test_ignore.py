"""Ignore files leave out what git and ripgrep leave out, whatever the pattern, in bounded time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files.ignore import (
    Globs,
    InvalidPatternError,
    Rules,
    Scope,
    as_bytes,
    matcher,
    scope_around,
)
from compat_bpe.files.walk import Walk
from tests.examples import shared_fixture

# What the paths of a repository are made of, and its patterns.
NAMES = ["a", "b", "ab", "foo", "foo.py", "x.txt", "!x", "#y", " z", "a b", "[c]", "build"]
NAMES += ["é", "aé", "A", "1", "b\t", "-", "É", "Ab", "X.TXT"]
FOLDERS = ["", "a", "a/b", "foo", "foo/a", "build", "build/a"]
PARTS = [
    *["a", "b", "foo", "build", "*", "*.py", "foo*", "?", "a?", "*b", "[ab]", "[a-f]oo"],
    *["**", "x.txt", "\\!x", "\\#y", " z", "a b", "\\[c\\]", "#y", "[!a]", "[^ab]*"],
    # Rare ones: stars beside others, bytes of letters, and all that may be in a set.
    *["***", "**a", "a**", "é", "a??", "b\t", "[[:alpha:]]", "[^[:digit:]a]", "[[:no:]]", "[[:a]"],
    *["[]a]", "[!]a]", "[a-", "[\\]a]", "[--0]", "[b-a]", "[a\\-c]", "[/]", "[!/]", "[[a]]", "[é]"],
    *["[a-\\b]", "[!b-a]", "\\a", "**\\"],
    # Upper case, which matters where git ignores it.
    *["A", "FOO*", "*.PY", "[A]", "[A-F]oo", "[[:upper:]]", "[[:lower:]]", "[!A-Z]", "\\A", "É"],
    *["F**", "[^[:upper:]]oo"],
]


lines = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "", "/"]),
    st.sampled_from(["", "", "  ", "\r", "\\ "]),
) | st.sampled_from(["", "# a", "!", "/", "\\", "*", "!*/", "a\\", "[z-a]"])
ignore_files = st.fixed_dictionaries(
    {"": st.lists(lines, max_size=4)},
    optional={folder: st.lists(lines, max_size=3) for folder in ("a", "a/b", "foo", ".git/info")},
)


def git(folder: Path, *args: str) -> bytes:
    return subprocess.run(
        ["git", *args],
        cwd=folder,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None and not os.environ.get("CI"):
        pytest.skip("git is not installed")
    top = tmp_path_factory.mktemp("repository")
    git(top, "init", "-q")
    for folder in FOLDERS:
        (top / folder).mkdir(exist_ok=True)
    for folder in FOLDERS:
        for name in NAMES:
            path = top / folder / name
            if not path.is_dir():
                path.touch()
    return top


@pytest.mark.parametrize("any_case", [False, True])
@shared_fixture()
@given(files=ignore_files)
def test_what_git_lists_is_found(
    repository: Path, any_case: bool, files: dict[str, list[str]]
) -> None:
    # As git sets it where the disk does not tell A from a.
    git(repository, "config", "core.ignoreCase", str(any_case).lower())
    for folder in ("", "a", "a/b", "foo", ".git/info"):
        path = repository / folder / ("exclude" if folder == ".git/info" else ".gitignore")
        path.write_bytes("\n".join(files.get(folder, [])).encode())
    listed = git(repository, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")
    names = {os.fsdecode(path) for path in listed if path}
    found = {os.path.relpath(file.path, repository) for file in Walk().find([str(repository)])}
    assert found == {path for path in names if os.path.basename(path) != ".gitignore"}


def test_each_pattern_alone(tmp_path: Path) -> None:
    if shutil.which("git") is None and not os.environ.get("CI"):
        pytest.skip("git is not installed")
    git(tmp_path, "init", "-q")
    alone = [
        *PARTS,
        "a**",
        "**/a",
        "foo/**",
        "f**/a",
        "a/**",
        "foo/a**",
        "**/b/a",
        "/a",
        "a/",
        "a/b",
    ]
    alone += ["foo/a**/x.txt", "foo/**/x.txt", "/foo[!x]a", "/foo[/]a", "foo/**\\/x.txt", "a?b/a"]
    alone += [f"foo/{part}" for part in PARTS]
    for number, pattern in enumerate(alone):
        top = tmp_path / str(number)
        for folder in ("foo/a/b", "a/b/a"):
            (top / folder).mkdir(parents=True)
        for folder in ("", "foo"):
            for name in NAMES:
                if not (top / folder / name).is_dir():
                    (top / folder / name).touch()
        for folder in ("foo/a/b", "a/b/a"):
            (top / folder / "x.txt").touch()
        (top / ".gitignore").write_bytes(pattern.encode())
    for any_case in ("false", "true"):
        git(tmp_path, "config", "core.ignoreCase", any_case)
        listed = git(tmp_path, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")
        names = {os.fsdecode(path) for path in listed if path}
        found = {os.path.relpath(file.path, tmp_path) for file in Walk().find([str(tmp_path)])}
        assert found == {path for path in names if os.path.basename(path) != ".gitignore"}


def test_nothing_is_taken_for_what_is_below_it() -> None:
    rules = Rules("/top", ["a/", "!*/", "b"])
    assert rules.verdict("/top/a", True) is False
    assert rules.verdict("/top/a/x", False) is None
    assert rules.verdict("/top/b/x", False) is None
    assert rules.verdict("/top/x/b", False) is True


def test_names_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfcaf\xe9\r\nna\xc3\xafve*\n")
    (rules,) = Scope().inside(str(tmp_path)).git
    for name, verdict in ((b"caf\xe9", True), ("naïve.txt".encode(), True), (b"cafe", None)):
        assert rules.verdict(os.path.join(tmp_path, os.fsdecode(name)), False) is verdict


def test_rules_of_directories_around_end_at_the_top_of_the_repository(tmp_path: Path) -> None:
    deep = tmp_path / "repository" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("outside")
    (tmp_path / "repository" / ".gitignore").write_text("top\nboth")
    (tmp_path / "repository" / "a" / ".gitignore").write_text("!both")
    # In no repository, no directory around is looked at.
    assert scope_around(str(deep)) == Scope()
    (tmp_path / "repository" / ".git").mkdir()
    chain = scope_around(str(deep)).git
    verdicts = {
        name: [rules.verdict(str(deep / name), False) for rules in chain]
        for name in ("outside", "top", "both")
    }
    assert verdicts == {"outside": [None, None], "top": [None, True], "both": [False, True]}


def test_a_repository_within_another_has_its_own_rules(tmp_path: Path) -> None:
    outer = Scope(git=(Rules(str(tmp_path), ["*.log"]),))
    (tmp_path / "inner" / ".git" / "info").mkdir(parents=True)
    assert outer.inside(str(tmp_path / "inner")).git == ()
    (tmp_path / "inner" / ".git" / "info" / "exclude").write_text("*.tmp")
    (rules,) = outer.inside(str(tmp_path / "inner")).git
    assert rules.verdict(str(tmp_path / "inner" / "a.tmp"), False) is True


def test_exclude_file_of_a_worktree_is_that_of_its_repository(repository: Path) -> None:
    git(repository, "config", "core.ignoreCase", "false")
    (repository / ".git" / "info" / "exclude").write_text("secret")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty",
        "-m", "first")  # fmt: skip
    tree = repository.parent / "worktree"
    git(repository, "worktree", "add", "-q", str(tree))
    (rules,) = Scope().inside(str(tree)).git
    assert rules.verdict(str(tree / "secret"), False) is True


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
@pytest.mark.parametrize("name", [".gitignore", ".ignore"])
def test_an_ignore_file_that_is_a_link_or_a_directory_is_not_read(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "rules").write_text("*")
    (tmp_path / name).symlink_to("rules")
    assert Scope().inside(str(tmp_path)) == Scope()
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert Scope().inside(str(tmp_path)) == Scope()


def test_ignore_files_of_ripgrep_come_before_those_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "top"
    files = ["a.md", "b.md", "c.txt", "kept/x.md", "sub/a.md", "sub/d.log", "sub/e.txt", "vendor/v"]
    for name in files:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch()
    monkeypatch.chdir(top)

    def found(*paths: str) -> list[str]:
        return [os.path.normpath(file.path) for file in Walk().find(paths or ["."])]

    # There is no repository, as there need not be.
    Path(".ignore").write_text("\ufeff*.txt\r\n/vendor/\n# x\n", encoding="utf-8")
    assert found() == ["a.md", "b.md", "kept/x.md", "sub/a.md", "sub/d.log"]
    assert found("sub", "c.txt") == ["sub/a.md", "sub/d.log", "c.txt"]
    # What is nearer comes first; those of git come after all of these, however near they are.
    Path("sub/.ignore").write_text("!e.txt\n*.log\n")
    Path("sub/.gitignore").write_text("*\n!d.log\n")
    assert found("sub") == ["sub/e.txt"]
    Path("sub/.gitignore").write_text("")
    Path(".gitignore").write_text("*.md\nkept/\n")
    Path(".ignore").write_text("!/b.md\n!kept/\n*.txt\n")
    assert found() == ["b.md", "sub/e.txt", "vendor/v"]
    # Those above count also where a repository begins, and in it.
    (tmp_path / ".ignore").write_text("vendor\n")
    Path("sub/.git").mkdir()
    assert found() == ["b.md", "sub/a.md", "sub/e.txt"]
    assert found("sub") == ["sub/a.md", "sub/e.txt"]
    monkeypatch.chdir("sub")
    assert found() == ["a.md", "e.txt"]
    assert len([*Walk(ignore=False).find([".."])]) == len(files)


def test_a_file_that_git_tracks_may_be_in_an_ignore_file_of_ripgrep(repository: Path) -> None:
    (repository / ".ignore").write_text("/a/b\n")
    git(repository, "add", "-f", "a/b/foo")
    assert not [file for file in Walk().find([str(repository)]) if "/a/b/" in file.path]
    git(repository, "rm", "-q", "--cached", "a/b/foo")
    (repository / ".ignore").unlink()


def test_globs_begin_with_what_is_special_in_an_ignore_file() -> None:
    globs = Globs(["!x", "#y"], ["!x", "#y"])
    assert [globs.include(path) for path in ("!x", "a/#y", "x", "z")] == [True, True, False, False]
    assert [globs.exclude(path, False) for path in ("!x", "a/#y", "x", "z")] == [
        *[True, True],
        *[False, False],
    ]


def test_include_holds_for_what_is_below_a_directory() -> None:
    globs = Globs(["*.py", "docs/"], ["tests/", "/setup.py"])
    paths = ["a.py", "docs/a.txt", "a/docs/b/c.txt", "docs", "a.txt"]
    assert [path for path in paths if globs.include(path)] == paths[:3]
    assert [globs.exclude(*asked) for asked in [("a/tests", True), ("a/tests", False)]] == [
        True,
        False,
    ]
    assert globs.exclude("setup.py", False)
    assert not globs.exclude("a/setup.py", False)


def calls_of(function: Callable[[str], bool], text: str) -> int:
    """The number of calls, of C's functions too, that a match takes."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        function(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*a" * 40 + "b", "a" * 120),
        ("*?a" * 20 + "b", "a" * 120),
        ("[ab]*" * 40 + "c", "ab" * 60),
        ("**/" * 40 + "x", "a/" * 60 + "a"),
        ("**/a/" * 20 + "x", "a/" * 60 + "a"),
        ("a**/" + "*/**/" * 20 + "x", "a/" * 60 + "a"),
        ("*" * 5_000 + "b/*", "a" * 120),
    ],
)
def test_a_match_takes_no_more_than_length_times_length(pattern: str, text: str) -> None:
    matches = matcher(pattern, is_name="/" not in pattern)
    assert not matches(text)
    assert calls_of(matches, text) < 8 * len(pattern) * len(text) + 100


@given(st.text("ab*?[]!/\\", max_size=8), st.text("ab/", max_size=8))
def test_a_pattern_takes_no_more_by_stars(pattern: str, text: str) -> None:
    try:
        matches = matcher(pattern, is_name="/" not in pattern)
    except InvalidPatternError:
        return
    assert calls_of(matches, text) < 20 * (len(pattern) + 1) * (len(text) + 1)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("[b-dx]", "bcdx", "aewy"),
        ("[!b-dx]", "aewy", "bcdx"),
        ("[b-d0-2]", "bd02", "ae3"),
        ("[d-b]", "d", "bc"),  # as in git, the first is taken by itself
        ("[b-b]", "b", "ac"),
        ("[\\!-\\#]", '!"#', " $"),
    ],
)
def test_ranges(pattern: str, inside: str, outside: str) -> None:
    matches = matcher(pattern, is_name=True)
    assert [char for char in inside + outside if matches(char)] == [*inside]


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[[:no:]]", "[[:alpha:]", "[!", "[a-"])
def test_what_matches_nothing_is_said(pattern: str) -> None:
    with pytest.raises(InvalidPatternError):
        matcher(pattern, is_name=True)


def test_bytes_or_characters() -> None:
    assert matcher("?", is_name=True)("漢")
    assert not matcher("?", is_name=True)(as_bytes("漢"))
    assert matcher(as_bytes("漢*"), is_name=True)(as_bytes("漢字"))
    assert matcher("[!a]", is_name=True)("漢")
