"""``train``, ``corpus`` and ``report`` read the same texts from each kind of file."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import feather, parquet

from compat_bpe.files import compressed
from tests.cli.running import Run, runner

DOCUMENTS = [f"document {number}: words, {'and ' * number}more words\n" for number in range(40)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = "".join(json.dumps({"t": text}) + "\n" for text in DOCUMENTS).encode()
    (tmp_path / "plain.jsonl").write_bytes(lines)
    for ending, compress in (
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
    ):
        half = len(lines) // 2
        data = compress(lines[:half]) + compress(lines[half:])
        (tmp_path / f"lines.jsonl{ending}").write_bytes(data)
    table = pyarrow.table({"t": DOCUMENTS, "other": range(40)})
    parquet.write_table(table, tmp_path / "table.parquet", row_group_size=7)
    feather.write_feather(table, tmp_path / "table.arrow")
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def with_command(command: str, *args: str) -> Any:
        return runner(command, folder, monkeypatch)(*args)

    return with_command


def write_zst(folder: Path) -> None:
    try:
        zstd = compressed._import_zstd()
    except ImportError as error:
        pytest.skip(str(error))
    lines = (folder / "plain.jsonl").read_bytes()
    (folder / "lines.jsonl.zst").write_bytes(zstd.compress(lines[:99]) + zstd.compress(lines[99:]))


NAMES = [*(f"lines.jsonl.{ending}" for ending in ("gz", "bz2", "xz", "zst"))]
NAMES += ["table.parquet", "table.arrow"]


@pytest.mark.parametrize(
    "name",
    [
        *NAMES[::3],
        *(pytest.param(name, marks=pytest.mark.sweep) for name in NAMES if name not in NAMES[::3]),
    ],
)
def test_the_same_texts(run: Run, folder: Path, name: str) -> None:
    if name.endswith(".zst"):
        write_zst(folder)
    found = {}
    for path in ("plain.jsonl", name):
        done = run("train", "-n", "280", "-o", f"out-{path}", "--name", "v", "--field", "t", path)
        assert (done.status, done.err) == (0, "")
        manifest = json.loads((folder / f"out-{path}" / "manifest.json").read_bytes())
        counts = run("corpus", "counts", "--field", "t", path)
        report = run("report", "-e", "gpt2", "--field", "t", "--json", path)
        total = json.loads(report.out)["total"]
        found[path] = manifest["corpus"]["sha256"], manifest["files"], counts.out, total
    assert found["plain.jsonl"] == found[name]
    assert found[name][3]["documents"] == len(DOCUMENTS)


@pytest.mark.parametrize("name", ["table.parquet", "table.arrow"])
def test_a_table_without_the_column_is_an_error_in_a_directory_too(run: Run, name: str) -> None:
    args = ("train", "-n", "280", "-o", "out", "--include", f"*{name}")
    done = run(*args, ".")
    assert done.status == 2
    assert done.err.startswith(
        f"compat-bpe: ./{name}: no column 'text'; the columns are 't', 'other'"
    )
    done = run(*args, "--errors", "skip", ".")
    assert done.err.splitlines()[0] == f"compat-bpe: 1 damaged file skipped: ./{name}"


def test_a_package_that_is_missing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression", "backports", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    (folder / "lines.jsonl.zst").write_bytes(b"")
    for name, extra in (("lines.jsonl.zst", "zstd"), ("table.parquet", "parquet")):
        done = run("train", "-n", "280", "-o", "out", "--errors", "skip", name)
        assert done.status == 2
        assert done.err.startswith(f"compat-bpe: {name}: ")
        assert f"pip install 'compat-bpe[{extra}]'" in done.err
