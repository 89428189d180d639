"""What axe-core finds on the pages that the command writes: nothing.

Run with ``pytest -m browser tests/browser``; it needs chromium, chromium-driver and npm.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.axe import VIOLATIONS
from tests.browser.pages import write_pages
from tests.cli.running import run
from tools.browser import Browser

pytestmark = pytest.mark.browser

TEXT = "def add(a):\n\treturn a  # naïve 世界\n<|endoftext|>\n"
WORDS = ["hugs", " 世界", "<|endoftext|>"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {path.stem: path for path in write_pages(folder)}
    for name, args, text in (
        ("tokens", ["--special"], TEXT),
        ("gaps", ["-e", "words"], TEXT),
        ("merges", ["--merges", "--special", *WORDS], ""),
    ):
        found[name] = folder / f"{name}.html"
        found[name].write_bytes(run("show", "--html", *args, stdin=text.encode()).out)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["two", "twelve", "hard", "tokens", "gaps", "merges"])
def test_axe_finds_no_violation(
    browser: Browser, pages: dict[str, Path], axe: str, name: str, width: int, scheme: str
) -> None:
    browser.show(width, scheme)
    browser.open(pages[name])
    browser.run(
        "document.querySelectorAll('details').forEach(part => part.open = true);"
        "document.querySelector('#ids')?.click();" + axe
    )
    assert browser.run(VIOLATIONS) == []
