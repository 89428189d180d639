"""The page of a report in a real browser: nothing overflows, nothing is loaded, nothing fails.

Run with ``pytest -m browser tests/browser``; it needs chromium and chromium-driver.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.browser.pages import misplaced, write_pages
from tools.browser import Browser

pytestmark = pytest.mark.browser

PAGES = ["one", "two", "four", "nine", "twelve", "hard", "nothing"]
PAPER = 718  # CSS pixels: A4 without margins of a centimeter


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {path.stem: path for path in write_pages(tmp_path_factory.mktemp("pages"))}


def unfold(browser: Browser) -> None:
    browser.run("document.querySelectorAll('details').forEach(part => part.open = true)")


def test_all_pages_are_here(pages: dict[str, Path]) -> None:
    assert list(pages) == PAGES


@pytest.mark.smoke
@pytest.mark.parametrize("name", PAGES)
def test_it_opens_without_an_error_and_loads_nothing(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.log("browser")
    browser.log("performance")
    browser.show(1200)
    browser.open(pages[name])
    assert browser.run("return document.readyState") == "complete"
    assert browser.run("return document.compatMode") == "CSS1Compat"
    assert browser.log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    loaded = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert loaded == [pages[name].as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 420, 700, 1200])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_overflows(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    browser.show(width, scheme)
    browser.open(pages[name])
    assert browser.run("return innerWidth") == width
    assert misplaced(browser) == []
    unfold(browser)
    assert misplaced(browser) == []


def test_what_overflows_is_found(browser: Browser, pages: dict[str, Path]) -> None:
    broken = {
        "the page scrolls": "main { min-width: 1000px; }",
        "wider than its box": "h1 { width: 40px; white-space: nowrap; }",
        "out of its box": ".lead { white-space: nowrap; width: max-content; }",
        "out of the viewport": "h1 { margin-left: -30px; }",
        "overlapping": ".x { font-size: 12rem; }",
        "broken within": ".corpus { word-break: break-all; }",
    }
    browser.show(420)
    for what, style in broken.items():
        browser.open(pages["twelve"])
        browser.run(
            "const style = document.createElement('style'); style.textContent = arguments[0];"
            "document.head.append(style)",
            style,
        )
        assert what in {said.split(":")[0] for said in misplaced(browser)}, what


def test_it_is_dark_where_that_is_wanted(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["two"])
    of_body = "return getComputedStyle(document.body).backgroundColor"
    of_bar = "return getComputedStyle(document.querySelector('.bar .fill')).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        browser.show(1200, scheme)
        seen[scheme] = [
            sum(map(int, re.findall(r"\d+", browser.run(script)))) for script in (of_body, of_bar)
        ]
    assert seen["light"][0] > 700 > 100 > seen["dark"][0]
    assert seen["light"][1] < seen["dark"][1]


@pytest.mark.parametrize("name", PAGES)
def test_it_is_printed_in_colors_on_white(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.show(PAPER, "dark", "print")
    browser.open(pages[name])
    assert misplaced(browser, scrolls=False) == []
    unfold(browser)
    assert misplaced(browser, scrolls=False) == []
    style = browser.run(
        "const style = getComputedStyle(document.querySelector('.cards .fill'));"
        "return [style.printColorAdjust, style.getPropertyValue('--color'),"
        " getComputedStyle(document.body).getPropertyValue('--card')]"
    )
    assert style == ["exact", "#2459d6", "#ffffff"]
    assert browser.paper().startswith(b"%PDF-")


def test_groups_and_encodings_can_be_read_beside_the_bars(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.show(1200)
    browser.open(pages["twelve"])
    figures = browser.run(
        "return [...document.querySelector('.bars-of').children].map("
        "bar => [bar.querySelector('.figure').innerText, bar.title.split(':')[0]])"
    )
    assert [figure for figure, _ in figures] == [str(number) for number in range(1, 13)]
    assert figures[10][1] == (
        "/home/someone/models/own-experiments/vocabulary_32k.extended/tokenizer.json"
    )
    # Every line of the chart has its number on it, and no two numbers hide each other.
    places = browser.run(
        "return [...document.querySelectorAll('.plot .badge')].map(badge => {"
        "const place = badge.getBoundingClientRect();"
        "return [place.left, place.top, badge.innerText]})"
    )
    assert [figure for *_, figure in places] == [str(number) for number in range(1, 13)]
    for one, other in zip(places, places[1:]):
        assert abs(one[0] - other[0]) > 8 or abs(one[1] - other[1]) > 8
