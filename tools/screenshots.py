"""Take pictures of a page as a headless Chromium shows it: wide and narrow, light and dark.

Usage: python tools/screenshots.py PAGE FOLDER
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.browser import Browser

WIDTHS, SCHEMES = (390, 800, 1280), ("light", "dark")


def take(page: Path, folder: Path) -> list[Path]:
    """Write a PNG for each width and color scheme, and a PDF; return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    with Browser() as browser:
        browser.open(page)
        for width, scheme in product(WIDTHS, SCHEMES):
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
