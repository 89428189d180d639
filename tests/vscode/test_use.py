"""What a user does with the extension as it is installed, by default settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.vscode.conftest import TEXT
from tests.vscode.window import Window

pytestmark = pytest.mark.vscode

ENCODING = get_encoding("o200k_base")
ITEM = "#compat-bpe\\.compat-bpe\\.compatBpe\\.count"
CONTROL = 2


@pytest.mark.smoke
def test_counts_prompts_and_tokens(window: Window, work: Path) -> None:
    count = ENCODING.count(TEXT)
    window.file("a.py")
    shown = window.until_count(f"{count} tokens · ")
    assert "o200k_base" in shown

    # What is selected has its own count.
    window.key("Home", CONTROL)
    window.key("End", 8)
    window.until_count(f"{ENCODING.count('def area(r):')} of {count} tokens")

    # The count follows the text.
    window.key("End", CONTROL)
    window.type("# one more line")
    longer = ENCODING.count(TEXT + "# one more line")
    window.until_count(f"{longer} tokens · ")

    # A click offers what can be done; a prompt needs no tokens for it.
    window.click(ITEM)
    window.until(lambda: "Budget…" in window.text(".quick-input-list"), "menu")
    window.pick("Copy the prompt")
    window.until(lambda: "is copied." in window.text(".notifications-toasts"), "prompt")

    # The tokens beside the text: backgrounds alternate, and spaces have a sign.
    window.command("compat-bpe: Show the Tokens")
    window.until(lambda: "def·area(r):⏎" in window.text(".view-lines"), "view of tokens")
    colors = """
        return [...new Set([...document.querySelectorAll('.view-overlays .cdr')]
            .map((one) => getComputedStyle(one).backgroundColor)
            .filter((color) => color !== 'rgba(0, 0, 0, 0)'))].length"""
    window.until(lambda: window.browser.run(colors) >= 2, "colors of tokens")

    # The view follows the text, too.
    window.click(".monaco-editor .view-line", "one more line")
    window.key("End", CONTROL)
    window.type("XYZ")
    window.until(lambda: window.text(".view-lines").count("XYZ") == 2, "view of the new text")


def test_a_model_and_a_budget_are_chosen(window: Window, work: Path, tmp_path: Path) -> None:
    window.file("a.py")
    window.until_count(f"{ENCODING.count(TEXT)} tokens")
    window.click(ITEM)
    window.pick("Model")
    window.enter("gpt-4-turbo-2024-04-09")  # not in the list: as typed
    other = get_encoding("cl100k_base").count(TEXT)
    settings = tmp_path / "data/data/User/settings.json"
    window.until(lambda: "gpt-4-turbo-2024-04-09" in settings.read_text(), "setting")
    window.until_count(f"{other} tokens")
    window.command("compat-bpe: Set the Budget")
    window.enter("10")
    window.until(lambda: f"{other * 10} %" in window.count(), "share of the budget")


def test_files_are_counted_from_the_explorer(window: Window, work: Path) -> None:
    (work / "src").mkdir()
    (work / "src/b.py").write_text(TEXT * 3)
    (work / "src/c.py").write_text("hello world")
    (work / "src/left_out.py").write_text(TEXT)
    (work / "src/.gitignore").write_text("left_*\n")
    window.file("a.py")
    window.until_count(f"{ENCODING.count(TEXT)} tokens")  # extensions are there
    window.click(".explorer-folders-view .monaco-list-row", "src", button="right")

    window.until(lambda: window.seen(".monaco-menu"), "menu")

    def is_clicked() -> bool:
        if window.seen(".monaco-menu"):  # it takes no click at once, and goes with the first
            window.click(".monaco-menu .action-label", "Count Tokens")
            return False
        return True

    window.until(is_clicked, "click on the menu")
    total = ENCODING.count(TEXT * 3) + ENCODING.count("hello world")
    said = f"{total} tokens in 2 files"
    window.until(lambda: said in window.text(".notifications-toasts"), said)
