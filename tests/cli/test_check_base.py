"""``compat-bpe check --base``: what has changed since a git revision, however hostile it is."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from compat_bpe.check import git_base
from tests.cli.running import (
    TextResult,
    command,
    commit,
    git,
    posix,
    refused,
    write,
    write_sizes,
)

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="there is no git"),
    posix,
]

CONFIGURATION = '[check]\nencoding = "gpt2"\n[[check.rules]]\nfiles = ["*.md"]\nmax = 1000\n'
TOML = ".compat-bpe.toml"


def check(line: str = "", *more: str) -> TextResult:
    return command(f"check --base HEAD {line}", *more)


def lines(line: str = "") -> list[str]:
    return check(line).out.splitlines()


def found(line: str = "") -> Any:
    return json.loads(check(f"--json {line}").out)


@pytest.fixture(autouse=True)
def _repository() -> None:
    """A repository with a commit."""
    write({TOML: CONFIGURATION})
    write_sizes({"same.md": 5, "a.md": 10, "gone.md": 7, "old.md": 30, "sub/deep.md": 3})
    commit("init -q .")


def change() -> None:
    os.remove("gone.md")
    git("mv", "old.md", "new.md")
    write_sizes({"a.md": 14, "new.md": 31, "fresh.md": 2, "sub/deep.md": 2})


def test_what_has_changed() -> None:
    assert check() == (0, "5 files: none is over a limit\n", "")
    change()
    assert lines() == [
        "grown    +4 = 14  a.md",
        "added    +2 =  2  fresh.md",
        "removed  -7 =  0  gone.md",
        "renamed  +1 = 31  old.md → new.md",
        "shrunk   -1 =  2  sub/deep.md",
        "5 files: none is over a limit",
    ]
    assert lines("sub")[0] == "shrunk  -1 = 2  sub/deep.md"
    result = found()
    assert result["base"] == git("rev-parse", "HEAD")
    assert json.dumps(result["changes"][3]) == (
        '{"kind": "renamed", "path": "new.md", "before_path": "old.md", "before": 30, "after": 31, '
        '"encoding": "gpt2"}'
    )
    # Only what is named is listed.
    write({TOML: CONFIGURATION + "total = 1000\n"})
    result = found("a.md")
    assert result["files"] == 5  # the total needs them all
    assert [one["path"] for one in result["changes"]] == ["a.md"]


def test_what_is_renamed_out_of_the_rules_is_removed() -> None:
    git("mv", "old.md", "old.txt")
    git("mv", "gone.md", "new.md")
    os.remove("new.md")
    assert lines()[:2] == ["removed   -7 = 0  gone.md", "removed  -30 = 0  old.md"]


def test_what_has_moved_and_git_does_not_know() -> None:
    """Files of the same content are followed: of the same name first, each once, none empty."""
    write_sizes({"one.md": 8, "x/same.md": 8, "two.md": 8, "empty.md": 0})
    commit()
    for name in ("one.md", "x/same.md", "two.md", "empty.md", "old.md"):
        os.remove(name)
    write_sizes({"a/first.md": 8, "a/same.md": 8, "b/last.md": 8, "b/more.md": 8})
    write_sizes({"void.md": 0, "old2.md": 31})
    assert lines()[:-1] == [
        "renamed   +0 =  8  one.md → a/first.md",
        "renamed   +0 =  8  x/same.md → a/same.md",
        "renamed   +0 =  8  two.md → b/last.md",
        "added     +8 =  8  b/more.md",
        "removed   +0 =  0  empty.md",
        "removed  -30 =  0  old.md",
        "added    +31 = 31  old2.md",
        "added     +0 =  0  void.md",
    ]


def test_growth_has_a_limit() -> None:
    change()
    status, out, err = check("--growth 3")
    assert (status, err) == (1, "")
    assert out.splitlines()[0] == "over  +4 / +3  a.md"
    for limit, status in (("4", 0), ("40%", 0), ("39%", 1)):
        assert check(f"--growth {limit}").status == status
    write({TOML: CONFIGURATION + "growth = 0\n"})
    over = [one for one in lines() if one.startswith("over")]
    assert over == ["over  +4 / +0  a.md", "over  +1 / +0  new.md"]
    kinds = [one["kind"] for one in found()["results"]]
    assert kinds.count("growth") == 2  # what has shrunk has no growth
    status, out, err = check("--fix-limits")
    assert (status, out) == (1, "")
    assert "growth limits are not raised" in err


def test_a_growth_is_one_result_however_many_rules_the_file_has() -> None:
    def growths(options: str = "") -> list[tuple[str, int, int | None]]:
        return [
            (one["rule"], one["limit"], one["limit_at"] and one["limit_at"]["line"])
            for one in found(f"{options} a.md")["results"]
            if one["kind"] == "growth"
        ]

    rule = '[[check.rules]]\nfiles = ["*.md"]\nname = "{}"\nmax = 12\n'
    first = '[check]\nencoding = "gpt2"\ngrowth = 3\n' + rule.format("a")
    write({TOML: first})
    write_sizes({"a.md": 14})
    assert growths() == [("a", 3, 3)]
    # Nothing of the configuration says what the command line does.
    assert growths("--growth 1") == [("a", 1, None)]
    # Of several limits the lowest counts.
    write({TOML: first + rule.format("b") + "growth = 2\n" + rule.format("c")})
    assert growths() == [("b", 2, 12)]
    # Files are counted, not results.
    shown = lines("a.md")
    assert len([line for line in shown if line.startswith("over")]) == 4
    assert shown[-1] == "1 file: 1 over a limit"


def test_a_configuration_in_a_folder_of_the_repository() -> None:
    write({f"sub/{TOML}": CONFIGURATION})
    write_sizes({"sub/deep.md": 9, "top/gone.md": 3})
    commit()
    os.remove("top/gone.md")
    write_sizes({"sub/deep.md": 15})
    os.chdir("sub")
    assert json.loads(check("--format sarif").out)["runs"][0]["results"] == []
    assert lines() == ["grown  +6 = 15  deep.md", "1 file: none is over a limit"]
    write({TOML: CONFIGURATION.replace("1000", "1")})
    (result,) = json.loads(command("check --format sarif").out)["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == "sub/deep.md"


def test_only_what_has_changed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def spy(folder: str, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
        asked.extend(blobs.values())
        return git_base.read_blobs(folder, blobs)

    monkeypatch.setattr("compat_bpe.check.changes.read_blobs", spy)
    write_sizes({"a.md": 11})
    check()
    assert asked == [git("rev-parse", "HEAD:a.md")]


def test_what_is_no_revision() -> None:
    revisions = ["missing", "--output=x", "-h", "", "HEAD:a.md", "HEAD^{tree}", "a\nb", "\0"]
    revisions += ["HEAD;touch x", "@{u}"]
    before = sorted(os.listdir())
    for revision in revisions:
        err = refused("check --base", revision)
        assert err.startswith("compat-bpe: --base: ")
        assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


def test_no_repository_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path / "nothing"))
        assert check().err == "compat-bpe: --base: git is not installed\n"
    shutil.rmtree(".git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "not a git repository" in refused("check --base HEAD")


HOSTILE_NAMES = ["-rf.md", "--output=x.md", "a\nb.md", 'q"u\\o.md', "ta\tb.md", "$(touch x).md",
                 ":(top)a.md", "HEAD.md", " .md", "caf\udce9.md", "→.md"]  # fmt: skip


def test_hostile_names() -> None:
    names = {f"names/{name}" for name in HOSTILE_NAMES}
    write(dict.fromkeys(names, "a a a a"))
    commit()
    write(dict.fromkeys(names, "a a a a a"))
    changes = {(one["path"], one["before"], one["after"]) for one in found()["changes"]}
    assert changes == {(name, 4, 5) for name in names}
    assert not Path("x").exists()
    commit()
    for name in names:
        os.remove(name)
    assert {one["before_path"] for one in found()["changes"]} == names
    for format_name in ("table", "github", "sarif", "markdown", "junit"):
        assert check(f"--format {format_name}").status == 0


def program(name: str, script: str) -> None:
    write({name: f"#!/bin/sh\n{script}\n"})
    Path(name).chmod(0o755)


def test_nothing_of_the_repository_runs(tmp_path: Path) -> None:
    """Hooks, filters, external diffs, textconv, a monitor of files, a pager: none is started."""
    trap = tmp_path / "trap"
    program(str(trap), f"touch {tmp_path}/caught\ncat 2>/dev/null")
    write({".gitattributes": "*.md diff=x filter=x merge=x\n"})
    commit()
    change()
    keys = "diff.x.textconv diff.x.command diff.external core.fsmonitor core.pager"
    for key in f"{keys} filter.x.clean filter.x.smudge filter.x.process".split():
        git("config", key, str(trap))
    for name in ("diff-index", "rev-parse"):
        git("config", f"alias.{name}", f"!{trap}")
    hooks = Path(".git/hooks")
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        shutil.copy(trap, hooks / hook)
    index = Path(".git/index").read_bytes()
    assert len(found()["changes"]) == 5
    assert not (tmp_path / "caught").exists()
    assert Path(".git/index").read_bytes() == index


def test_links_and_binary_files_of_the_base() -> None:
    os.symlink("a.md", "link.md")
    os.symlink("a.md", "kept.md")
    write({"was-binary.md": b"\0", "gone-binary.md": b"\0"})
    commit()
    # A link that is named is not compared.
    assert check("kept.md").out == "1 file: none is over a limit\n"
    os.remove("link.md")
    write({"link.md": "a a", "was-binary.md": "a a a"})
    os.remove("gone-binary.md")
    assert lines()[:2] == ["added  +2 = 2  link.md", "added  +3 = 3  was-binary.md"]


def test_what_git_ignores_now_is_not_removed() -> None:
    write({".gitignore": "gone.md\n"})
    write_sizes({"gone.md": 8})
    assert check().out == "grown  +1 = 8  gone.md\n5 files: none is over a limit\n"
    git("rm", "-q", "--cached", "gone.md")  # git ignores it from now on
    assert check().out == "4 files: none is over a limit\n"


def test_content_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = git("rev-parse", "HEAD:a.md")
    write_sizes({"a.md": 11})
    path = Path(f".git/objects/{blob[:2]}/{blob[2:]}")
    path.chmod(0o600)
    path.unlink()
    missing = f"a.md: its content is not in this clone; fetch {blob} first"
    assert missing in refused("check --base HEAD")
    # A partial clone names a program to fetch with; only a newer git can be told not to.
    monkeypatch.delitem(git_base._ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::touch {tmp_path}/caught"),
        ("protocol.ext.allow", "always"),
    ):
        git("config", key, value)
    assert check().status == 2
    assert not Path("caught").exists()


def test_git_that_hangs_or_prints_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("bin/git", "exec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    with monkeypatch.context() as patch:
        patch.setattr(git_base, "TIMEOUT", 0.2)
        assert "git took more than" in check().err
    program("bin/git", "exec yes")
    monkeypatch.setattr(git_base._git, "__kwdefaults__", {"stdin": b"", "limit": 1 << 20})
    most = "compat-bpe: --base: git rev-parse prints more than 1,048,576 bytes\n"
    assert check().err == most


def test_a_content_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    write_sizes({"a.md": 11})
    monkeypatch.setattr(git_base, "LARGEST_CONTENT", 18)
    most = "19 bytes in the revision, and at most 18 are read; exclude it in the configuration"
    assert check().err == f"compat-bpe: --base: a.md: {most}\n"


def test_contents_are_read_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    write_sizes({f"many/{number}.md": number + 1 for number in range(7)})
    commit()
    write_sizes({f"many/{number}.md": number + 2 for number in range(7)})
    expected = found()["changes"]
    assert [one["before"] for one in expected] == [1, 2, 3, 4, 5, 6, 7]
    for key, value in (("_AT_ONCE", 12), ("_MOST_AT_ONCE", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(git_base, key, value)
            assert found()["changes"] == expected


def test_files_of_a_submodule_are_not_compared() -> None:
    """They are not added: they were there, in a repository of their own."""
    write_sizes({"sub/inner/a.md": 3, "sub/innermost.md": 4})
    inner = "-C sub/inner"
    commit("init -q sub/inner", f"{inner} add .", f"{inner} commit -qm x")
    assert git("ls-tree", "HEAD", "sub/inner").startswith("160000 commit")
    os.remove("a.md")  # its content is that of b.md
    write_sizes({"sub/inner/a.md": 7, "sub/inner/b.md": 10, "sub/innermost.md": 5})
    assert lines() == [
        "removed  -10 = 0  a.md",
        "grown     +1 = 5  sub/innermost.md",
        "7 files: none is over a limit",
    ]
