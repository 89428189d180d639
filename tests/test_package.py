"""Rules for the package as a whole: layers of imports, private names, the length of files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import compat_bpe

PACKAGE = Path(compat_bpe.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# The folders by layer, the highest first. A file imports only from its own folder and from lower
# layers; folders of one layer do not import each other.
LAYERS = [
    {"cli", "pyinstaller"},
    {"spark", "lsp", "mcp"},
    {"train", "report", "check"},
    {"tiktoken", "corpus", "chat", "columns"},
    {"encodings"},
    {"formats", "fit"},
    {"pipeline"},
    {"pattern"},
    {"unicode", "files", "parallel"},
]

#: Modules of public names, which a user imports from them.
EXPORTS = {"", "__main__", "in_a_zip", "install", "pandas", "polars", "save", "sql", "tokenizer"}

#: Modules below all layers.
BASE = {"caches", "version"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), feature_version=(3, 9))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


@pytest.fixture(autouse=True, scope="module")
def _forget_all() -> Iterator[None]:
    """A million objects, through which the search for garbage would go in later tests."""
    yield
    nodes_of.cache_clear()
    tree_of.cache_clear()


@cache
def imported_modules(path: Path) -> tuple[tuple[str, ...], ...]:
    """The modules of the package that a file imports, each as its parts below the package."""
    return tuple(_imported_modules(path))


def _imported_modules(path: Path) -> Iterator[tuple[str, ...]]:
    package = path.relative_to(PACKAGE).parts[:-1]
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            assert not [name for name in names if name.split(".")[0] == "compat_bpe"], path
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                assert node.module is not None
                assert node.module.split(".")[0] != "compat_bpe", f"{path}: absolute import"
                continue
            base = package[: len(package) - node.level + 1]
            module = base + tuple(node.module.split(".") if node.module else ())
            for alias in node.names:
                # "from . import name" may name a module or something in __init__.
                inner = PACKAGE.joinpath(*module, alias.name)
                is_module = inner.with_suffix(".py").is_file() or inner.is_dir()
                yield (*module, alias.name) if is_module else module


def folder_of(module: tuple[str, ...]) -> str:
    return module[0] if module else ""


def layer_of(folder: str) -> int:
    """The number of a folder's layer; 0 is the highest."""
    return next(number for number, folders in enumerate(LAYERS) if folder in folders)


def test_the_layers_are_those_of_the_documentation() -> None:
    text = (Path(__file__).parents[1] / "docs/architecture.md").read_text("utf-8")
    assert [set(row.split(", ")) for row in re.findall(r" │ (.+)", text)] == LAYERS


def test_every_folder_is_in_a_layer() -> None:
    folders = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES}
    assert folders == {*chain.from_iterable(LAYERS), *EXPORTS - {""}, *BASE, "__init__"}


def test_imports_run_downward() -> None:
    upward = []
    for path in MODULES:
        folder = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if folder in {*EXPORTS, *BASE, "__init__", "cli"}:
            continue
        imported = {folder_of(module) for module in imported_modules(path)} - {folder} - BASE
        for other in sorted(imported):
            # The public names are for users.
            if other in EXPORTS or layer_of(other) <= layer_of(folder):
                upward.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert not upward


Graph = dict[tuple[str, ...], set[tuple[str, ...]]]


def circle_in(graph: Graph) -> list[str]:
    """The names on a circle of imports, the first of them twice; none if there is no circle."""
    done: set[tuple[str, ...]] = set()
    for start in graph:
        stack: list[tuple[tuple[str, ...], Iterator[tuple[str, ...]]]] = [
            (start, iter(graph[start]))
        ]
        open_names = [start]
        while stack:
            _, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                done.add(open_names.pop())
            elif following in open_names:
                circle = [*open_names[open_names.index(following) :], following]
                return [".".join(one) for one in circle]
            elif following in graph and following not in done:
                stack.append((following, iter(graph[following])))
                open_names.append(following)
    return []


def test_no_circle_of_files() -> None:
    graph: Graph = {}
    for path in MODULES:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = parts[:-1] if parts[-1] == "__init__" else parts
        graph[name] = set(imported_modules(path)) - {name}
    assert circle_in(graph) == []


