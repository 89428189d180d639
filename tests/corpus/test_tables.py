"""Texts in Parquet and Arrow tables are read row by row; what is wrong is named with its place."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet

from compat_bpe.corpus import tables
from compat_bpe.corpus.documents import CorpusFile, read_corpus
from tests.strategies import texts


def write_parquet(table: Any, path: Path) -> None:
    parquet.write_table(table, path, row_group_size=3)


def write_file(table: Any, path: Path) -> None:
    with ipc.new_file(path, table.schema) as file:
        for batch in table.to_batches(max_chunksize=3):
            file.write_batch(batch)


def write_stream(table: Any, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as file:
        for batch in table.to_batches(max_chunksize=3):
            file.write_batch(batch)


def write_feather(table: Any, path: Path) -> None:
    feather.write_feather(table, path, compression="zstd")


Write = Callable[[Any, Path], None]
WRITERS: dict[str, tuple[str, Write]] = {
    "Parquet": ("a.parquet", write_parquet),
    "Parquet by its short name": ("a.PQ", write_parquet),
    "file": ("a.arrow", write_file),
    "stream": ("a.arrows", write_stream),
    "stream called file": ("a.arrow", write_stream),
    "Feather": ("a.feather", write_feather),
}
of_each = pytest.mark.parametrize(("name", "write"), WRITERS.values(), ids=WRITERS)


def read(path: Path, **options: Any) -> list[tuple[str, str, str]]:
    """Each document with its group and the number of its row."""
    found = []
    text = ""
    for part in read_corpus([CorpusFile(str(path), "own")], **options):
        text += part.text
        if part.is_last:
            found.append((text, part.group, part.source.removeprefix(f"{path}:")))
            text = ""
    assert not text
    return found


@of_each
@given(rows=st.lists(st.tuples(texts.filter(str.isprintable), st.sampled_from(["en", "de"]))))
def test_rows_are_documents(
    name: str,
    write: Write,
    rows: list[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("x") / name
    kinds = {"other": pyarrow.list_(pyarrow.int8()), "text": pyarrow.string()}
    kinds["lang"] = pyarrow.string()
    own = [[[1] for _ in rows], [text for text, _ in rows], [group for _, group in rows]]
    write(pyarrow.table(own, pyarrow.schema(kinds.items())), path)
    kept = [(text, group, f"{row}") for row, (text, group) in enumerate(rows, 1) if text]
    assert read(path, group_field="lang") == kept
    told: list[int] = []
    assert read(path, advance=told.append) == [(text, "own", row) for text, _, row in kept]
    assert sum(told) == path.stat().st_size
    # One column may be both.
    assert read(path, group_field="text") == [(text, text, row) for text, _, row in kept]


@of_each
@pytest.mark.parametrize(
    "make",
    [
        pyarrow.string(),
        pyarrow.large_string(),
        pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    ],
)
def test_types_of_texts(name: str, write: Write, make: Any, tmp_path: Path) -> None:
    path = tmp_path / name
    write(pyarrow.table({"text": pyarrow.array(["a", "b", "a", "ü"], make)}), path)
    assert [text for text, _, _ in read(path)] == ["a", "b", "a", "ü"]


@of_each
def test_what_is_no_text(name: str, write: Write, tmp_path: Path) -> None:
    path = tmp_path / name
    write(pyarrow.table({"text": ["a", None, "c", "d"], "lang": ["x", "x", None, "x"]}), path)
    with pytest.raises(ValueError, match=f"^{path}:2: the column 'text' is null$"):
        read(path)
    with pytest.raises(ValueError, match=f"^{path}:2: the column 'text' is null$"):
        read(path, group_field="lang")
    skipped: list[tuple[str, str]] = []
    found = read(
        path, group_field="lang", errors="skip", skipped=lambda *what: skipped.append(what)
    )
    assert [text for text, _, _ in found] == ["a", "d"]
    assert skipped == [
        (f"{path}:2", "the column 'text' is null"),
        (f"{path}:3", "the column 'lang' is null"),
    ]


@of_each
def test_columns_that_are_missing_or_no_text(name: str, write: Write, tmp_path: Path) -> None:
    path = tmp_path / name
    write(pyarrow.table({"a": ["x"], "n": [1], "list": [["x"]], "b": [b"x"]}), path)
    for field, message in (
        ("text", "no column 'text'; the columns are 'a', 'n', 'list', 'b'$"),
        ("n", "the column 'n' is int64; it must be of type string$"),
        ("list", r"the column 'list' is list<.*>; it must be of type string$"),
        ("b", "the column 'b' is binary; it must be of type string$"),
    ):
        with pytest.raises(ValueError, match=f"^{path}: {message}"):
            read(path, field=field)
        with pytest.raises(ValueError, match=f"^{path}: {message}"):
            read(path, field="a", group_field=field)
        skipped: list[str] = []
        append = skipped.append
        read(path, field=field, errors="skip", skipped=lambda source, _, add=append: add(source))
        assert skipped == [str(path)]


@of_each
def test_damage_is_an_error_or_makes_no_difference(name: str, write: Write, tmp_path: Path) -> None:
    path = tmp_path / name
    write(pyarrow.table({"text": ["some text", "more", "x" * 50, "last"]}), path)
    data, rows = path.read_bytes(), read(path)
    for end in range(0, len(data), 7):
        path.write_bytes(data[:end])
        skipped: list[str] = []
        append = skipped.append
        found = read(path, errors="skip", skipped=lambda _, why, add=append: add(why))
        # A stream may end after any batch: its end need not be marked.
        assert skipped or write is write_stream
        assert not any("\n" in why for why in skipped)
        assert rows[: len(found)] == found
    path.write_bytes(b"no table at all, but text\n" * 9)
    with pytest.raises(ValueError, match=f"^{path}: damaged (Parquet|Arrow): "):
        read(path)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    bad = pyarrow.Array.from_buffers(
        pyarrow.string(),
        2,
        [None, pyarrow.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"a\xff")],
    )
    for name, write in WRITERS.values():
        path = tmp_path / name
        write(pyarrow.table({"text": bad}), path)
        with pytest.raises(ValueError, match=f"^{path}.*damaged"):
            read(path)


def test_places_of_texts_that_lead_outside(tmp_path: Path) -> None:
    for name, write in (("a.arrow", write_file), ("a.arrows", write_stream)):
        path = tmp_path / name
        write(pyarrow.table({"text": ["abc", "de"]}), path)
        data = path.read_bytes()
        places = b"\0\0\0\0\3\0\0\0\5\0\0\0"
        assert data.count(places) == 1
        path.write_bytes(data.replace(places, b"\0\0\0\0\3\0\0\0\5\0\0\x70"))
        with pytest.raises(ValueError, match=f"^{path}: damaged Arrow: "):
            read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@of_each
def test_named_pipes(name: str, write: Write, tmp_path: Path) -> None:
    write(pyarrow.table({"text": ["a", "b"]}), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    path = tmp_path / f"pipe-{name}"
    os.mkfifo(path)

    def fill() -> None:
        with suppress(BrokenPipeError):
            path.write_bytes(data)

    writer = threading.Thread(target=fill)
    writer.start()
    if write is write_stream:
        assert [text for text, _, _ in read(path)] == ["a", "b"]
    else:
        with pytest.raises(ValueError, match="cannot be read from a pipe: its end says"):
            read(path)
    writer.join()


def test_a_table_under_another_name(tmp_path: Path) -> None:
    table = pyarrow.table({"text": ["a"]})
    for name, write in WRITERS.values():
        if write is write_stream:
            continue
        write(table, tmp_path / name)
        path = tmp_path / "a.txt"
        path.write_bytes((tmp_path / name).read_bytes())
        with pytest.raises(ValueError, match=f"^{path}: binary: a table; let the name"):
            read(path)
    path.write_bytes(b"PAR1 of a text, ARROW1 too")
    assert len(read(path)) == 1


def test_feather_of_version_1(tmp_path: Path) -> None:
    path = tmp_path / "a.feather"
    path.write_bytes(b"FEA1" + bytes(99))
    with pytest.raises(ValueError, match=f"^{path}: Feather of version 1; write it as version 2"):
        read(path)


def test_batches_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the memory of a large batch of one file is not taken twice."""
    monkeypatch.setattr(tables, "BYTES", 1000)
    monkeypatch.setattr(tables, "BYTES", 1000)
    sizes: list[int] = []
    values = tables.values

    def noted(column: Any) -> list[Any]:
        cells = values(column)
        sizes.append(len(cells))
        return cells

    monkeypatch.setattr(tables, "values", noted)
    table = pyarrow.table({"text": [f"{number}" * 50 for number in range(100)]})
    path = tmp_path / "a.feather"
    write_feather(table, path)
    assert [text for text, _, _ in read(path)] == table["text"].to_pylist()
    assert max(sizes) < 20


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("a.parquet", "a.arrow"):
        path = tmp_path / name
        path.write_bytes(b"")
        with pytest.raises(ImportError, match=f"^{path}: .* by pyarrow: pip install 'compat-bpe"):
            read(path)
