"""Documents whose parts are counted, and the lenses that say so."""

from __future__ import annotations

from compat_bpe import get_encoding
from tests.lsp.client import URI, Client

ENCODING = get_encoding("o200k_base")
NOTES = "file:///work/notes.md"
CODE = """\
import re

class Area:
    def of(self):
        return 1

@cached
async def first(x):  # 😀
    return x

export const not_in_python = 1
"""


def lenses(client: Client, uri: str = URI) -> list[tuple[int, str]]:
    found = client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert all(one["range"]["start"] == one["range"]["end"] for one in found)
    return [(one["range"]["start"]["line"], one["command"]["title"]) for one in found]


def tokens(text: str) -> str:
    count = ENCODING.count(text)
    return f"{count:,} token{'' if count == 1 else 's'}"
