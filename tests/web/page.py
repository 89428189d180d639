"""The page of ``web/`` in a browser: what a test does with it, and what it reads there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.browser import Browser

#: Keys that are held while another one is pressed, as ``Page.press`` takes them.
CONTROL, SHIFT = 2, 8
_SELECT = """\
const $ = (id) => document.getElementById(id);
const $$ = (selector, inside = document) => [...inside.querySelectorAll(selector)];
"""
_PATIENCE = 120  # seconds; only what hangs takes so long


class Page:
    """The page at an address, in a browser.

    Args:
        browser: the browser.
        address: where the page is served, with a slash at the end.
    """

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser = browser
        self.address = address

    def open(self, hash: str = "") -> None:
        """Open the page anew, and wait until it has counted."""
        self.browser.open("about:blank")
        self.browser.open(self.address + hash)
        self.wait(lambda: self.text_of("status") == "Ready.")
        self.settle()
        if "text=" not in hash and self.run("return $('text').value"):
            self.clear()  # of the visit before, which the browser keeps

    def follow(self, hash: str) -> None:
        """Follow a link within the open page."""
        self.run(
            "history.replaceState(null, '', `#${arguments[0]}`);"
            "dispatchEvent(new HashChangeEvent('hashchange'))",
            hash,
        )
        self.settle()

    def wait_for(self, id: str, text: str) -> None:
        """Wait until an element has a text in it."""
        self.wait(lambda: text in self.text_of(id))

    def wait(self, test: Callable[[], object]) -> None:
        """Wait until a test is true."""
        deadline = time.monotonic() + _PATIENCE
        while not test():
            said = self.text_of("status")
            assert "could not" not in said, said
            assert time.monotonic() < deadline, f"{test} is still false; {said}"
            time.sleep(0.05)

    def settle(self) -> None:
        """Wait until all that the page was asked for is answered and drawn."""
        # What a size or a selection has changed is told with the next picture, and asked with it.
        script = """
            const frame = () => new Promise(done => requestAnimationFrame(done));
            const { dataset } = document.documentElement;
            await frame();
            for (let frames = 0; frames < 60; frames++) {
              await frame();
              if (dataset.asked === dataset.answered) return true;
            }"""
        self.wait(lambda: self.run(f"return (async () => {{{script}}})()"))

    def run(self, script: str, *arguments: object) -> Any:
        """Return the value of the body of a JavaScript function.

        There, ``$`` gives an element by its id, and ``$$`` all elements of a selector.
        """
        return self.browser.run(f"{_SELECT}{script}", *arguments)

    def text_of(self, id: str) -> str:
        """Return the text of an element as it is shown."""
        found: str = self.run("return $(arguments[0])?.innerText ?? ''", id)
        return found

    def value(self, id: str) -> str:
        """Return what is in a field."""
        found: str = self.run("return $(arguments[0]).value", id)
        return found

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements of a kind."""
        found: list[str] = self.run("return $$(arguments[0]).map(one => one.textContent)", selector)
        return found

    def wait_for_one(self, selector: str) -> None:
        """Wait until there is an element of a kind."""
        self.wait(lambda: self.run("return $$(arguments[0]).length", selector))

    def before_cut(self) -> str:
        """Return the text of the tokens before the mark of the limit, as soon as that is there."""
        self.wait_for_one(".cut")
        found: str = self.run(
            "const range = document.createRange(); range.setStart($('tokens'), 0);"
            "range.setEndBefore($$('#tokens .cut')[0]); return range.toString()"
        )
        return found

    def point_at_token(self, number: int, kind: str = ".t") -> None:
        """Point at one of the cells that are drawn."""
        event = "new PointerEvent('pointerover', { bubbles: true })"
        self.run(
            f"$$(`#tokens ${{arguments[1]}}`)[arguments[0]].dispatchEvent({event})", number, kind
        )

    def submit(self, field: str, value: str) -> None:
        """Put a value into the field of a form, and submit that."""
        self.run("$(arguments[0]).value = arguments[1]", field, value)
        self.run("$(arguments[0]).form.requestSubmit()", field)

    def choose_pattern(self, name: str) -> None:
        """Answer the question how a loaded vocabulary splits its text."""
        self.wait(lambda: not self.run("return $('pattern-form').hidden"))
        self.submit("pattern", name)

    def choose(self, id: str, value: object) -> None:
        """Choose a value in the settings, or a tokenizer in its field, and wait."""
        if id in ("model", "other"):
            if id == "other":
                self.run("$('compare').checkVisibility() && $('compare').click()")
            self.run(
                "const field = $(arguments[0]);"
                "field.focus(); field.value = arguments[1];"
                "field.dispatchEvent(new Event('input', { bubbles: true }));"
                "const enter = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true });"
                "field.dispatchEvent(enter)",
                id,
                value,
            )
            self.settle()
            return
        self.run(
            "const [id, value] = arguments, element = $(id);"
            "if (element.type === 'checkbox') element.checked = value; else element.value = value;"
            "element.dispatchEvent(new Event('input', { bubbles: true }))",
            id,
            value,
        )
        self.settle()

    def show_tab(self, name: str) -> None:
        """Show another view."""
        self.run("$('tab-' + arguments[0]).click()", name)

    def type(self, text: str) -> None:
        """Type a text at the caret, or paste it."""
        self.run("$('text').focus()")
        self.browser.devtools("Input.insertText", text=text)
        self.settle()

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key by its name, such as ``Backspace``, with ``CONTROL`` or ``SHIFT``."""
        codes = {
            "Backspace": 8,
            "Delete": 46,
            "ArrowRight": 39,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowDown": 40,
            "End": 35,
            "Home": 36,
            "PageUp": 33,
            "PageDown": 34,
            "Enter": 13,
            "Tab": 9,
        }
        # Enter types a line end, unless the page prevents it.
        down = "keyDown" if key == "Enter" else "rawKeyDown"
        for kind in (down, "keyUp"):
            self.browser.devtools(
                "Input.dispatchKeyEvent",
                type=kind,
                **({"text": "\r"} if kind == "keyDown" else {}),
                key=key,
                code=key if len(key) > 1 else f"Key{key.upper()}",
                windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())),
                modifiers=modifiers,
                commands=["selectAll"] if (key, modifiers) == ("a", CONTROL) else [],
            )

    def mouse(self, id: str, kind: str = "mouseMoved", **more: object) -> None:
        """Move the mouse to the middle of an element, or turn its wheel there."""
        x, y = self.run(
            "const place = $(arguments[0]).getBoundingClientRect();"
            "return [place.x + place.width / 2, place.y + place.height / 2]",
            id,
        )
        self.browser.devtools("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def clear(self) -> None:
        """Remove the text."""
        self.run("$('clear').click()")
        self.settle()

    def forget(self) -> None:
        """Forget all that the browser keeps of what was put in."""
        self.run("$('forget').click(); $('forget-now').click()")
        self.wait_for("offline-said", "Forgotten")

    def paste(self, text: str) -> None:
        """Paste a text into the field, as a browser tells a page of it."""
        self.run(
            "const transfer = new DataTransfer(); transfer.setData('text/plain', arguments[0]);"
            "$('text').focus();"
            "const event = new ClipboardEvent('paste',"
            " { clipboardData: transfer, bubbles: true, cancelable: true });"
            "if ($('text').dispatchEvent(event))"
            " document.execCommand('insertText', false, arguments[0])",
            text,
        )
        self.settle()

    def copied(self) -> str:
        """Select all of the text, and return what is copied then."""
        self.press("a", CONTROL)
        found: str = self.run(
            "const transfer = new DataTransfer(), event = new ClipboardEvent('copy',"
            " { clipboardData: transfer, bubbles: true, cancelable: true });"
            "$('text').dispatchEvent(event); return transfer.getData('text/plain')"
        )
        return found

    def drop(self, files: dict[str, bytes]) -> None:
        """Drop files onto the page."""
        self.run(
            "const transfer = new DataTransfer();"
            "for (const [name, bytes] of arguments[0])"
            " transfer.items.add(new File([Uint8Array.from(bytes)], name));"
            "for (const kind of ['dragenter', 'dragover', 'drop']) $('text').dispatchEvent("
            " new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }))",
            [[name, list(data)] for name, data in files.items()],
        )

    def drag(self, *paths: Path) -> None:
        """Drag files and folders of the disk onto the page, as a hand does."""
        data = {"items": [], "files": list(map(str, paths)), "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.browser.devtools("Input.dispatchDragEvent", type=kind, x=300, y=300, data=data)

    def counts(self) -> dict[str, int]:
        """Return the count of the text by the key of each encoding."""
        found: dict[str, str] = self.run(
            "const cards = $$('#counts .card[data-key]').map(one => one.dataset);"
            "return Object.fromEntries(cards.map(({ key, count }) => [key, count]))"
        )
        return {key: int(count) for key, count in found.items()}

    def own_counts(self) -> list[int]:
        """Return the counts as soon as a loaded tokenizer has one."""
        self.wait(lambda: any(key.startswith("file:") for key in self.counts()))
        return list(self.counts().values())

    def cells(self, column: int = 0) -> list[str]:
        """Return the texts of the token cells that are drawn, as they are shown."""
        found: list[str] = self.run(
            "return $$('#tokens .block').map(block => block.children[arguments[0]])"
            ".flatMap(side => side ? $$('.t', side) : []).map(cell => cell.textContent)",
            column,
        )
        return found

    def errors(self) -> list[str]:
        """Return what the console said since the last call."""
        return [entry["message"] for entry in self.browser.log("browser")]
