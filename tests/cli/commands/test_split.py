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
from tests.cli.running import Result, run
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
        (("-n", "0k", "--json"), "0 is not in the range"),
        (("-n", "5kk", "--json"), "'5kk' is not a number of tokens"),
        (("-n", "5", "--json", "a", "b"), "'b' is a second PATH; several need --files"),
        (("-n", "5", "--json", "--hidden"), "options about files need --files"),
        (("-n", "5", "--json", "--files"), "--files needs a PATH"),
        (("-n", "5", "--json", "--files", "--overlap", "1", "a"), "--files and --overlap exclude"),
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


@pytest.fixture
def tree() -> dict[str, bytes]:
    """Files in src/, one of them binary; their texts by path, in the order of a walk."""
    files = {
        os.path.join("src", "a.py"): "naïve = 1\r\n".encode(),
        os.path.join("src", "b", "c.txt"): b"no line end",
        os.path.join("src", "b", "empty"): b"",
        os.path.join("src", "z.md"): b"one two three\n" * 40,
    }
    os.makedirs(os.path.join("src", "b"))
    for path, data in files.items():
        Path(path).write_bytes(data)
    Path("src", "logo.png").write_bytes(b"\x89PNG\0\0")
    Path("src", "old.txt").write_bytes(b"caf\xe9")
    return files


SKIPPED = (
    f"compat-bpe: {os.path.join('src', 'logo.png')}: skipped: binary: NUL byte at offset 4\n"
    f"compat-bpe: {os.path.join('src', 'old.txt')}: skipped: not UTF-8: byte 0xe9 at offset 3; "
    "convert it to UTF-8\n"
)


def test_files_are_packed_each_byte_once(tree: dict[str, bytes]) -> None:
    status, out, err = split(
        "-n", "60", "--files", "--errors", "strict", "src", "--boundary", "line", "-o", "part-"
    )
    names = out.decode().splitlines()
    assert (status, err) == (0, SKIPPED)
    assert len(names) > 2
    first = Path(names[0]).read_bytes().decode()
    a, c, empty, z = tree
    assert first == (f"==> {a} <==\nnaïve = 1\r\n==> {c} <==\nno line end\n==> {empty} <==\n")
    assert Path(names[1]).read_text().startswith(f"==> {z} <==\none two three\n")
    assert Path(names[2]).read_text().startswith(f"==> {z} (continued) <==\none two three\n")
    parts = [Path(name).read_bytes().decode() for name in names]
    assert all(GPT2.count(part) <= 60 for part in parts)
    found = [
        json.loads(line)
        for line in split(
            "-n", "60", "--files", "--errors", "strict", "src", "--boundary", "line", "--json"
        ).out.splitlines()
    ]
    assert [one["text"] for one in found] == parts
    assert [one["tokens"] for one in found] == list(map(GPT2.count, parts))
    written = dict.fromkeys(tree, "")
    for one in found:
        assert list(one) == ["files", "tokens", "text"]
        for file in one["files"]:
            at, size = file["at"], file["end"] - file["start"]
            assert file["start"] == len(written[file["path"]])
            written[file["path"]] += one["text"][at : at + size]
    assert {path: text.encode() for path, text in written.items()} == tree


def test_packed_files_are_chosen_as_by_count(tree: dict[str, bytes]) -> None:
    Path("src", ".hidden").write_bytes(b"hidden\n")

    def paths(*args: str) -> list[str]:
        out = split("-n", "100k", "--files", "--errors", "strict", "--json", *args).out
        return [file["path"] for line in out.splitlines() for file in json.loads(line)["files"]]

    for options in ([], ["--include", "*.py"], ["--exclude", "b", "--hidden"]):
        counted = json.loads(run("count", "-q", "--json", *options, "src").out)["files"]
        assert paths(*options, "src") == [file["path"] for file in counted]
    # Each once, however it is named.
    a = os.path.join("src", "a.py")
    os.symlink(a, "link")
    assert paths(a, "src", "link", a).count(a) == 1
    assert len(paths(a, "src", "link", a)) == len(tree)
    assert paths("-") == ["-"]


def test_files_that_cannot_be_packed_are_all_named_and_nothing_is_written(
    tree: dict[str, bytes],
) -> None:
    old, logo = os.path.join("src", "old.txt"), os.path.join("src", "logo.png")
    status, out, err = split(
        "-n", "60", "--files", "--errors", "strict", old, "gone", logo, "src", "-o", "part-"
    )
    assert (status, out) == (2, b"")
    assert [line.split(": ")[1:3] for line in err.splitlines()] == [
        [old, "not UTF-8"],
        ["gone", "No such file or directory"],
        [logo, "binary"],
    ]
    assert os.listdir() == ["src"]


