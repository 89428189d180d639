"""The page, built once and served by this machine, in a browser that several tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.axe import axe as axe
from tests.web.page import Page
from tests.web.server import served
from tools.browser import Browser
from tools.tiktoken_files import write_tiktoken_files
from web.build import build


@pytest.fixture(scope="session")
def references(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The files that tiktoken would fetch."""
    folder = tmp_path_factory.mktemp("tiktoken")
    write_tiktoken_files(folder)
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    yield
    if before is None:
        del os.environ["TIKTOKEN_CACHE_DIR"]
    else:
        os.environ["TIKTOKEN_CACHE_DIR"] = before


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page."""
    out = tmp_path_factory.mktemp("web") / "page"
    build(out, address="https://example.org/count/", docs="../")
    return out


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """The address at which the page is served."""
    with served(built) as found:
        yield found


@pytest.fixture(scope="session")
def opened(address: str) -> Iterator[Page]:
    """The page, opened once."""
    with Browser() as browser:
        browser.show(1200)
        page = Page(browser, address)
        page.open()
        yield page


@pytest.fixture
def page(opened: Page) -> Iterator[Page]:
    """The opened page, with no text, files or notices, and with the settings of a first visit."""
    opened.browser.show(1200)
    opened.run(
        "$('forget-files').click(); $$('.close').forEach(one => one.click());"
        "if ($('share').ariaExpanded === 'true') $('share').click()"
    )
    opened.errors()
    opened.follow("encoding=o200k_base")
    if opened.counts() != {"o200k_base": 0}:
        opened.clear()
    yield opened
    assert opened.errors() == []
