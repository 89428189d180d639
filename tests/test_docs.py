"""The documentation is true: its examples run, and its links lead somewhere.

The pages are README.md and all of ``docs/``. The language of a fenced block decides how it is run:

- ``pycon``: run as a doctest. The blocks of a page are one session.
- ``python``: run in a process of its own.
- ``console``: after ``$`` a command, after that its output if it is shown, in which ``…`` stands
  for anything. Every command must succeed: one that is to fail is followed by
  ``|| echo …`` or ``; echo …``.
- ``sh``, ``lua``, ``typescript``, ``toml``, ``lisp``, ``vim``: not run here; a marker says why, or
  who does.
- ``text``, ``json``, ``yaml``, ``mermaid``: not run.

The blocks of ``guide-spark.md`` need Spark: ``tests/spark/test_guide.py`` runs them.

Commands and Python run in a folder with the files of ``fixtures/docs/``. A marker on the line
before a block, which readers do not see, makes an exception: ``<!-- not run: REASON -->``,
``<!-- run by: TEST -->``, or ``<!-- ci: NAME -->`` for what ``.ci/run`` runs by that name.
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click
import pytest

import compat_bpe
import compat_bpe.chat
import compat_bpe.fit
import compat_bpe.save
import compat_bpe.tokenizer
import compat_bpe.train
from compat_bpe.cli import cli
from compat_bpe.formats.sentencepiece import SentencePieceModel
from compat_bpe.pipeline.models.sentencepiece.vocabulary import CONTROL, NORMAL, UNKNOWN
from compat_bpe.save import save_sentencepiece, save_tokenizer_json
from compat_bpe.tokenizer import SentencePiece
from compat_bpe.train import train_bpe

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
LINKING_PAGES = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
#: The pages whose blocks are run by other tests.
ELSEWHERE = {ROOT / "docs/guide-spark.md"}
#: The languages of blocks that this module cannot run.
FOREIGN = {"sh", "lua", "typescript", "toml", "lisp", "vim"}
LANGUAGES = {"pycon", "python", "console", "text", "json", "yaml", "mermaid"} | FOREIGN
#: The pages with so many commands that a sweep runs them.
MANY_COMMANDS = {ROOT / "docs/guide-training.md", ROOT / "docs/command-line.md"}
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


def each_page_with(language: str, sweep: Collection[Path] = ()) -> pytest.MarkDecorator:
    """Return a parameter of pages with blocks of a language; those in ``sweep`` take long."""
    pages = [page for page in PAGES if page not in ELSEWHERE and to_run(page, language)]
    marked = [
        pytest.param(page, marks=pytest.mark.sweep if page in sweep else ()) for page in pages
    ]
    return pytest.mark.parametrize("page", marked, ids=name)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ``tokenizer.json`` for the examples."""
    path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    text = (ROOT / "fixtures/docs/texts/en/rights.txt").read_text("utf-8")
    save_tokenizer_json(train_bpe([text], 300, special_tokens=["<|endoftext|>"]), path)
    return path


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


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables by which ``compat-bpe`` is the package under test, without the user's settings."""
    command = tmp_path / "bin" / "compat-bpe"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compat_bpe "$@"\n')
    command.chmod(0o755)
    return {
        **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "CI")},
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(compat_bpe.__file__).parent.parent),
        "PYTHONIOENCODING": "utf-8",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }


@pytest.fixture
def folder(tmp_path: Path, vocabulary: Path, environment: Mapping[str, str]) -> Path:
    """The files that the examples name, in a git repository with a change in it."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "fixtures/docs", folder)
    (folder / "my-model").mkdir()
    shutil.copy(vocabulary, folder / "my-model")
    (folder / "my-t5").mkdir()
    save_sentencepiece(SentencePiece("t5", unigram_model()), folder / "my-t5/spiece.model")
    (folder / "my-chat-model").mkdir()
    shutil.copy(vocabulary, folder / "my-chat-model")
    (folder / "my-chat-model/chat_template.jinja").write_text(CHAT_TEMPLATE)
    (folder / "src/icon.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "debug.log").write_text("started\n" * 100)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "All"]):
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)
    with open(folder / "notes.md", "a") as file:
        file.write("- A change that is not committed.\n")
    return folder


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


@each_page
def test_every_block_is_of_a_known_kind(page: Path) -> None:
    for block in blocks_of(page):
        place = f"{name(page)}:{block.line}"
        assert block.language in LANGUAGES, f"{place}: {block.language!r}"
        if block.language in ("text", "json", "yaml", "mermaid"):
            assert not re.search(r"^(\$|>>>) ", block.text, re.MULTILINE), place
        if block.marker or block.language in FOREIGN:
            assert re.match(r"(not run|ci|run by): \w", block.marker), f"{place}: {block.marker}"
        if block.marker.startswith("run by: "):
            assert (ROOT / block.marker.removeprefix("run by: ")).is_file(), place


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


@each_page_with("pycon")
def test_python_sessions(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    run_sessions(page, {})


@each_page_with("python")
def test_python(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    for block in to_run(page, "python"):
        done = run([sys.executable, "-W", "error", "-c", block.text], folder, environment)
        assert done.returncode == 0, f"{name(page)}:{block.line}:\n{done.stdout}"


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


@each_page_with("console", MANY_COMMANDS)
def test_commands(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    run_commands(page, folder, environment)


def test_ci_runs_what_is_marked() -> None:
    marked = [block for block in blocks_of(README) if block.marker.startswith("ci: ")]
    script = (ROOT / ".ci/run").read_text("utf-8")
    assert re.findall(r"^\.ci/readme (\w+)$", script, re.MULTILINE) == [
        block.marker.removeprefix("ci: ") for block in marked
    ]
    assert [block.language for block in marked] == ["sh"] * len(marked)


def test_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 150


# Links


def without_code(page: Path) -> str:
    text = page.read_text("utf-8")
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors_of(page: Path) -> set[str]:
    """The names by which GitHub, and mkdocs too, link to the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    assert len(set(slugs)) == len(slugs), f"{name(page)}: two headings are called the same"
    return set(slugs)


