"""Configurations that ``compat-bpe check`` writes: a first one, and limits that are raised."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

from tests.cli.commands.budgets import CONFIGURATION, configure, write
from tests.cli.commands.budgets import run as run
from tests.cli.running import COMMAND, Run, environment, posix


def test_a_first_configuration_holds(run: Run) -> None:
    write("AGENTS.md", 1234)
    write(".claude/skills/x/y.md", 17)
    write("README.md", 9)
    write('prompts/"quoted".txt', 2000)
    write("\\b.prompt", 3)
    written = ".compat-bpe.toml: written, with limits for 4 files\n"
    assert run("--init", "-e", "gpt2") == (0, written, "")
    text = Path(".compat-bpe.toml").read_text()
    assert "max = 1500  # the largest has 1,234: AGENTS.md\n" in text
    assert "max = 100  # the largest has 17: .claude/skills/x/y.md\n" in text
    assert "max = 2400  # the largest has 2,000" in text
    assert run() == (0, "4 files: none is over a limit\n", "")


def test_a_first_configuration_of_a_project_without_prompts(run: Run) -> None:
    write("README.md", 9)
    write("docs/a.md", 500)
    assert run("--init").status == 0
    text = Path(".compat-bpe.toml").read_text()
    assert 'encoding = "o200k_base"\n' in text
    assert 'files = ["*.md"]\nmax = 600  # the largest has 500: docs/a.md\n' in text
    assert run() == (0, "2 files: none is over a limit\n", "")


@posix
def test_a_first_configuration_is_written_whole_or_not_at_all(run: Run) -> None:
    """As on a disk that is full: a file can be made, but nothing written into it."""
    write("README.md", 9)
    full = ["bash", "-c", 'ulimit -f 0; exec "$@"', "bash", *COMMAND, "check", "--init"]
    done = subprocess.run(full, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"compat-bpe: .compat-bpe.toml: {os.strerror(errno.EFBIG)}\n"
    assert set(os.listdir()) == {".git", "README.md"}
    assert run("--init").status == 0


def test_a_first_configuration_overwrites_nothing(run: Run) -> None:
    assert "there are no prompts" in run("--init").err
    assert not Path(".compat-bpe.toml").exists()
    write("README.md", 9)
    Path("pyproject.toml").write_text("[tool.compat-bpe.check]\n")
    assert run("--init").status == 2
    Path("pyproject.toml").write_text("[project]\n")
    Path(".compat-bpe.toml").symlink_to("nowhere")
    assert run("--init")[:2] == (2, "")
    assert not Path("nowhere").exists()
    Path(".compat-bpe.toml").unlink()
    assert run("--init").status == 0
    before = Path(".compat-bpe.toml").read_bytes()
    assert run("--init") == (
        2,
        "",
        "compat-bpe: .compat-bpe.toml: it exists; no configuration is overwritten\n",
    )
    assert Path(".compat-bpe.toml").read_bytes() == before


def test_limits_are_raised_and_nothing_else_changes(run: Run) -> None:
    text = (
        "# head\r\n[check]\r\nencoding = 'gpt2' # é\r\n\r\n[[check.rules]]\r\n"
        'files = ["a/*.md"]\r\nmax   = 1_0 # ten\r\ntotal=+500\r\n'
        "sections = [ {max=1, heading='A'} ]\r\n[[check.rules]]\r\nfiles=['b.md']\r\nmax = 900\r\n"
    )
    Path(".compat-bpe.toml").write_bytes(text.encode())
    write("a/x.md", 1042)
    write("a/y.md", 12)
    Path("a/z.md").write_text("# A\nb c d\n")
    write("b.md", 3)
    status, out, err = run("--fix-limits")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        ".compat-bpe.toml:7: 10 raised to 1,100",
        ".compat-bpe.toml:8: 500 raised to 1,100",
        ".compat-bpe.toml:9: 1 raised to 100",
    ]
    assert Path(".compat-bpe.toml").read_bytes().decode() == (
        text.replace("1_0", "1_100").replace("+500", "+1100").replace("{max=1,", "{max=100,")
    )
    assert run("--fix-limits") == (
        0,
        "nothing to raise; 4 files: none is over a limit, 1 near one, 1 total near\n",
        "",
    )
    assert run()[0] == 0


def test_limits_that_cannot_be_raised(run: Run) -> None:
    Path("base.toml").write_text("[check]\n[[check.rules]]\nfiles=['*.md']\nmax=1\n")
    text = (
        "[check]\nextends='base.toml'\nmodel='gpt-4'\n[[check.rules]]\nfiles=['*.md']\n"
        "max='1% of context'\ntotal=0x1\n"
    )
    configure(text)
    Path("a.md").write_text("a" + " a" * 99)
    status, out, err = run("--fix-limits")
    assert (status, out) == (1, "")
    assert [line.partition(": ")[2] for line in err.splitlines()] == [
        "base.toml:4: the limit of 1 is not raised: it is in a file that is extended; "
        "100 tokens are needed",
        ".compat-bpe.toml:6: the limit of 81 is not raised: it is a share of a context; "
        "100 tokens are needed",
        ".compat-bpe.toml:7: the limit of 1 is not raised: it is written as 0x1; "
        "100 tokens are needed",
    ]
    assert Path(".compat-bpe.toml").read_text() == text


@posix
def test_a_link_is_not_edited(run: Run) -> None:
    Path("real.toml").write_text(CONFIGURATION)
    os.symlink("real.toml", ".compat-bpe.toml")
    write("skills/a.md", 11)
    status, out, err = run("--fix-limits")
    assert (status, out) == (1, "")
    assert "the file is a symbolic link" in err
    assert os.path.islink(".compat-bpe.toml")
    assert Path("real.toml").read_text() == CONFIGURATION


def test_no_limit_is_raised_past_an_error(run: Run) -> None:
    configure()
    write("skills/a.md", 11)
    Path("skills/b.md").write_bytes(b"\xff")
    status, out, err = run("--fix-limits")
    assert (status, out) == (2, "")
    assert err.endswith("no limit is raised while a file cannot be counted\n")
    assert Path(".compat-bpe.toml").read_text() == CONFIGURATION
