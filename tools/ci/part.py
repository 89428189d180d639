"""A part of the tests, chosen by their names, for pytest: ``-p tools.ci.part --part 3/8``.

Of the tests that look at what has changed, more are taken: as many as half a part at the most, so
that a change of everything is checked in twenty minutes, too.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("part")
    group.addoption("--part", metavar="K/N", help="the K-th of N parts of the tests")
    group.addoption("--changed", metavar="FILES", default="", help="changed files, a line each")


@pytest.hookimpl(trylast=True)  # of what -m and -k have left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the chosen part of the tests."""
    if not config.getoption("--part"):
        return
    part, parts = map(int, config.getoption("--part").split("/"))
    packages = changed_packages(config.getoption("--changed").splitlines())
    of_changed = [item for item in items if packages & packages_of(item.path)]
    share = min(parts, shares(len(items), len(of_changed)))
    more = set(of_changed)
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        taken = is_taken(item.nodeid, part, parts, share if item in more else 1)
        (chosen if taken else left_out).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say which part it was, and the command that runs it again."""
    if part := config.getoption("--part"):
        packages = sorted(changed_packages(config.getoption("--changed").splitlines()))
        more = f", and more of the tests of {', '.join(packages)}" if packages else ""
        command = ["python", "-m", "pytest", *map(str, config.invocation_params.args)]
        terminalreporter.write_line(f"part {part} of the tests{more}; to run it again:")
        terminalreporter.write_line(f"    {shlex.join(command)}")


def is_taken(name: str, part: int, parts: int, share: int) -> bool:
    """Return True if a test is in one of the ``share`` parts from ``part`` on, around the circle.

    >>> [part for part in range(1, 9) if is_taken("tests/test_a.py::test_b", part, 8, 2)]
    [7, 8]
    """
    return (crc32(name.encode()) - (part - 1)) % parts < share


def shares(tests: int, of_changed: int) -> int:
    """Return how many parts to take of the tests of what changed.

    All of them, if they and one part of the others are no more than a part and a half; else fewer.

    >>> shares(8000, 500), shares(8000, 1000), shares(8000, 4000), shares(8000, 8000)
    (9, 5, 2, 1)
    """
    return (tests // 2 + of_changed) // of_changed if of_changed else 1


def changed_packages(files: Sequence[str]) -> set[str]:
    """Return the changed packages inside ``compat_bpe``, and the files of tests.

    >>> sorted(changed_packages(["compat_bpe/fit/split.py", "compat_bpe/sql.py", "tests/a.py"]))
    ['fit', 'sql', 'tests/a.py']
    """
    packages = set()
    for file in files:
        top, _, rest = file.partition("/")
        if top == "compat_bpe" and rest:
            packages.add(rest.partition("/")[0].partition(".")[0])
        elif top == "tests":
            packages.add(file)
    return packages


@cache
def packages_of(test: Path) -> frozenset[str]:
    """Return what a file of tests looks at, in the words of ``changed_packages``.

    These are the packages that it imports from, itself or by modules of ``tests/``; the package
    that its folder is named after; and these files of tests.
    """
    packages: set[str] = set()
    seen: set[Path] = set()
    files = [test]
    while files:
        file = files.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        packages.add(file.relative_to(ROOT).as_posix())
        for module in _imported(file):
            top, *rest = module.split(".")
            if top == "compat_bpe":
                packages.add(rest[0] if rest else "encodings")
            elif top == "tests" and rest:
                files.append(ROOT.joinpath(top, *rest).with_suffix(".py"))
    folder = test.relative_to(ROOT).parts[1]
    return frozenset(packages | {folder})


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            if node.module in ("compat_bpe", "tests"):
                yield from (f"{node.module}.{name.name}" for name in node.names)
