"""The text field: a megabyte edited in parts, and steps undone and done again."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.page import CONTROL, SHIFT, Page

pytestmark = [pytest.mark.web, pytest.mark.usefixtures("references")]

LINE = "Zeile {} of the file: naïve 👩\u200d👩 tokens, and more of them\n"
LONG = "".join(LINE.format(number) for number in range(16_000))


def tokens_of(text: str) -> int:
    return len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))


def test_a_long_text_is_edited_in_parts(page: Page) -> None:
    page.paste(LONG)
    assert len(LONG) > 900_000
    assert page.counts() == {"o200k_base": tokens_of(LONG)}
    assert "Long text" in page.text_of("parts")
    assert len(page.value("text")) < 50_000
    assert LONG.endswith(page.value("text"))
    # Only what is in sight is drawn.
    assert page.run("return $$('#tokens .block').length") < 20
    page.press("Home", CONTROL)
    page.type("first")
    assert page.counts() == {"o200k_base": tokens_of("first" + LONG)}
    assert page.value("text").startswith("firstZeile 0")
    page.run("$('part-after').click()")
    assert not page.value("text").startswith("first")
    page.type("middle")
    page.run("$('part-before').click()")
    assert ("first" + LONG).replace(page.value("text").replace("middle", ""), "") != "first" + LONG
    # All of it can be selected, copied and replaced.
    copied = page.copied()
    assert copied.replace("middle", "", 1) == "first" + LONG
    assert page.counts() == {"o200k_base": tokens_of(copied)}
    page.press("a", CONTROL)
    page.type("short")
    assert page.value("text") == "short"
    assert page.counts() == {"o200k_base": 1}


def test_all_that_a_menu_selects_is_all_of_the_text(page: Page) -> None:
    page.paste(LONG)
    page.run("$('text').focus(); document.execCommand('selectAll')")
    count = tokens_of(LONG)
    page.wait_for("selected", f"Selected: {count:,} tokens, {len(LONG):,} characters")
    page.press("ArrowLeft")  # to its beginning, as in every field
    assert page.value("text").startswith("Zeile 0 ")
    assert page.run("return $('text').selectionEnd") == 0
    page.run("document.execCommand('selectAll')")
    page.type("short")
    assert page.value("text") == "short"
    assert page.counts() == {"o200k_base": 1}
    page.press("z", CONTROL)
    page.settle()
    assert page.counts() == {"o200k_base": count}


def test_all_of_a_long_text_can_be_scrolled_through(page: Page) -> None:
    page.paste(LONG)
    shown = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        for _ in range(3):  # heights are guessed until what they are of is drawn
            page.run(
                "const view = $('tokens');"
                "view.scrollTop = arguments[0] * (view.scrollHeight - view.clientHeight)",
                share,
            )
            page.settle()
        shown.append("".join(page.cells()).replace("·", " "))
    whole = LONG.replace("\n", "↵\n")
    assert all(part in whole and len(part) > 500 for part in shown)
    assert whole.startswith(shown[0])
    assert whole.endswith(shown[-1])


def test_the_caret_goes_from_part_to_part(page: Page) -> None:
    page.paste(LONG)
    page.press("Home", CONTROL)
    page.run("const t = $('text'); t.setSelectionRange(t.value.length, t.value.length)")
    end = page.value("text")[-30:]
    page.press("ArrowRight")
    page.type("HERE")
    text = page.value("text")
    before = text[: text.index("HERE")]
    # The caret was at the end of the part, and moved one character on.
    assert before[:-1].endswith(end)
    assert before in LONG
    assert page.counts() == {"o200k_base": tokens_of(page.copied())}


@pytest.fixture
def slow_page(page: Page) -> Iterator[Page]:
    """The page with a worker that takes 200 ms longer; ``asked`` has the questions to it."""
    page.run(
        "window.asked = []; window.post = Worker.prototype.postMessage;"
        "Worker.prototype.postMessage = function (message, ...more) {"
        " asked.push(message.asked.question?.ask);"
        " setTimeout(() => post.call(this, message, ...more), 200) };"
    )
    yield page
    page.settle()
    page.run("Worker.prototype.postMessage = post")


def test_an_edit_that_is_undone_while_it_is_counted(slow_page: Page) -> None:
    slow_page.paste("one two three four")
    before = slow_page.cells()
    slow_page.run("asked.length = 0")
    busy = slow_page.run(
        "$('text').focus();"
        "$('text').setSelectionRange(0, $('text').value.length);"
        "document.execCommand('delete');"
        "document.execCommand('insertText', false, 'one two three four');"
        "document.dispatchEvent(new Event('selectionchange'));"
        "return $('counts').getAttribute('aria-busy')"
    )
    # The worker's text is not that of the page, so its answers would be of another one.
    assert busy == "true"
    slow_page.settle()
    asked = [one for one in slow_page.run("return asked") if one in ("edit", "blocks")]
    assert asked[:2] == ["edit", "edit"]
    assert slow_page.cells() == before
    assert slow_page.counts() == {"o200k_base": tokens_of("one two three four")}


def test_after_a_slow_count_the_next_one_does_not_wait_for_the_tokens(slow_page: Page) -> None:
    slow_page.paste("a word " * 100)
    slow_page.run("asked.length = 0")
    # A letter as soon as the one before is counted: a later one may come after the pause in which
    # the tokens are asked for, on a busy machine.
    slow_page.run(
        "const counts = $('counts'), letters = ['a', 'b', 'c'];"
        "const type = () => document.execCommand('insertText', false, letters.shift());"
        "$('text').focus();"
        "return new Promise(done => {"
        " const observer = new MutationObserver(() => {"
        "  if (counts.getAttribute('aria-busy') === 'true') return;"
        "  if (letters.length) type(); else { observer.disconnect(); done() } });"
        " observer.observe(counts, { attributeFilter: ['aria-busy'] });"
        " type() })"
    )
    slow_page.settle()
    asked = slow_page.run("return asked")
    assert [one for one in asked if one == "edit"] == ["edit"] * 3
    assert asked[:3] == ["edit"] * 3
    assert "blocks" in asked[3:]
    slow_page.clear()


LINES = "".join(f"Line {number} of a long text, naïve 👩\u200d👩\n" for number in range(4_000))


def text(page: Page) -> str:
    """Return all of the text, also what the field does not hold."""
    return page.value("text") if page.run("return $('parts').hidden") else page.copied()


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
    page.paste(LINES)
    count = page.counts()
    page.press("Home", CONTROL)
    page.type("first")
    page.press("End", CONTROL)
    page.type("last")
    edited = page.counts()
    assert text(page) == f"first{LINES}last"
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
    assert text(page) == f"first{LINES}last"
    assert page.counts() == edited
    for _ in range(3):
        undo(page)
    assert page.counts() == {"o200k_base": 0}
    redo(page)
    assert text(page) == LINES


def test_what_stays_in_sight_does_not_move(page: Page) -> None:
    page.paste(LINES)
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
        return import('./js/text.js').then(({ Model }) => {
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
