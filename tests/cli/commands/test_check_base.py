"""``compat-bpe check --base``: what has changed since a git revision, however hostile it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from compat_bpe.check import git_base
from tests.cli.commands.budgets import write
from tests.cli.running import Run, posix, runner

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="there is no git"),
    posix,
]

CONFIGURATION = '[check]\nencoding = "gpt2"\n[[check.rules]]\nfiles = ["*.md"]\nmax = 1000\n'


def git(*arguments: str, stdin: str = "") -> str:
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *settings, *arguments], input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit() -> str:
    git("add", "-A")
    git("commit", "-q", "-m", "x")
    return git("rev-parse", "HEAD")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in a repository with a commit."""
    found = runner("check", tmp_path, monkeypatch)
    git("init", "-q", ".")
    Path(".compat-bpe.toml").write_text(CONFIGURATION)
    for name, tokens in (("same.md", 5), ("a.md", 10), ("gone.md", 7), ("old.md", 30)):
        write(name, tokens)
    write("sub/deep.md", 3)
    commit()
    return found


def change() -> None:
    write("a.md", 14)
    os.remove("gone.md")
    git("mv", "old.md", "new.md")
    write("new.md", 31)
    write("fresh.md", 2)
    write("sub/deep.md", 2)


def test_what_has_changed(run: Run) -> None:
    assert run("--base", "HEAD") == (0, "5 files: none is over a limit\n", "")
    change()
    assert run("--base", "HEAD").out.splitlines() == [
        "grown    +4 = 14  a.md",
        "added    +2 =  2  fresh.md",
        "removed  -7 =  0  gone.md",
        "renamed  +1 = 31  old.md → new.md",
        "shrunk   -1 =  2  sub/deep.md",
        "5 files: none is over a limit",
    ]
    assert run("--base", "HEAD", "sub").out.splitlines()[0] == "shrunk  -1 = 2  sub/deep.md"
    found = json.loads(run("--base", "HEAD", "--json").out)
    assert found["base"] == git("rev-parse", "HEAD")
    assert found["changes"][3] == {
        "kind": "renamed",
        "path": "new.md",
        "before_path": "old.md",
        "before": 30,
        "after": 31,
        "encoding": "gpt2",
    }


def test_what_is_renamed_out_of_the_rules_is_removed(run: Run) -> None:
    git("mv", "old.md", "old.txt")
    git("mv", "gone.md", "new.md")
    os.remove("new.md")
    assert run("--base", "HEAD").out.splitlines()[:2] == [
        "removed   -7 = 0  gone.md",
        "removed  -30 = 0  old.md",
    ]


def test_what_has_moved_and_git_does_not_know(run: Run) -> None:
    """Files of the same content are followed: of the same name first, each once, none empty."""
    for name in ("one.md", "x/same.md", "two.md"):
        write(name, 8)
    Path("empty.md").touch()
    commit()
    for name in ("one.md", "x/same.md", "two.md", "empty.md", "old.md"):
        os.remove(name)
    for name in ("a/first.md", "a/same.md", "b/last.md", "b/more.md"):
        write(name, 8)
    Path("void.md").touch()
    write("old2.md", 31)
    assert run("--base", "HEAD").out.splitlines()[:-1] == [
        "renamed   +0 =  8  one.md → a/first.md",
        "renamed   +0 =  8  x/same.md → a/same.md",
        "renamed   +0 =  8  two.md → b/last.md",
        "added     +8 =  8  b/more.md",
        "removed   +0 =  0  empty.md",
        "removed  -30 =  0  old.md",
        "added    +31 = 31  old2.md",
        "added     +0 =  0  void.md",
    ]


def test_growth_has_a_limit(run: Run) -> None:
    change()
    assert run("--base", "HEAD", "--growth", "4").status == 0
    status, out, err = run("--base", "HEAD", "--growth", "3")
    assert (status, err) == (1, "")
    assert out.splitlines()[0] == "over  +4 / +3  a.md"
    assert run("--base", "HEAD", "--growth", "40%").status == 0
    assert run("--base", "HEAD", "--growth", "39%").status == 1
    Path(".compat-bpe.toml").write_text(CONFIGURATION + "growth = 0\n")
    over = [one for one in run("--base", "HEAD").out.splitlines() if one.startswith("over")]
    assert over == ["over  +4 / +0  a.md", "over  +1 / +0  new.md"]
    kinds = [one["kind"] for one in json.loads(run("--base", "HEAD", "--json").out)["results"]]
    assert kinds.count("growth") == 2  # what has shrunk has no growth
    status, out, err = run("--base", "HEAD", "--fix-limits")
    assert (status, out) == (1, "")
    assert "limits of growth are not raised" in err


