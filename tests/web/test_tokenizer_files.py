"""Vocabulary files of other programs, dropped onto the page in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import compat_bpe
from compat_bpe.encodings.published import load_ranks
from compat_bpe.formats.tiktoken import format_ranks
from tests.formats.small_files import NAME, PATTERN, RANKS, WHOLE, grok
from tests.formats.small_gguf import gguf, gpt2, write
from tests.web.page import Page
from tools.reference_files import reference_file

pytestmark = pytest.mark.web

JS_RANKS = {"pat_str": PATTERN, "special_tokens": {}, "bpe_ranks": RANKS}
FILES = {
    "../../model.gguf": gguf(gpt2()),  # the folders are left out
    "tokenizer.model.v3": reference_file("botchan_unigram").read_bytes(),
    "tokenizer.tok.json": json.dumps(grok()).encode(),
    "o200k_base.json": json.dumps(JS_RANKS).encode(),
    NAME: WHOLE,
}


@pytest.mark.parametrize("name", FILES)
def test_dropped_files_of_other_programs_become_encodings(
    page: Page, tmp_path: Path, name: str
) -> None:
    data = FILES[name]
    path = tmp_path / Path(name).name
    path.write_bytes(data)
    text = "hello ab abc"
    page.type(text)
    page.drop({name: data})
    page.wait(lambda: any(key.startswith("file:") for key in page.counts()))
    assert list(page.counts().values()) == [compat_bpe.load(path).count(text)]


def test_of_a_large_gguf_file_only_the_beginning_is_read(page: Page, tmp_path: Path) -> None:
    path = write(tmp_path / "large.gguf", gpt2(), tensors=1)
    with path.open("r+b") as file:
        file.truncate(40 << 30)  # a hole: it takes no space
    page.type("hello hello")
    page.drag(path)
    page.wait(lambda: any(key.startswith("file:") for key in page.counts()))
    assert list(page.counts().values()) == [compat_bpe.load(path).count("hello hello")]


def test_a_gguf_file_that_does_not_say_how_text_is_split(page: Page, tmp_path: Path) -> None:
    path = write(tmp_path / "old.gguf", gpt2(pre=None))
    page.type("hello the12")
    page.drag(path)
    page.wait(lambda: not page.run("return $('pattern-form').hidden"))
    page.run("$('pattern').value = 'llama3'; $('pattern-form').requestSubmit()")
    page.wait(lambda: any(key.startswith("file:") for key in page.counts()))
    expected = compat_bpe.load(path, pattern="llama3").count("hello the12")
    assert list(page.counts().values()) == [expected]
    page.run("document.querySelectorAll('.close').forEach(one => one.click())")


def test_a_damaged_gguf_file_is_refused_by_place(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(gguf(gpt2())[:500])
    page.type("a")
    page.drag(path)
    page.wait_for("notices", "cut.gguf: byte ")
    assert page.counts() == {"o200k_base": 1}
    page.run("document.querySelectorAll('.close').forEach(one => one.click())")


def test_a_file_that_was_changed_after_it_was_chosen(page: Page, tmp_path: Path) -> None:
    """It is no longer to be read, and the page goes on."""
    path = tmp_path / "own.tiktoken"
    ranks = dict(list(load_ranks("r50k_base").items())[:300])
    path.write_bytes(format_ranks(ranks))
    page.type("a")
    page.drag(path)
    page.wait(lambda: not page.run("return $('pattern-form').hidden"))
    path.unlink()
    page.run("$('pattern').value = 'cl100k_base'; $('pattern-form').requestSubmit()")
    page.wait_for("notices", "own.tiktoken: cannot be read")
    page.type("b")
    assert page.counts() == {"o200k_base": 1}
    page.run("document.querySelectorAll('.close').forEach(one => one.click())")
