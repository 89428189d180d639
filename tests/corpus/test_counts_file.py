"""Files of counts and tables of texts: what they hold, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
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
from compat_bpe.corpus.counts_file import (
    CountsReader,
    Row,
    check_output,
    escape,
    files_of,
    unescape,
    write_rows,
)
from compat_bpe.corpus.documents import CorpusFile, read_corpus
from compat_bpe.corpus.tables import import_pyarrow
from compat_bpe.spark.frames import needed
from tests.strategies import WHITE_SPACE, texts

cells = st.text(
    st.one_of(
        st.sampled_from("\\\t\n\r ntr\ufeff\x00" + WHITE_SPACE), st.characters(codec="utf-8")
    ),
    min_size=1,
)


def read(*paths: Path | str) -> list[Row]:
    return list(CountsReader(map(str, paths)).read())


@given(cells)
def test_what_is_escaped_is_on_one_line_and_comes_back(text: str) -> None:
    assert not {*"\t\n\r"} & {*escape(text)}
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl"])
@pytest.mark.parametrize("with_groups", [True, False])
@given(rows=st.lists(st.tuples(cells, st.integers(1, 10**18 - 1), cells)))
def test_what_is_written_is_read(
    name: str, with_groups: bool, rows: list[Row], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    with open(path, "wb") as file:
        write_rows(file, rows, name, with_groups=with_groups)
    expected = rows if with_groups else [(chunk, count, "a") for chunk, count, _ in rows]
    assert read(path) == expected


def test_compressed_files_and_files_without_header(tmp_path: Path) -> None:
    (tmp_path / "x.y.tsv.gz").write_bytes(gzip.compress(b" the\t3\n\n\\t\\\\\t2\r\nno\t0\n"))
    (tmp_path / "b.jsonl").write_text('\ufeff{"chunk": "é", "count": 1, "group": "fr", "x": 0}\n')
    reader = CountsReader([str(tmp_path / "x.y.tsv.gz"), str(tmp_path / "b.jsonl")])
    assert [*reader.read()] == [(" the", 3, "x"), ("\t\\", 2, "x"), ("é", 1, "fr")]
    assert (reader.rows, reader.total) == (4, 6)
    assert reader.size == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_a_mark_before_the_header_is_none_of_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes("\ufeffchunk\tcount\na\t1\n".encode())
    assert read(path) == [("a", 1, "a")]
    path.write_bytes("\ufeffchunk\t1\n".encode())
    assert read(path) == [("\ufeffchunk", 1, "a")]


def test_a_place_behind_a_mark_is_that_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes("\ufeffchunk\tcount\n".encode() + b"a\xff\t1\n")
    with pytest.raises(ValueError, match="offset 16"):
        read(path)


def test_the_folder_that_spark_writes(tmp_path: Path) -> None:
    for name, count in (("part-1.tsv", 1), ("part-0.tsv", 2), (".part-2.tsv", 3), ("_x.tsv", 4)):
        (tmp_path / name).write_text(f"a\t{count}\n")
    (tmp_path / "_SUCCESS").touch()
    assert [row[:2] for row in read(tmp_path)] == [("a", 2), ("a", 1)]
    assert [Path(one).name for one in files_of(str(tmp_path))] == ["part-0.tsv", "part-1.tsv"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\t1\n")))
    reader = CountsReader(["-"])
    assert reader.size is None
    assert [*reader.read()] == [("a", 1, "")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"b", "1 columns; a line is chunk, tab and count"),
        (b"b\t1\tg\t2", "4 columns; a line is chunk, tab and count"),
        (b"b\t-1", "the count is -1; it must be 0 or more"),
        (b"b\t1.5", "the count is '1.5'; it must be an integer"),
        (b"b\tNaN", "the count is 'NaN'; it must be an integer"),
        (b"b\t", "the count is ''; it must be an integer"),
        (b"b\t 1", "the count is ' 1'; it must be an integer"),
        (b"b\t1_0", "the count is '1_0'; it must be an integer"),
        ("b\t٣".encode(), "the count is '٣'; it must be an integer"),
        (b"b\t" + b"9" * 9999, r"the count 9{30} has more than 18 digits"),
        (b"b\t1" + b"0" * 18, r"the count 10{18} has more than 18 digits"),
        (b"\t1", "the chunk is empty"),
        (rb"\x" + b"\t1", r"unknown escape \\x; the escapes are"),
        (b"\\\t1", r"unknown escape \\; the escapes are"),
        (b"b\t1\t\\z", r"unknown escape \\z"),
        (b"chunk\tcount", "the count is 'count'; it must be an integer"),
        (b"\xff\t1", "not UTF-8: byte 0xff at offset 4; convert it"),
        (b"\xed\xa0\x80\t1", "not UTF-8: byte 0xed at offset 4"),
    ],
)
def test_bad_lines(line: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"a\t1\n" + line + b"\nc\t1\n")
    with pytest.raises(ValueError, match=f"^{path}:2: {message}"):
        read(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", 'must be an object with "chunk" and "count"'),
        ("{", "not JSON: column 2"),
        ('\ufeff{"chunk": "a", "count": 1}', "not JSON: column 1"),
        ("[" * 100_000, "not JSON that can be read: nested too deeply"),
        ('{"chunk": "a"}', "no field 'count'"),
        ('{"count": 1}', "no field 'chunk'"),
        ('{"chunk": null, "count": 1}', "a chunk must be a str, not NoneType"),
        ('{"chunk": "\\ud800", "count": 1}', r"the chunk '\\ud800' has a surrogate"),
        ('{"chunk": "a", "count": 9223372036854775808}', "the count of 'a' is beyond 9,223"),
        ('{"chunk": "a", "count": 1, "group": 3}', "the group is 3; it must be a string"),
        ('{"chunk": "a", "count": 1, "group": "\\ud800"}', r"the group '\\ud800' has a surrogate"),
    ],
)
def test_bad_json(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"chunk": "a", "count": 1}}\n{line}\n')
    with pytest.raises(ValueError, match=f"^{path}:2: {message}"):
        read(path)


def test_damaged_gzip_data(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b"a\t1\n" * 99, mtime=0)[:-9])
    with pytest.raises(ValueError, match=f"^{path}.*: gzip data that is cut short"):
        read(path)


def test_names_that_tell_no_format(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ValueError, match=r"a\.csv: the name of a file of counts ends in \.tsv,"):
        CountsReader(["a.csv"])
    with pytest.raises(ValueError, match=r"no file in it ends in \.tsv"):
        CountsReader([str(tmp_path)])
    (tmp_path / "part-0.tsv").touch()
    assert len(CountsReader([str(tmp_path)]).files) == 1
    (tmp_path / "_temporary").mkdir()
    with pytest.raises(ValueError, match="a Spark job is writing this folder, or has failed"):
        CountsReader([str(tmp_path)])
    with pytest.raises(FileNotFoundError, match=r"none\.tsv"):
        read("none.tsv")
    for name in ("a.parquet", "a.csv", "a"):
        with pytest.raises(ValueError, match=r"the name must end in \.tsv,"):
            check_output(name)


def table(**columns: Any) -> pyarrow.Table:
    return pyarrow.table(columns)


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    chunks = pyarrow.array(["a", "\t", "a"]).dictionary_encode()
    counts = pyarrow.array([1, 2, 2**62], pyarrow.uint64())
    parquet.write_table(table(count=counts, other=[1, 2, 3], chunk=chunks), path)
    read_sizes: list[int] = []
    assert [*CountsReader([str(path)], read_sizes.append).read()] == [
        ("a", 1, "x"),
        ("\t", 2, "x"),
        ("a", 2**62, "x"),
    ]
    assert sum(read_sizes) == path.stat().st_size
    groups = pyarrow.array(["g", None], pyarrow.large_string())
    parquet.write_table(table(chunk=["a", "b"], count=[1, 0], group=groups), path)
    assert read(path) == [("a", 1, "g")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"chunk": ["a"]}, ": no column 'count'; the columns are 'chunk'"),
        ({"chunk": ["a"], "count": [1.5]}, ": the column 'count' is double; it must be of type"),
        ({"chunk": [b"a"], "count": [1]}, ": the column 'chunk' is binary; it must be of type"),
        ({"chunk": ["a"], "count": [1], "group": [1]}, ": the column 'group' is int64"),
        ({"chunk": ["a", None], "count": [1, 1]}, ":2: a chunk must be a str, not NoneType"),
        ({"chunk": ["a", "b"], "count": [1, None]}, ":2: the count of 'b' is None; it must be"),
    ],
)
def test_bad_parquet(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(table(**columns), path)
    with pytest.raises(ValueError, match=f"^{path}{message}"):
        read(path)


def test_damaged_parquet(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(table(chunk=["a"] * 999, count=[1] * 999), path)
    data = path.read_bytes()
    for damaged in (b"", b"PAR1", data[:-9], data[9:], data[:40] + b"\xff" * 40 + data[80:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=f"^{path}: damaged Parquet"):
            read(path)


@pytest.mark.parametrize("version", ["14.0.0", "14.0", "9.0.0.dev1"])
def test_a_pyarrow_that_runs_what_a_file_brings(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyarrow, "__version__", version)
    (tmp_path / "x.parquet").touch()
    for use in (lambda: read(tmp_path / "x.parquet"), lambda: needed("pyarrow")):
        with pytest.raises(ImportError, match=f"pyarrow {version} .*pip install 'pyarrow>=14.0.1'"):
            use()


@pytest.mark.parametrize("version", ["14.0.1", "21.0.0.dev5+g1", "100.0"])
def test_a_pyarrow_that_is_safe(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyarrow, "__version__", version)
    assert import_pyarrow("") is pyarrow


_LITTLE_MEMORY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
from compat_bpe.corpus.counts_file import CountsReader
try:
    for number, (chunk, count, _) in enumerate(CountsReader(sys.argv[1:]).read(), 1):
        if number == 100_000:
            print(len(chunk))
            break
except ValueError as error:
    print(str(error).partition(": ")[2])
"""


