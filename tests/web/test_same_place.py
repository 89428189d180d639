"""The text and its tokens at the same place: scrolled together, marked, their facts in sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.web.page import CONTROL, Page

pytestmark = pytest.mark.web

LINES = "".join(f"line {number} with some words of its own\n" for number in range(400))


def first_line(page: Page, id: str) -> int:
    """Return the number of the first line in sight of a pane."""
    if id == "tokens":
        script = """
            const top = $('tokens').getBoundingClientRect().top + 12;
            const seen = $$('#tokens .t').find(one =>
              one.getBoundingClientRect().bottom > top && /^ ?\\d+$/.test(one.textContent));
            return Number(seen.textContent)"""
        return int(page.run(script))
    lines: float = page.run(
        "const style = getComputedStyle($('text'));"
        "return $('text').scrollTop / parseFloat(style.lineHeight)"
    )
    return round(lines)


def seen_tokens(page: Page) -> str:
    """Return the text of the tokens that are in sight."""
    script = """
        const pane = $('tokens').getBoundingClientRect();
        return $$('#tokens .t').filter(one => {
          const { top, bottom } = one.getBoundingClientRect();
          return top >= pane.top && bottom <= pane.bottom;
        }).map(one => one.textContent).join('').replaceAll('·', ' ')"""
    return str(page.run(script))


def wheel(page: Page, id: str, pixels: int) -> None:
    page.mouse(id)
    page.mouse(id, "mouseWheel", deltaX=0, deltaY=pixels)
    page.settle()
    page.settle()


@pytest.mark.parametrize(("leader", "other"), [("text", "tokens"), ("tokens", "text")])
def test_the_panes_scroll_together(page: Page, leader: str, other: str) -> None:
    page.paste(LINES)
    for id in ("text", "tokens"):
        page.run("$(arguments[0]).scrollTop = 0", id)
    page.settle()
    for pixels in (1200, 3000, -2000):
        wheel(page, leader, pixels)
        at = first_line(page, leader)
        assert at > 20
        assert abs(first_line(page, other) - at) <= 2, pixels


def test_the_panes_are_at_one_place_after_a_long_paste(page: Page) -> None:
    lines = "".join(
        f"line {number} of(code)\n" + "    if x:\n" * (number % 9) for number in range(5000)
    )
    page.paste(lines)
    page.wait(lambda: page.run("return $('tokens').ariaBusy") != "true")
    page.settle()
    assert "line 4999 of(code)" in seen_tokens(page)


def test_the_panes_are_at_one_place_where_lines_are_unlike(page: Page) -> None:
    """Short lines and long ones take unlike room, so a place that is not drawn is hard to guess."""
    prose_and_code = Path("README.md").read_text(encoding="utf-8")
    for times in (6, 9, 7):
        page.press("a", CONTROL)
        page.paste(prose_and_code * times + prose_and_code.upper())
        page.wait(lambda: page.run("return $('tokens').ariaBusy") != "true")
        page.settle()
        assert seen_tokens(page).isupper()


def test_the_panes_are_at_one_place_in_another_width(page: Page) -> None:
    page.paste(LINES)
    page.run("$('text').scrollTop = 6000")
    page.settle()
    for width in (700, 390, 1200):
        page.browser.show(width)
        page.settle()
    assert abs(first_line(page, "tokens") - first_line(page, "text")) <= 2


@pytest.mark.parametrize(("width", "height"), [(1366, 650), (390, 844)])
def test_the_facts_are_in_sight_where_the_pointer_is(page: Page, width: int, height: int) -> None:
    page.type("hello world again")
    page.browser.show(width, height=height)
    page.run("scrollTo(0, 0)")
    page.settle()
    page.run("if (innerWidth < 600) $('tokens').scrollIntoView()")
    x, y = page.run(
        "const place = $$('#tokens .t')[1].getBoundingClientRect();"
        "return [place.x + 5, place.y + 5]"
    )
    assert y < height
    page.browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    page.wait_for("card", "Token 2")
    place = page.run("return $('card').getBoundingClientRect().toJSON()")
    assert 0 <= place["top"] < place["bottom"] <= height
    assert 0 <= place["left"] < place["right"] <= width
    assert abs(place["top"] - y) < 60


@pytest.mark.parametrize(("width", "height"), [(1280, 600), (1366, 657), (1280, 500)])
def test_nothing_lies_beneath_the_panes(page: Page, width: int, height: int) -> None:
    page.paste(LINES)
    page.browser.show(width, height=height)
    page.settle()
    panes, footer = page.run(
        "return [$$('.pane').map(one => one.getBoundingClientRect().bottom),"
        " document.querySelector('footer').getBoundingClientRect().top]"
    )
    assert max(panes) <= footer


def test_keys_go_from_line_to_line_of_the_tokens(page: Page) -> None:
    page.paste(LINES)
    page.run("$('tokens').focus()")

    def press(key: str, modifiers: int = 0) -> str:
        page.press(key, modifiers)
        page.settle()
        found: str = page.run(
            "const line = document.querySelector('#tokens .current')?.closest('.block');"
            "const cells = line ? [...line.querySelectorAll('.t')] : [];"
            "const at = cells.findIndex(one => one.matches('.current'));"
            "let from = at; while (from && !cells[from - 1].textContent.includes('↵')) from--;"
            "return cells.slice(from, at + 1).map(one => one.textContent).join('')"
        )
        return found.replace("·", " ").strip("↵\n")

    assert press("Home", CONTROL) == "line"
    assert press("ArrowDown") == "line"
    assert press("End") == "line 1 with some words of its own"
    assert press("ArrowUp") == "line 0 with some words of its own"
    assert press("Home") == "line"
    assert press("PageDown") == "line"
    number = page.run("return document.querySelector('#card .number').textContent")
    assert int(number.split()[-1].replace(",", "")) > 60
    assert press("PageUp") == "line"
    assert press("End", CONTROL) == "line 399 with some words of its own"


def test_escape_hides_the_facts(page: Page) -> None:
    page.type("one two")
    page.run("$('tokens').focus()")
    page.press("ArrowRight")
    page.wait_for("card", "Token 1")
    assert not page.run("return $('card').hidden")
    page.press("Escape")
    assert page.run("return $('card').hidden")


def test_a_token_that_is_pointed_at_is_marked_in_the_text(page: Page) -> None:
    page.type("one two\nthree four")
    page.run("$('tokens').focus()")
    for _ in range(5):
        page.press("ArrowRight")
    page.wait_for("card", "Token 5")
    marked, line = page.run(
        "const box = document.querySelector('.same i').getBoundingClientRect();"
        "const field = $('text').getBoundingClientRect(), style = getComputedStyle($('text'));"
        "return [[box.left - field.left, box.top - field.top, box.width],"
        " parseFloat(style.lineHeight)]"
    )
    assert marked[0] > 40  # behind "three"
    assert marked[1] > line  # in the second line
    assert marked[2] > 20


def test_a_selection_is_counted_and_marked_among_the_tokens(page: Page) -> None:
    page.type("one two three four")
    page.run("$('text').focus(); $('text').setSelectionRange(4, 13)")
    count = get_encoding("o200k_base").count("two three")
    page.wait_for("selected", f"Selected: {count} tokens, 9 characters")
    assert page.texts(".t.chosen") == [" two", " three"]
    page.run("$('text').setSelectionRange(0, 0)")
    page.wait(lambda: page.text_of("selected") == "")
    assert page.texts(".t.chosen") == ["one"]


def test_no_token_is_marked_before_anything_is_clicked(page: Page) -> None:
    page.open("#encoding=o200k_base&text=one%20two")
    page.settle()
    assert page.run("return document.activeElement.id") == "text"
    assert page.texts(".t.chosen") == []
    page.press("ArrowLeft")
    page.wait(lambda: len(page.texts(".t.chosen")) == 1)


def test_a_special_token_in_a_line_from_right_to_left_stays_whole(page: Page) -> None:
    page.choose("special", True)
    page.type("שלום <|endoftext|> עולם")
    special, parts = page.run(
        "const one = document.querySelector('#tokens .special');"
        "return [one.textContent, one.getClientRects().length]"
    )
    assert special == "<|endoftext|>"
    assert parts == 1
    # Its characters are in the order of writing.
    lefts = page.run(
        "const node = document.querySelector('#tokens .special').lastChild;"
        "return [...node.data].map((_, at) => { const range = document.createRange();"
        " range.setStart(node, at); range.setEnd(node, at + 1);"
        " return range.getBoundingClientRect().left })"
    )
    assert lefts == sorted(lefts)