@pytest.mark.parametrize(
    ("name", "args", "reason"),
    [
        ("a.png", ["d"], "no files to split in d: all files were skipped"),
        (".hidden", ["d"], "no files to split in d: 1 hidden (see --hidden)"),
        ("a.txt", ["--include", "*.md", "d"], "nothing matches --include '*.md'"),
    ],
)
def test_no_file_is_left_to_pack(name: str, args: list[str], reason: str) -> None:
    os.mkdir("d")
    Path("d", name).write_bytes(b"\0")
    status, out, err = split("-n", "60", "--files", "--errors", "strict", "--json", *args)
    assert (status, out) == (2, b"")
    assert reason in err
    os.mkdir("empty")
    assert split("-n", "60", "--files", "--errors", "strict", "--json", "empty") == (0, b"", "")


def test_a_packed_file_is_never_overwritten(tree: dict[str, bytes]) -> None:
    prefix = os.path.join("src", "part-")
    assert split("-n", "60", "--files", "--errors", "strict", "src/a.py", "-o", prefix).status == 0
    result = split("-n", "60", "--files", "--errors", "strict", "src", "-o", prefix, "--force")
    assert result[:2] == (2, b"")
    assert "it is one of the inputs" in result.err
    assert Path(f"{prefix}0001.txt").read_bytes().endswith(b"= 1\r\n")


def test_a_header_with_a_character_that_does_not_fit_is_one_line(tree: dict[str, bytes]) -> None:
    status, out, err = split("-n", "3", "--files", "--errors", "strict", "src/a.py", "--json")
    assert (status, out) == (2, b"")
    assert err.startswith(
        "compat-bpe: limit is 3, but ==> src/a.py <== and the character 'n' alone"
    )


@pytest.mark.skipif(os.name == "nt", reason="names of files are text")
def test_names_of_files_are_one_line_of_utf8() -> None:
    os.mkdir("d")
    for name in (b"a\nb", rb"a\nb", b"\xff"):
        Path("d", os.fsdecode(name)).write_bytes(name.hex().encode())
    status, out, err = split("-n", "99", "--files", "--errors", "strict", "d", "--separator", "")
    assert (status, err) == (0, "")
    assert out == (b"==> d/a\\nb <==\n610a62\n==> d/a\\nb <==\n615c6e62\n==> d/\\udcff <==\nff")
    (part,) = split("-n", "99", "--files", "--errors", "strict", "d", "--json").out.splitlines()
    assert [file["path"] for file in json.loads(part)["files"]] == ["d/a\nb", "d/a\\nb", "d/\udcff"]


def test_nul_in_a_packed_file_is_named(tree: dict[str, bytes]) -> None:
    Path("src", "late.txt").write_bytes(b"x" * 9000 + b"\0")
    status, out, err = split("-n", "9k", "--files", "--errors", "strict", "src", "-0")
    assert (status, out) == (2, b"")
    assert err.splitlines()[-1].startswith(
        f"compat-bpe: {os.path.join('src', 'late.txt')}: NUL byte at offset 9000"
    )


def test_numbers_of_tokens_in_thousands() -> None:
    text = b"word " * 1500
    (line,) = split("-n", "2k", "--json", stdin=text).out.splitlines()
    assert json.loads(line)["tokens"] == GPT2.count("word " * 1500)
    assert len(split("-n", "1K", "--json", stdin=text).out.splitlines()) == 2
    assert run("truncate", "-e", "gpt2", "-n", "1k", stdin=text).out == text[:4999]
    status, _, err = run("count", "-q", "-e", "gpt2", "--max", "1k", stdin=text)
    assert (status, "over the limit of 1,000" in err) == (1, True)
    assert run("count", "-q", "-e", "gpt2", "--max", "1M", stdin=text).status == 0


def test_bytes_that_are_not_utf8_are_packed_as_they_are(tree: dict[str, bytes]) -> None:
    old = os.path.join("src", "old.txt")
    status, out, err = split("-n", "60", "--files", "src", "--boundary", "line", "-o", "part-")
    assert status == 0
    assert err == SKIPPED.splitlines(keepends=True)[0]
    data = b"".join(Path(name).read_bytes() for name in out.decode().splitlines())
    assert f"==> {old} <==\n".encode() + b"caf\xe9" in data
    for line in split("-n", "9", "--files", old, "src", "--json").out.splitlines():
        found = json.loads(line)
        assert ("hex" in found) == (found["files"][0]["path"] == old)
    Path("wide.txt").write_bytes("naïve".encode("utf-16"))
    found = json.loads(
        split("-n", "60", "--files", "--encoding-of-file", "utf-16", "--json", "wide.txt").out
    )
    assert found["text"].endswith("naïve")
