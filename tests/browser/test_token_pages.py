"""The pages of ``show --html`` in a real browser: nothing overflows, the numbers come first.

Run with ``pytest -m browser tests/browser``; it needs chromium and chromium-driver.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.pages import misplaced
from tests.cli.running import run
from tools.browser import Browser

pytestmark = pytest.mark.browser

TEXT = "def add(a):\n\treturn a  # naïve 世界 👩‍👩‍👧 שלום\n" + "x" * 300 + "\n<|endoftext|>\n"
WORDS = ["hugs", "antidisestablishmentarianism", " 世界", "<|endoftext|>", "b" * 80]
ARGS = {
    "tokens": ["--html", "-e", "gpt2", "--special", "{text}", "{text}"],
    "merges": ["--merges", "--html", "-e", "gpt2", "--special", *WORDS],
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    text = folder / "a.txt"
    text.write_text(TEXT, "utf-8")
    found = {}
    for name, args in ARGS.items():
        status, out, _ = run("show", *(arg.format(text=text) for arg in args))
        assert status == 0
        found[name] = folder / f"{name}.html"
        found[name].write_bytes(out)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 800, 1280])
@pytest.mark.parametrize("name", ARGS)
def test_nothing_overflows(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    browser.show(width, scheme)
    browser.open(pages[name])
    assert misplaced(browser) == []
    if name == "tokens":
        browser.run("document.querySelector('#ids').click()")
        assert misplaced(browser) == []


def test_the_numbers_are_above_the_tokens(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(800)
    browser.open(pages["tokens"])
    tops = browser.run(
        "return [...document.querySelectorAll('section')].map(section =>"
        " ['h2', '.total', 'pre'].map(part =>"
        " section.querySelector(part).getBoundingClientRect().top))"
    )
    assert len(tops) == 2
    for section in tops:
        assert section == sorted(section)


def test_ids_are_text_where_they_are_wanted(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(800)
    browser.open(pages["tokens"])
    shown = "return document.querySelector('pre').innerText"
    before = browser.run(shown)
    assert before.startswith("def add(a):\\n\n")
    assert "4299" not in before
    browser.run("document.querySelector('label').click()")
    after = browser.run(shown)
    assert after.startswith("def4299 add751(7a64):2599")
    # The ids of a newline are on the line that it ends.
    assert after.splitlines()[0].endswith("\\n198")
    # A character of two tokens has both ids.
    assert "世10310 244" in after


def test_it_is_dark_where_that_is_wanted(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["tokens"])
    seen = []
    for scheme in ("light", "dark"):
        browser.show(800, scheme)
        seen.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert seen == ["rgb(251, 250, 248)", "rgb(21, 23, 27)"]
