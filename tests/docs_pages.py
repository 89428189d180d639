"""The pages of the documentation, runs of their blocks, and the folder in which they run."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import compat_bpe
from compat_bpe.formats.sentencepiece import SentencePieceModel
from compat_bpe.pipeline.models.sentencepiece.base import CONTROL, NORMAL, UNKNOWN
from compat_bpe.save import save_sentencepiece, save_tokenizer_json
from compat_bpe.tokenizer import SentencePiece
from compat_bpe.train import train_bpe

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
TIMEOUT = 600  # seconds; only a command that hangs takes so long, on a busy machine, too


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


#: The pieces of a Unigram model, each with its score.
PIECES = """
    ▁ -3.0  ▁the -3.2  ▁cat -5.1  ▁s -4.6  at -4.4  ▁sat -7.0  ▁on -4.1  ▁m -5.0  ▁mat -9.6
    s -4.0  . -3.5  c -6.0  a -5.5  t -5.7  m -6.5  o -6.0  n -6.1  h -6.3  e -5.2
"""

#: The chat template for the examples.
CHAT_TEMPLATE = """\
{% for message in messages %}
<|{{ message.role }}|>
{{ message.content }}{% if not loop.last or add_generation_prompt %}<|end|>{% endif %}

{% endfor %}
{% if add_generation_prompt %}
<|assistant|>
{% endif %}
"""


def unigram_model() -> SentencePieceModel:
    """A model of SentencePiece for the examples, with the special pieces of T5."""
    pieces = PIECES.split()
    texts = ["<pad>", "</s>", "<unk>", *pieces[::2]]
    scores = [0.0, 0.0, 0.0, *map(float, pieces[1::2])]
    types = [CONTROL, CONTROL, UNKNOWN, *[NORMAL] * (len(texts) - 3)]
    return SentencePieceModel(texts, scores, bytes(types))


#: Who commits, whatever the settings of the machine are.
_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables by which ``compat-bpe`` is the package under test, without the user's settings."""
    command = tmp_path / "bin" / "compat-bpe"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compat_bpe "$@"\n')
    command.chmod(0o755)
    return {
        **{name: value for name, value in os.environ.items() if name != "CI"},
        **_GIT,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(compat_bpe.__file__).parent.parent),
        "PYTHONIOENCODING": "utf-8",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name, in a git repository with a change in it."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "project"
    shutil.copytree(ROOT / "fixtures/docs", folder)
    for name in ("my-model", "my-t5", "my-chat-model"):
        (folder / name).mkdir()
    text = (ROOT / "fixtures/docs/texts/en/rights.txt").read_text("utf-8")
    vocabulary = folder / "my-model/tokenizer.json"
    save_tokenizer_json(train_bpe([text], 300, special_tokens=["<|endoftext|>"]), vocabulary)
    save_sentencepiece(SentencePiece("t5", unigram_model()), folder / "my-t5/spiece.model")
    shutil.copy(vocabulary, folder / "my-chat-model")
    (folder / "my-chat-model/chat_template.jinja").write_text(CHAT_TEMPLATE)
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "debug.log").write_text("started\n" * 100)
    notes = (folder / "notes.md").read_text("utf-8")
    (folder / "notes.md").write_text("".join(notes.splitlines(keepends=True)[:-1]), "utf-8")
    environment = {**os.environ, **_GIT, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    commands = (["init", "-q", "--template="], ["add", "."], ["commit", "-q", "-m", "All"])
    for arguments in commands:
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)
    (folder / "notes.md").write_text(notes, "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path, project: Path) -> Path:
    """A copy of the project, in which an example may do what it likes."""
    return Path(shutil.copytree(project, tmp_path / "project"))