def with_little_memory(path: Path) -> str:
    """What a process of 2 GiB says that reads a file: the length of its row 100,000, or an error.

    PyArrow's libraries alone take 1 GiB of addresses.
    """
    command = [sys.executable, "-c", _LITTLE_MEMORY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited on Linux")
@pytest.mark.parametrize("is_told", [True, pytest.param(False, marks=pytest.mark.sweep)])
def test_a_terabyte_in_a_small_file(is_told: bool, tmp_path: Path) -> None:
    """One text of a megabyte in a million rows, with and without Arrow's own schema."""
    rows = 1_000_000
    numbers = pyarrow.nulls(rows, pyarrow.int32()).fill_null(0)
    chunks = pyarrow.DictionaryArray.from_arrays(numbers, ["x" * 1_000_000])
    content = table(chunk=chunks, count=pyarrow.nulls(rows, pyarrow.int64()).fill_null(1))
    path = tmp_path / "x.parquet"
    settings: dict[str, Any] = {"row_group_size": rows, "compression": "zstd"}
    parquet.write_table(content, path, store_schema=is_told, **settings)
    assert path.stat().st_size < 30_000
    assert with_little_memory(path) == "1000000"


def test_a_group_of_rows_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    content = table(chunk=[f"{number}" * 500 for number in range(70)], count=[1] * 70)
    parquet.write_table(content, path, use_dictionary=False)
    monkeypatch.setattr(tables, "_GROUP_BYTES", 60_000)
    with pytest.raises(
        ValueError, match=f"^{path}: a group of rows has 6[0-9],[0-9]+ bytes of a c"
    ):
        read(path)
    parquet.write_table(content, path, use_dictionary=False, row_group_size=30)
    assert len(read(path)) == 70


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["a.tsv.gz", "a.jsonl.gz"])
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited on Linux")
def test_a_line_without_end_in_a_small_file(name: str, tmp_path: Path) -> None:
    with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
        for _ in range(280):
            file.write(b"x" * 1_000_000)
    assert with_little_memory(tmp_path / name) == "a line of more than 268,435,456 bytes"