def test_no_circle_of_subfolders() -> None:
    """A folder inside another, with all its files, counts as one file."""
    graph: Graph = {}
    for path in MODULES:
        name = path.relative_to(PACKAGE).with_suffix("").parts[:2]
        imported = {module[:2] for module in imported_modules(path) if len(module) > 1}
        graph.setdefault(name, set()).update(imported - {name})
    assert circle_in(graph) == []


def test_a_circle_is_found() -> None:
    graph: Graph = {("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("b",)}}
    assert circle_in(graph) == ["b", "c", "b"]
    assert circle_in({("a",): {("b",)}, ("b",): set()}) == []


#: Names with an underscore that are public: of named tuples, of the operating system, of atexit,
#: and the modules that tiktoken calls so.
PUBLIC = set(
    """
        _asdict _exit _fields _make _replace _run_exitfuncs _educational _tiktoken
    """.split()
)


def private_names(path: Path) -> Iterator[tuple[int, str]]:
    """The names with an underscore that a file takes from elsewhere, each with its line."""
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner not in ("self", "cls"):
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield from ((node.lineno, alias.name) for alias in node.names)


def defined_names(path: Path) -> Iterator[str]:
    """The names that a file defines, of its own and of its objects."""
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.attr if node.value.id in ("self", "cls") else ""
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_no_private_name_of_another_folder_is_used() -> None:
    own: dict[str, set[str]] = {}
    for path in MODULES:
        own.setdefault(path.relative_to(PACKAGE).parts[0], set()).update(defined_names(path))
    reaches = [
        f"{path.relative_to(PACKAGE)}:{line} {name}"
        for path in MODULES
        for line, name in private_names(path)
        if name.startswith("_") and not name.startswith("__")
        if name not in PUBLIC | own[path.relative_to(PACKAGE).parts[0]]
    ]
    assert reaches == []


#: The most code lines of a file, so that it is read in one sitting; generated ones have more.
LONGEST = 650
GENERATED = {
    "unicode/tables.py",
    "unicode/tables_properties.py",
    "unicode/tables_tokenizers.py",
    "pattern/prepared.py",
    "pattern/prepared_large.py",
}


def code_lines(path: Path) -> int:
    """Return the number of lines, without blanks, comments and docstrings if there are many."""
    lines = path.read_text("utf-8").splitlines()
    if len(lines) <= LONGEST:
        return len(lines)
    code = {number for number, line in enumerate(lines, 1) if line.strip(" ")[:1] not in ("", "#")}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                code -= {*range(first.lineno, (first.end_lineno or 0) + 1)}
    return len(code)


def test_each_file_can_be_read_in_one_sitting() -> None:
    lengths = {path.relative_to(PACKAGE).as_posix(): code_lines(path) for path in MODULES}
    assert {name for name, length in lengths.items() if length > LONGEST} <= GENERATED


TESTS = Path(__file__).parent


def test_each_file_of_tests_can_be_read_in_one_sitting() -> None:
    lengths = {path: code_lines(path) for path in TESTS.rglob("*.py")}
    assert [path for path, length in lengths.items() if length > LONGEST] == []


#: What may be an import of one.
IMPORT = re.compile(r"^ *(?:from|import) (?:[^(\n]*\([^)]*|[^\n]*)\btest_", re.MULTILINE)


def imported_tests(source: str) -> list[str]:
    """Return the names that a file imports from files of tests, and such files themselves."""
    if not IMPORT.search(source):
        return []  # To parse every file would take seconds.
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return [name for name in names if re.search(r"(^|\.)test_", name)]


def test_no_test_imports_from_another() -> None:
    """Names that several files share stand in one named after them, fixtures in ``conftest.py``."""
    imported = {
        path.relative_to(TESTS).as_posix(): imported_tests(path.read_text("utf-8"))
        for path in TESTS.rglob("*.py")
    }
    assert {name: names for name, names in imported.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import tests.fit.test_split", ["tests.fit.test_split"]),
        ("from tests.fit.test_split import TEXT", ["tests.fit.test_split.TEXT"]),
        ("def f():\n    from .test_split import TEXT, cut", ["test_split.TEXT", "test_split.cut"]),
        ("from . import (\n    edits,\n    test_split,\n)", [".test_split"]),
        ("from tests.fit.edits import Edit\nimport pytest\nimport latest_x", []),
    ],
)
def test_an_import_of_a_test_is_found(source: str, found: list[str]) -> None:
    assert imported_tests(source) == found


def test_type_checkers_are_told_that_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
