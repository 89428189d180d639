"""The pages of the documentation, and runs of their blocks."""

from __future__ import annotations

import doctest
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
TIMEOUT = 120  # seconds; only a command that hangs takes so long


class Block(NamedTuple):
    """A fenced block, and the marker before it."""

    language: str
    line: int
    text: str
    marker: str


def blocks_of(page: Path) -> Iterator[Block]:
    lines = page.read_text("utf-8").splitlines()
    start, language, marker = None, "", ""
    for number, line in enumerate(lines):
        if start is not None:
            if line == "```":
                yield Block(language, start + 1, "\n".join([*lines[start:number], ""]), marker)
                start = None
        elif line.lstrip().startswith("```"):
            language, start = line[3:], number + 1
            assert line.startswith("```"), f"{page}:{number + 1}: a fence that is indented"
            before = re.fullmatch(r"<!-- (.*) -->", lines[number - 1]) if number else None
            marker = before[1] if before else ""
    assert start is None, f"{page}:{start}: a block that does not end"


def to_run(page: Path, language: str) -> list[Block]:
    """The blocks of a language that this module runs."""
    return [block for block in blocks_of(page) if block.language == language and not block.marker]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


each_page = pytest.mark.parametrize("page", PAGES, ids=name)


def run(
    command: list[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )


def run_sessions(page: Path, names: dict[str, Any]) -> None:
    """Run the blocks of a page in Python as one session, with some names."""
    runner = doctest.DocTestRunner()
    for block in to_run(page, "pycon"):
        test = doctest.DocTestParser().get_doctest(
            block.text, names, name(page), str(page), block.line - 1
        )
        assert test.examples, f"{name(page)}:{block.line}: nothing to run"
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0


def commands_of(block: Block) -> Iterator[tuple[int, str, str]]:
    """Each command of a console, with its line, and its output as it is shown."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0], f"line {block.line}: output before the first command"
    line = block.line
    for part in parts[1:]:
        command = re.match(r"(?:.*\\\n)*.*\n", part)
        assert command
        yield line, command[0], part[command.end() :]
        line += part.count("\n")


def is_shown(output: str, shown: str) -> bool:
    """Return whether a command said what its block shows; if that is nothing, anything will do."""
    pattern = ".*".join(map(re.escape, shown.rstrip("\n").split("…")))
    output = re.sub(r" +$", "", output, flags=re.MULTILINE).rstrip("\n")
    return not shown or re.fullmatch(pattern, output, re.DOTALL) is not None


def run_commands(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Run the commands of a page, and compare what they say."""
    wrong = []
    for block in to_run(page, "console"):
        for line, command, shown in commands_of(block):
            done = run(["bash", "-o", "pipefail", "-c", command], folder, environment)
            if done.returncode or not is_shown(done.stdout, shown):
                wrong.append(f"{name(page)}:{line}: {command}{done.stdout}[{done.returncode}]")
    assert not wrong, "\n" + "\n".join(wrong)
