"""The page at three widths, light and dark: accessible, and nothing out of its place."""

from __future__ import annotations

from itertools import product

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
    page.run("$('share').click()")
    page.run("document.querySelector('#tokens .several, #tokens .t').click()")
    page.drop({"a.txt": b"one two", "long" * 20 + ".txt": b"three\n" * 1000, "c.bin": b"\0"})
    page.wait(lambda: " counted" in page.text_of("files-said"))
    page.show_tab("word")
    page.wait(lambda: "ids" in page.text_of("steps"))
    page.show_tab("messages")
    page.wait(lambda: "token" in page.text_of("conversation-count"))


def test_axe_finds_no_violation(page: Page, axe: str) -> None:
    """At three widths, and at 200 %, which halves the width, in light and dark."""
    fill(page)
    page.browser.run(axe)
    found = []
    for width, scheme in product((1280, 800, 640, 390), ("light", "dark")):
        page.browser.show(width, scheme)
        for tab in ("text", "files", "word", "ids", "messages"):
            page.show_tab(tab)
            page.settle()
            found += [(width, scheme, tab, *one) for one in page.run(VIOLATIONS)]
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
    assert found == []


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_nothing_moves_when_a_bar_appears(page: Page, width: int) -> None:
    """While it loads, and when the text is over a limit."""
    places = (
        "return ['first', 'tabs', 'text', 'tokens', 'tokens-help'].map("
        "id => { const { x, y } = $(id).getBoundingClientRect(); return [id, x, y]; })"
    )
    page.browser.show(width)
    page.choose("model", "r50k_base")  # no context, so no bar
    page.run("$('fold').click()")
    page.type("one two three\n" * 20)
    before = page.run(places)
    page.run(
        "for (const id of ['progress', 'loaded']) $(id).hidden = false;"
        "$('loaded').textContent = '3.1 of 8.0 MB';"
        "$('status').className = ''; $('status').textContent = 'Loading…'"
    )
    loading = page.run(places)
    page.run(
        "for (const id of ['progress', 'loaded']) $(id).hidden = true;"
        "$('status').className = 'ready'; $('status').textContent = 'Ready.'"
    )
    page.choose("limit", 5)
    page.wait(lambda: page.run("return $('fitting').checkVisibility()"))
    over = page.run(places)
    page.run("$('fold').click()")
    assert loading == before
    assert over == before


def test_the_keyboard_reaches_everything(page: Page) -> None:
    page.run("$('fold').click(); document.activeElement.blur(); document.body.focus()")
    reached = []
    for _ in range(35):
        page.press("Tab")
        reached.append(page.run("return document.activeElement.id"))
    for id in (
        "model",
        "compare",
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
    folded = page.run("return [$('limit').checkVisibility(), $('model').checkVisibility()]")
    page.run("$('fold').click()")
    opened = page.run("return $('limit').checkVisibility()")
    small = []
    for tab in ("text", "files", "word", "ids", "messages"):
        page.show_tab(tab)
        small += page.run(
            "return $$('button, input, select, textarea, a').filter("
            "one => one.checkVisibility() && !one.closest('.hidden'))"
            ".filter(one => { const { width, height } = one.getBoundingClientRect();"
            " return width < 24 || height < 24 }).map(one => one.outerHTML.slice(0, 80))"
        )
    page.run("$('fold').click()")
    assert 0 <= place["top"] < place["bottom"] <= 900
    assert folded == [False, True]
    assert opened
    assert small == []


def test_the_number_comes_first_and_is_large(page: Page) -> None:
    """With the model beside it, a bar of its context, and a second one beside it to compare."""
    page.choose("model", "gpt-4")
    page.type("hello world " * 1_000)
    size, bar, width = page.run(
        "const card = $('first'), style = getComputedStyle(card.querySelector('.count'));"
        "const bar = card.querySelector('.bar-of');"
        "return [[style.fontSize, style.fontVariantNumeric],"
        " bar.firstElementChild.offsetWidth / bar.offsetWidth, bar.checkVisibility()]"
    )
    assert size == ["56px", "tabular-nums"]
    assert abs(bar - page.counts()["cl100k_base"] / 8_192) < 0.02
    assert width
    page.choose("other", "gpt-4o")
    page.choose("limit", 100)
    page.browser.show(1400)
    tops, over = page.run(
        "const cards = $$('#counts .card');"
        "return [cards.map(one => one.getBoundingClientRect().top),"
        " cards.map(one => one.querySelector('.bar-of').matches('.over'))]"
    )
    assert tops[0] == tops[1]
    assert over == [True, True]


def test_tokens_are_told_apart_in_forced_colors(page: Page) -> None:
    page.type("one two three")
    page.browser.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}]
    )
    borders, line, ground = page.run(
        "const style = (one, name) => getComputedStyle(one)[name];"
        "return [$$('#tokens .t').map(one => style(one, 'borderLeftWidth')),"
        " style($('tab-files'), 'borderBottomColor'), style(document.body, 'backgroundColor')]"
    )
    assert borders == ["1px"] * 3
    assert line == ground


def test_lines_begin_at_the_side_of_their_script(page: Page) -> None:
    assert page.run("return getComputedStyle($('text')).unicodeBidi") == "plaintext"