def test_json_is_not_escaped_to_ascii() -> None:
    file = io.BytesIO()
    write_rows(file, [("é\u2028", 1, "g")], "a.jsonl", with_groups=True)
    assert json.loads(file.getvalue()) == {"chunk": "é\u2028", "count": 1, "group": "g"}
    assert "é\u2028".encode() in file.getvalue()


def write_parquet(table: Any, path: Path) -> None:
    parquet.write_table(table, path, row_group_size=3)


def write_file(table: Any, path: Path, new: Any = ipc.new_file) -> None:
    with new(path, table.schema) as file:
        for batch in table.to_batches(max_chunksize=3):
            file.write_batch(batch)


def write_stream(table: Any, path: Path) -> None:
    write_file(table, path, ipc.new_stream)


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


def read_table(path: Path, **options: Any) -> list[tuple[str, str, str]]:
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


def read_skipping(path: Path, **options: Any) -> tuple[list[Any], list[tuple[str, str]]]:
    """The documents, and what is skipped with its reason."""
    skipped: list[tuple[str, str]] = []
    options["skipped"] = lambda *what: skipped.append(what)
    return read_table(path, errors="skip", **options), skipped


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
    assert read_table(path, group_field="lang") == kept
    told: list[int] = []
    assert read_table(path, advance=told.append) == [(text, "own", row) for text, _, row in kept]
    assert sum(told) == path.stat().st_size
    # One column may be both.
    assert read_table(path, group_field="text") == [(text, text, row) for text, _, row in kept]


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
    assert [text for text, _, _ in read_table(path)] == ["a", "b", "a", "ü"]


