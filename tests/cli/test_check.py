"""``compat-bpe check``: files and their budgets, what it notes, and what it writes."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from compat_bpe import get_encoding
from compat_bpe.check.measure import SectionCounts
from tests.cli.running import (
    COMMAND,
    TextResult,
    cases,
    command,
    git,
    posix,
    refused,
    run_process,
    write,
    write_sizes,
)

CONFIGURATION = """\
[check]
encoding = "gpt2"
[[check.rules]]
name = "skills"
files = ["skills/*.md"]
max = 10
total = 18
"""
TOML = ".compat-bpe.toml"
GPT2 = '[check]\nencoding = "gpt2"\n'
RULES = '[[check.rules]]\nfiles = ["*.md"]\n'
SECTION = '[[check.rules.sections]]\nheading = "{}"\nmax = {}\n'
PASS = " (--allow-empty allows it)"
NOTHING = "0 files: nothing was checked, 1 rule or path matched nothing\n"
count = get_encoding("gpt2").count


@pytest.fixture(autouse=True)
def _top_of_a_repository() -> None:
    Path(".git").mkdir()


def check(line: str = "", *more: str) -> TextResult:
    return command(f"check {line}", *more)


def results(line: str = "") -> list[Any]:
    found: list[Any] = json.loads(check(f"--json {line}").out)["results"]
    return found


def configure(text: str = CONFIGURATION, name: str = TOML) -> None:
    write({name: text})


def test_what_is_over_and_near() -> None:
    configure()
    write_sizes({"skills/a.md": 11, "skills/b.md": 9, "skills/c.md": 1, "other.md": 100})
    assert check() == (
        1,
        "over  11 / 10  skills/a.md\n"
        "over  21 / 18  total of skills\n"
        "near   9 / 10  skills/b.md\n"
        "3 files: 1 over a limit, 1 near one, 1 total over\n",
        "",
    )
    write_sizes({"skills/a.md": 3})
    near = "near  9 / 10  skills/b.md\n3 files: none is over a limit, 1 near one\n"
    assert check("-q") == (0, near, "")
    assert "ok     3 / 10  skills/a.md" in check("--all").out


def test_it_is_found_upward_and_paths_choose() -> None:
    tables = {"[check": "[tool.compat-bpe.check", "[[check": "[[tool.compat-bpe.check"}
    text = re.sub(r"\[+check", lambda found: tables[found[0]], CONFIGURATION)
    configure(text, "pyproject.toml")
    write_sizes({"skills/a.md": 11, "skills/b.md": 11, "x/y.txt": 1})
    os.chdir("skills")
    assert check("b.md").out == (
        "over  11 / 10  skills/b.md\nover  22 / 18  total of skills\n"
        "2 files: 1 over a limit, 1 total over\n"
    )
    nothing = f"compat-bpe: ../x: no rule applies to any file in it{PASS}\n"
    assert check("../x") == (2, NOTHING, nothing)
    for everything in (".", "..", "../..", os.getcwd()):
        assert check(everything).out.endswith("2 files: 2 over a limit, 1 total over\n")
    missing = "compat-bpe: missing.md: No such file or directory\n"
    assert check("missing.md") == (2, "", missing)


def test_there_is_no_configuration_or_a_wrong_one() -> None:
    assert check().err.startswith("compat-bpe: there is no configuration here or above")
    missing = "compat-bpe: x.toml: No such file or directory\n"
    assert check("--config x.toml") == (2, "", missing)
    write({"x.toml": ""})
    none = "compat-bpe: x.toml: there is no table [check]; add one, with rules\n"
    assert check("--config x.toml") == (2, "", none)
    for line, said in (
        ("maximum = 3", ":8: there is no key 'maximum'"),
        ("max = [", ": invalid TOML: "),
    ):
        configure(f"{CONFIGURATION}{line}\n")
        err = refused("check")
        assert err.startswith(f"compat-bpe: {TOML}{said}")
        assert err.count("\n") == 1


def test_the_command_line_decides_what_counts() -> None:
    text = "안녕하세요 " * 3
    configure(CONFIGURATION.replace("max = 10", "max = 5"))
    write({"skills/a.md": text})
    names = ("gpt2", "cl100k_base", "o200k_base")
    found = [results(args)[0] for args in ("", "-e cl100k_base", "-m gpt-4o")]
    assert [one["tokens"] for one in found] == [get_encoding(name).count(text) for name in names]
    assert len({one["tokens"] for one in found}) == 3
    assert tuple(one["encoding"] for one in found) == names


def test_exemptions_and_what_matches_nothing() -> None:
    configure(
        CONFIGURATION
        + '[[check.rules]]\nfiles = ["*.x"]\nmax = 1\n'
        + '[[check.exempt]]\nfiles = ["skills/old.md"]\nreason = "goes away in May"\n'
        + '[[check.exempt]]\nfiles = ["gone.md"]\nreason = "?"\n'
    )
    write_sizes({"skills/old.md": 100, "skills/a.md": 3})
    rule, exemption = f"{TOML}:8: the rule matches no file", f"{TOML}:14: the exemption matches no"
    assert check("--all --allow-empty") == (
        0,
        "exempt  100 / 10  skills/old.md (goes away in May)\n"
        "ok        3 / 10  skills/a.md\n"
        "ok        3 / 18  total of skills\n"
        "2 files: none is over a limit, 1 exempt\n",
        f"compat-bpe: {rule}\ncompat-bpe: {exemption} file\n",
    )
    write_sizes({"skills/old.md": 5})  # it needs no exemption any more
    status, out, err = check("--all")
    assert (status, err) == (2, f"compat-bpe: {exemption} file\ncompat-bpe: {rule}{PASS}\n")
    assert "ok  5 / 10  skills/old.md (goes away in May)" in out
    (kept,) = (one for one in results() if one["path"] == "skills/old.md")
    assert (kept["status"], kept["reason"]) == ("ok", "goes away in May")


def test_sections() -> None:
    configure(CONFIGURATION + '[[check.rules.sections]]\nheading = "Ex*"\nlevel = 2\nmax = 5\n')
    write({"skills/a.md": "# Examples\n\n## Examples\na a a a a a\n## Use\n"})
    (section,) = (one for one in results() if one["kind"] == "section")
    assert (section["line"], section["heading"], section["status"]) == (3, "Examples", "over")
    assert section["tokens"] == count("## Examples\na a a a a a\n")
    assert section["limit_at"] == {"path": TOML, "line": 11}
    configure(CONFIGURATION.replace(".md", ".txt") + "sections = [{heading = '*', max = 1}]\n")
    os.rename("skills/a.md", "skills/a.txt")
    assert [one["kind"] for one in results()] == ["file", "total"]


SKILL = (
    "---\nname: a\ndescription: What it does, and when it is used.\n---\n# A\n\nbody body body\n"
)


def test_front_matter_has_a_limit_apart_from_what_follows_it() -> None:
    rule = f'{GPT2}[[check.rules]]\nfiles = ["SKILL.md", "*.prompty"]\n'
    configure(rule + "front_matter = 10\nbody = 100\n")
    write(dict.fromkeys(("skills/a/SKILL.md", "b.prompty"), SKILL))
    head, body = SKILL[: SKILL.index("# A")], SKILL[SKILL.index("# A") :]
    keys = ("kind", "status", "tokens", "limit", "line")
    assert [(one["path"], *map(one.get, keys)) for one in results()] == [
        (path, *found)
        for path in ("b.prompty", "skills/a/SKILL.md")
        for found in (
            ("front_matter", "over", count(head), 10, 1),
            ("body", "ok", count(body), 100, 5),
        )
    ]
    status, out, _ = check("--all")
    assert status == 1
    assert f"over  {count(head)} /  10  skills/a/SKILL.md § front matter\n" in out
    assert f"ok     {count(body)} / 100  skills/a/SKILL.md § body\n" in out
    for form in ("github", "sarif", "markdown", "junit"):
        assert "front matter" in check(f"--format {form}").out
    assert check("--fix-limits").status == 0
    assert "front_matter = 100\nbody = 100\n" in Path(TOML).read_text()
    assert check().status == 0


def test_a_file_without_front_matter_has_none() -> None:
    rule = '[[check.rules]]\nfiles = ["SKILL.md"]\nfront_matter = 0\n'
    configure(f'{rule}body = "0% of context"\n')
    assert "an encoding has no context: name the model" in check().err
    configure(f'{rule}model = "gpt-4o"\n')
    write({"SKILL.md": "# A\n---\nb\n---\n"})
    assert check("--all").out == (
        "ok  0 / 0  SKILL.md § front matter\n1 file: none is over a limit\n"
    )
    # A byte-order mark does not hide it.
    write({"SKILL.md": f"\ufeff{SKILL}"})
    assert check().status == 1


@cases(
    """
