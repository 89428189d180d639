"""Visits: by links, back and forth, again, without https, with a new version of the page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.chat.images import address
from tests.web.page import CONTROL, Page
from tests.web.server import served
from tools.browser import Browser
from web.model_list import models

pytestmark = pytest.mark.web

OWN = b'{"model": {"type": "Unigram", "vocab": [["a", -1.0], ["b", -1.0]]}}'


def settings_of(page: Page) -> list[str]:
    found: list[str] = page.run(
        "return ['encoding', 'other', 'limit', 'text'].map(id => $(id).value)"
    )
    return found


def messages_of(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.run(
        "return [...document.querySelectorAll('#messages li')].map(item =>"
        " [item.querySelector('select').value, item.querySelector('textarea').value])"
    )
    return found


def reload(page: Page) -> None:
    """Load the page again, and wait until it has counted."""
    page.run("window.isOld = true")
    page.browser.devtools("Page.reload")
    page.wait(lambda: not page.run("return window.isOld") and page.text_of("status") == "Ready.")
    page.settle()


@pytest.mark.parametrize(
    "hash",
    [
        "encoding=<script>&limit=-5&compare=zzz&special=yes&text=",
        "limit=99999999999999&ids=0&%%%",
        "limit=1e3&limit=2",
    ],
)
def test_a_wrong_link_changes_nothing(page: Page, hash: str) -> None:
    page.run("location.hash = arguments[0]", hash)
    page.settle()
    assert settings_of(page) == ["o200k_base", "", "", ""]
    assert page.counts() == {"o200k_base": 0}


def test_links_work_in_the_open_page_and_back_and_forth(page: Page) -> None:
    page.choose("encoding", "cl100k_base")
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
    assert settings_of(page) == ["o200k_base", "gpt2", "1", ""]


def test_loaded_tokenizers_are_still_there_after_a_reload_until_forgotten(page: Page) -> None:
    page.type("ab")
    page.drop({"tokenizer.json": OWN})
    page.wait(lambda: any(key.startswith("file:") for key in page.counts()))
    page.settle()
    name = page.run("return $('encoding').selectedOptions[0].text")
    page.wait(lambda: page.run("return caches.keys().then(all => all.some(n => /own/.test(n)))"))
    page.settle()
    reload(page)
    page.wait(lambda: page.run("return $('encoding').selectedOptions[0].text") == name)
    page.wait(lambda: list(page.counts().values()) == [2])
    assert [key.startswith("file:") for key in page.counts()] == [True]
    page.forget()
    reload(page)
    assert "tokenizer.json" not in page.run("return $('encoding').textContent")
    assert page.counts() == {"o200k_base": 0}


def test_what_is_forgotten_is_asked_for_and_does_not_come_back(page: Page) -> None:
    page.type("secret")
    page.run("$('forget').click()")
    assert "cannot be undone" in page.text_of("forgetting")
    page.run("document.querySelector('#forgetting [value=\"\"]').click()")
    assert page.run("return $('text').value") == "secret"
    page.forget()
    page.run("$('text').focus()")
    page.press("z", CONTROL)
    page.settle()
    assert page.run("return $('text').value") == ""


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
    page.run("$('paste-request').click(); $('request').value = arguments[0]", json.dumps(request))
    page.run("$('request-form').requestSubmit(); $('add-message').click()")
    page.run(
        "const last = [...document.querySelectorAll('#messages textarea')].pop();"
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
    page.wait_for("conversation-count", ", of the form of the reply")
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
    assert page.run("return $('progress').hidden && $('progress').value > 0.9")
    page.run("$('example').click()")
    page.settle()
    text = page.run("return $('text').value")
    assert page.counts() == {"o200k_base": get_encoding("o200k_base").count(text)}
    assert page.run("return $('example').hidden")


def test_a_model_is_chosen_by_family_and_brings_encoding_and_limit(page: Page) -> None:
    page.type("hello world")
    groups = page.run(
        "return [...document.querySelectorAll('#model optgroup')].map(one =>"
        " [one.label, [...one.children].map(o => [o.value, o.text])])"
    )
    assert [family for family, _ in groups] == [one["family"] for one in models()]
    page.choose("model", "gpt-4")
    page.wait(lambda: page.counts() == {"cl100k_base": 2})
    assert "% of 8,192" in page.text_of("counts")
    page.choose("encoding", "gpt2")
    assert page.run("return $('model').value") == ""
    assert "%" not in page.text_of("counts")


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
