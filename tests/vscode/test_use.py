"""What a user does with the extension as it is installed, by default settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.vscode.conftest import SIGNS, TEXT
from tests.vscode.window import FILE, ITEM, Window

pytestmark = pytest.mark.vscode

ENCODING = get_encoding("o200k_base")
CONTROL = 2


@pytest.mark.smoke
def test_counts_prompts_and_tokens(window: Window, work: Path) -> None:
    count = ENCODING.count(TEXT)
    window.file("a.py")
    shown = window.until_count(f"{count} tokens · ")
    assert "o200k_base" in shown
    # The function has a lens; the status bar has the count of the file.
    function = ENCODING.count(TEXT.partition("\n\n")[0] + "\n")
    window.until(lambda: f"{function} tokens" in window.text(".codelens-decoration"), "lens")
    assert f"{count} tokens" not in window.text(".codelens-decoration")

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
    window.until_message("Copied a prompt")

    # The tokens beside the text: backgrounds alternate, and what cannot be seen has a sign.
    window.command("compat-bpe: Show the Tokens")
    window.until(lambda: "def area(r):↵" in window.text(".view-lines"), "view of tokens")
    colors = """
        return [...new Set([...document.querySelectorAll('.view-overlays .cdr')]
            .map((one) => getComputedStyle(one).backgroundColor)
            .filter((color) => color !== 'rgba(0, 0, 0, 0)'))].length"""
    window.until(lambda: window.browser.run(colors) >= 2, "colors of tokens")

    # The view follows the text, too.
    window.command("View: Focus First Editor Group")
    window.key("End", CONTROL)
    window.type("XYZ")
    window.until(lambda: window.text(".view-lines").count("XYZ") == 2, "view of the new text")


def test_tokens_are_drawn_as_on_the_page(window: Window) -> None:
    """What is drawn as nothing has a name; what joins an emoji, and a space in a word, have not."""
    window.file("signs.txt")
    window.until_count(f"{ENCODING.count(SIGNS)} tokens")
    window.command("compat-bpe: Show the Tokens")
    window.until(lambda: "aU+200Bb c↵" in window.text(".view-lines"), "name of a character")
    assert "··· x↵" in window.text(".view-lines")
    assert "👩\u200d💻↵" in window.text(".view-lines")
    # A hover numbers the tokens as the page does: here those of the emoji.
    window.point(".view-line span span", "👩\u200d💻↵")
    before = ENCODING.count(SIGNS.partition("👩")[0])
    said = f"Token {before + 1} · id {ENCODING.encode(SIGNS)[before]}"
    window.until(lambda: said in window.text(".monaco-hover"), said)


def test_a_model_is_checked_before_it_is_saved(window: Window, tmp_path: Path) -> None:
    window.file("a.py")
    count = ENCODING.count(TEXT)
    window.until_count(f"{count} tokens")
    settings = tmp_path / "data/data/User/settings.json"
    before = settings.read_text()

    def search(word: str) -> str:
        """Return what is listed for a word."""
        window.command("compat-bpe: Choose the Model")
        window.write(word)
        window.until(lambda: word in window.text(".quick-input-list"), word)
        return window.text(".quick-input-list")

    # A name that means nothing is refused, and nothing is saved.
    search("nonsense")
    window.key("Enter")
    window.until(lambda: "unknown model 'nonsense'" in window.text(".monaco-dialog-box"), "reason")
    assert settings.read_text() == before
    assert window.count().startswith(f"{count} tokens")
    window.key("Escape")
    window.until(lambda: not window.seen(".monaco-dialog-box"), "end of the dialog")

    # Families that do not ship say which file they need.
    for word in ("Qwen", "Llama", "Gemma", "Mistral", "Kimi"):
        assert "choose " in search(word)
        assert "https://huggingface.co/" in window.text(".quick-input-list")
        window.key("Escape")
    search("Qwen 3")
    window.key("Enter")
    window.until(lambda: "Choose a File…" in window.text(".monaco-dialog-box"), "offer")
    window.key("Escape")
    assert settings.read_text() == before

    # An estimate is marked, in the list and in the count.
    assert "≈ an estimate" in search("claude-sonnet")
    window.key("Enter")
    window.until_count("≈")
    assert '"compatBpe.model": "claude-sonnet' in settings.read_text()


def test_a_wrong_setting_is_a_warning_until_it_is_right(window: Window, work: Path) -> None:
    window.file("a.py")
    window.until_count(f"{ENCODING.count(TEXT)} tokens")
    settings = work / ".vscode/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"compatBpe.model": "nonsense"}')
    window.until_count("Tokens: settings not used")
    warns = f"return document.querySelector({ITEM!r}).classList.contains('warning-kind')"
    assert window.browser.run(warns)
    window.click(ITEM)
    window.until(lambda: "unknown model 'nonsense'" in window.text(".quick-input-title"), "why")
    window.key("Escape")
    settings.write_text('{"compatBpe.model": "gpt-4"}')
    window.until_count(f"{get_encoding('cl100k_base').count(TEXT)} tokens")
    assert not window.browser.run(warns)
    # No message of the time before is left.
    assert "nonsense" not in window.messages()

    # No setting is a "null".
    window.command("compat-bpe: Open the Settings")
    window.until(lambda: "Compat Bpe: Encoding" in window.text(".settings-editor"), "settings")
    assert "null" not in window.text(".settings-editor")


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


def test_files_are_counted_from_the_explorer(window: Window) -> None:
    window.file("a.py")
    window.until_count(f"{ENCODING.count(TEXT)} tokens")  # extensions are there

    window.choose(FILE, "src", "Count Tokens")
    total = ENCODING.count(TEXT * 3) + ENCODING.count("hello world")
    window.until_message(f"{total} tokens in 2 files")
    # What is not counted has a reason.
    window.choose(FILE, "data.bin", "Count Tokens")
    window.until_message("data.bin is not counted: binary: NUL byte at offset 0")
