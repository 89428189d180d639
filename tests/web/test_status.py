"""What the page says while it loads, and when something fails."""

from __future__ import annotations

import json

import pytest

from tests.web.page import Page

pytestmark = pytest.mark.web

OWN = json.dumps({"model": {"type": "Unigram", "vocab": [["a", -1.0], ["b", -1.0]]}}).encode()


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
    page.wait(lambda: any(key.startswith("file:") for key in page.counts()))
    page.settle()
    assert said(page)[0] == "Loading tokenizer.json…"


def test_a_tokenizer_that_fails_says_so_until_one_goes_on(page: Page) -> None:
    page.drop({"tokenizer.json": b'{"model": 1}'})
    page.wait_for("notices", "tokenizer.json")
    page.wait(lambda: page.run("return document.querySelector('#notices [role=alert]') !== null"))
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
        page.wait(lambda: page.run("return $('model').value") not in ["o200k_base", *names])
        page.settle()
        names.append(page.run("return $('model').value"))
    one, two = names
    assert one[:10] != two[:10]
    assert one.endswith("tokenizer.json, 2 tokens")
    page.choose("other", one)
    heads = page.run("return [...$('heads').children].map(one => one.textContent)")
    assert len(set(heads)) == 2
