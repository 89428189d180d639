"""Reports of which the pages are hard to lay out, and what is out of its place on a page."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

from compat_bpe import Encoding, get_encoding
from compat_bpe.report.html import page
from compat_bpe.report.measure import report
from tools.browser import Browser

GPT2 = get_encoding("gpt2")
TEXT = "It’s naïve: `let x = 1;` 世界は広い。東京から Привет мир 👩‍👩‍👧 \x00\x1b[31m\t\n"
TERMS = [
    "naïve",
    "<b> & c",
    "a\x1b[0m\x07b",
    "你好世界" * 9,
    "Donaudampfschifffahrt",
    "supercalifragilisticexpialidocious_without_any_space",
]
#: Longer than any box, and without a place to break it at.
WORD = "x" * 120

LAYOUT = (Path(__file__).parent / "layout.js").read_text("utf-8")


def misplaced(browser: Browser, *, scrolls: bool = True) -> list[str]:
    """Return what overflows or overlaps on the page that a browser shows."""
    found: list[str] = browser.run(f"const SCROLLS = {json.dumps(scrolls)};\n{LAYOUT}")
    return found


def write_pages(folder: Path) -> list[Path]:
    """Write the pages, and return where they are."""
    found = []
    for name, written in _pages().items():
        found.append(folder / f"{name}.html")
        found[-1].write_text(written, "utf-8")
    return found


def _encoding(size: int) -> Encoding:
    """Return GPT-2's encoding with no more than its first tokens."""
    ranks = {token: rank for token, rank in GPT2._mergeable_ranks.items() if rank < size}
    pattern = GPT2._pat_str
    return Encoding(str(size), pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def _pages() -> dict[str, str]:
    groups = {"en": ["The cat sat on the mat. " * 40], "ja": ["世界は広い。" * 30], "mixed": [TEXT]}
    folder = "/home/someone/corpora/collected-2024/web_crawl.filtered"
    files = {
        f"{folder}/part-{number:03}/Universal_Declaration-of-Human.Rights.{number % 7}.txt": [
            TEXT * (number % 5 + 1) + "The cat sat. " * (number % 11) + "世界" * (number % 3)
        ]
        for number in range(45)
    }
    path = "/home/someone/models/{}/vocabulary_32k.extended/tokenizer.json"
    sizes = [256 + 300 * number**2 for number in range(11)]
    named = {f"own_base-{size}": _encoding(size) for size in sizes[:10]}
    paths = {path.format(name): _encoding(sizes[10]) for name in ("own-experiments", "other_one")}
    hard = {"control\x1b[31m\x07\u202ename": _encoding(300), "中文编码名称" * 9: _encoding(900)}
    some = list(named.items())
    at = datetime(2024, 5, 17, tzinfo=timezone.utc)
    one = "a/very/long/path/" * 8
    made = {
        "one": (dict(some[:1]), {"english.txt": groups["en"]}, ["english.txt"]),
        "two": (dict(some[:2]), groups, ["corpora/"]),
        "four": (dict(some[:4]), groups, [one]),
        "nine": (dict(some[:9]), groups, ["-"]),
        "twelve": ({**named, **paths}, files, list(files)),
        "hard": (hard, {"": ["a"], "none": [], "\x00\x1b\u200b": [TEXT], WORD: ["y"]}, [WORD, one]),
        "nothing": (dict(some[:2]), {"a": ["a"], "b": []}, ["a", "b"]),
    }
    return {
        name: page(
            report(encodings, texts, terms=[*TERMS, WORD] if name != "nothing" else []),
            corpus=corpus,
            version="0.1.0",
            made_at=at,
        )
        for name, (encodings, texts, corpus) in made.items()
    }
