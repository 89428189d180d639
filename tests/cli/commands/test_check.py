"""``compat-bpe check``: files and their budgets, from the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.cli.commands.budgets import CONFIGURATION, configure, write
from tests.cli.commands.budgets import run as run
from tests.cli.running import Run, posix

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def test_what_is_over_and_near(run: Run) -> None:
    configure()
    write("skills/a.md", 11)
    write("skills/b.md", 9)
    write("skills/c.md", 1)
    write("other.md", 100)
    assert run() == (
        1,
        "over  11 / 10  skills/a.md\n"
        "over  21 / 18  total of skills\n"
        "near   9 / 10  skills/b.md\n"
        "3 files: 1 over a limit, 1 near one, 1 total over\n",
        "",
    )
    write("skills/a.md", 3)
    assert run("-q") == (
        0,
        "near  9 / 10  skills/b.md\n3 files: none is over a limit, 1 near one\n",
        "",
    )
    assert "ok     3 / 10  skills/a.md" in run("--all").out


def test_it_is_found_upward_and_paths_choose(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(
        CONFIGURATION.replace("[check", "[tool.compat-bpe.check").replace(
            "[[check", "[[tool.compat-bpe.check"
        ),
        "pyproject.toml",
    )
    write("skills/a.md", 11)
    write("skills/b.md", 11)
    write("x/y.txt", 1)
    monkeypatch.chdir("skills")
    assert run("b.md").out == (
        "over  11 / 10  skills/b.md\nover  22 / 18  total of skills\n"
        "2 files: 1 over a limit, 1 total over\n"
    )
    assert run("../x") == (
        2,
        "0 files: nothing was checked, 1 rule or path matched nothing\n",
        "compat-bpe: ../x: no rule is about a file in it (--allow-empty lets that pass)\n",
    )
    for everything in (".", "..", "../..", os.getcwd()):
        assert run(everything).out.endswith("2 files: 2 over a limit, 1 total over\n")
    assert run("missing.md") == (2, "", "compat-bpe: missing.md: No such file or directory\n")


def test_there_is_no_configuration(run: Run) -> None:
    status, out, err = run()
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: there is no configuration here or above")
    status, out, err = run("--config", "x.toml")
    assert (status, out, err) == (2, "", "compat-bpe: x.toml: No such file or directory\n")
    Path("x.toml").write_text("")
    assert run("--config", "x.toml").err == (
        "compat-bpe: x.toml: there is no table [check]; add one, with rules\n"
    )


def test_a_mistake_is_one_line(run: Run) -> None:
    configure(CONFIGURATION + "maximum = 3\n")
    status, out, err = run()
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: .compat-bpe.toml:8: there is no key 'maximum'")
    assert err.count("\n") == 1
    configure(CONFIGURATION + "max = [\n")
    status, out, err = run()
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: .compat-bpe.toml: no TOML: ")


@pytest.mark.parametrize(
    "args",
    [
        ["--init", "--base", "x"],
        ["--init", "--json"],
        ["--fix-limits", "--json"],
        ["--json", "--format", "table"],
        ["--all", "--format", "sarif"],
        ["--growth", "3"],
        ["--base", "HEAD", "--growth", "-3"],
        ["--base", "HEAD", "--growth", "x%"],
        ["--format", "xml"],
    ],
)
def test_wrong_use(run: Run, args: list[str]) -> None:
    configure()
    assert run(*args)[:2] == (2, "")


def test_the_command_line_decides_what_counts(run: Run) -> None:
    text = "안녕하세요 " * 3
    configure(CONFIGURATION.replace("max = 10", "max = 5"))
    Path("skills").mkdir()
    Path("skills/a.md").write_text(text, encoding="utf-8")
    found = [
        json.loads(run("--json", *args).out)["results"][0]
        for args in ((), ("-e", "cl100k_base"), ("-m", "gpt-4o"))
    ]
    assert [one["tokens"] for one in found] == [
        get_encoding(name).count(text) for name in ("gpt2", "cl100k_base", "o200k_base")
    ]
    assert len({one["tokens"] for one in found}) == 3
    assert [one["encoding"] for one in found] == ["gpt2", "cl100k_base", "o200k_base"]


def test_exemptions_and_what_matches_nothing(run: Run) -> None:
    configure(
        CONFIGURATION
        + '[[check.rules]]\nfiles = ["*.x"]\nmax = 1\n'
        + '[[check.exempt]]\nfiles = ["skills/old.md"]\nreason = "goes away in May"\n'
        + '[[check.exempt]]\nfiles = ["gone.md"]\nreason = "?"\n'
    )
    write("skills/old.md", 100)
    write("skills/a.md", 3)
    status, out, err = run("--all", "--allow-empty")
    assert status == 0
    assert out.splitlines() == [
        "exempt  100 / 10  skills/old.md (goes away in May)",
        "ok        3 / 10  skills/a.md",
        "ok        3 / 18  total of skills",
        "2 files: none is over a limit, 1 exempt",
    ]
    write("skills/old.md", 5)  # it needs no exemption any more
    unmatched = run("--all")
    assert "ok  5 / 10  skills/old.md (goes away in May)" in unmatched.out
    results = json.loads(run("--json").out)["results"]
    (kept,) = (one for one in results if one["path"] == "skills/old.md")
    assert (kept["status"], kept["reason"]) == ("ok", "goes away in May")
    assert err == (
        "compat-bpe: .compat-bpe.toml:8: the rule matches no file\n"
        "compat-bpe: .compat-bpe.toml:14: the exemption matches no file\n"
    )
    assert unmatched.status == 2
    assert unmatched.err == (
        "compat-bpe: .compat-bpe.toml:14: the exemption matches no file\n"
        "compat-bpe: .compat-bpe.toml:8: the rule matches no file (--allow-empty lets that pass)\n"
    )


def test_sections(run: Run) -> None:
    configure(CONFIGURATION + '[[check.rules.sections]]\nheading = "Ex*"\nlevel = 2\nmax = 5\n')
    Path("skills").mkdir()
    Path("skills/a.md").write_text("# Examples\n\n## Examples\na a a a a a\n## Use\n")
    found = json.loads(run("--json").out)["results"]
    section = next(one for one in found if one["kind"] == "section")
    assert (section["line"], section["heading"], section["status"]) == (3, "Examples", "over")
    assert section["tokens"] == get_encoding("gpt2").count("## Examples\na a a a a a\n")
    assert section["limit_at"] == {"path": ".compat-bpe.toml", "line": 11}
    configure(CONFIGURATION.replace(".md", ".txt") + "sections = [{heading = '*', max = 1}]\n")
    os.rename("skills/a.md", "skills/a.txt")
    assert [one["kind"] for one in json.loads(run("--json").out)["results"]] == ["file", "total"]


SKILL = (
    "---\nname: a\ndescription: What it does, and when it is used.\n---\n# A\n\nbody body body\n"
)


def test_front_matter_has_a_limit_apart_from_what_follows_it(run: Run) -> None:
    rule = '[check]\nencoding = "gpt2"\n[[check.rules]]\nfiles = ["SKILL.md", "*.prompty"]\n'
    configure(rule + "front_matter = 10\nbody = 100\n")
    Path("skills/a").mkdir(parents=True)
    for name in ("skills/a/SKILL.md", "b.prompty"):
        Path(name).write_text(SKILL)
    head, body = SKILL[: SKILL.index("# A")], SKILL[SKILL.index("# A") :]
    status, out, err = run("--json")
    assert (status, err) == (1, "")
    count = get_encoding("gpt2").count
    assert [
        (one["path"], one["kind"], one["status"], one["tokens"], one["limit"], one["line"])
        for one in json.loads(out)["results"]
    ] == [
        (path, *found)
        for path in ("b.prompty", "skills/a/SKILL.md")
        for found in (
            ("front_matter", "over", count(head), 10, 1),
            ("body", "ok", count(body), 100, 5),
        )
    ]
    status, out, _ = run("--all")
    assert f"over  {count(head)} /  10  skills/a/SKILL.md § front matter\n" in out
    assert f"ok     {count(body)} / 100  skills/a/SKILL.md § body\n" in out
    for form in ("github", "sarif", "markdown", "junit"):
        assert "front matter" in run("--format", form).out
    assert run("--fix-limits").status == 0
    assert "front_matter = 100\nbody = 100\n" in Path(".compat-bpe.toml").read_text()
    assert run().status == 0


def test_a_file_without_front_matter_has_none(run: Run) -> None:
    configure('[[check.rules]]\nfiles = ["SKILL.md"]\nfront_matter = 0\nbody = "0% of context"\n')
    assert "an encoding has no context: name the model" in run().err
    configure('[[check.rules]]\nfiles = ["SKILL.md"]\nmodel = "gpt-4o"\nfront_matter = 0\n')
    Path("SKILL.md").write_text("# A\n---\nb\n---\n")
    assert run("--all").out == "ok  0 / 0  SKILL.md § front matter\n1 file: none is over a limit\n"
    # A byte-order mark does not hide it.
    Path("SKILL.md").write_text("\ufeff" + SKILL, encoding="utf-8")
    assert run().status == 1


def test_what_is_near(run: Run) -> None:
    section = '[[check.rules.sections]]\nheading = "*"\nmax = 10\n'
    Path("skills").mkdir()
    Path("skills/a.md").write_text("# a a a a a a a a")  # 9 tokens
    for warn, statuses in (
        ("warn = 10\n", ["ok", "near", "ok"]),  # tokens are about files
        ("warn = 9\n", ["near", "near", "ok"]),
        ('warn = "50%"\n', ["near", "near", "near"]),
        ('warn = "100%"\n', ["ok", "ok", "ok"]),
        ("warn = 0\n", ["near", "near", "ok"]),
        ("", ["near", "near", "ok"]),
    ):
        configure(CONFIGURATION + warn + section)
        found = json.loads(run("--json").out)["results"]
        assert [one["tokens"] for one in found] == [9, 9, 9]
        assert [one["status"] for one in found] == statuses, warn


def test_shares_of_a_context(run: Run) -> None:
    configure(
        '[check]\nmodel = "gpt-4"\n[[check.rules]]\nfiles = ["*.md"]\nmax = "1% of context"\n'
    )
    Path("a.md").write_text("a" + " a" * 81)
    assert run()[:2] == (1, "over  82 / 81  a.md\n1 file: 1 over a limit\n")
    status, out, err = run("-e", "gpt2")
    assert (status, out) == (2, "")
    assert ".compat-bpe.toml:5: an encoding has no context" in err


def test_what_is_not_text(run: Run) -> None:
    configure(CONFIGURATION + '[[check.rules]]\nfiles = ["*.md"]\nencoding = "bytes"\nmax = 99\n')
    write("skills/a.md", 3)
    Path("skills/b.md").write_bytes(b"\0\0")
    assert run() == (
        0,
        "1 file: none is over a limit\n",
        "compat-bpe: skipped as binary: skills/b.md\n",
    )
    Path("skills/c.md").write_bytes(b"caf\xe9")
    status, out, err = run("-q")
    assert (status, out) == (2, "1 file: none is over a limit, 1 not counted\n")
    assert err == (
        "compat-bpe: skills/c.md: not UTF-8: byte 0xe9 at offset 3; "
        "fix it, or exclude it in the configuration\n"
    )


@posix
def test_files_as_count_finds_them(run: Run, tmp_path: Path) -> None:
    configure('[[check.rules]]\nfiles = ["*.md", ".github/**"]\nmax = 1000\nexclude = ["no/"]\n')
    for name in ("a.md", "no/b.md", ".github/c.txt", ".cache/d.md", "ignored.md", "-"):
        write(name, 3)
    Path(".gitignore").write_text("ignored.md\n")
    outside = tmp_path.parent / f"{tmp_path.name}.md"
    outside.write_text("x")
    os.symlink(outside, "link.md")
    os.symlink("..", "folder")
    os.mkfifo("pipe.md")
    assert [one["path"] for one in json.loads(run("--json").out)["results"]] == [
        ".github/c.txt",
        "a.md",
    ]


@needs_git
def test_what_git_tracks_is_checked_though_a_rule_ignores_it(run: Run) -> None:
    write("CLAUDE.md", 11)
    write("prompts/local.md", 5)
    Path(".gitignore").write_text("CLAUDE.md\nprompts/\n")
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", "-f", "CLAUDE.md"], check=True)
    assert run("--init", "-e", "gpt2").status == 0
    assert 'files = ["AGENTS.md", "CLAUDE.md",' in Path(".compat-bpe.toml").read_text()
    configure('[check]\nencoding = "gpt2"\n[[check.rules]]\nfiles = ["*.md"]\nmax = 10\n')
    over = (1, "over  11 / 10  CLAUDE.md\n1 file: 1 over a limit\n", "")
    assert run() == run("CLAUDE.md") == over
    assert run("--no-ignore").out.endswith("\n2 files: 1 over a limit\n")
    os.remove(".compat-bpe.toml")
    assert run("--init", "-e", "gpt2", "--no-ignore").out.endswith("limits for 2 files\n")


@posix
def test_what_is_named_is_checked(run: Run, tmp_path: Path) -> None:
    configure(CONFIGURATION.replace("skills/*.md", "*.md"))
    for name in ("a.md", "local.md", "build/b.md", "build/.hidden.md"):
        write(name, 4)
    os.symlink("a.md", "link.md")
    Path(".gitignore").write_text("local.md\nbuild/\n")
    assert run("--all").out.endswith("\n1 file: none is over a limit\n")
    assert run("--all", "./local.md").out.splitlines() == [
        "ok  4 / 10  local.md",
        "ok  8 / 18  total of skills",
        "2 files: none is over a limit",
    ]
    for path in ("build", "build/b.md", f"{tmp_path}/build/"):
        assert run("--all", path).out.startswith("ok  4 / 10  build/b.md\n")
    assert run("--all", "link.md").out.startswith("ok  4 / 10  link.md\n")
    assert run("--all", ".").out == run("--all").out
    os.mkfifo("pipe.md")
    assert run("pipe.md") == (2, "", "compat-bpe: pipe.md: Not a regular file\n")


def test_a_check_of_nothing_fails(run: Run) -> None:
    configure()
    write("skills/a.md", 3)
    write("other.txt", 3)
    Path("skills/b.md").write_bytes(b"\0")
    Path("empty").mkdir()
    for path, reason in (
        ("other.txt", "no rule is about it"),
        ("empty", "no rule is about a file in it"),
        ("skills/b.md", "it is binary, so nothing is checked"),
    ):
        allowed = f"compat-bpe: {path}: {reason}\n"
        failed = f"compat-bpe: {path}: {reason} (--allow-empty lets that pass)\n"
        status, out, err = run(path, "--allow-empty")
        assert (status, allowed in err) == (0, True)
        status, out, err = run(path, "-q")
        assert (status, err) == (2, failed)
        # Among others, too: each path has to be checked.
        status, out, err = run("skills/a.md", path, "--fix-limits", "-q")
        assert (status, err) == (2, failed)
        found = json.loads(run(path, "--json", "-q").out)
        assert (found["status"], found["errors"]) == (
            "error",
            [{"path": path, "line": None, "error": reason}],
        )
    os.remove("skills/a.md")
    status, out, err = run("-q")
    assert (status, out) == (2, "0 files: nothing was checked, 1 rule or path matched nothing\n")
    assert err == (
        "compat-bpe: .compat-bpe.toml:3: all files that the rule matches are binary "
        "(--allow-empty lets that pass)\n"
    )
    assert run("--format", "github", "-q") == (
        2,
        "::error file=.compat-bpe.toml,line=3,title=token budget::.compat-bpe.toml:3: "
        f"all files that the rule matches are binary\n{out}",
        "",
    )


def test_a_limit_of_sections_that_there_are_not(run: Run) -> None:
    section = '[[check.rules.sections]]\nheading = "{}"\nmax = 10\n'
    configure(CONFIGURATION + section.format("Example*") + section.format("Exampel*"))
    Path("skills").mkdir()
    Path("skills/a.md").write_text("# Examples\na\n")
    write("skills/b.md", 3)
    status, out, err = run()
    assert (status, out) == (2, "2 files: none is over a limit, 1 rule or path matched nothing\n")
    assert err == (
        "compat-bpe: .compat-bpe.toml:13: the limit is about no section "
        "(--allow-empty lets that pass)\n"
    )
    # Of some files, it may be about none, and each of their sections may be of no file.
    assert run("skills/b.md").status == 0
    os.remove("skills/a.md")
    configure(CONFIGURATION + section.format("*"))
    assert run().status == 0


def test_a_folder_has_only_so_many_files(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.check.rules.MOST_FOUND", 2)
    configure()
    for name in ("a", "b"):
        write(name, 1)
    assert run("--allow-empty")[0] == 0
    write("c", 1)
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "more than 2 files in" in err


def test_hostile_globs_end(run: Run) -> None:
    stars = "*a" * 400 + "b"
    configure(f'[[check.rules]]\nfiles = ["{stars}", "**/{"**/" * 200}x"]\nmax = 1\n')
    write("a" * 200, 1)
    write("/".join("a" * 50) + "/aa", 1)
    assert run("-q", "--allow-empty") == (0, "0 files: nothing was checked\n", "")


# --init


# --fix-limits


def test_counting_imports_none_of_it(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from compat_bpe.cli import cli\n"
        "try: cli(['count', '-c', 'x'])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if 'compat_bpe.check' in name or 'toml' in name])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split(b"\n")[1].strip() == b"[]"
