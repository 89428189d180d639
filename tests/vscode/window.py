"""The window of VS Code in a headless Chromium: keys are pressed, and what is seen is read."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any, Callable

from tools.browser import Browser

#: The count in the status bar.
ITEM = "#compat-bpe\\.compat-bpe\\.compatBpe\\.count"
#: Files and folders in the explorer.
FILE = ".explorer-folders-view .monaco-list-row"
#: The text of the count in the status bar.
COUNT = """
const item = document.getElementById('compat-bpe.compat-bpe.compatBpe.count');
return item && item.textContent"""
#: Keeps each message: a toast goes by itself, is drawn only with the page's next frame, and not at
#: all as one of many. VS Code says the message to screen readers as soon as it is raised.
_LISTEN = """
window.messages = [];
new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes) {
    if (target.className === 'monaco-alert') {
      window.messages.push(...[...addedNodes].map((node) => node.textContent));
    }
  }
}).observe(document, { childList: true, subtree: true });"""
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
        self.browser.devtools("Page.addScriptToEvaluateOnNewDocument", source=_LISTEN)
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

    def messages(self) -> str:
        """Return all that the window has said since it was opened, a line each."""
        return str(self.browser.run("return window.messages.join('\\n')"))

    def until_message(self, text: str) -> None:
        """Wait until the window has said something."""
        self.until(lambda: text in self.messages(), f"message {text!r}")

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

    def point_if_there(self, selector: str, text: str = "") -> list[float] | None:
        """Point at the last element of a kind that has a text; return where it is, if it is."""
        script = """
            const all = [...document.querySelectorAll(arguments[0])]
              .filter((one) => one.innerText.replaceAll('\\u00a0', ' ').includes(arguments[1]));
            if (!all.length) return null;
            const box = all[all.length - 1].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]"""
        place: list[float] | None = self.browser.run(script, selector, text)
        if place:
            self.mouse("Moved", place)
        return place

    def point(self, selector: str, text: str = "") -> Any:
        """Point at the element of a kind that has a text as soon as it is there."""
        return self.until(lambda: self.point_if_there(selector, text), f"{selector} {text}")

    def mouse(self, kind: str, place: list[float], **parameters: object) -> None:
        """Move the mouse, or press or release its button, at a place."""
        x, y = place
        self.browser.devtools(
            "Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **parameters
        )

    def click(self, selector: str, text: str = "", button: str = "left") -> None:
        """Click on the element of a kind that has a text."""
        self.click_at(self.point(selector, text), button)

    def click_at(self, place: list[float], button: str = "left") -> None:
        """Click at a place."""
        for kind in ("Pressed", "Released"):
            self.mouse(kind, place, button=button, clickCount=1)

    def click_until(self, selector: str, shown: str) -> str:
        """Click on an element until another has a text; return that.

        A click is lost where its target is drawn anew meanwhile, so it is repeated; but not soon,
        which would close what the first one opens.
        """
        next_click = 0.0

        def text() -> str:
            nonlocal next_click
            found = self.text(shown)
            if not found and time.monotonic() > next_click:
                self.click(selector)
                next_click = time.monotonic() + 10
            return found

        return str(self.until(text, f"{shown} by clicks on {selector}"))

    def choose(self, selector: str, text: str, item: str) -> None:
        """Choose from the context menu of the element of a kind that has a text."""
        self.click(selector, text, button="right")
        self.until(lambda: self.seen(".monaco-menu"), "menu")

        def is_taken() -> bool:
            # A menu takes no click at once, and may go at any moment after the one it takes.
            if place := self.point_if_there(".monaco-menu .action-label", item):
                self.click_at(place)
            return not self.seen(".monaco-menu")

        self.until(is_taken, f"click on {item}")

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
        self.click(FILE, name)
        self.key("Enter")
        self.click(".monaco-editor .view-lines")

    def picture(self, path: Path) -> None:
        """Save what is seen."""
        shot = self.browser.devtools("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(shot["data"]))