@pytest.mark.parametrize("page", LINKING_PAGES, ids=name)
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]*)\)", without_code(page)):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.is_file(), f"{name(page)}: {target}"
        if anchor:
            assert anchor in anchors_of(found), f"{name(page)}: {target}"


def test_every_page_is_linked() -> None:
    """Each is linked from README or from the first page of docs/."""
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in (README, ROOT / "docs/index.md")
        for target in re.findall(r"\]\(([^)\s]*)\)", without_code(page))
    }
    assert {page for page in PAGES if page != README} <= linked


# The command


def options_of(command: click.Command) -> set[str]:
    if isinstance(command, click.Group):
        return set().union(*map(options_of, command.commands.values()))
    context = click.Context(command, help_option_names=["-h", "--help"])
    return {
        option
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in parameter.opts + parameter.secondary_opts
    }


def test_the_page_of_the_command_has_every_option_and_no_other() -> None:
    assert isinstance(cli, click.Group)
    context = click.Context(cli)
    page = (ROOT / "docs/command-line.md").read_text("utf-8")
    _, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    shared: dict[str, set[str]] = {}
    documented: dict[str, set[str]] = {}
    for section in sections:
        title, _, text = section.partition("\n")
        rows = re.findall(r"^\| (`-.*?) \|", text, re.MULTILINE)
        options = {word for row in rows for word in re.findall(r"(?<![\w-])--?[\w-]+", row)}
        commands = re.findall(r"`([a-z-]+)`", title)
        if commands:
            documented.update(dict.fromkeys(commands, options))
        else:
            users = re.match(r"\s*Of ((?:`[a-z-]+`(?:, | and )?)+)", text)
            for command in re.findall(r"`([a-z-]+)`", users[1]) if users else []:
                shared[command] = shared.get(command, set()) | options
    assert set(documented) == set(cli.list_commands(context))
    for command, options in documented.items():
        found = cli.get_command(context, command)
        assert found is not None
        expected = options_of(found) - {"-h", "--help"}
        assert options | shared.get(command, set()) == expected, command


# The code


@pytest.mark.parametrize(
    "module",
    [
        compat_bpe,
        compat_bpe.chat,
        compat_bpe.fit,
        compat_bpe.save,
        compat_bpe.tokenizer,
        compat_bpe.train,
    ],
)
def test_the_reference_has_every_public_name(module: ModuleType) -> None:
    page = ROOT / f"docs/reference/{module.__name__.removeprefix('compat_bpe.')}.md"
    (members,) = re.findall(
        rf"^::: {module.__name__}\n.*?members: \[(.*?)\]$",
        page.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    tree = ast.parse(Path(module.__file__ or "").read_text("utf-8"))
    assert sorted(members.split(", ")) == sorted(
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname and not alias.asname.startswith("_")
    )


def test_the_picture_has_every_room() -> None:
    page = ROOT / "docs/architecture.md"
    picture = next(block.text for block in blocks_of(page) if block.language == "mermaid")
    package = Path(compat_bpe.__file__).parent
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert set(re.findall(r"<b>(\w+)</b>", picture)) == rooms
    assert set(re.findall(r"^\| `(\w+)` \|", page.read_text("utf-8"), re.MULTILINE)) == rooms


@each_page
def test_files_that_are_named_exist(page: Path) -> None:
    places = [ROOT, Path(compat_bpe.__file__).parent]
    for path in re.findall(r"`([\w/]+/\w+\.(?:py|md|txt|yml))`", page.read_text("utf-8")):
        if "NAME" not in path:
            assert any((place / path).is_file() for place in places), f"{name(page)}: {path}"
