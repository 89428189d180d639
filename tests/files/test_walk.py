"""The files that a walk finds, and the rules of ignore files by which it leaves some out."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

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
from tests.files.systems import found_as_by_git, git, make
from tools.attack.growth import calls_of

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX links and pipes")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("repository")
    git("init", "-q", folder=top)
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
    git("config", "core.ignoreCase", str(any_case).lower(), folder=repository)
    for folder in ("", "a", "a/b", "foo", ".git/info"):
        path = repository / folder / ("exclude" if folder == ".git/info" else ".gitignore")
        path.write_bytes("\n".join(files.get(folder, [])).encode())
    found_as_by_git(repository)


def test_each_pattern_alone(tmp_path: Path) -> None:
    git("init", "-q")
    alone = [*PARTS, "a**", "**/a", "foo/**", "f**/a", "a/**", "foo/a**", "**/b/a", "/a", "a/"]
    alone += ["a/b", "foo/a**/x.txt", "foo/**/x.txt", "/foo[!x]a", "/foo[/]a", "foo/**\\/x.txt"]
    alone += ["a?b/a", *(f"foo/{part}" for part in PARTS)]
    for number, pattern in enumerate(alone):
        top = tmp_path / str(number)
        for folder in ("foo/a/b", "a/b/a"):
            (top / folder).mkdir(parents=True)
        # All names where the pattern may take them first; a few at the other depth.
        for folder, has_all in (("", not pattern.startswith("foo/")), ("foo", "/" in pattern)):
            for name in NAMES if has_all else ["a", "foo", "x.txt", "X.TXT"]:
                if not (top / folder / name).is_dir():
                    (top / folder / name).touch()
        for folder in ("foo/a/b", "a/b/a"):
            (top / folder / "x.txt").touch()
        (top / ".gitignore").write_bytes(pattern.encode())
    for any_case in ("false", "true"):
        git("config", "core.ignoreCase", any_case)
        found_as_by_git(tmp_path)


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
    git("config", "core.ignoreCase", "false", folder=repository)
    (repository / ".git" / "info" / "exclude").write_text("secret")
    git("commit", "-q", "--allow-empty", "-m", "first", folder=repository)
    tree = repository.parent / "worktree"
    git("worktree", "add", "-q", tree, folder=repository)
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
    top.mkdir()
    monkeypatch.chdir(top)
    files = ["a.md", "b.md", "c.txt", "kept/x.md", "sub/a.md", "sub/d.log", "sub/e.txt", "vendor/v"]
    make(*files)

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
    git("add", "-f", "a/b/foo", folder=repository)
    assert not [file for file in Walk().find([str(repository)]) if "/a/b/" in file.path]
    git("rm", "-q", "--cached", "a/b/foo", folder=repository)
    (repository / ".ignore").unlink()


def test_globs_begin_with_what_is_special_in_an_ignore_file() -> None:
    globs = Globs(["!x", "#y"], ["!x", "#y"])
    paths = ["!x", "a/#y", "x", "z"]
    assert [path for path in paths if globs.include(path)] == paths[:2]
    assert [path for path in paths if globs.exclude(path, False)] == paths[:2]


def test_include_holds_for_what_is_below_a_directory() -> None:
    globs = Globs(["*.py", "docs/"], ["tests/", "/setup.py"])
    paths = ["a.py", "docs/a.txt", "a/docs/b/c.txt", "docs", "a.txt"]
    assert [path for path in paths if globs.include(path)] == paths[:3]
    assert globs.exclude("a/tests", True)
    assert not globs.exclude("a/tests", False)
    assert globs.exclude("setup.py", False)
    assert not globs.exclude("a/setup.py", False)


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
    assert calls_of(lambda: matches(text)) < 4 * len(pattern) * len(text) + 100


@given(st.text("ab*?[]!/\\", max_size=8), st.text("ab/", max_size=8))
def test_a_pattern_takes_no_more_by_stars(pattern: str, text: str) -> None:
    try:
        matches = matcher(pattern, is_name="/" not in pattern)
    except InvalidPatternError:
        return
    assert calls_of(lambda: matches(text)) < 10 * (len(pattern) + 1) * (len(text) + 1)


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