def test_a_growth_is_one_result_however_many_rules_the_file_has(run: Run) -> None:
    def growths(*options: str) -> list[tuple[str, int, int | None]]:
        found = json.loads(run("--base", "HEAD", "--json", *options, "a.md").out)["results"]
        return [
            (one["rule"], one["limit"], one["limit_at"] and one["limit_at"]["line"])
            for one in found
            if one["kind"] == "growth"
        ]

    rule = '[[check.rules]]\nfiles = ["*.md"]\nname = "{}"\nmax = 12\n'
    first = '[check]\nencoding = "gpt2"\ngrowth = 3\n' + rule.format("a")
    Path(".compat-bpe.toml").write_text(first)
    write("a.md", 14)
    assert growths() == [("a", 3, 3)]
    # Nothing of the configuration says what the command line does.
    assert growths("--growth", "1") == [("a", 1, None)]
    # Of several limits the lowest counts.
    more = rule.format("b") + "growth = 2\n" + rule.format("c")
    Path(".compat-bpe.toml").write_text(first + more)
    assert growths() == [("b", 2, 12)]
    # Files are counted, not results.
    lines = run("--base", "HEAD", "a.md").out.splitlines()
    assert len([line for line in lines if line.startswith("over")]) == 4
    assert lines[-1] == "1 file: 1 over a limit"


def test_a_configuration_in_a_folder_of_the_repository(run: Run) -> None:
    Path("sub/.compat-bpe.toml").write_text(CONFIGURATION)
    write("sub/deep.md", 9)
    write("top/gone.md", 3)
    commit()
    os.remove("top/gone.md")
    write("sub/deep.md", 15)
    os.chdir("sub")
    out = run("--base", "HEAD", "--format", "sarif").out
    assert run("--base", "HEAD").out.splitlines() == [
        "grown  +6 = 15  deep.md",
        "1 file: none is over a limit",
    ]
    Path(".compat-bpe.toml").write_text(CONFIGURATION.replace("1000", "1"))
    (found,) = json.loads(run("--format", "sarif").out)["runs"][0]["results"]
    location = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == "sub/deep.md"
    assert json.loads(out)["runs"][0]["results"] == []


def test_only_what_is_named_is_listed(run: Run) -> None:
    Path(".compat-bpe.toml").write_text(CONFIGURATION + "total = 1000\n")
    change()
    found = json.loads(run("--base", "HEAD", "--json", "a.md").out)
    assert found["files"] == 5  # the total needs them all
    assert [one["path"] for one in found["changes"]] == ["a.md"]


