"""The page at three widths, light and dark: accessible, and nothing out of its place."""

from __future__ import annotations

import pytest

from tests.axe import VIOLATIONS
from tests.web.page import Page

pytestmark = pytest.mark.web

TEXT = (
    "Hello wörld, unbelievable tokens \t\n\n你好世界 नमस्ते <|endoftext|> \u200b "
    + "x" * 150
    + " https://example.org/a/very/long/path?with=parameters&and=more#here\n" * 3
)


def fill(page: Page) -> None:
    """Fill every view."""
    page.choose("other", "gpt2")
    page.choose("limit", 40)
    page.choose("special", True)
    page.type(TEXT)
    page.run("$('share').getAttribute('aria-expanded') === 'true' || $('share').click()")
    page.run("document.querySelector('#tokens .several, #tokens .t').click()")
    page.drop({"a.txt": b"one two", "long" * 20 + ".txt": b"three\n" * 1000, "c.bin": b"\0"})
    page.wait(lambda: "counted as they are" in page.text_of("files-said"))
    page.show_tab("word")
    page.wait(lambda: "ids" in page.text_of("steps"))
    page.show_tab("messages")
    page.wait(lambda: "token" in page.text_of("conversation-count"))


def test_axe_finds_no_violation(page: Page, axe: str) -> None:
    fill(page)
    page.browser.run(axe)
    found = []
    for scheme in ("light", "dark"):
        page.browser.show(1200, scheme)
        for tab in ("text", "files", "word", "ids", "messages"):
            page.show_tab(tab)
            page.settle()
            found += [(scheme, tab, *one) for one in page.run(VIOLATIONS)]
    page.browser.show(1200)
    page.run("$('share').click()")
    assert found == []


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_overflows(page: Page, width: int) -> None:
    fill(page)
    page.browser.show(width)
    found = []
    for tab in ("text", "files", "word", "ids", "messages"):
        page.show_tab(tab)
        page.settle()
        found += page.run(
            """
            const found = [], width = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth > width) found.push('the page scrolls');
            for (const element of document.querySelectorAll('body *')) {
              if (!element.checkVisibility() || element.closest('.wide table, .hidden')) continue;
              const place = element.getBoundingClientRect();
              if (place.width && (place.left < -0.5 || place.right > width + 0.5)) {
                found.push(`${arguments[0]}: ${element.outerHTML.slice(0, 120)}`);
              }
            }
            return found""",
            tab,
        )
    page.browser.show(1200)
    page.run("$('share').click()")
    assert found == []


def test_the_keyboard_reaches_everything(page: Page) -> None:
    page.run("document.activeElement.blur(); document.body.focus()")
    reached = []
    for _ in range(35):
        page.press("Tab")
        reached.append(page.run("return document.activeElement.id"))
    for id in (
        "encoding",
        "other",
        "limit",
        "special",
        "load-encoding",
        "tab-text",
        "text",
        "tokens",
    ):
        assert id in reached, reached


def test_on_a_phone_the_count_stays_in_sight_and_targets_are_large(page: Page) -> None:
    page.type("one two three\n" * 60)
    page.browser.show(390)
    page.settle()
    page.run("scrollTo(0, document.body.scrollHeight)")
    page.settle()
    place = page.run(
        "return document.querySelector('#counts .card').getBoundingClientRect().toJSON()"
    )
    folded = page.run("return [$('encoding').checkVisibility(), $('model').checkVisibility()]")
    page.run("$('fold').click()")
    opened = page.run("return $('encoding').checkVisibility()")
    small = []
    for tab in ("text", "files", "word", "ids", "messages"):
        page.show_tab(tab)
        small += page.run(
            "return [...document.querySelectorAll('button, input, select, textarea, a')]"
            ".filter(one => one.checkVisibility() && !one.closest('.hidden'))"
            ".filter(one => { const { width, height } = one.getBoundingClientRect();"
            " return width < 24 || height < 24 }).map(one => one.outerHTML.slice(0, 80))"
        )
    page.run("$('fold').click()")
    page.browser.show(1200)
    assert 0 <= place["top"] < place["bottom"] <= 900
    assert folded == [False, True]
    assert opened
    assert small == []


@pytest.mark.parametrize("width", [1000, 1200, 1400])
def test_the_settings_are_one_row(page: Page, width: int) -> None:
    page.browser.show(width)
    rows = page.run(
        "return new Set([...$('settings').children].filter(one => one.checkVisibility())"
        ".map(one => Math.round(one.getBoundingClientRect().bottom))).size"
    )
    page.browser.show(1200)
    assert rows == 1


def test_two_counts_and_the_sizes_are_one_row(page: Page) -> None:
    page.choose("other", "cl100k_base")
    page.choose("limit", 100_000)
    page.type("hello world " * 4_000)
    page.browser.show(1400)
    tops, bottoms = page.run(
        "const places = [...$('counts').children].map(one => one.getBoundingClientRect());"
        "return [places.map(one => one.top), places.map(one => one.bottom)]"
    )
    page.browser.show(1200)
    assert max(tops) < min(bottoms)


def test_tokens_are_told_apart_in_forced_colors(page: Page) -> None:
    page.type("one two three")
    page.browser.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}]
    )
    borders, line, ground = page.run(
        "const style = (one, name) => getComputedStyle(one)[name];"
        "return [[...document.querySelectorAll('#tokens .t')]"
        ".map(one => style(one, 'borderLeftWidth')),"
        " style($('tab-files'), 'borderBottomColor'), style(document.body, 'backgroundColor')]"
    )
    page.browser.show(1200)
    assert borders == ["1px"] * 3
    assert line == ground


def test_lines_begin_at_the_side_of_their_script(page: Page) -> None:
    assert page.run("return getComputedStyle($('text')).unicodeBidi") == "plaintext"
