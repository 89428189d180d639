"""A megabyte in the text field: edited in parts, drawn where it is in sight, counted as a whole."""

from __future__ import annotations

import pytest
import tiktoken

from tests.web.page import CONTROL, Page

pytestmark = [pytest.mark.web, pytest.mark.usefixtures("references")]

LINE = "Zeile {} of the file: naïve 👩\u200d👩 tokens, and more of them\n"
LONG = "".join(LINE.format(number) for number in range(16_000))


def tokens_of(text: str) -> int:
    return len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))


def value(page: Page) -> str:
    found: str = page.run("return $('text').value")
    return found


def test_a_long_text_is_edited_in_parts(page: Page) -> None:
    page.paste(LONG)
    assert len(LONG) > 900_000
    assert page.counts() == {"o200k_base": tokens_of(LONG)}
    assert "Long text" in page.text_of("parts")
    assert len(value(page)) < 50_000
    assert LONG.endswith(value(page))
    # Only what is in sight is drawn.
    assert page.run("return document.querySelectorAll('#tokens .block').length") < 20
    page.press("Home", CONTROL)
    page.type("first")
    assert page.counts() == {"o200k_base": tokens_of("first" + LONG)}
    assert value(page).startswith("firstZeile 0")
    page.run("$('part-after').click()")
    assert not value(page).startswith("first")
    page.type("middle")
    page.run("$('part-before').click()")
    assert ("first" + LONG).replace(value(page).replace("middle", ""), "") != "first" + LONG
    # All of it can be selected, copied and replaced.
    copied = page.copied()
    assert copied.replace("middle", "", 1) == "first" + LONG
    assert page.counts() == {"o200k_base": tokens_of(copied)}
    page.press("a", CONTROL)
    page.type("short")
    assert value(page) == "short"
    assert page.counts() == {"o200k_base": 1}


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
    end = value(page)[-30:]
    page.press("ArrowRight")
    page.type("HERE")
    text = value(page)
    before = text[: text.index("HERE")]
    # The caret was at the end of the part, and moved one character on.
    assert before[:-1].endswith(end)
    assert before in LONG
    assert page.counts() == {"o200k_base": tokens_of(page.copied())}


def test_after_a_slow_count_the_next_one_does_not_wait_for_the_tokens(page: Page) -> None:
    page.paste("a word " * 100)
    # Each answer takes 200 ms at least, as in a text that takes long to count.
    page.run(
        "window.asked = []; const post = Worker.prototype.postMessage;"
        "Worker.prototype.postMessage = function (message, ...more) {"
        " asked.push(message.asked.question?.ask);"
        " setTimeout(() => post.call(this, message, ...more), 200) };"
    )
    # A letter as soon as the one before is counted: a later one may come after the pause in which
    # the tokens are asked for, on a busy machine.
    page.run(
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
    page.settle()
    asked = page.run("return asked")
    assert [one for one in asked if one == "edit"] == ["edit"] * 3
    assert asked[:3] == ["edit"] * 3
    assert "blocks" in asked[3:]
    page.clear()
