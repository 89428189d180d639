"""The documentation is true: its examples run, and its links lead somewhere.

The pages are README.md and all of ``docs/``. The language of a fenced block decides how it is run:

- ``pycon``: run as a doctest. The blocks of a page are one session.
- ``python``: run in a process of its own.
- ``console``: after ``$`` a command, after that its output if it is shown, in which ``…`` stands
  for anything. Every command must succeed: one that is to fail is followed by
  ``|| echo …`` or ``; echo …``.
- ``sh``, ``lua``, ``typescript``, ``toml``, ``lisp``, ``vim``: not run here; a marker says why, or
  who does.
- ``text``, ``json``, ``yaml``: not run.

The blocks of ``guide-spark.md`` need Spark: ``tests/spark/test_guide.py`` runs them.

Commands and Python run in a folder with the files of ``fixtures/docs/``. A marker on the line
before a block, which readers do not see, makes an exception: ``<!-- not run: REASON -->``,
``<!-- run by: TEST -->``, or ``<!-- ci: NAME -->`` for what ``.ci/run`` runs by that name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType

import click
import pytest

import compat_bpe
import compat_bpe.chat
import compat_bpe.fit
import compat_bpe.save
import compat_bpe.tokenizer
import compat_bpe.train
from compat_bpe.cli import cli
from tests.docs_pages import (
    PAGES,
    README,
    ROOT,
    blocks_of,
    each_page,
    name,
    run,
    run_commands,
    run_sessions,
    to_run,
)
from tests.docs_pages import environment as environment
from tests.docs_pages import folder as folder
from tests.docs_pages import project as project
from tools.check_links import broken_links
from tools.ci.stages import STAGES

LINKING_PAGES = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
#: The pages whose blocks are run by other tests.
ELSEWHERE = {ROOT / "docs/guide-spark.md"}
#: The languages of blocks that this module cannot run.
FOREIGN = {"sh", "lua", "typescript", "toml", "lisp", "vim"}
LANGUAGES = {"pycon", "python", "console", "text", "json", "yaml"} | FOREIGN
#: The pages whose commands run in a stage of their own: each starts a process, and there are many.
WITH_MANY_COMMANDS = set(PAGES) - {README}


def each_page_with(language: str, long: Collection[Path] = ()) -> pytest.MarkDecorator:
    """Return a parameter of pages with blocks of a language; those in ``long`` take long."""
    pages = [page for page in PAGES if page not in ELSEWHERE and to_run(page, language)]
    marked = [pytest.param(page, marks=pytest.mark.docs if page in long else ()) for page in pages]
    return pytest.mark.parametrize("page", marked, ids=name)


@each_page
def test_every_block_is_of_a_known_kind(page: Path) -> None:
    for block in blocks_of(page):
        place = f"{name(page)}:{block.line}"
        assert block.language in LANGUAGES, f"{place}: {block.language!r}"
        if block.language in ("text", "json", "yaml"):
            assert not re.search(r"^(\$|>>>) ", block.text, re.MULTILINE), place
        if block.marker or block.language in FOREIGN:
            assert re.match(r"(not run|ci|run by): \w", block.marker), f"{place}: {block.marker}"
        if block.marker.startswith("run by: "):
            assert (ROOT / block.marker.removeprefix("run by: ")).is_file(), place


@each_page_with("pycon")
def test_python_sessions(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    run_sessions(page, {})


@each_page_with("python")
def test_python(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    for block in to_run(page, "python"):
        done = run([sys.executable, "-W", "error", "-c", block.text], folder, environment)
        assert done.returncode == 0, f"{name(page)}:{block.line}:\n{done.stdout}"


@each_page_with("console", WITH_MANY_COMMANDS)
def test_commands(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    run_commands(page, folder, environment)


def test_ci_runs_what_is_marked() -> None:
    marked = [block for block in blocks_of(README) if block.marker.startswith("ci: ")]
    commands = "\n".join(stage.command for stage in STAGES)
    assert re.findall(r"^\.ci/readme (\w+)$", commands, re.MULTILINE) == [
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
    if page.parent.name == "docs":  # with such an anchor, the script of the site's theme ends
        assert not re.search(r"^#+ +\d", without_code(page), re.MULTILINE), name(page)


def test_links_of_a_site(tmp_path: Path) -> None:
    """The stage ``docs`` checks the site; here, which links are found to lead nowhere."""
    pages = {
        "index.html": '<a href="a/b.html#there">1</a> <a href="https://x.org/y">2</a> <p id="é">',
        "a/b.html": '<h1 id="there">B</h1> <a href="../#%C3%A9">1</a> <a href="#">2</a>',
        "a/c.html": '<a href="b.html#no">1</a> <a href="d/">2</a> <img src="../e.png">',
        "404.html": '<a href="/anything">1</a> <script src="//cdn.org/1.js">',
    }
    for path, text in pages.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    assert list(broken_links(tmp_path)) == [
        "404.html: //cdn.org/1.js is loaded from another site",
        *(f"a/c.html: {target}" for target in ("b.html#no", "d/", "../e.png")),
    ]


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
            users = re.match(r"\s*This part is for ((?:`[a-z-]+`(?:, | and )?)+)", text)
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


def test_the_table_has_every_package() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    package = Path(compat_bpe.__file__).parent
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == packages


@each_page
def test_files_that_are_named_exist(page: Path) -> None:
    places = [ROOT, Path(compat_bpe.__file__).parent]
    for path in re.findall(r"`([\w/]+/\w+\.(?:py|md|txt|yml))`", page.read_text("utf-8")):
        if "NAME" not in path:
            assert any((place / path).is_file() for place in places), f"{name(page)}: {path}"
