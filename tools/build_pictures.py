"""Write the pictures of docs/tutorial-training.md: a page of merges and a page of a report.

Usage: python tools/build_pictures.py

It runs the commands of the tutorial on fixtures/docs/texts and takes the pictures with Chromium
(apt-get install chromium chromium-driver). Run it again when these pages look different; fonts
differ between machines, so no test compares the bytes.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.browser import Browser

ROOT = Path(__file__).parents[1]
TEXTS = ROOT / "fixtures/docs/texts"
ASSETS = ROOT / "docs/assets"
_WIDTH = 800


def _run(folder: Path, *arguments: str) -> bytes:
    command = [sys.executable, "-m", "compat_bpe", *arguments]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout


def _take(browser: Browser, page: Path, most: int) -> bytes:
    """Return a picture of a page, of its first pixels if it is long."""
    browser.open(page)
    browser.show(_WIDTH)
    height = min(most, browser.run("return document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": _WIDTH, "height": height, "scale": 1}
    shot = browser.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    return base64.b64decode(shot["data"])


def main() -> None:
    with TemporaryDirectory() as made, Browser() as browser:
        folder = Path(made)
        shutil.copytree(TEXTS, folder / "texts")
        merges, report = folder / "merges.html", folder / "report.html"
        shown = ("-e", "cl100k_base", "--merges", "--html", "lowest")
        merges.write_bytes(_run(folder, "show", *shown))
        _run(folder, "train", "-n", "300", "-o", "vocabulary", "--eos", "<|end|>", "texts")
        encodings = ("-e", "vocabulary", "-e", "o200k_base")
        _run(folder, "report", *encodings, "--html", report.name, "texts")
        for page, most in ((merges, 430), (report, 770)):
            target = ASSETS / f"{page.stem}.png"
            target.write_bytes(_take(browser, page, most))
            print(f"{target}: {target.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
