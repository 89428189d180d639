"""What holds for the package as a whole."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import compat_bpe

PACKAGE = Path(compat_bpe.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# The parts of the library from the top down: each imports only what stands below it. The command
# stands on top, and uses the public names.
LAYERS = [
    "shim",
    "install",
    "tiktoken",
    "train",
    "save",
    "fit",
    "registry",
    "load",
    "models",
    "encodings",
    "tokenizer",
    "encoding",
    "batch",
    "processes",
    "formats",
    "engine",
    "visible",
]

# The arrows that run up, at call time: an encoding is pickled by its name in the registry, and a
# worker makes one; and what fits a text to a limit stands on an encoding.
UPWARD = {
    "tokenizer": {"registry"},
    "encoding": {"tiktoken", "fit"},
    "batch": {"encoding", "tokenizer"},
}


def part_of(name: str) -> str:
    """``compat_bpe.pattern.splitter`` → ``engine``."""
    return name.split(".")[1]


def imported_parts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (part_of(name) for name in names if name.startswith("compat_bpe."))


def test_modules_are_found() -> None:
    parts = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES}
    assert parts == {*LAYERS, "__init__", "__main__", "cli"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_syntax_is_that_of_python_3_9_and_imports_run_downward(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
    part = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if part in LAYERS:
        below = {*LAYERS[LAYERS.index(part) :], *UPWARD.get(part, ())}
        assert set(imported_parts(tree)) <= below
    if part == "__init__":
        assert set(imported_parts(tree)) <= set(LAYERS)


def test_the_library_needs_the_standard_library_alone() -> None:
    script = (
        "import sys\n"
        f"sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
        "sys.modules['click'] = sys.modules['regex'] = None\n"
        "import compat_bpe\n"
        "print(compat_bpe.get_encoding('gpt2').encode('hello world'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[31373, 995]\n", "")


def test_type_checkers_are_told_that_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