def test_only_what_has_changed_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def spy(folder: str, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
        asked.append(list(blobs.values()))
        return git_base.read_blobs(folder, blobs)

    monkeypatch.setattr("compat_bpe.check.changes.read_blobs", spy)
    write("a.md", 11)
    run("--base", "HEAD")
    assert [one for ids in asked for one in ids] == [git("rev-parse", "HEAD:a.md")]


@pytest.mark.parametrize(
    "revision",
    [
        "missing",
        "--output=x",
        "-h",
        "",
        "HEAD:a.md",
        "HEAD^{tree}",
        "a\nb",
        "HEAD;touch x",
        "@{u}",
        "\0",
    ],
)
def test_what_is_no_revision(run: Run, revision: str) -> None:
    before = sorted(os.listdir())
    status, out, err = run("--base", revision)
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: --base: ")
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


def test_no_repository_and_no_git(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert run("--base", "HEAD").err == "compat-bpe: --base: git is not installed\n"
    monkeypatch.undo()
    shutil.rmtree(tmp_path / ".git")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    status, out, err = run("--base", "HEAD")
    assert (status, out) == (2, "")
    assert "not a git repository" in err


HOSTILE_NAMES = ["-rf.md", "--output=x.md", "a\nb.md", 'q"u\\o.md', "ta\tb.md", "$(touch x).md",
                 ":(top)a.md", "HEAD.md", " .md", "caf\udce9.md", "→.md"]  # fmt: skip


def test_hostile_names(run: Run) -> None:
    for name in HOSTILE_NAMES:
        write(f"names/{name}", 4)
    commit()
    for name in HOSTILE_NAMES:
        write(f"names/{name}", 9)
    found = json.loads(run("--base", "HEAD", "--json").out)
    assert {(one["path"], one["before"], one["after"]) for one in found["changes"]} == {
        (f"names/{name}", 4, 9) for name in HOSTILE_NAMES
    }
    assert not Path("x").exists()
    commit()
    for name in HOSTILE_NAMES:
        os.remove(f"names/{name}")
    changes = json.loads(run("--base", "HEAD", "--json").out)["changes"]
    assert {one["before_path"] for one in changes} == {f"names/{name}" for name in HOSTILE_NAMES}
    for format_name in ("table", "github", "sarif", "markdown", "junit"):
        assert run("--base", "HEAD", "--format", format_name).status == 0


def test_nothing_of_the_repository_runs(run: Run, tmp_path: Path) -> None:
    """Hooks, filters, external diffs, textconv, a monitor of files, a pager: none is started."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/caught\ncat 2>/dev/null\n")
    trap.chmod(0o755)
    Path(".gitattributes").write_text("*.md diff=x filter=x merge=x\n")
    commit()
    change()
    for key in ("diff.x.textconv", "diff.x.command", "diff.external", "core.fsmonitor"):
        git("config", key, str(trap))
    for key in ("filter.x.clean", "filter.x.smudge", "filter.x.process", "core.pager"):
        git("config", key, str(trap))
    git("config", "alias.diff-index", f"!{trap}")
    git("config", "alias.rev-parse", f"!{trap}")
    hooks = Path(".git/hooks")
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        shutil.copy(trap, hooks / hook)
    index = Path(".git/index").read_bytes()
    assert len(json.loads(run("--base", "HEAD", "--json").out)["changes"]) == 5
    assert not (tmp_path / "caught").exists()
    assert Path(".git/index").read_bytes() == index


def test_links_and_binary_files_of_the_base(run: Run) -> None:
    os.symlink("a.md", "link.md")
    Path("was-binary.md").write_bytes(b"\0")
    Path("gone-binary.md").write_bytes(b"\0")
    commit()
    os.remove("link.md")
    write("link.md", 2)
    write("was-binary.md", 3)
    os.remove("gone-binary.md")
    assert run("--base", "HEAD").out.splitlines()[:2] == [
        "added  +2 = 2  link.md",
        "added  +3 = 3  was-binary.md",
    ]


def test_what_git_ignores_now_is_not_removed(run: Run) -> None:
    Path(".gitignore").write_text("gone.md\n")
    write("gone.md", 8)
    assert run("--base", "HEAD").out == "grown  +1 = 8  gone.md\n5 files: none is over a limit\n"
    git("rm", "-q", "--cached", "gone.md")  # git ignores it from now on
    assert run("--base", "HEAD").out == "4 files: none is over a limit\n"


def test_a_link_that_is_named_is_not_compared(run: Run) -> None:
    os.symlink("a.md", "link.md")
    commit()
    assert run("--base", "HEAD", "link.md").out == "1 file: none is over a limit\n"


def test_content_that_is_missing(run: Run) -> None:
    blob = git("rev-parse", "HEAD:a.md")
    write("a.md", 11)
    path = Path(f".git/objects/{blob[:2]}/{blob[2:]}")
    path.chmod(0o600)
    path.unlink()
    status, out, err = run("--base", "HEAD")
    assert (status, out) == (2, "")
    assert f"a.md: its content is not in this clone; fetch {blob} first" in err


def test_nothing_is_fetched_by_an_older_git(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partial clone names a program to fetch with; only a newer git can be told not to."""
    monkeypatch.delitem(git_base._ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "extensions.partialClone", "origin")
    git("config", "remote.origin.promisor", "true")
    git("config", "remote.origin.url", f"ext::touch {tmp_path}/caught")
    git("config", "protocol.ext.allow", "always")
    blob = git("rev-parse", "HEAD:a.md")
    write("a.md", 11)
    path = Path(f".git/objects/{blob[:2]}/{blob[2:]}")
    path.chmod(0o600)
    path.unlink()
    assert run("--base", "HEAD").status == 2
    assert not (tmp_path / "caught").exists()


def test_git_that_hangs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(git_base, "TIMEOUT", 0.2)
    assert "git took more than" in run("--base", "HEAD").err


def test_what_git_prints_is_bounded(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\nexec yes\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(git_base._git, "__kwdefaults__", {"stdin": b"", "limit": 1 << 20})
    err = run("--base", "HEAD").err
    assert err == "compat-bpe: --base: git rev-parse prints more than 1,048,576 bytes\n"


def test_a_content_that_is_too_large(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.md", 11)
    monkeypatch.setattr(git_base, "LARGEST_CONTENT", 18)
    assert run("--base", "HEAD").err == (
        "compat-bpe: --base: a.md: 19 bytes in the revision, and at most 18 are read; exclude it "
        "in the configuration\n"
    )


def test_contents_are_read_in_groups(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"many/{number}.md" for number in range(7)]
    for number, name in enumerate(names):
        write(name, number + 1)
    commit()
    for number, name in enumerate(names):
        write(name, number + 2)
    expected = json.loads(run("--base", "HEAD", "--json").out)["changes"]
    assert [one["before"] for one in expected] == [1, 2, 3, 4, 5, 6, 7]
    for key, value in (("_AT_ONCE", 12), ("_MOST_AT_ONCE", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(git_base, key, value)
            assert json.loads(run("--base", "HEAD", "--json").out)["changes"] == expected


def test_files_of_a_submodule_are_not_compared(run: Run, tmp_path: Path) -> None:
    """They are not added: they were there, in a repository of their own."""
    git("init", "-q", "sub/inner")
    write("sub/inner/a.md", 3)
    write("sub/innermost.md", 4)
    git("-C", "sub/inner", "add", ".")
    git("-C", "sub/inner", "commit", "-qm", "x")
    commit()
    assert git("ls-tree", "HEAD", "sub/inner").startswith("160000 commit")
    write("sub/inner/a.md", 7)
    write("sub/inner/b.md", 10)  # the content of a file that is gone
    os.remove("a.md")
    write("sub/innermost.md", 5)
    assert run("--base", "HEAD").out.splitlines() == [
        "removed  -10 = 0  a.md",
        "grown     +1 = 5  sub/innermost.md",
        "7 files: none is over a limit",
    ]
