"""A headless Chromium, driven by chromedriver over WebDriver with the standard library alone.

    python tools/browser.py PAGE FOLDER    # pictures: wide and narrow, light and dark, on paper

The browser talks to this machine only: chromedriver listens on 127.0.0.1, the profile is a new and
empty folder, and the background services that would call home are off.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

# The sandbox does not start for root, which CI runs as.
FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --disable-background-networking
    --disable-component-update --disable-dev-shm-usage --disable-sync --no-first-run
    --hide-scrollbars
""".split()
_STARTED = re.compile(r"started successfully on port (\d+)")
_TIMEOUT = 120  # seconds; only a browser that hangs takes so long


class BrowserError(Exception):
    """The browser is missing, does not start, or refuses a command."""


class Browser:
    """A browser with one page, for use in a ``with`` statement.

    Args:
        flags: more flags for Chromium.

    Raises:
        BrowserError: chromedriver is missing or does not start.
    """

    def __init__(self, *flags: str) -> None:
        driver = shutil.which("chromedriver")
        if driver is None:
            raise BrowserError("no chromedriver: apt-get install chromium chromium-driver")
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        self._process = subprocess.Popen(
            [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._open = build_opener(ProxyHandler({})).open
        try:
            self._root = f"http://127.0.0.1:{self._port()}/session"
            options = {"args": [*FLAGS, *flags, f"--user-data-dir={self._profile}"]}
            wanted = {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            made = self._post("", {"capabilities": {"alwaysMatch": wanted}})
            self._root += f"/{made['sessionId']}"
            self._post("/url", {"url": "about:blank"})  # instead of the page for a new tab
        except BaseException:
            self._stop()
            raise

    def _port(self) -> int:
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            said += line
            if found := _STARTED.search(line):
                return int(found[1])
        raise BrowserError(f"chromedriver did not start: {said}")

    def _post(self, path: str, body: dict[str, Any], method: str = "POST") -> Any:
        data = json.dumps(body).encode() if method == "POST" else None
        request = Request(self._root + path, data, method=method)
        try:
            with self._open(request, timeout=_TIMEOUT) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            with error:
                raise BrowserError(json.load(error)["value"]["message"]) from None

    def open(self, page: Path | str) -> None:
        """Open a file, or an address of this machine."""
        self._post("/url", {"url": page if isinstance(page, str) else page.resolve().as_uri()})

    def run(self, script: str, *arguments: object) -> Any:
        """Return the value that the body of a JavaScript function returns, as of JSON."""
        return self._post("/execute/sync", {"script": script, "args": arguments})

    def devtools(self, command: str, **parameters: object) -> Any:
        """Return the result of a command of the DevTools protocol."""
        return self._post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def show(
        self, width: int, scheme: str = "light", media: str = "screen", height: int = 900
    ) -> None:
        """Set the viewport's size in CSS pixels, the color scheme and the medium."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", media=media, features=features)

    def log(self, kind: str) -> list[dict[str, Any]]:
        """Return the entries of a log since the last call: ``browser`` or ``performance``."""
        found: list[dict[str, Any]] = self._post("/se/log", {"type": kind})
        return found

    def picture(self) -> bytes:
        """Return the whole page, also what is below the viewport, as a PNG."""
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def paper(self) -> bytes:
        """Return the page as it is printed on A4, as a PDF."""
        made = self.devtools(
            "Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False
        )
        return base64.b64decode(made["data"])

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._post("", {}, "DELETE")
        finally:
            self._stop()

    def _stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=_TIMEOUT)
        shutil.rmtree(self._profile, ignore_errors=True)


def take(page: Path, folder: Path) -> list[Path]:
    """Write a PNG for each width and color scheme, and a PDF; return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    with Browser() as browser:
        browser.open(page)
        for width, scheme in product((390, 800, 1280), ("light", "dark")):
            browser.show(width, scheme)
            found.append(folder / f"{page.stem}-{width}-{scheme}.png")
            found[-1].write_bytes(browser.picture())
        found.append(folder / f"{page.stem}.pdf")
        found[-1].write_bytes(browser.paper())
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(*take(Path(sys.argv[1]), Path(sys.argv[2])), sep="\n")
