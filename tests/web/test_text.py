"""The text of the page in a real browser: its counts, its tokens, typing.

Run with ``pytest -m web tests/web``; it needs chromium, chromium-driver and npm.
"""

from __future__ import annotations

import pytest
import tiktoken

from tests.web.page import Page

pytestmark = pytest.mark.web

TEXT = "Hello wörld! 👩‍👩‍👧 e\u0301\u0301 \t\n\n你好世界，नमस्ते <|endoftext|> ​x\ud800y"


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "p50k_base", "gpt2"])
def test_counts_are_those_of_tiktoken(page: Page, name: str) -> None:
    page.choose("encoding", name)
    page.type(TEXT.replace("\ud800", ""))
    expected = tiktoken.get_encoding(name).encode_ordinary(TEXT.replace("\ud800", ""))
    assert page.counts() == {name: len(expected)}
