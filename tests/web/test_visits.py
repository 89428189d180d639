"""Visits: by links, again, without https, with a new version; and what is said while it loads."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.parse import urlencode

import pytest

from compat_bpe import get_encoding
from tests.chat.images import address
from tests.questions import QUESTIONS, TEXT
from tests.web.page import CONTROL, Page
from tests.web.server import served
from tools.browser import Browser
from web.build import sizes
from web.model_list import models

pytestmark = pytest.mark.web

GPT2 = get_encoding("gpt2").count(TEXT)
EXAMPLE = re.findall(
    "`(.*)`", (Path(__file__).parents[2] / "web/site/js/example.js").read_text("utf-8"), re.DOTALL
)[0]
EXAMPLE_COUNTS = {"o200k_base": get_encoding("o200k_base").count(EXAMPLE)}
OWN = b'{"model": {"type": "Unigram", "vocab": [["a", -1.0], ["b", -1.0]]}}'


def settings_of(page: Page) -> list[str]:
    found: list[str] = page.run("return ['model', 'other', 'limit', 'text'].map(id => $(id).value)")
    return found


def messages_of(page: Page) -> list[list[str]]:
    values = "$$('select, textarea', item).map(one => one.value)"
    found: list[list[str]] = page.run(f"return $$('#messages li').map(item => {values})")
    return found


def reload(page: Page) -> None:
    """Load the page again, and wait until it has counted."""
    page.run("window.isOld = true")
    page.browser.devtools("Page.reload")
    page.wait(lambda: not page.run("return window.isOld") and page.text_of("status") == "Ready.")
    page.settle()


@pytest.mark.parametrize(
    ("hash", "reason"),
    [
        (
            "encoding=<script>&limit=-5&compare=zzz&special=yes&text=",
            "unknown encoding '<script>'; the encodings are gpt2, ",
        ),
        ("compare=qwen3:8b", "Qwen 3, which is not included; drop tokenizer.json and "),
        ("limit=99999999999999&ids=0&tab=none&%%%", ""),
        ("limit=1e3&limit=2", ""),
    ],
)
def test_a_wrong_link_changes_nothing_and_says_why(page: Page, hash: str, reason: str) -> None:
    page.run("location.hash = arguments[0]", hash)
    page.settle()
    assert settings_of(page) == ["o200k_base", "", "", ""]
    assert page.counts() == {"o200k_base": 0}
    assert reason in page.text_of("notices")


def test_a_link_holds_what_is_seen(page: Page) -> None:
    page.follow("model=gpt-4&tab=word&word=strawberry")
    page.wait(lambda: "straw" in page.text_of("steps"))
    assert page.run("return [$('panel-word').hidden, $('panel-text').hidden]") == [False, True]
    page.run("$('word').value = 'hugs'; $('word').dispatchEvent(new Event('input'))")
    page.wait(lambda: "word=hugs" in page.run("return location.hash"))
    page.show_tab("ids")
    page.run("$('id-list').value = '[15339]'; $('id-list').dispatchEvent(new Event('input'))")
    page.wait(lambda: "list=%5B15339%5D" in page.run("return location.hash"))
    hash = page.run("return location.hash")
    page.open(hash)
    page.wait_for("decoded", "hello")
    assert page.run("return [$('panel-ids').hidden, $('model').value]") == [False, "gpt-4"]
    page.show_tab("text")


def test_every_question_about_a_tokenizer_has_its_answer(page: Page) -> None:
    """The table of all surfaces, by links in the open page."""
    page.type(TEXT)
    for question in QUESTIONS:
        page.follow("encoding=gpt2")
        page.follow(urlencode({question.field: question.name}))
        said = page.text_of("notices")
        if question.tokens is None:
            assert question.reason in said.replace("\xa0", " "), question
            assert page.counts() == {"gpt2": GPT2}
        else:
            assert (said, list(page.counts().values())) == ("", [question.tokens]), question


def test_links_work_in_the_open_page_and_back_and_forth(page: Page) -> None:
    page.choose("model", "cl100k_base")
    page.choose("limit", 7)
    page.run("location.hash = 'encoding=gpt2&compare=r50k_base&text=hello%20world'")
    page.wait(lambda: page.counts() == {"gpt2": 2, "r50k_base": 2})
    assert settings_of(page) == ["gpt2", "r50k_base", "", "hello world"]
    page.run("history.back()")
    page.wait(lambda: "cl100k_base" in page.counts())
    page.settle()
    assert settings_of(page) == ["cl100k_base", "", "7", "hello world"]


def test_text_and_settings_are_still_there_after_a_reload(page: Page) -> None:
    page.type("hello world")
    page.choose("other", "gpt2")
    page.choose("limit", 1)
    page.choose("ids", True)
    reload(page)
    assert settings_of(page) == ["o200k_base", "gpt2", "1", "hello world"]
    assert page.run("return $('ids').checked && !$('spaces').checked")
    assert page.counts() == {"o200k_base": 2, "gpt2": 2}
    page.forget()
    reload(page)
    assert settings_of(page) == ["o200k_base", "gpt2", "1", EXAMPLE]


def test_loaded_tokenizers_are_still_there_after_a_reload_until_forgotten(page: Page) -> None:
    page.type("ab")
    page.drop({"tokenizer.json": OWN})
    page.own_counts()
    page.settle()
    name = page.value("model")
    page.wait(lambda: page.run("return caches.keys().then(all => all.some(n => /own/.test(n)))"))
    page.settle()
    reload(page)
    page.wait(lambda: page.value("model") == name)
    page.wait(lambda: list(page.counts().values()) == [2])
    assert [key.startswith("file:") for key in page.counts()] == [True]
    page.forget()
    reload(page)
    assert page.value("model") == "gpt-4o"
    assert page.counts() == EXAMPLE_COUNTS


def test_what_is_forgotten_is_asked_for_and_does_not_come_back(page: Page) -> None:
    page.type("secret")
    page.run("$('forget').click()")
    assert "cannot be undone" in page.text_of("forgetting")
    page.run("document.querySelector('#forgetting [value=\"\"]').click()")
    assert page.value("text") == "secret"
    page.forget()
    page.run("$('text').focus()")
    page.press("z", CONTROL)
    page.settle()
    assert page.value("text") == ""


def test_messages_are_still_there_after_a_reload_until_forgotten(page: Page) -> None:
    """With their tools, and with what their texts do not show."""
    image = {"type": "image_url", "image_url": {"url": address()}}
    parts = [{"type": "text", "text": "hello"}, image]
    tool = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
    messages = [{"role": "user", "content": parts}]
    form = {"type": "json_object"}
    request = {"messages": messages, "tools": [tool], "response_format": form}
    page.show_tab("messages")
    first = messages_of(page)
    page.run("$('paste-request').click()")
    page.submit("request", json.dumps(request))
    page.wait(lambda: messages_of(page) == [["user", "hello"]])
    page.settle()
    page.run("$('add-message').click()")
    page.run(
        "const last = $$('#messages textarea').pop();"
        "last.value = 'world'; last.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    page.settle()
    reload(page)
    page.show_tab("messages")
    assert messages_of(page) == [["user", "hello"], ["assistant", "world"]]
    kept = page.run("return Object.entries(localStorage).find(([key]) => key.includes('messages'))")
    assert json.loads(kept[1]) == {
        "messages": [*messages, {"role": "assistant", "content": "world"}],
        "tools": [tool],
        "response_format": form,
    }
    page.wait_for("request-chips", "form of the reply")
    page.forget()
    assert messages_of(page) == first
    reload(page)
    assert messages_of(page) == first


@pytest.mark.parametrize("kept", ["{", "[]", '{"messages": [1]}', '{"messages": [{"role": 5}]}'])
def test_kept_messages_of_another_version_do_no_harm(page: Page, kept: str) -> None:
    first = messages_of(page)
    page.run(
        "addEventListener('pagehide', () => localStorage.setItem("
        "`compat_bpe messages ${new URL('./', document.baseURI).pathname}`, arguments[0]))",
        kept,
    )
    reload(page)
    assert messages_of(page) == first
    assert page.errors() == []


def test_it_opens_ready_to_use(page: Page) -> None:
    page.run("location.hash = ''")
    reload(page)
    assert page.run("return document.activeElement.id") == "text"
    # The vocabulary, a seventh of all, is kept and not fetched again.
    assert page.run("return $('progress').hidden && $('progress').value > 0.8")
    assert page.value("text") == EXAMPLE
    assert page.counts() == EXAMPLE_COUNTS


def test_the_first_visit_shows_an_example_that_the_first_key_replaces(built: Path) -> None:
    """With its tokens, made when the page was built, before Python is there."""
    with served(built, 2_000_000) as address, Browser() as browser:
        page = Page(browser, address)
        browser.open(address)
        page.wait(page.cells)
        early = page.cells()
        assert page.text_of("status") == "Loading…"
        assert page.counts() == EXAMPLE_COUNTS
        assert page.value("text") == EXAMPLE
        page.wait(lambda: page.text_of("status") == "Ready.")
        page.settle()
        assert page.cells() == early
        assert page.run("return $$('#tokens .chosen').length") == 0
        page.browser.devtools("Page.reload")  # it is not kept as a text of the visitor's
        page.wait(lambda: page.cells() == early and page.text_of("status") == "Ready.")
        page.type("x")
        assert page.value("text") == "x"
        assert page.counts() == {"o200k_base": 1}


def test_a_link_to_it_has_a_preview_and_it_links_to_its_documentation(page: Page) -> None:
    image = page.run("return document.querySelector('[property=\"og:image\"]').content")
    assert image == "https://example.org/count/preview.png"
    size = page.run(
        "return fetch('preview.png').then(one => one.blob()).then(createImageBitmap)"
        ".then(one => [one.width, one.height])"
    )
    assert size == [1200, 630]
    links = page.run(
        "return $$('footer a').map(one => [one.textContent, one.getAttribute('href')])"
    )
    assert links == [["Documentation", "../"], ["Licences", "NOTICE.txt"]]
    assert "pip install ." in page.run("return document.querySelector('footer').innerText")
    assert page.run("return document.title && document.querySelector('link[rel=icon]').href")


def test_a_first_visit_loads_what_its_count_needs(built: Path, tmp_path: Path) -> None:
    """10 Mbit/s bring it within 5.5 s, and no module that comes later is needed to count."""
    parts = sizes(built)
    wanted = ("runtime", "compat_bpe", "page", "o200k_base")
    assert sum(min(parts[name]) for name in wanted) < 5.5 * 1_250_000
    shutil.copytree(built, tmp_path / "page")
    (tmp_path / "page" / "rest.bin").write_bytes(b"")
    with served(tmp_path / "page") as address, Browser() as browser:
        page = Page(browser, address)
        page.open()
        for text in (TEXT, "x" * 5_000, "<|endoftext|> 世界", " " * 3_000 + "naïve"):
            page.clear()
            page.type(text)
            assert page.counts() == {"o200k_base": get_encoding("o200k_base").count(text)}
            page.wait(page.cells)


def test_while_it_loads_it_says_how_far_it_is_and_estimates(built: Path) -> None:
    with served(built) as address, Browser() as browser:
        browser.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            source="""
                window.said = [];
                document.addEventListener('readystatechange', () => {
                  if (document.readyState !== 'interactive') return;
                  document.getElementById('text').value = 'hello world, and more';
                  for (const one of document.querySelectorAll('#loaded, #first .count')) {
                    new MutationObserver(() => said.push(one.textContent))
                      .observe(one, { childList: true });
                  }
                })""",
        )
        page = Page(browser, address)
        page.browser.open(address)
        page.wait(lambda: page.text_of("status") == "Ready.")
        said = page.run("return said")
        assert "≈ 6" in said
        assert any(re.fullmatch(r"\d+\.\d of \d+\.\d MB", one) for one in said), said
        assert said.index("≈ 6") < said.index("5")


def options(page: Page, typed: str) -> list[str]:
    """Return the names that are offered for what is typed into the field of the model."""
    page.run("$('model').focus(); document.execCommand('selectAll')")
    page.browser.devtools("Input.insertText", text=typed)
    return page.texts("#model-list [role=option] > span")


def test_every_family_is_found_by_typing(page: Page) -> None:
    page.type("hello world")
    listed = {row[0] for one in models() for row in one["models"]}
    for word in ["claude", "gemini", "Qwen", "Llama", "Gemma", "Mistral", "Kimi", "gpt-5"]:
        found = options(page, word)
        assert found, word
        assert listed.issuperset(found)
        assert any(word.lower() in one.lower() for one in found), word
    assert options(page, "claude")[0].startswith("claude-")
    page.press("ArrowDown")
    page.press("ArrowUp")
    page.press("Enter")
    page.settle()
    assert [key[:8] for key in page.counts()] == ["≈claude-"]
    assert options(page, "Qwen 3")[0] == "Qwen 3"
    page.press("Enter")
    page.wait_for("notices", "drop tokenizer.json and tokenizer_config.json of https://hugging")
    assert [key[:8] for key in page.counts()] == ["≈claude-"]  # what was chosen before
    assert options(page, "azure/eu/gpt-4o") == []
    page.press("Enter")
    page.settle()
    assert page.counts() == {"o200k_base": 2}
    assert options(page, "no such thing") == []
    page.press("Enter")
    page.settle()
    assert "unknown model 'no such thing'" in page.text_of("notices")
    assert page.value("model") == "azure/eu/gpt-4o"


def test_a_model_brings_encoding_and_context(page: Page) -> None:
    page.type("hello world")
    page.choose("model", "gpt-4")
    assert page.counts() == {"cl100k_base": 2}
    assert "% of 8,192" in page.text_of("counts")
    page.choose("other", "gpt-3.5-turbo")  # of the same encoding
    assert "the same number" in page.text_of("second")
    page.run("$('no-other').click()")
    page.settle()
    page.choose("model", "r50k_base")
    assert "%" not in page.text_of("counts")


def test_an_estimate_is_marked_with_its_reason_and_has_no_tokens(page: Page) -> None:
    page.type("hello world")
    page.choose("model", "claude-sonnet-4-5")
    assert page.counts() == {"≈claude-sonnet-4-5": 4}
    shown = page.text_of("counts")
    assert "≈ 4" in shown
    assert "Anthropic says a token is approximately 3.5 English characters" in shown
    assert page.cells() == []
    assert page.text_of("tokens") == "hello world"
    assert "no tokens to show" in page.text_of("tokens-help")
    assert page.run("return $('copy-ids').disabled")
    page.choose("limit", 2)
    page.wait_for_one(".cut")
    page.show_tab("word")
    page.wait_for("steps", "claude-sonnet-4-5 has no public tokenizer")
    page.drop({"a.txt": b"hello world"})
    page.wait(lambda: " counted" in page.text_of("files-said"))
    assert "≈claude-sonnet-4-5" in page.text_of("files-table")
    page.run("$('forget-files').click()")
    page.choose("model", "gpt-4o")
    assert "no tokens to show" not in page.text_of("tokens-help")
    assert not page.run("return $('copy-ids').disabled")


def test_a_file_says_that_it_needs_a_server(built: Path) -> None:
    with Browser() as browser:
        browser.open(built / "index.html")
        assert "web server" in browser.run("return document.getElementById('status').innerText")


def test_a_page_without_https_counts_and_copies_nothing(built: Path) -> None:
    with served(built) as address, Browser("--host-resolver-rules=MAP plain.test 127.0.0.1") as one:
        page = Page(one, address.replace("127.0.0.1", "plain.test"))
        page.open()
        page.type("hello world")
        assert page.run("return [isSecureContext, Boolean(navigator.serviceWorker)]") == [
            False,
            False,
        ]
        assert page.counts() == {"o200k_base": 2}
        page.run("$('copy-text').click()")
        page.wait_for("copy-text", "Not copied")
        page.wait_for("copy-text", "Copy")
        assert page.errors() == []


def test_a_full_disk_does_not_keep_the_page_from_counting(built: Path) -> None:
    with served(built) as address, Browser() as browser:
        origin = address.rstrip("/")
        browser.devtools("Storage.overrideQuotaForOrigin", origin=origin, quotaSize=100_000)
        page = Page(browser, address)
        page.open()
        page.type("hello world")
        assert page.counts() == {"o200k_base": 2}


def test_a_new_version_is_there_at_the_second_visit(built: Path, tmp_path: Path) -> None:
    site = tmp_path / "page"
    shutil.copytree(built, site)
    title = "return document.title"
    with served(site) as address, Browser() as browser:
        page = Page(browser, address)
        page.open()
        page.wait(lambda: page.run("return navigator.serviceWorker.controller !== null"))
        for name, old, new in [
            ("index.html", "<title>Token counter", "<title>New counter"),
            ("sw.js", '"version": "', '"version": "new'),
            ("build.json", '"version": "', '"version": "new'),
        ]:
            text = (site / name).read_text("utf-8")
            assert old in text
            (site / name).write_text(text.replace(old, new), "utf-8")
        # The worker of the version before is active, too: only the change of the two says enough.
        browser.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            source="navigator.serviceWorker.addEventListener('controllerchange',"
            " () => { window.hasNewWorker = true; });",
        )
        reload(page)
        assert page.run(title) == "Token counter"  # while the new one is fetched
        page.wait(lambda: page.run("return window.hasNewWorker === true"))
        reload(page)
        assert page.run(title) == "New counter"
        # Of the old one nothing is kept.
        page.wait(
            lambda: (
                ["new" in name for name in page.run("return caches.keys()") if "packs" not in name]
                == [True]
            )
        )
        page.type("hello world")
        assert page.counts() == {"o200k_base": 2}


def test_builds_at_one_address_keep_their_own(built: Path, tmp_path: Path) -> None:
    """Another version in another folder deletes nothing of this one."""
    for name in ("one", "two"):
        shutil.copytree(built, tmp_path / name)
    for name in ("sw.js", "build.json"):
        file = tmp_path / "two" / name
        file.write_text(file.read_text("utf-8").replace('"version": "', '"version": "new'), "utf-8")
    with served(tmp_path) as address, Browser() as browser:

        def visit(name: str) -> None:
            page = Page(browser, f"{address}{name}/")
            page.open()
            state = "return navigator.serviceWorker.ready.then(one => one.active.state)"
            page.wait(lambda: page.run(state) == "activated")
            page.type("hello world")
            assert page.counts() == {"o200k_base": 2}

        visit("one")
        visit("two")
        shutil.rmtree(tmp_path / "one")  # a visit is now as without a network
        visit("one")


def watch(page: Page) -> None:
    """Note what the status says from now on."""
    page.run(
        "window.said = [];"
        "window.watcher = new MutationObserver(() => said.push($('status').textContent));"
        "watcher.observe($('status'), { childList: true })"
    )


def said(page: Page) -> list[str]:
    found: list[str] = page.run("watcher.disconnect(); return said")
    return found


def test_it_is_not_ready_while_something_loads(page: Page) -> None:
    watch(page)
    page.choose("model", "p50k_edit")
    page.wait(lambda: "p50k_edit" in page.counts())
    heard = said(page)
    assert heard[0] == "Loading p50k_edit…"
    assert heard.index("Ready.") == len(heard) - 1
    watch(page)
    page.drop({"tokenizer.json": OWN})
    page.own_counts()
    page.settle()
    assert said(page)[0] == "Loading tokenizer.json…"


def test_a_tokenizer_that_fails_says_so_until_one_goes_on(page: Page) -> None:
    page.drop({"tokenizer.json": b'{"model": 1}'})
    page.wait_for("notices", "tokenizer.json")
    page.wait_for_one("#notices [role=alert]")
    bad, plain = page.run(
        "return [getComputedStyle(document.querySelector('.notice.failed span')).color,"
        " getComputedStyle(document.body).color]"
    )
    assert bad != plain
    page.type("a")
    assert page.text_of("notices") == ""


def test_two_tokenizers_are_told_apart_by_the_beginning_of_their_names(page: Page) -> None:
    names: list[str] = []
    for _ in range(2):
        page.drop({"tokenizer.json": OWN})
        page.wait(lambda: page.value("model") not in ["o200k_base", *names])
        page.settle()
        names.append(page.value("model"))
    one, two = names
    assert one[:10] != two[:10]
    assert one.endswith("tokenizer.json, 2 tokens")
    page.choose("other", one)
    heads = page.run("return [...$('heads').children].map(one => one.textContent)")
    assert len(set(heads)) == 2
