"""The window of VS Code in a headless Chromium: keys are pressed, and what is seen is read."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any, Callable

from tools.browser import Browser

#: The count in the status bar.
ITEM = "#compat-bpe\\.compat-bpe\\.compatBpe\\.count"
#: The text of the count in the status bar.
COUNT = """
const item = document.getElementById('compat-bpe.compat-bpe.compatBpe.count');
return item && item.textContent"""
_PATIENCE = 120  # seconds; only what hangs takes so long
_KEYS = {"Enter": 13, "Escape": 27, "F1": 112, "End": 35, "Home": 36, "ArrowDown": 40}


class Window:
    """A window.

    Args:
        browser: it has the window as its page.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def open(self, address: str) -> None:
        """Open a folder, and wait until the window can be used."""
        self.browser.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=1280,
            height=800,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.browser.open(address)
        self.until(lambda: self.seen(".monaco-workbench .statusbar"), "a window")

    def until(self, holds: Callable[[], Any], what: str) -> Any:
        """Return what a function returns, as soon as that is true."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if found := holds():
                return found
            time.sleep(0.1)
        raise AssertionError(f"no {what} in {_PATIENCE} s; the window says: {self.text()[-3000:]}")

    def seen(self, selector: str) -> bool:
        """Return True if there is an element."""
        script = "return document.querySelector(arguments[0]) !== null"
        return bool(self.browser.run(script, selector))

    def text(self, selector: str = "body") -> str:
        """Return the text of all elements of a kind that are shown."""
        script = """return [...document.querySelectorAll(arguments[0])]
            .filter((one) => one.checkVisibility())
            .map((one) => one.innerText).join('\\n').replaceAll('\\u00a0', ' ')"""
        return str(self.browser.run(script, selector))

    def count(self) -> str:
        """Return what the status bar says of tokens."""
        return str(self.browser.run(COUNT) or "").replace("\u00a0", " ").strip()

    def until_count(self, begins: str) -> str:
        """Return the count as soon as it begins so."""
        self.until(lambda: self.count().startswith(begins), f"count {begins!r}")
        return self.count()

    def key(self, name: str, modifiers: int = 0) -> None:
        """Press a key; of modifiers, 2 is Control and 8 is Shift."""
        code = _KEYS.get(name) or ord(name.upper())
        for kind in ("rawKeyDown", "keyUp"):
            self.browser.devtools(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name if name in _KEYS else f"Key{name.upper()}",
                windowsVirtualKeyCode=code,
                modifiers=modifiers,
            )

    def type(self, text: str) -> None:
        """Put in text where the cursor is."""
        self.browser.devtools("Input.insertText", text=text)

    def point(self, selector: str, text: str = "") -> tuple[float, float]:
        """Point at the last element of a kind that has a text; return where it is."""
        script = """
            const all = [...document.querySelectorAll(arguments[0])]
              .filter((one) => one.innerText.replaceAll('\\u00a0', ' ').includes(arguments[1]));
            if (!all.length) return null;
            const box = all[all.length - 1].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]"""
        x, y = self.until(lambda: self.browser.run(script, selector, text), f"{selector} {text}")
        self.browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector: str, text: str = "", button: str = "left") -> None:
        """Click on the element of a kind that has a text."""
        x, y = self.point(selector, text)
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.devtools(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1
            )

    def pick(self, text: str) -> None:
        """Write into the quick pick that is open, and take the item with that text."""
        self.write(text)
        chosen = ".quick-input-list .monaco-list-row.focused"
        self.until(lambda: text in self.text(chosen), f"item {text!r} chosen")
        self.key("Enter")
        # What is asked next may come in the same widget: until then it shows this item.
        self.until(lambda: text not in self.text(chosen), f"item {text!r} taken")

    def enter(self, text: str) -> None:
        """Write into the input box that is open, and enter that."""
        self.write(text)
        self.key("Enter")

    def write(self, text: str) -> None:
        """Write into the quick pick or input box that is open."""
        focused = """
            const field = document.activeElement;
            return field.closest('.quick-input-widget') && field.tagName === 'INPUT'"""
        self.until(lambda: self.browser.run(focused), "quick pick")
        self.type(text)
        written = "return document.activeElement.value.endsWith(arguments[0])"
        self.until(lambda: self.browser.run(written, text), f"{text!r} written")

    def command(self, title: str) -> None:
        """Carry out a command by its title."""
        self.key("F1")
        self.pick(title)

    def file(self, name: str) -> None:
        """Open a file of the folder."""
        self.click(".explorer-folders-view .monaco-list-row", name)
        self.key("Enter")
        self.click(".monaco-editor .view-lines")

    def picture(self, path: Path) -> None:
        """Save what is seen."""
        shot = self.browser.devtools("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(shot["data"]))
