"""The notes and errors of ``compat-bpe check``: nothing is left out silently, nothing injected."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Callable, Optional

import pytest

from compat_bpe.check.measure import SectionCounts
from compat_bpe.encodings.resolve import Answer
from tests.cli.running import Run, posix, runner

Count = Callable[[Optional[Answer], str], int]

CONFIGURATION = '[check]\nencoding = "gpt2"\n[[check.rules]]\nfiles = ["*.md"]\nmax = 1000\n'

#: What a runner of GitHub Actions obeys in a line of a log.
COMMANDS = ("##[stop-commands]x", "##[add-mask]a", "::stop-commands::x", "a\n::add-mask::b")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe check`` in a folder of its own."""
    (tmp_path / ".git").mkdir()
    Path(tmp_path, ".compat-bpe.toml").write_text(CONFIGURATION)
    return runner("check", tmp_path, monkeypatch)


def assert_harmless(log: str) -> None:
    """No line of a log is a command but those that make annotations."""
    for line in log.splitlines():
        if not re.match("::(error|warning|notice) [^:]*title=token budget::", line):
            assert not line.lstrip().startswith("::"), line
            assert "##[" not in line, line


@posix
@pytest.mark.parametrize("name", COMMANDS)
def test_no_name_is_a_command(run: Run, name: str) -> None:
    Path(f"{name}.md").write_bytes(b"a \0")
    Path(f"{name}2.md").write_bytes(b"a \xff")
    Path(f"{name}3.md").write_text("a " * 2000)
    status, out, err = run("--format", "github")
    assert (status, err) == (2, "")
    assert_harmless(out)
    assert len(re.findall("(?m)^::notice", out)) == 1
    assert len(re.findall("(?m)^::error file=", out)) == 2
    assert out.endswith("\n1 file: 1 over a limit, 1 not counted\n")


@posix
@pytest.mark.parametrize("name", COMMANDS)
def test_no_error_is_a_command(run: Run, name: str) -> None:
    written = name.replace("\n", "\\n")
    wrong = f'{CONFIGURATION}"{written}" = 1\n', f'{CONFIGURATION}exclude = ["{name}'
    for text in wrong:
        Path(".compat-bpe.toml").write_text(text)
        status, out, err = run("--format", "github")
        assert (status, err) == (2, "")
        assert re.match("::error title=token budget::.*compat-bpe.toml:", out)
        assert_harmless(out)
    Path(".compat-bpe.toml").write_text(f'{CONFIGURATION}name = "{written}"\nexclude = ["*.md"]\n')
    for args in (["--", name], ["--config", name], ["--base", name]):
        status, out, err = run("--format", "github", *args)
        assert (status, err) == (2, "")
        assert_harmless(out)


def test_what_a_first_configuration_leaves_out_is_said(run: Run) -> None:
    os.remove(".compat-bpe.toml")
    Path("a.md").write_text("a a a")
    Path("latin.md").write_bytes(b"caf\xe9")
    Path("binary.md").write_bytes(b"\0")
    status, out, err = run("--init")
    assert (status, out) == (0, ".compat-bpe.toml: written, with limits for 1 file\n")
    assert err.splitlines() == [
        "compat-bpe: latin.md: not UTF-8: byte 0xe9 at offset 3; it is not counted, and no limit "
        "is about it",
        "compat-bpe: skipped as binary: binary.md",
    ]


def test_sections_are_counted_once_for_all_rules(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.md").write_text("# A\na a\n## B\nb\n## C\nc c c\n")
    section = '[[check.rules.sections]]\nheading = "{}"\nmax = {}\n'
    rule = '[[check.rules]]\nname = "{}"\nfiles = ["*.md"]\n'
    rules = [
        rule.format(1) + section.format("A", 1) + section.format("[AB]", 2),
        rule.format(2) + section.format("*", 3),
        rule.format(3) + 'encoding = "cl100k_base"\n' + section.format("B", 1),
        rule.format(4) + section.format("*", 4),
    ]
    Path(".compat-bpe.toml").write_text('[check]\nencoding = "gpt2"\n' + "".join(rules))
    counted: list[tuple[str | None, str]] = []
    read: list[str] = []

    def spy(count: Count, read_text: Callable[[str], str]) -> SectionCounts:
        def counting(answer: Answer | None, text: str) -> int:
            counted.append((answer and answer.encoding_name, text))
            return count(answer, text)

        def reading(path: str) -> str:
            read.append(path)
            return read_text(path)

        return SectionCounts(counting, reading)

    monkeypatch.setattr("compat_bpe.cli.commands.check.SectionCounts", spy)
    status, out, _ = run()
    assert status == 1
    texts = ("# A\na a\n## B\nb\n## C\nc c c\n", "## B\nb\n", "## C\nc c c\n")
    assert sorted(counted, key=repr) == sorted(
        [*(("gpt2", text) for text in texts), ("cl100k_base", texts[1])], key=repr
    )
    assert read == ["a.md"] * 3  # the second and the third rule ask for sections that are new
    assert out.count("over") == len([line for line in out.splitlines() if "over  " in line]) + 1
