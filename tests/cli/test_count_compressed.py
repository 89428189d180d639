"""``count`` counts a file as it is; with ``--decompress``, the text in it."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from compat_bpe.cli.counting import FileCounter, Part
from tests.cli.running import Run, runner

TEXT = "Some words, and 今天天气很好。\n" * 9
TOKENS = get_encoding("gpt2").count(TEXT)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe count`` in a folder of its own."""
    return runner("count", tmp_path, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = TEXT.encode()
    half = len(data) // 2
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(data[:half]) + gzip.compress(data[half:]))
    (tmp_path / "c.txt.bz2").write_bytes(bz2.compress(data))
    (tmp_path / "d.XZ").write_bytes(lzma.compress(data))
    return tmp_path


def test_by_default_files_are_counted_as_they_are(folder: Path, run: Run) -> None:
    result = run("-e", "gpt2", ".")
    assert result.out.splitlines() == [f"{TOKENS} ./a.txt", f"{TOKENS} total"]
    assert "skipped" in result.err
    result = run("-e", "gpt2", "b.txt.gz")
    assert result.status == 2
    assert result.err.startswith("compat-bpe: b.txt.gz: binary: NUL byte at offset 3")
    named = run("-e", "gpt2", "--text", "--errors", "replace", "b.txt.gz")
    text = (folder / "b.txt.gz").read_bytes().decode("utf-8", "replace")
    assert named.out == f"{get_encoding('gpt2').count(text)} b.txt.gz\n"


def test_text_is_counted_if_asked(folder: Path, run: Run) -> None:
    result = run("-e", "gpt2", "-z", "--json", ".")
    found = json.loads(result.out)
    assert result.err == ""
    names = {"./a.txt", "./b.txt.gz", "./c.txt.bz2", "./d.XZ"}
    assert {one["path"] for one in found["files"]} == names
    for one in found["files"]:
        assert (one["tokens"], one["bytes"]) == (TOKENS, len(TEXT.encode()))


def test_damage_in_a_directory_is_an_error(folder: Path, run: Run) -> None:
    data = (folder / "b.txt.gz").read_bytes()
    (folder / "b.txt.gz").write_bytes(data[:-3])
    (folder / "d.XZ").write_bytes(lzma.compress(bytes(9)))
    (folder / "c.txt.bz2").write_bytes(bz2.compress(b"\xff"))
    result = run("-e", "gpt2", "-z", ".")
    assert result.status == 2
    assert result.out.splitlines() == [f"{TOKENS} ./a.txt", f"{TOKENS} total"]
    assert result.err.splitlines() == [
        "compat-bpe: ./b.txt.gz: gzip data that is cut short",
        "compat-bpe: 1 binary file skipped: ./d.XZ",
        "compat-bpe: 1 file that is not UTF-8 skipped: ./c.txt.bz2",
    ]


def test_a_module_that_is_missing_is_an_error(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    (folder / "e.zst").write_bytes(b"")
    result = run("-e", "gpt2", "-z", "e.zst", "a.txt")
    assert result.status == 2
    assert result.err.startswith("compat-bpe: e.zst: Zstandard needs Python 3.14 or a package")
    assert result.out.splitlines()[-1] == f"{TOKENS} total"


def test_workers_count_a_large_file_from_its_start(tmp_path: Path, run: Run) -> None:
    """It is not cut into parts, though its bytes look like text: they are only stored."""
    text = "one line of many words, and its end\n" * 50_000
    for number in range(2):
        (tmp_path / f"{number}.txt.gz").write_bytes(gzip.compress(text.encode(), 0))
    size = (tmp_path / "0.txt.gz").stat().st_size
    assert size > 1_500_000
    tokens = get_encoding("gpt2").count(text)
    result = run("-e", "gpt2", "-z", "-j", "2", str(tmp_path))
    assert result.out.splitlines()[-1].split()[0] == str(2 * tokens)
    told: list[int] = []
    counter = FileCounter(get_encoding("gpt2"), decompress=True)
    counted = counter.count(Part(str(tmp_path / "0.txt.gz")), told.append)
    assert counted.counts is not None
    assert counted.counts.bytes == len(text)
    assert sum(told) == size
    assert len(told) > 20
