"""The extension, packaged once, and a window of a VS Code that has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vscode.program import Program, package
from tests.vscode.window import Window
from tools.browser import Browser

TEXT = "def area(r):\n    return 3 * r\n\nprint(area(2))\n"


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``.vsix``."""
    return package(tmp_path_factory.mktemp("vsix"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with files."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text(TEXT)
    return folder


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A browser that lets a page write on the clipboard."""
    with Browser() as browser:
        browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite"])
        yield browser


@pytest.fixture
def window(browser: Browser, extension: Path, work: Path, tmp_path: Path) -> Iterator[Window]:
    """The folder in a window of VS Code as installed."""
    with Program(tmp_path / "data", extension, {}) as program:
        window = Window(browser)
        window.open(program.address(work))
        yield window
