"""The command, reports, SQL and stores, against tiktoken, regex, git and huggingface_hub."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex
from huggingface_hub import try_to_load_from_cache

import compat_bpe
from compat_bpe.encodings.local_stores import find_stored
from compat_bpe.report.figures import Sizes, TokenCounts
from compat_bpe.report.measure import report
from compat_bpe.sql import register
from tests.corpora import TEXTS
from tests.differential.reference import Pair
from tests.encodings.stores import FIRST, SECOND, VARIABLES, cached

Pairs = Callable[[str], Pair]

# ``compat-bpe count`` on a repository, file by file

ROOT = Path(compat_bpe.__file__).parent.parent

#: What of this checkout is in the repository that is counted, and in that of the sweep.
PARTS = ["compat_bpe/encodings", "compat_bpe/version.py", "docs", ".gitignore"]
ALL = ["compat_bpe", "docs", "tests", "README.md", ".gitignore"]


def run(command: list[str], folder: Path) -> bytes:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    options: dict[str, Any] = {"cwd": folder, "env": environment, "check": True}
    found: bytes = subprocess.run(command, stdout=subprocess.PIPE, **options).stdout
    return found


def count(folder: Path, *args: str) -> str:
    command = [sys.executable, "-m", "compat_bpe", "count", "-e", "cl100k_base", *args, "."]
    return run(command, folder).decode()


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.sweep)])
def copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with files of this checkout, whatever else lies there."""
    top = tmp_path_factory.mktemp("copy")
    for name in PARTS if request.param == "some" else ALL:
        (top / name).parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, top / name)
        else:
            shutil.copy(ROOT / name, top / name)
    for folder in ("venv", "env"):
        (top / folder / "lib").mkdir(parents=True)
        (top / folder / "lib" / "ignored.py").touch()
    (top / "linked").symlink_to(top / "docs")
    run(["git", "init", "-q"], top)
    return top


