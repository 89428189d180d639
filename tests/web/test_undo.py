"""Undoing and redoing in the text field, also where it holds a part of a long text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.page import CONTROL, SHIFT, Page

pytestmark = pytest.mark.web

LONG = "".join(f"Line {number} of a long text, naïve 👩\u200d👩\n" for number in range(4_000))


def text(page: Page) -> str:
    """Return all of the text, also what the field does not hold."""
    found: str = page.run("return $('text').value")
    if page.run("return $('parts').hidden"):
        return found
    return page.copied()


def undo(page: Page) -> None:
    page.press("z", CONTROL)
    page.settle()


def redo(page: Page) -> None:
    page.press("z", CONTROL | SHIFT)
    page.settle()


def test_words_and_deletions_are_steps(page: Page) -> None:
    for letter in "one two":
        page.type(letter)
    for _ in range(2):
        page.press("Backspace")
    page.settle()
    # The deletions are within the word that was still typed.
    states = []
    for _ in range(3):
        states.append(text(page))
        undo(page)
    assert states == ["one t", "one ", ""]
    for _ in range(3):
        redo(page)
    assert text(page) == "one t"
    undo(page)
    page.type("x")
    redo(page)  # there is nothing to do again after another edit
    assert text(page) == "one x"
    for _ in range(3):
        page.press("ArrowLeft")  # ends the step
    for _ in range(2):
        page.press("Backspace")
    page.settle()
    assert text(page) == "e x"
    undo(page)
    assert text(page) == "one x"


def test_the_menu_undoes_and_redoes_too(page: Page) -> None:
    page.type("hello ")
    page.type("world")
    for kind, expected in [("Undo", "hello "), ("Undo", ""), ("Redo", "hello ")]:
        page.run(
            "$('text').dispatchEvent(new InputEvent('beforeinput',"
            " { inputType: `history${arguments[0]}`, cancelable: true }))",
            kind,
        )
        assert text(page) == expected


def test_a_text_that_was_cleared_comes_back(page: Page) -> None:
    page.type("hello world")
    page.clear()
    page.run("$('text').focus()")
    undo(page)
    assert text(page) == "hello world"
    assert page.counts() == {"o200k_base": 2}


def test_undo_works_when_another_part_of_a_long_text_is_shown(page: Page) -> None:
    page.paste(LONG)
    count = page.counts()
    page.press("Home", CONTROL)
    page.type("first")
    page.press("End", CONTROL)
    page.type("last")
    edited = page.counts()
    assert text(page) == f"first{LONG}last"
    undo(page)
    undo(page)
    assert page.counts() == count
    # The place of what was undone is in sight, with the caret there.
    assert page.run("return [$('text').value.startsWith('Line 0'), $('text').selectionStart]") == [
        True,
        0,
    ]
    redo(page)
    redo(page)
    assert text(page) == f"first{LONG}last"
    assert page.counts() == edited
    for _ in range(3):
        undo(page)
    assert page.counts() == {"o200k_base": 0}
    redo(page)
    assert text(page) == LONG


def test_what_stays_in_sight_does_not_move(page: Page) -> None:
    page.paste(LONG)
    page.press("Home", CONTROL)
    page.run(
        "const t = $('text'); t.setSelectionRange(15000, 15000);"
        "t.scrollTop = t.scrollHeight * 15000 / t.value.length - 200"
    )
    page.run("$('text').blur(); $('text').focus()")
    before = page.run("return $('text').scrollTop")
    page.type("x")
    page.type("y")
    seen = "return [$('text').value.slice(0, 20), Math.round($('text').scrollTop)]"
    assert page.run(seen) == ["Line 0 of a long tex", before]
    undo(page)
    assert page.run(seen) == ["Line 0 of a long tex", before]


pieces = st.sampled_from(["a", "b", " ", "\n", "é", "😀", "\ud800", "word and word", ""])
edits = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 4), pieces, st.booleans(), st.booleans()),
    max_size=20,
)


@settings(max_examples=60, deadline=None)
@given(edits)
def test_all_steps_lead_back_and_forth(
    opened: Page, edits: list[tuple[int, int, str, bool, bool]]
) -> None:
    """Undoing all gives the text of before, redoing all the last one, whatever was one step."""
    page = opened
    found = page.run(
        """
        return import('./js/model.js').then(({ Model }) => {
          const model = new Model();
          model.set('the text of before');
          model.history.done = [];
          for (const [place, length, text, isTyped, closes] of JSON.parse(arguments[0])) {
            const start = Math.min(place, model.text.length);
            const end = Math.min(start + length, model.text.length);
            model.replace(start, end, text, isTyped ? {} : null);
            if (closes) model.history.close();
          }
          const last = model.text, steps = model.history.done.length;
          for (let i = 0; i < steps; i++) model.undo();
          const first = model.text;
          for (let i = 0; i < steps; i++) model.redo();
          return [first, model.text === last, model.history.undone.length];
        })""".replace("arguments[0]", json.dumps(json.dumps(edits))),
    )
    assert found == ["the text of before", True, 0]
