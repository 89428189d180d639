"""The extension, packaged once, and a window of a VS Code that has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vscode.program import Program, package
from tests.vscode.window import Window
from tools.browser import Browser

TEXT = "def area(r):\n    return 3 * r\n\nprint(area(2))\n"
#: Characters that are drawn as nothing, or join others.
SIGNS = "a\u200bb c\n    x\n👩\u200d💻\n"


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``.vsix``."""
    return package(tmp_path_factory.mktemp("vsix"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with files: VS Code may miss those that come while its window opens."""
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "a.py").write_text(TEXT)
    (folder / "signs.txt").write_text(SIGNS, "utf-8")
    (folder / "data.bin").write_bytes(b"\x00\x01")
    (folder / "src/b.py").write_text(TEXT * 3)
    (folder / "src/c.py").write_text("hello world")
    (folder / "src/left_out.py").write_text(TEXT)
    (folder / "src/.gitignore").write_text("left_*\n")
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