warn = 10 → ok near ok
warn = 9 → near near ok
warn = "50%" → near near near
warn = "100%" → ok ok ok
warn = 0 → near near ok
 → near near ok
""",
    "warn statuses",
)
def test_what_is_near(warn: str, statuses: str) -> None:
    """Of a file, its section and the total: tokens are about files."""
    write({"skills/a.md": "# a a a a a a a a"})  # 9 tokens
    configure(f"{CONFIGURATION}{warn}\n{SECTION.format('*', 10)}")
    expected = [(9, one) for one in statuses.split()]
    assert [(one["tokens"], one["status"]) for one in results()] == expected


def test_shares_of_a_context() -> None:
    configure(f'[check]\nmodel = "gpt-4"\n{RULES}max = "1% of context"\n')
    write_sizes({"a.md": 82})
    assert check()[:2] == (1, "over  82 / 81  a.md\n1 file: 1 over a limit\n")
    assert f"{TOML}:5: an encoding has no context" in refused("check -e gpt2")


def test_what_is_not_text() -> None:
    configure(f'{CONFIGURATION}{RULES}encoding = "bytes"\nmax = 99\n')
    write_sizes({"skills/a.md": 3})
    write({"skills/b.md": b"\0\0"})
    skipped = "compat-bpe: skipped as binary: skills/b.md\n"
    assert check() == (0, "1 file: none is over a limit\n", skipped)
    write({"skills/c.md": b"caf\xe9"})
    wrong = "not UTF-8: byte 0xe9 at offset 3; fix it, or exclude it in the configuration"
    err = f"compat-bpe: skills/c.md: {wrong}\n"
    assert check("-q") == (2, "1 file: none is over a limit, 1 not counted\n", err)


@posix
def test_files_as_count_finds_them(tmp_path: Path) -> None:
    configure('[[check.rules]]\nfiles = ["*.md", ".github/**"]\nmax = 1000\nexclude = ["no/"]\n')
    names = ("a.md", "no/b.md", ".github/c.txt", ".cache/d.md", "ignored.md", "-")
    write(dict.fromkeys(names, "a"))
    outside = tmp_path.parent / f"{tmp_path.name}.md"
    write({".gitignore": "ignored.md\n", str(outside): "x"})
    os.symlink(outside, "link.md")
    os.symlink("..", "folder")
    os.mkfifo("pipe.md")
    assert [one["path"] for one in results()] == [".github/c.txt", "a.md"]


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_what_git_tracks_is_checked_though_a_rule_ignores_it() -> None:
    write_sizes({"CLAUDE.md": 11, "prompts/local.md": 5})
    write({".gitignore": "CLAUDE.md\nprompts/\n"})
    Path(".git").rmdir()
    git("init", "-q")
    git("add", "-f", "CLAUDE.md")
    assert check("--init -e gpt2").status == 0
    assert 'files = ["AGENTS.md", "CLAUDE.md",' in Path(TOML).read_text()
    configure(f"{GPT2}{RULES}max = 10\n")
    over = (1, "over  11 / 10  CLAUDE.md\n1 file: 1 over a limit\n", "")
    assert check() == check("CLAUDE.md") == over
    assert check("--no-ignore").out.endswith("\n2 files: 1 over a limit\n")
    os.remove(TOML)
    assert check("--init -e gpt2 --no-ignore").out.endswith("limits for 2 files\n")


@posix
def test_what_is_named_is_checked(tmp_path: Path) -> None:
    configure(CONFIGURATION.replace("skills/*.md", "*.md"))
    names = ("a.md", "local.md", "build/b.md", "build/.hidden.md")
    write_sizes(dict.fromkeys(names, 4))
    os.symlink("a.md", "link.md")
    write({".gitignore": "local.md\nbuild/\n"})
    assert check("--all").out.endswith("\n1 file: none is over a limit\n")
    assert check("--all ./local.md").out.splitlines() == [
        "ok  4 / 10  local.md",
        "ok  8 / 18  total of skills",
        "2 files: none is over a limit",
    ]
    for path in ("build", "build/b.md", f"{tmp_path}/build/"):
        assert check(f"--all {path}").out.startswith("ok  4 / 10  build/b.md\n")
    assert check("--all link.md").out.startswith("ok  4 / 10  link.md\n")
    assert check("--all .").out == check("--all").out
    os.mkfifo("pipe.md")
    assert check("pipe.md") == (2, "", "compat-bpe: pipe.md: Not a regular file\n")


def test_a_check_of_nothing_fails() -> None:
    configure()
    write_sizes({"skills/a.md": 3})
    write({"other.txt": "a", "skills/b.md": b"\0"})
    Path("empty").mkdir()
    for path, reason in (
        ("other.txt", "no rule applies to it"),
        ("empty", "no rule applies to any file in it"),
        ("skills/b.md", "it is binary, so nothing is checked"),
    ):
        said = f"compat-bpe: {path}: {reason}"
        allowed = check(f"{path} --allow-empty")
        assert (allowed.status, f"{said}\n" in allowed.err) == (0, True)
        # Among others, too: each path has to be checked.
        for args in (path, f"skills/a.md {path} --fix-limits"):
            assert check(f"{args} -q")[::2] == (2, f"{said}{PASS}\n")
        found = json.loads(check(f"{path} --json -q").out)
        errors = [{"path": path, "line": None, "error": reason}]
        assert (found["status"], found["errors"]) == ("error", errors)
    os.remove("skills/a.md")
    said = f"{TOML}:3: all files that the rule matches are binary"
    assert check("-q") == (2, NOTHING, f"compat-bpe: {said}{PASS}\n")
    annotation = f"::error file={TOML},line=3,title=token budget::{said}\n"
    assert check("--format github -q") == (2, f"{annotation}{NOTHING}", "")


def test_a_limit_of_sections_that_there_are_not() -> None:
    configure(CONFIGURATION + SECTION.format("Example*", 10) + SECTION.format("Exampel*", 10))
    write({"skills/a.md": "# Examples\na\n", "skills/b.md": "a"})
    out = "2 files: none is over a limit, 1 rule or path matched nothing\n"
    said = f"compat-bpe: {TOML}:13: the limit matches no section{PASS}\n"
    assert check() == (2, out, said)
    # Of some files, it may be about none, and each of their sections may be of no file.
    assert check("skills/b.md").status == 0
    os.remove("skills/a.md")
    configure(CONFIGURATION + SECTION.format("*", 10))
    assert check().status == 0


def test_a_folder_has_only_so_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.check.rules.MOST_FOUND", 2)
    configure()
    write({"a": "a", "b": "a"})
    assert check("--allow-empty").status == 0
    write({"c": "a"})
    assert "more than 2 files in" in refused("check")


def test_hostile_globs_end() -> None:
    stars = "*a" * 400 + "b"
    configure(f'[[check.rules]]\nfiles = ["{stars}", "**/{"**/" * 200}x"]\nmax = 1\n')
    write({"a" * 200: "a", "/".join("a" * 50) + "/aa": "a"})
    assert check("-q --allow-empty") == (0, "0 files: nothing was checked\n", "")


# Notes and errors: nothing is left out silently, nothing injected.

#: What a runner of GitHub Actions obeys in a line of a log.
COMMANDS = ("##[stop-commands]x", "##[add-mask]a", "::stop-commands::x", "a\n::add-mask::b")
LARGE = f"{GPT2}{RULES}max = 1000\n"


def harmless(*args: str) -> str:
    """Return the log of a check that fails: only what makes annotations is a command in it."""
    status, log, err = check("--format github", *args)
    assert (status, err) == (2, "")
    for line in log.splitlines():
        if not re.match("::(error|warning|notice) [^:]*title=token budget::", line):
            assert not line.lstrip().startswith("::"), line
            assert "##[" not in line, line
    return log


@posix
@pytest.mark.parametrize("name", COMMANDS)
def test_no_name_and_no_error_is_a_command(name: str) -> None:
    configure(LARGE)
    write({f"{name}.md": b"a \0", f"{name}2.md": b"a \xff", f"{name}3.md": "a " * 2000})
    out = harmless()
    assert len(re.findall("(?m)^::notice", out)) == 1
    assert len(re.findall("(?m)^::error file=", out)) == 2
    assert out.endswith("\n1 file: 1 over a limit, 1 not counted\n")
    written = name.replace("\n", "\\n")
    for text in (f'{LARGE}"{written}" = 1\n', f'{LARGE}exclude = ["{name}'):
        configure(text)
        assert re.match("::error title=token budget::.*compat-bpe.toml:", harmless())
    configure(f'{LARGE}name = "{written}"\nexclude = ["*.md"]\n')
    for option in ("--", "--config", "--base"):
        harmless(option, name)


def test_sections_are_counted_once_for_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.md": "# A\na a\n## B\nb\n## C\nc c c\n"})
    rules = [
        SECTION.format("A", 1) + SECTION.format("[AB]", 2),
        SECTION.format("*", 3),
        'encoding = "cl100k_base"\n' + SECTION.format("B", 1),
        SECTION.format("*", 4),
    ]
    named = (f'{RULES}name = "{number}"\n{rule}' for number, rule in enumerate(rules))
    configure(GPT2 + "".join(named))
    counts, reads = mock.Mock(), mock.Mock()

    def spy(count: Any, read_text: Any) -> SectionCounts:
        counts.side_effect, reads.side_effect = count, read_text
        return SectionCounts(counts, reads)

    monkeypatch.setattr("compat_bpe.cli.commands.check.SectionCounts", spy)
    status, out, _ = check()
    assert status == 1
    texts = ("# A\na a\n## B\nb\n## C\nc c c\n", "## B\nb\n", "## C\nc c c\n")
    expected = [*(("gpt2", text) for text in texts), ("cl100k_base", texts[1])]
    counted = [
        (answer and answer.encoding_name, text) for (answer, text), _ in counts.call_args_list
    ]
    assert sorted(counted, key=repr) == sorted(expected, key=repr)
    # The second and the third rule ask for sections that are new.
    assert reads.call_args_list == [mock.call("a.md")] * 3
    assert out.count("over") == len([line for line in out.splitlines() if "over  " in line]) + 1


# A first configuration, and limits that are raised.


def test_a_first_configuration_holds() -> None:
    write_sizes({"AGENTS.md": 1234, ".claude/skills/x/y.md": 17, "README.md": 9})
    write_sizes({'prompts/"quoted".txt': 2000, "\\b.prompt": 3})
    written = f"{TOML}: written, with limits for 4 files\n"
    assert check("--init -e gpt2") == (0, written, "")
    text = Path(TOML).read_text()
    assert "max = 1500  # the largest has 1,234: AGENTS.md\n" in text
    assert "max = 100  # the largest has 17: .claude/skills/x/y.md\n" in text
    assert "max = 2400  # the largest has 2,000" in text
    assert check() == (0, "4 files: none is over a limit\n", "")


def test_a_first_configuration_of_a_project_without_prompts() -> None:
    write_sizes({"README.md": 9, "docs/a.md": 500})
    write({"latin.md": b"caf\xe9", "binary.md": b"\0"})
    # What it leaves out is said.
    assert check("--init") == (
        0,
        f"{TOML}: written, with limits for 2 files\n",
        "compat-bpe: latin.md: not UTF-8: byte 0xe9 at offset 3; it is not counted and has "
        "no limit\ncompat-bpe: skipped as binary: binary.md\n",
    )
    text = Path(TOML).read_text()
    assert 'encoding = "o200k_base"\n' in text
    assert 'files = ["*.md"]\nmax = 600  # the largest has 500: docs/a.md\n' in text
    os.remove("latin.md")
    assert check()[:2] == (0, "2 files: none is over a limit\n")


@posix
def test_a_first_configuration_is_written_whole_or_not_at_all() -> None:
    """As on a disk that is full: a file can be made, but nothing written into it."""
    write_sizes({"README.md": 9})
    full = ["bash", "-c", 'ulimit -f 0; exec "$@"', "bash", *COMMAND]
    done = run_process("check", "--init", program=full)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"compat-bpe: {TOML}: {os.strerror(errno.EFBIG)}\n"
    assert set(os.listdir()) == {".git", "README.md"}
    assert check("--init").status == 0


def test_a_first_configuration_overwrites_nothing() -> None:
    assert "there are no prompts" in check("--init").err
    assert not Path(TOML).exists()
    write_sizes({"README.md": 9})
    write({"pyproject.toml": "[tool.compat-bpe.check]\n"})
    assert check("--init").status == 2
    write({"pyproject.toml": "[project]\n"})
    Path(TOML).symlink_to("nowhere")
    assert check("--init")[:2] == (2, "")
    assert not Path("nowhere").exists()
    Path(TOML).unlink()
    assert check("--init").status == 0
    before = Path(TOML).read_bytes()
    exists = f"compat-bpe: {TOML}: the file exists; --init does not overwrite it\n"
    assert check("--init") == (2, "", exists)
    assert Path(TOML).read_bytes() == before


def test_limits_are_raised_and_nothing_else_changes() -> None:
    text = (
        "# head\r\n[check]\r\nencoding = 'gpt2' # é\r\n\r\n[[check.rules]]\r\n"
        'files = ["a/*.md"]\r\nmax   = 1_0 # ten\r\ntotal=+500\r\n'
        "sections = [ {max=1, heading='A'} ]\r\n[[check.rules]]\r\nfiles=['b.md']\r\nmax = 900\r\n"
    )
    write({TOML: text, "a/z.md": "# A\nb c d\n"})
    write_sizes({"a/x.md": 1042, "a/y.md": 12, "b.md": 3})
    raised = ("7: 10 raised to 1,100", "8: 500 raised to 1,100", "9: 1 raised to 100")
    assert check("--fix-limits") == (0, "".join(f"{TOML}:{line}\n" for line in raised), "")
    assert Path(TOML).read_bytes().decode() == (
        text.replace("1_0", "1_100").replace("+500", "+1100").replace("{max=1,", "{max=100,")
    )
    nothing = "nothing to raise; 4 files: none is over a limit, 1 near one, 1 total near\n"
    assert check("--fix-limits") == (0, nothing, "")
    assert check().status == 0


def test_limits_that_cannot_be_raised() -> None:
    write({"base.toml": "[check]\n[[check.rules]]\nfiles=['*.md']\nmax=1\n"})
    text = (
        "[check]\nextends='base.toml'\nmodel='gpt-4'\n[[check.rules]]\nfiles=['*.md']\n"
        "max='1% of context'\ntotal=0x1\n"
    )
    configure(text)
    write_sizes({"a.md": 100})
    reasons = (
        "base.toml:4: the limit of 1 is not raised: it is in a file that is extended",
        f"{TOML}:6: the limit of 81 is not raised: it is a share of a context",
        f"{TOML}:7: the limit of 1 is not raised: it is written as 0x1",
    )
    said = "".join(f"compat-bpe: {reason}; 100 tokens are needed\n" for reason in reasons)
    assert check("--fix-limits") == (1, "", said)
    assert Path(TOML).read_text() == text


@posix
def test_no_limit_is_raised_in_a_link_or_past_an_error() -> None:
    configure(name="real.toml")
    os.symlink("real.toml", TOML)
    write_sizes({"skills/a.md": 11})
    done = check("--fix-limits")
    assert done[:2] == (1, "")
    assert "the file is a symbolic link" in done.err
    assert os.path.islink(TOML)
    os.remove(TOML)
    os.rename("real.toml", TOML)
    write({"skills/b.md": b"\xff"})
    err = refused("check --fix-limits")
    assert err.endswith("no limit is raised while a file cannot be counted\n")
    assert Path(TOML).read_text() == CONFIGURATION