@of_each
def test_what_is_no_text(name: str, write: Write, tmp_path: Path) -> None:
    path = tmp_path / name
    write(pyarrow.table({"text": ["a", None, "c", "d"], "lang": ["x", "x", None, "x"]}), path)
    with pytest.raises(ValueError, match=f"^{path}:2: the column 'text' is null$"):
        read_table(path)
    with pytest.raises(ValueError, match=f"^{path}:2: the column 'text' is null$"):
        read_table(path, group_field="lang")
    found, skipped = read_skipping(path, group_field="lang")
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
            read_table(path, field=field)
        with pytest.raises(ValueError, match=f"^{path}: {message}"):
            read_table(path, field="a", group_field=field)
        _, skipped = read_skipping(path, field=field)
        assert [source for source, _ in skipped] == [str(path)]


@of_each
def test_damage_is_an_error_or_makes_no_difference(name: str, write: Write, tmp_path: Path) -> None:
    path = tmp_path / name
    write(pyarrow.table({"text": ["some text", "more", "x" * 50, "last"]}), path)
    data, rows = path.read_bytes(), read_table(path)
    for end in range(0, len(data), 7):
        path.write_bytes(data[:end])
        found, skipped = read_skipping(path)
        # A stream may end after any batch: its end need not be marked.
        assert skipped or write is write_stream
        assert not any("\n" in why for _, why in skipped)
        assert rows[: len(found)] == found
    path.write_bytes(b"no table at all, but text\n" * 9)
    with pytest.raises(ValueError, match=f"^{path}: damaged (Parquet|Arrow): "):
        read_table(path)


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
            read_table(path)


def test_places_of_texts_that_lead_outside(tmp_path: Path) -> None:
    for name, write in (("a.arrow", write_file), ("a.arrows", write_stream)):
        path = tmp_path / name
        write(pyarrow.table({"text": ["abc", "de"]}), path)
        data = path.read_bytes()
        places = b"\0\0\0\0\3\0\0\0\5\0\0\0"
        assert data.count(places) == 1
        path.write_bytes(data.replace(places, b"\0\0\0\0\3\0\0\0\5\0\0\x70"))
        with pytest.raises(ValueError, match=f"^{path}: damaged Arrow: "):
            read_table(path)


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
        assert [text for text, _, _ in read_table(path)] == ["a", "b"]
    else:
        with pytest.raises(ValueError, match="cannot be read from a pipe, since its index"):
            read_table(path)
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
            read_table(path)
    path.write_bytes(b"PAR1 of a text, ARROW1 too")
    assert len(read_table(path)) == 1


def test_feather_of_version_1(tmp_path: Path) -> None:
    path = tmp_path / "a.feather"
    path.write_bytes(b"FEA1" + bytes(99))
    with pytest.raises(
        ValueError, match=f"^{path}: Feather version 1 is not supported; write version 2"
    ):
        read_table(path)


def test_batches_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the memory of a large batch of one file is not taken twice."""
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
    assert [text for text, _, _ in read_table(path)] == table["text"].to_pylist()
    assert max(sizes) < 20


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name, use in (("a.parquet", read), ("a.parquet", read_table), ("a.arrow", read_table)):
        path = tmp_path / name
        path.write_bytes(b"")
        with pytest.raises(ImportError, match=rf"^{path}.*pyarrow.* pip install '\S+\[parquet\]'"):
            use(path)