@pytest.fixture(scope="module")
def result(copy: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(count(copy, "--json"))
    return found


def test_every_file_of_this_repository(copy: Path, result: Any, get_pair: Pairs) -> None:
    theirs = get_pair("cl100k_base").theirs
    assert len(result["files"]) > 50
    for file in result["files"]:
        data = (copy / file["path"]).read_bytes()
        text = data.decode()
        tokens = len(theirs.encode_ordinary(text))
        sizes = {"tokens": tokens, "bytes": len(data), "characters": len(text)}
        assert file == {"path": file["path"], **sizes}
    assert result["errors"] == []


def test_files_are_those_that_git_lists(copy: Path, result: dict[str, Any]) -> None:
    listed = run(["git", "ls-files", "-z", "--others", "--exclude-standard"], copy)
    paths = {os.fsdecode(path) for path in listed.split(b"\0") if path}
    visible = {path for path in paths if not any(part.startswith(".") for part in path.split("/"))}
    # Git lists a link, and a walk does not follow it.
    visible.remove("linked")
    found, skipped = ([file["path"] for file in result[name]] for name in ("files", "skipped"))
    assert sorted(found + skipped) == sorted(os.path.join(".", path) for path in visible)
    assert {os.path.splitext(path)[1] for path in skipped} == {".pack", ".png"}


# Figures of a report, beside plain counting

REPORT_TEXTS = {
    "en": ["The cat sat on the mat, didn't it?\r\n\r\n  Yes. " * 3, "x = [1, 22, 333, 4444]\n\n\n"],
    "more": [
        "Привет, мир! Γειά σου",
        "你好，世界。今日は良い天気です。",
        "สวัสดีชาวโลก नमस्ते",
        "😀 naïve \u00a0 ﬁ",
    ],
    "special": ["<|endoftext|> is text"],
}


def test_report(shipped: Pair) -> None:
    found = report({"it": shipped.ours}, REPORT_TEXTS, terms=["tokenization"])
    one, theirs = found.encodings["it"], shipped.theirs
    uses: Counter[int] = Counter()
    for group, texts in REPORT_TEXTS.items():
        joined = "".join(texts)
        words = sum(len(regex.findall(r"\S+", text)) for text in texts)
        sizes = Sizes(len(texts), len(joined.encode()), len(joined), words)
        assert found.groups[group] == sizes
        chunks = [chunk for text in texts for chunk in regex.findall(theirs._pat_str, text)]
        alone = sum(len(theirs._encode_single_piece(chunk)) == 1 for chunk in chunks)
        ids = [number for text in texts for number in theirs.encode_ordinary(text)]
        assert one.groups[group] == TokenCounts(len(ids), len(chunks), alone)
        uses.update(ids)
    assert {use.id: use.times for use in one.uses} == uses
    assert all(theirs.decode_single_token_bytes(use.id) == use.token for use in one.uses)
    assert one.mergeable == len(theirs._mergeable_ranks)
    assert one.unused == one.mergeable - len(uses)
    [term] = one.terms
    ids = theirs.encode_ordinary(" tokenization")
    assert term.after_space == theirs.decode_tokens_bytes(ids)


# Counts in SQL


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_odd_texts_and_lines_in_sql(get_pair: Pairs, name: str) -> None:
    lines = [line for path in TEXTS for line in path.read_text("utf-8")[:20_000].split("\n")]
    texts = ["", "a\0b\0", "<|endoftext|>", "x" * 5000, *lines]
    ours, theirs = get_pair(name)
    connection = sqlite3.connect(":memory:")
    register(connection)
    connection.execute("CREATE TABLE t (number INTEGER, text)")
    # Each as text and as a blob, and each twice.
    rows = [value for text in texts for value in (text, text.encode(), text)]
    connection.executemany("INSERT INTO t VALUES (?, ?)", enumerate(rows))
    query = "SELECT token_count(text, ?) FROM t ORDER BY number"
    found = [count for (count,) in connection.execute(query, [ours.name])]
    connection.close()
    assert found == [len(theirs.encode_ordinary(text)) for text in texts for _ in range(3)]


# ``hf:`` names against the cache of ``huggingface_hub``, which tokenizers brings along

_WHERE = "from huggingface_hub import constants; print(constants.HF_HUB_CACHE)"
_OURS = (
    "from compat_bpe.encodings.local_stores import find_stored\n"
    "try: find_stored('hf:acme/none')\n"
    "except OSError as error: print(error.strerror.partition(', ')[2].partition(';')[0])\n"
)


@pytest.mark.parametrize("revision", [None, "main", "v1", "refs/pr/1", FIRST, SECOND, "none"])
def test_the_same_snapshot(
    revision: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(tmp_path)
    cached(tmp_path, commit=SECOND, ref="v1")
    cached(tmp_path, commit="3" * 40, ref="refs/pr/1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    options: dict[str, Any] = {"cache_dir": tmp_path, "revision": revision}
    reference = try_to_load_from_cache("acme/Small", "vocab.bpe", **options)
    name = "hf:acme/Small" + (f"@{revision}" if revision else "")
    if isinstance(reference, str):
        assert find_stored(name).path == os.path.dirname(reference)
    else:
        with pytest.raises(FileNotFoundError):
            find_stored(name)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"XDG_CACHE_HOME": "/x"},
        {"XDG_CACHE_HOME": "/x", "HF_HOME": "~/h"},
        {"HF_HOME": "/h", "HUGGINGFACE_HUB_CACHE": "$HOME/old"},
        {"HUGGINGFACE_HUB_CACHE": "/old", "HF_HUB_CACHE": "/new"},
    ],
)
def test_the_same_folder(variables: dict[str, str], tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment.update(variables, HOME=str(tmp_path), USERPROFILE=str(tmp_path))
    options: dict[str, Any] = {"env": environment, "check": True, "capture_output": True}
    theirs, ours = (
        subprocess.run([sys.executable, "-c", script], **options).stdout
        for script in (_WHERE, _OURS)
    )
    assert theirs == ours != b""
