"""Files of counts: what is written is read back, and what is wrong is named with its place."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

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
from compat_bpe.corpus.tables import import_pyarrow
from compat_bpe.spark.frames import needed
from tests.strategies import WHITE_SPACE

texts = st.text(
    st.one_of(
        st.sampled_from("\\\t\n\r ntr\ufeff\x00" + WHITE_SPACE), st.characters(codec="utf-8")
    ),
    min_size=1,
)


def read(*paths: Path | str) -> list[Row]:
    return list(CountsReader(map(str, paths)).read())


@given(texts)
def test_what_is_escaped_is_on_one_line_and_comes_back(text: str) -> None:
    assert not {*"\t\n\r"} & {*escape(text)}
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl"])
@pytest.mark.parametrize("with_groups", [True, False])
@given(rows=st.lists(st.tuples(texts, st.integers(1, 10**18 - 1), texts)))
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
        ('{"chunk": "", "count": 1}', "the chunk is empty"),
        ('{"chunk": "\\ud800", "count": 1}', r"the chunk '\\ud800' has a surrogate"),
        ('{"chunk": "a", "count": 1.0}', "the count of 'a' is 1.0; it must be an integer"),
        ('{"chunk": "a", "count": NaN}', "the count of 'a' is nan; it must be an integer"),
        ('{"chunk": "a", "count": true}', "the count of 'a' is True; it must be an integer"),
        ('{"chunk": "a", "count": -1}', "the count of 'a' is -1; it must be 0 or more"),
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
    with pytest.raises(ValueError, match="a job of Spark is writing it, or has stopped"):
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
        *(("a", 1, "x"), ("\t", 2, "x"), ("a", 2**62, "x")),
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
        ({"chunk": ["a", "b"], "count": [1, -1]}, ":2: the count of 'b' is -1; it must be 0"),
        ({"chunk": ["a", ""], "count": [1, 1]}, ":2: the chunk is empty"),
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


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "x.parquet").touch()
    with pytest.raises(ImportError, match=r"pip install 'compat-bpe\[parquet\]'"):
        read(tmp_path / "x.parquet")


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
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
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
