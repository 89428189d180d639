"""``compat-bpe split``; where a text is split is tested in tests/fit/test_split.py."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.fit.split import split_text
from tests.cli.exact import Result, run
from tests.strategies import texts

GPT2 = get_encoding("gpt2")
DATA = "One, two.\r\nNaïve three\n\nfour five".encode()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def split(*args: str, stdin: bytes = DATA) -> Result:
    return run("split", "-e", "gpt2", *args, stdin=stdin)


@given(
    text=texts.map(lambda text: text.encode("utf-8", "ignore").decode()),
    limit=st.integers(4, 30),
    overlap=st.integers(0, 3),
    boundary=st.sampled_from(["char", "word", "line"]),
)
def test_json_has_the_parts_of_the_library(
    text: str, limit: int, overlap: int, boundary: str
) -> None:
    args = ("-n", str(limit), "--overlap", str(overlap), "--boundary", boundary, "--json")
    status, out, err = split(*args, stdin=text.encode())
    parts = [json.loads(line) for line in out.splitlines()]
    expected = split_text(GPT2, text, limit, overlap, boundary)  # type: ignore[arg-type]
    assert (status, err, out.isascii()) == (0, "", True)
    assert parts == [
        {"start": part.start, "end": part.end, "tokens": part.count, "text": part.text}
        for part in expected
    ]
    assert all(GPT2.count(part["text"]) == part["tokens"] <= limit for part in parts)


def test_files() -> None:
    status, out, err = split("-n", "3", "-o", "part-")
    names = out.decode().splitlines()
    assert (status, err) == (0, "")
    assert names == [f"part-{number:04}.txt" for number in range(1, len(names) + 1)]
    assert sorted(os.listdir()) == names
    contents = [Path(name).read_bytes() for name in names]
    assert b"".join(contents) == DATA
    assert [content.decode() for content in contents] == [
        part.text for part in split_text(GPT2, DATA.decode(), 3)
    ]
    assert len(names) > 3


def test_files_as_json() -> None:
    os.mkdir("parts")
    prefix = os.path.join("parts", "a")
    out = split("-n", "3", "--output", prefix, "--suffix", ".md", "--json").out
    parts = [json.loads(line) for line in out.splitlines()]
    assert sorted(part["path"] for part in parts) == [
        f"{prefix}{n + 1:04}.md" for n in range(len(parts))
    ]
    for part in parts:
        text = Path(part.pop("path")).read_bytes().decode()
        assert part == {
            "start": part["start"],
            "end": part["start"] + len(text),
            "tokens": GPT2.count(text),
        }


def test_file_names_have_as_many_digits_as_the_last_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.cli.commands.split._DIGITS", 1)
    names = split("-n", "1", "-o", "", "--suffix", "", stdin=b"a b" * 120).out.decode().split()
    assert names == [f"{number:03}" for number in range(1, len(names) + 1)]
    assert len(names) > 99
    assert split("-n", "9", "-o", "x", stdin=b"a b").out == b"x1.txt\n"


def test_no_file_is_overwritten_unless_asked() -> None:
    Path("part-0002.txt").write_bytes(b"mine")
    result = split("-n", "3", "-o", "part-")
    assert result == (
        2,
        b"",
        "compat-bpe: part-0002.txt: it exists; --force overwrites it\n",
    )
    assert os.listdir() == ["part-0002.txt"]
    assert Path("part-0002.txt").read_bytes() == b"mine"
    assert split("-n", "3", "-o", "part-", "--force").status == 0
    assert b"".join(Path(name).read_bytes() for name in sorted(os.listdir())) == DATA


@pytest.mark.parametrize("function", ["open", "os.replace"])
def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing_half_done(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    real: Any = os.replace if function == "os.replace" else open

    def fail(path: str, *args: Any, **options: Any) -> Any:
        if "0003" in str(path):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    module = "os.replace" if function == "os.replace" else "builtins.open"
    with monkeypatch.context() as patch:
        patch.setattr(module, fail)
        result = split("-n", "3", "-o", "part-")
    assert result == (2, b"", "compat-bpe: part-0003.txt: Permission denied\n")
    assert os.listdir() == []


def test_missing_folder_is_one_line() -> None:
    prefix = os.path.join("missing", "a")
    status, out, err = split("-n", "3", "-o", prefix)
    assert (status, out) == (2, b"")
    folder = os.path.realpath("missing")
    assert err == f"compat-bpe: {prefix}0001.txt: there is no directory {folder}\n"


def test_separator_and_nul() -> None:
    parts = [part.text.encode() for part in split_text(GPT2, DATA.decode(), 5)]
    assert len(parts) > 2
    assert split("-n", "5", "--separator", r"\n--\t\0\\n") == (0, b"\n--\t\0\\n".join(parts), "")
    assert split("-n", "5", "--separator", "\n--\n") == (0, b"\n--\n".join(parts), "")
    assert split("-n", "5", "--separator", "") == (0, DATA, "")
    assert split("-n", "5", "-0") == (0, b"".join(part + b"\0" for part in parts), "")


def test_nul_in_the_text_is_not_mixed_up_with_its_end() -> None:
    data = "né\0".encode()
    status, out, err = split("-n", "5", "--null", stdin=data)
    assert (status, out) == (2, b"")
    assert err.startswith("compat-bpe: standard input: NUL byte at offset 3")
    assert json.loads(split("-n", "5", "--json", stdin=data).out)["text"] == "né\0"


@pytest.mark.parametrize("args", [("--json",), ("-0",), ("--separator", "x"), ("-o", "x")])
def test_of_an_empty_text_there_is_no_part(args: tuple[str, ...]) -> None:
    assert split("-n", "5", *args, stdin=b"") == (0, b"", "")
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("-n", "5"), "say where the parts go"),
        (("-n", "5", "-0", "--json"), "say where the parts go"),
        (("-n", "5", "-0", "-o", "x"), "say where the parts go"),
        (("-n", "5", "--separator", "", "-o", "x"), "say where the parts go"),
        (("--json",), "Missing option '-n'"),
        (("-n", "0", "--json"), "0 is not in the range"),
        (("-n", "5", "--separator", "\udce9"), "it is not UTF-8"),
        (
            ("-n", "5", "--separator", r"\d"),
            r"unknown escape \d; the escapes are \n, \t, \r, \0 and",
        ),
        (("-n", "5", "--separator", "a\\"), "unknown escape \\; the escapes are"),
        (("-n", "5", "--json", "--overlap", "5"), "compat-bpe: overlap is 5; it must be"),
        (("-n", "1", "--json", "--encoding", "gpt2"), "compat-bpe: "),
    ],
)
def test_wrong_usage(args: tuple[str, ...], reason: str) -> None:
    status, out, err = split(*args, stdin="😀".encode())
    assert (status, out) == (2, b"")
    assert reason in err
    assert os.listdir() == []


def test_the_input_is_never_overwritten() -> None:
    Path("part-0001.txt").write_bytes(DATA)
    os.symlink("part-0001.txt", "link")
    for source in ("part-0001.txt", "link"):
        result = split("-n", "3", "-o", "part-", "--force", source)
        assert result[:2] == (2, b"")
        assert result[2].startswith("compat-bpe: part-0001.txt: it is one of the inputs")
    assert Path("part-0001.txt").read_bytes() == DATA
    assert sorted(os.listdir()) == ["link", "part-0001.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_replaced() -> None:
    os.mkfifo("part-0002.txt")
    result = split("-n", "3", "-o", "part-", "--force")
    assert result == (
        2,
        b"",
        "compat-bpe: part-0002.txt: it exists and is not a regular file\n",
    )
    assert os.listdir() == ["part-0002.txt"]
