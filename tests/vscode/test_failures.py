"""The extension where something is missing, dies, or is not trusted."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.vscode.conftest import TEXT
from tests.vscode.program import Program
from tests.vscode.window import ITEM, Window
from tools.browser import Browser

pytestmark = pytest.mark.vscode

COUNT = get_encoding("o200k_base").count(TEXT)


def servers(folder: Path) -> list[int]:
    """Return the processes of the language server that VS Code of a folder has started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"lsp" in words and any(str(folder).encode() in word for word in words):
            found.append(int(process.name))
    return found


def test_no_count_of_a_dead_server_is_shown(window: Window, tmp_path: Path) -> None:
    window.file("a.py")
    window.until_count(f"{COUNT} tokens")
    killed: set[int] = set()
    for _ in range(5):
        window.until(lambda: set(servers(tmp_path)) - killed, "server")
        window.until_count(f"{COUNT} tokens")
        for process in servers(tmp_path):
            os.kill(process, signal.SIGKILL)
            killed.add(process)
    window.until_count("Tokens: stopped")
    assert str(COUNT) not in window.count()
    window.click(".monaco-editor .view-lines")

    def is_counted_after_an_edit() -> bool:
        window.type("x")
        return " tokens · " in window.count()

    # It is not started again sooner than some seconds after its last start; then an edit brings the
    # count back.
    window.until(is_counted_after_an_edit, "count")


def test_restart_recovers_once_there_is_a_python(
    browser: Browser, extension: Path, work: Path, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    with Program(tmp_path / "data", extension, {}, str(programs)) as program:
        window = Window(browser)
        window.open(program.address(work))
        window.file("a.py")
        window.until_count("Tokens: no Python")

        def why(reason: str) -> None:
            """Open the menu of the count until it says a reason."""

            def is_said() -> bool:
                window.key("Escape")
                return reason in window.click_until(ITEM, ".quick-input-title")

            window.until(is_said, reason)
            assert "Choose a Python…" in window.text(".quick-input-list")
            window.key("Escape")

        why("needs Python 3.9 or newer")
        # One that is too old is not taken.
        old = programs / "python3"
        old.write_text("#!/bin/sh\necho 3.8\n")
        old.chmod(0o755)
        window.command("compat-bpe: Restart the Server")
        why("python3 is Python 3.8")
        old.unlink()
        old.symlink_to(os.path.realpath(sys.executable))
        window.command("compat-bpe: Restart the Server")
        window.until_count(f"{COUNT} tokens")
        # Nothing that is settled is still said.
        assert "Python" not in window.messages()
        # One that cannot be started again is not waited for.
        old.unlink()
        for process in servers(tmp_path):
            os.kill(process, signal.SIGKILL)
        window.until_count("Tokens: stopped")


def test_a_folder_that_is_not_trusted_starts_nothing(
    browser: Browser, extension: Path, work: Path, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    program_of_folder = ["sh", "-c", f"touch {started}"]
    (work / ".vscode").mkdir()
    settings = {
        "compatBpeClient.command": program_of_folder,
        "compatBpeClient.python": "/nowhere",
        "compatBpe.path": "/nowhere.json",
    }
    (work / ".vscode/settings.json").write_text(json.dumps(settings))
    trust = {"security.workspace.trust.enabled": True}
    with Program(tmp_path / "data", extension, trust) as program:
        window = Window(browser)
        window.open(program.address(work))
        window.until(lambda: "Restricted Mode" in window.text(".statusbar"), "restricted mode")
        window.file("a.py")
        window.until_count(f"{COUNT} tokens")
        assert not started.exists()
