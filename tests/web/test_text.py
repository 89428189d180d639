"""The text of the page in a real browser: its counts, its tokens, typing.

Run with ``pytest -m web tests/web``; it needs chromium, chromium-driver and npm.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import tiktoken

from compat_bpe import get_encoding, list_encoding_names
from compat_bpe.fit import split_text
from tests.corpora import TEXTS
from tests.web.page import Page

pytestmark = [pytest.mark.web, pytest.mark.usefixtures("references")]

FIXTURES = Path(__file__).parents[2] / "fixtures"
FAMILY = "👩\u200d👩\u200d👧"
TEXT = f"Hello wörld! {FAMILY} e\u0301\u0301 \t\n\n你好世界，नमस्ते <|endoftext|> \u200bx 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪🇫🇷\n"
NAMES = ["o200k_base", "cl100k_base", "p50k_base", "gpt2"]


def tokens_of(name: str, text: str) -> int:
    return len(tiktoken.get_encoding(name).encode_ordinary(text))


def corpus() -> dict[str, str]:
    """Natural texts of many kinds."""
    return {path.name: path.read_text("utf-8").replace("\r", "")[:120_000] for path in TEXTS}


@pytest.mark.smoke
@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_tiktoken(page: Page, name: str) -> None:
    page.choose("model", name)
    page.type(TEXT)
    assert page.counts() == {name: tokens_of(name, TEXT)}


def test_counts_of_corpora_are_those_of_tiktoken(page: Page) -> None:
    page.choose("other", "cl100k_base")
    for name, text in corpus().items():
        page.paste(text)
        expected = {name: tokens_of(name, text) for name in ("o200k_base", "cl100k_base")}
        assert page.counts() == expected, name
        page.clear()


@pytest.mark.smoke
def test_counts_follow_each_keystroke(page: Page) -> None:
    typed = ""
    for part in ["to", "ken", "iz", " ", "\U0001f600", "er", "\n", "\n", "  x", "é"]:
        page.type(part)
        typed += part
        assert page.counts() == {"o200k_base": tokens_of("o200k_base", typed)}
    for _ in range(3):
        page.press("Backspace")
        page.settle()
    typed = typed[:-3]
    page.press("ArrowLeft")
    page.type("中文")
    typed = f"{typed[:-1]}中文{typed[-1:]}"
    assert page.value("text") == typed
    assert page.counts() == {"o200k_base": tokens_of("o200k_base", typed)}


def test_an_emoji_that_changes_by_half_a_pair_is_counted(page: Page) -> None:
    page.type("a😀b")
    page.run("const t = $('text'); t.focus(); t.setSelectionRange(1, 3)")
    page.type("😁")
    assert page.counts() == {"o200k_base": tokens_of("o200k_base", "a😁b")}


def test_lone_surrogates_are_counted(page: Page) -> None:
    page.run("$('text').focus(); document.execCommand('insertText', false, 'a\\ud800b')")
    page.settle()
    assert page.counts() == {"o200k_base": get_encoding("o200k_base").count("a\ud800b")}
    assert "U+D800" in "".join(page.cells())


def test_what_cannot_be_seen_is_shown(page: Page) -> None:
    page.type("a b  \t\n\u200b\u202ex")
    shown = "".join(page.cells())
    assert shown == "a b··→\t↵\nU+200BU+202Ex"
    page.choose("spaces", True)
    assert "".join(page.cells()).startswith("a·b··")


def test_characters_of_several_tokens_stay_whole(page: Page) -> None:
    page.type(TEXT)
    cells = page.cells()
    for whole in [FAMILY, "e\u0301\u0301", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]:
        assert any(whole in cell for cell in cells), whole
    assert not any(cell.startswith(("\u0301", "\u200d")) for cell in cells)


def test_cells_say_the_tokens(page: Page) -> None:
    encoding = get_encoding("o200k_base")
    text = "Hello 👩\u200d👩 x"
    page.type(text)
    seen = []
    for at in range(len(page.cells())):
        page.point_at_token(at)
        page.wait(lambda: page.run("return !$('card').hidden"))
        seen += page.run(
            "return $$('#card .facts').map(facts => ["
            "Number(facts.dataset.id), facts.querySelector('.bytes').textContent,"
            "facts.querySelector('.rank').textContent])"
        )
    expected = [
        [one, encoding.decode_single_token_bytes(one).hex(" "), str(one)]
        for one in encoding.encode(text)
    ]
    assert seen == expected


def test_the_arrow_keys_go_from_token_to_token(page: Page) -> None:
    page.type("one two three")
    page.run("$('tokens').focus()")
    for expected in ["Token 1", "Token 2", "Token 3"]:
        page.press("ArrowRight")
        page.wait_for("card", expected)
    page.press("ArrowLeft")
    page.wait(lambda: "Token 2" in page.text_of("card"))
    page.press("Enter")
    assert page.run("return [document.activeElement.id, getSelection().toString()]") == [
        "text",
        " two",
    ]
    # Enter goes to the text, and is not typed there.
    page.settle()
    assert page.value("text") == "one two three"
    assert page.counts() == {"o200k_base": 3}


def test_special_tokens_are_tokens_if_that_is_chosen(page: Page) -> None:
    text = "a<|endoftext|>b 👩\u200d👩"
    page.type(text)
    assert page.counts() == {"o200k_base": tokens_of("o200k_base", text)}
    page.choose("special", True)
    ids = tiktoken.get_encoding("o200k_base").encode(text, allowed_special="all")
    assert page.counts() == {"o200k_base": len(ids)}
    assert page.texts(".t.special") == ["<|endoftext|>"]
    page.run("const t = $('text'); t.focus(); t.setSelectionRange(3, 3)")
    page.type("x")
    changed = text[:3] + "x" + text[3:]
    assert page.counts() == {"o200k_base": tokens_of("o200k_base", changed)}


def test_two_encodings_stand_side_by_side(page: Page) -> None:
    page.type("unbelievable tokenizations हिन्दी here")
    page.choose("other", "gpt2")
    assert page.counts() == {
        name: tokens_of(name, "unbelievable tokenizations हिन्दी here")
        for name in ("o200k_base", "gpt2")
    }
    for column in (0, 1):
        assert "".join(page.cells(column)) == "unbelievable tokenizations हिन्दी here"
    marked = [page.texts(f"#tokens .side:nth-child({column}) .differs") for column in (1, 2)]
    own, other = (set(page.cells(column)) for column in (0, 1))
    assert set(marked[0]) == own - other
    assert set(marked[1]) == other - own
    assert "gpt2" in page.text_of("heads")


def test_without_a_limit_nothing_is_behind_it(page: Page) -> None:
    page.type("one two three")
    page.wait(lambda: not page.run("return document.querySelector('#tokens .beyond')"))
    page.choose("other", "gpt2")
    page.settle()
    assert len(page.cells(1)) == 3
    assert page.run("return $$('#tokens .beyond').length") == 0


@pytest.mark.parametrize("limit", [0, 1, 5, 8])
def test_the_cut_of_a_limit_is_exact(page: Page, limit: int) -> None:
    text = "one two three 👩\u200d👩 four\nfive six seven"
    page.type(text)
    page.choose("limit", limit)
    assert (
        page.before_cut().replace("↵", "") == get_encoding("o200k_base").truncate(text, limit).text
    )
    over = tokens_of("o200k_base", text) - limit
    assert f"{over} over the limit" in page.text_of("counts")


def test_what_fits_and_the_parts_are_copied_and_saved(page: Page) -> None:
    text = "one two three 👩\u200d👩 four\nfive six seven"
    encoding = get_encoding("o200k_base")
    parts = [one.text for one in split_text(encoding, text, 5)]
    page.type(text)
    page.choose("limit", 100)
    assert page.run("return $('fitting').hidden")
    page.choose("limit", 5)
    page.wait(lambda: not page.run("return $('fitting').hidden"))
    page.run(
        "navigator.clipboard.writeText = async text => { window.copied = text };"
        "const make = URL.createObjectURL;"
        "URL.createObjectURL = blob => { window.saved = blob; return make(blob) };"
        "$('copy-fits').click()"
    )
    page.wait_for("copy-fits", "Copied")
    assert page.run("return window.copied") == encoding.truncate(text, 5).text
    page.run("$('split').click()")
    page.wait_for("split-said", f"{len(parts)} parts")
    page.run("$('part').value = '1'; $('copy-part').click()")
    page.wait_for("copy-part", "Copied")
    assert page.run("return window.copied") == parts[1]
    page.run("$('save-parts').click()")
    assert page.run("return window.saved.text().then(JSON.parse)") == parts
    page.choose("special", True)
    page.type("<|endoftext|>")
    page.run("$('split').click()")
    page.wait_for("split-said", "cannot be split while special tokens")


def test_all_encodings_are_counted_and_chosen_from(page: Page) -> None:
    text = "unbelievable tokenizations हिन्दी here"
    page.type(text)
    page.run("$('all').click()")
    page.wait_for("everywhere", "All encodings")
    page.type("!")
    page.wait_for("everywhere", f"{get_encoding('gpt2').count(text + '!')} gpt2")
    assert sorted(page.texts("#everywhere button")) == sorted(
        f"{get_encoding(name).count(text + '!')} {name}" for name in list_encoding_names()
    )
    page.run("document.querySelector('#everywhere [data-key=p50k_base]').click()")
    page.settle()
    assert page.counts() == {"p50k_base": get_encoding("p50k_base").count(text + "!")}
    page.run("$('all').click()")


@pytest.mark.parametrize("limit", ["-1", "1.5"])
def test_a_limit_that_is_no_number_of_tokens_says_so(page: Page, limit: str) -> None:
    page.type("one two")
    color = "return getComputedStyle($('limit')).borderTopColor"
    before = page.run(color)
    page.choose("limit", limit)
    assert page.run(color) != before
    assert "limit" not in page.text_of("counts")
    assert page.run("return document.querySelector('.cut')") is None


def test_a_limit_that_is_kept_cuts_nothing(page: Page) -> None:
    page.type("one two")
    page.choose("limit", 5)
    assert "3 left" in page.text_of("counts")
    assert page.run("return document.querySelector('.cut')") is None


def test_the_cut_is_marked_where_a_block_begins(page: Page) -> None:
    block = "one two three four five " * 21 + "six\n"  # ends with its line
    page.type(block + ("the next one begins here " * 21 + "\n") * 3)
    page.choose("limit", tokens_of("o200k_base", block))
    page.wait_for_one(".cut")
    assert page.run("return $$('.cut').length") == 1
    after = page.run("return document.querySelector('.cut').nextSibling.textContent")
    assert after == "the"


def test_ids_are_shown_and_copied(page: Page) -> None:
    text = "hello 👩\u200d👩 world\nthe end"
    ids = tiktoken.get_encoding("o200k_base").encode(text)
    page.type(text)
    page.choose("ids", True)
    assert [int(one) for cell in page.cells() for one in cell.split()] == ids
    page.choose("limit", 2)
    page.wait_for_one(".cut")
    page.run("navigator.clipboard.writeText = async text => { window.copied = text }")
    page.run("$('copy-ids').click()")
    page.wait_for("copy-ids", "Copied")
    assert page.run("return window.copied") == str(ids)
    page.run("$('copy-text').click()")
    page.wait_for("copy-text", "Copied")
    assert page.run("return window.copied") == text


def test_a_long_count_says_that_it_goes_on(page: Page) -> None:
    page.run(
        "window.said = [];"
        "new MutationObserver(() => said.push($('status').innerText))"
        ".observe($('status'), { childList: true })"
    )
    page.run("window.long = 'word and word, number 12345\\n'.repeat(150000)")
    page.run(
        "const transfer = new DataTransfer(); transfer.setData('text/plain', long);"
        "$('text').dispatchEvent(new ClipboardEvent('paste',"
        " { clipboardData: transfer, bubbles: true, cancelable: true }))"
    )
    page.settle()
    assert page.run("return said") == ["Counting…", "Ready."]
