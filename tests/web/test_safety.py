"""Nothing leaves the page, nothing in a text is HTML, and all works without a network."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from compat_bpe import list_encoding_names
from tests.tokenizer_files import added
from tests.web.page import Page
from tests.web.server import served
from tools.browser import Browser

pytestmark = pytest.mark.web

EVIL = "<img src=x onerror=\"document.title='broken'\">"


def test_text_is_never_html(page: Page) -> None:
    title = page.run("return document.title")
    images = "return $$('img, script:not([src]), iframe').length"
    page.choose("other", "gpt2")
    page.choose("limit", 3)
    page.type(EVIL + EVIL)
    for at in range(0, 30, 3):
        page.point_at_token(at)
    page.settle()
    page.show_tab("word")
    page.run("$('word').value = arguments[0]; $('word').dispatchEvent(new Event('input'))", EVIL)
    page.wait(lambda: "onerror" in page.text_of("steps").replace("\n", ""))
    # File names, also of files that cannot be counted.
    page.drop({EVIL: EVIL.encode(), f"{EVIL}.bin": b"\0"})
    page.wait(lambda: " counted" in page.text_of("files-said"))
    assert EVIL in page.text_of("files-table")
    page.run("document.querySelector('button.name').click()")
    page.settle()
    # The names of a tokenizer, of its tokens and of its special tokens.
    tokenizer = {
        "model": {"type": "BPE", "vocab": {"<": 0, "a": 1, EVIL: 2}, "merges": []},
        "added_tokens": [added(3, EVIL, special=True)],
    }
    page.run("$('clear').click()")
    page.choose("special", True)
    page.drop({"tokenizer.json": json.dumps(tokenizer).encode()})
    page.own_counts()
    page.type(f"<{EVIL}a")
    assert EVIL in page.cells()
    page.point_at_token(0, ".special")
    page.wait(lambda: "special" in page.text_of("card"))
    assert EVIL in page.text_of("card")
    page.show_tab("messages")
    page.choose("model", "gpt-4o")
    page.submit("request", json.dumps([{"role": EVIL, "content": EVIL}]))
    page.wait(lambda: "onerror" in page.run("return $('request-said').textContent"))
    tool = {"type": "function", "function": {"name": EVIL}}
    messages = [{"role": "user", "content": EVIL}]
    page.submit("request", json.dumps({"model": EVIL, "messages": messages, "tools": [tool]}))
    page.wait(lambda: "onerror" in page.run("return $('messages').textContent"))
    for id in ("request-chips", "conversation-note"):
        assert "onerror" in page.run("return $(arguments[0]).textContent", id)
    page.settle()
    assert page.run(images) == 0
    assert page.run("return document.title") == title


def test_the_policy_forbids_what_the_page_does_not_need(opened: Page, built: Path) -> None:
    html = (built / "index.html").read_text("utf-8")
    policy = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)[0]
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == "'none'"
    assert parts["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert parts["connect-src"] == "'self'"
    assert "unsafe-inline" not in policy
    # The browser enforces it in the page; in a callback, since what it is told to run is exempt.
    refused = opened.run(
        "const later = call => new Promise(done => setTimeout(() => {"
        " try { call(); done('allowed') } catch (error) { done('refused') } }));"
        "return Promise.all([later(() => eval('1')),"
        " later(() => document.body.insertAdjacentHTML('beforeend', '<b>x</b>')),"
        " fetch('http://127.0.0.1:9/').then(() => 'allowed', () => 'refused')])"
    )
    assert refused == ["refused"] * 3
    opened.wait(lambda: any("connect-src" in message for message in opened.errors()))


def test_the_policy_holds_in_the_worker_whatever_the_server_says(
    built: Path, tmp_path: Path
) -> None:
    shutil.copytree(built, tmp_path / "page")
    worker = tmp_path / "page" / "worker.js"
    worker.write_text(
        "fetch('http://127.0.0.1:9/').then(null, () => postMessage({ id: 1, error: 'no' }));"
        "addEventListener('securitypolicyviolation', event =>"
        " postMessage({ id: 1, error: `could not: ${event.violatedDirective}` }))",
        "utf-8",
    )
    with served(tmp_path / "page") as address, Browser() as browser:
        browser.open(address)
        page = Page(browser, address)
        found: list[str] = []
        for _ in range(100):
            found += page.errors()
            if any("connect-src 'self'" in message for message in found):
                return
            time.sleep(0.1)
        raise AssertionError(found)


@pytest.fixture
def fresh(built: Path) -> Iterator[tuple[Browser, Path]]:
    with Browser() as browser:
        yield browser, built


def requested(browser: Browser) -> set[str]:
    events = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    return {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }


def test_only_the_encoding_asked_for_is_loaded_and_then_nothing_needs_a_network(
    fresh: tuple[Browser, Path],
) -> None:
    browser, built = fresh
    with served(built) as address:
        page = Page(browser, address)
        page.open("#encoding=cl100k_base")
        page.type("hello world")
        assert page.counts() == {"cl100k_base": 2}
        urls = requested(browser)
        assert {urlsplit(url).netloc for url in urls if url.startswith("http")} == {
            urlsplit(address).netloc
        }
        (pack,) = page.run(
            "return caches.open(`compat-bpe ${location.pathname} packs`)"
            ".then(cache => cache.keys()).then(keys => keys.map(one => one.url))"
        )
        assert "cl100k_base" in pack
        controlled = "navigator.serviceWorker.controller !== null"
        page.wait(
            lambda: page.run(f"return navigator.serviceWorker.ready.then(() => {controlled})")
        )
        page.wait(lambda: page.run("return caches.match('snapshot').then(Boolean)"))
    # The server is gone.
    page.open("#encoding=cl100k_base")
    page.type("hello world, offline")
    assert page.counts() == {"cl100k_base": 4}
    # Python began with the memory of the first visit, which had no text in it.
    assert page.run("return isContinued")
    page.show_tab("messages")  # imports more
    page.wait_for("conversation-count", "tokens")
    page.show_tab("text")
    page.choose("model", "gpt2")
    assert "gpt2" not in page.counts()
    page.wait_for("not-counted", "vocabulary r50k_base")


def test_everything_is_kept_offline_if_one_asks_for_it(fresh: tuple[Browser, Path]) -> None:
    browser, built = fresh
    with served(built) as address:
        page = Page(browser, address)
        page.open()
        page.run("$('keep-offline').click()")
        page.wait_for("offline-said", "All encodings are kept.")
        page.wait(lambda: page.run("return navigator.serviceWorker.controller !== null"))
    page.open()  # the server is gone
    page.type("hello world")
    for name in list_encoding_names():
        page.choose("model", name)
        assert page.counts() == {name: 2}


def test_a_damaged_memory_of_an_earlier_visit_is_left(fresh: tuple[Browser, Path]) -> None:
    browser, built = fresh
    with served(built) as address:
        page = Page(browser, address)
        page.open()
        page.wait(lambda: page.run("return caches.match('snapshot').then(Boolean)"))
        page.run(
            "return caches.keys().then(names => Promise.all(names.map(name => caches.open(name)"
            ".then(async cache => { if (await cache.match('snapshot')) await cache.put('snapshot',"
            " new Response(new Blob(['junk']).stream()"
            ".pipeThrough(new CompressionStream('gzip')))) }))))"
        )
        page.open()
        page.type("hello world")
        assert page.counts() == {"o200k_base": 2}
        assert not page.run("return isContinued")
