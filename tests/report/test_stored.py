"""Reports on vocabularies of other programs: the counts are those of the library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat_bpe import load
from tests.cli.running import run
from tests.formats.gguf_files import Written, gguf
from tests.formats.rwkv_files import NAME, WHOLE
from tests.formats.small_gguf import bert, gpt2, pieces

TEXT = "hello the hello, ab a s!\nhe said\n"
KINDS: dict[str, dict[str, Written]] = {
    "gpt2": gpt2(),
    "llama": pieces("llama"),
    "t5": pieces("t5"),
    "bert": bert(),
}


@pytest.mark.parametrize("kind", [*KINDS, "rwkv"])
def test_a_report_of_a_vocabulary(tmp_path: Path, kind: str) -> None:
    path = tmp_path / (f"{kind}.gguf" if kind in KINDS else NAME)
    path.write_bytes(gguf(KINDS[kind]) if kind in KINDS else WHOLE)
    corpus, page = tmp_path / "corpus", tmp_path / "page.html"
    corpus.mkdir()
    for name in ("a.txt", "b.txt"):
        (corpus / name).write_text(TEXT)
    arguments = ("report", "-e", str(path), "-e", "gpt2", str(corpus))
    status, out, err = run(*arguments, "--html", str(page))
    assert (status, err) == (0, "")
    assert path.name in out.decode()
    assert path.name in page.read_text("utf-8")
    measured = json.loads(run(*arguments, "--json").out)["encodings"][0]
    assert measured["name"] == str(path)
    assert measured["total"]["tokens"] == 2 * load(path).count(TEXT)
