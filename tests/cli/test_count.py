"""``compat-bpe count``: the numbers of files, directories and texts, which are counted, and how."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.cli.count_view import (
    LINES,
    CountedFile,
    Rest,
    bar,
    in_order,
    largest,
    tree_lines,
)
from compat_bpe.cli.counting import Counts, FileCounter, Part
from compat_bpe.files.walk import Found
from compat_bpe.save import save_tiktoken, save_tokenizer_json
from tests.cli.running import TextResult, cases, command, printed, write, write_sizes
from tests.encodings.small_vocabularies import SMALL
from tests.files.systems import windows_paths

HELLO = "hello world"


def count(line: str = "", *more: str, stdin: str | bytes = b"") -> TextResult:
    return command(f"count -e gpt2 {line}", *more, stdin=stdin)


def tokens(text: str, encoding: str = "gpt2") -> int:
    return len(get_encoding(encoding).encode(text, disallowed_special=()))


def test_files_in_the_order_given() -> None:
    write({"b": HELLO, "a": "hello world " * 600, "c": "\x01\x02\x03\x04" * 3})
    many = tokens("hello world " * 600)
    assert count("b") == (0, "2 b\n", "")
    assert count("b a b") == (0, f"   2 b\n{many} a\n   2 b\n{many + 4} total\n", "")
    # Columns are wide enough if every byte is a token.
    assert count("c b") == (0, "12 c\n 2 b\n14 total\n", "")
    assert count("b missing").out == " 2 b\n 2 total\n"
    assert count("missing absent").out == "0 total\n"


def test_standard_input_and_text_that_is_given_itself() -> None:
    for line, stdin, out in (
        ("", HELLO, "2\n"),
        ("--sort tokens", HELLO, "2\n"),
        ("-", HELLO, "2 -\n"),
        ("", "", "0\n"),
        ("-c 'hello world'", "", "2\n"),
        ("--string '' --max 0", "", "0\n"),
        ("--text", "a\0b", f"{tokens(chr(0).join('ab'))}\n"),
    ):
        assert count(line, stdin=stdin) == (0, out, "")
    limit = "compat-bpe: the text: 2 tokens, over the limit of 1\n"
    assert count("-c 'hello world' --max 1 --per-file") == (1, "2\n", limit)


def test_content_is_counted_exactly() -> None:
    text = "\ufeffa\r\n\r\nb\rc<|endoftext|>\U0001f600 \t\r\n"
    write({"a": text})
    sizes = {"tokens": tokens(text), "bytes": len(text.encode()), "characters": len(text)}
    for path, args in (("a", ["a"]), (None, ["-c", text])):
        assert json.loads(count("--json", *args).out)["files"] == [{"path": path, **sizes}]


@cases(
    """
 → o200k_base
--encoding cl100k_base → cl100k_base
--model gpt-4 → cl100k_base
-m text-davinci-edit-001 → p50k_edit
""",
    "args encoding",
)
def test_encoding_is_the_one_asked_for(args: str, encoding: str) -> None:
    text = "Здравствуйте, 你好 hello"  # no two of these encodings agree on its count
    result = json.loads(command(f"count --json {args}", stdin=text).out)
    assert result["encoding"] == encoding
    assert result["total"]["tokens"] == tokens(text, encoding)


def test_a_vocabulary_that_a_path_names(tmp_path: Path) -> None:
    save_tokenizer_json(SMALL, tmp_path / "tokenizer.json")
    save_tiktoken(SMALL, tmp_path / "mine.tiktoken")
    for path in (".", "tokenizer.json", tmp_path):
        assert command(f"count -e {path}", stdin="abc<s>") == (0, "4\n", "")
    for pattern in ("gpt2", "llama3"):
        line = f"count -e mine.tiktoken --pattern {pattern}"
        assert command(line, stdin="abc") == (0, "1\n", "")


_CONVERT = "convert it to UTF-8"
_UTF_16 = f"not UTF-8: UTF-16 byte-order mark at offset 0; {_CONVERT}"
BAD = {
    "missing": (None, "No such file or directory"),
    "binary": (b"PNG\0\1", "binary: NUL byte at offset 3; --text reads it as text"),
    "picture": (b"PNG\0\xff", "binary: NUL byte at offset 3"),
    "latin-1": (b"caf\xe9!", f"not UTF-8: byte 0xe9 at offset 3; {_CONVERT}"),
    "cut": ("né€".encode()[:-1], f"not UTF-8: byte 0xe2 at offset 3; {_CONVERT}"),
    "surrogate": (b"\xed\xa0\x80", f"not UTF-8: byte 0xed at offset 0; {_CONVERT}"),
    "utf-16": ("\ufeffa".encode("utf-16-le"), _UTF_16),
    "utf-16-be": ("\ufeffa".encode("utf-16-be"), _UTF_16),
    "utf-32": ("\ufeffa".encode("utf-32-le"), _UTF_16.replace("16", "32")),
}


@pytest.mark.parametrize("name", BAD)
def test_the_others_are_counted_when_a_file_is_refused(name: str) -> None:
    data, reason = BAD[name]
    write({"good": HELLO, **({name: data} if data is not None else {})})
    advice = "compat-bpe: 1 PATH cannot be counted as text: --errors skip leaves such files out\n"
    err = f"compat-bpe: {name}: {reason}\n" + advice * (name != "missing")
    assert count(f"good {name} good") == (2, " 2 good\n 2 good\n 4 total\n", err)


def test_json() -> None:
    write({"a": HELLO, "é": "né"})
    assert count("--json a missing é") == (
        2,
        '{"encoding": "gpt2", "files": [{"path": "a", "tokens": 2, "bytes": 11, "characters": 11}, '
        '{"path": "\\u00e9", "tokens": 2, "bytes": 3, "characters": 2}], "total": {"tokens": 4, '
        '"bytes": 14, "characters": 13}, "errors": [{"path": "missing", "error": "No such file or '
        'directory"}], "skipped": []}\n',
        "compat-bpe: missing: No such file or directory\n",
    )


def test_a_name_that_cannot_be_shown_is_escaped() -> None:
    name = "a\nb\x1b[31m\x9b"
    write({name: HELLO, "né": HELLO})
    assert count("", name) == (0, "2 a\\nb\\x1b[31m\\x9b\n", "")
    assert count("", name + "\r").err.count("\n") == 1
    assert json.loads(count("--json", name).out)["files"][0]["path"] == name
    assert command("count -e gpt2 né", charset="ascii") == (0, "2 n\\xe9\n", "")


#: The tokens of each file.
SIZES = {"d/a.py": 4, "d/b/large.py": 31, "d/b/z.md": 5, "d/b/x.log": 6, "d/c.py": 0}
SIZES |= {"a/x.txt": 300, "a/b/y.txt": 99, "a/b/z.txt": 1, "e/a": 2, "e/b/c/x": 20, "e/b/y": 18}
TREE = r"40 d/\n 4 ├── a.py\n36 ├── b/\n31 │   ├── large.py\n 5 │   └── z.md\n 0 └── c.py\n"


@pytest.fixture
def _tree() -> None:
    write_sizes(SIZES)
    write({"d/.gitignore": "*.log\n"})


@pytest.mark.usefixtures("_tree")
@cases(
    """
 → d/a.py d/b/large.py d/b/z.md d/c.py
--no-ignore → d/a.py d/b/large.py d/b/x.log d/b/z.md d/c.py
--hidden → d/.gitignore d/a.py d/b/large.py d/b/z.md d/c.py
--include *.md --include /d/*.py → d/a.py d/b/z.md d/c.py
--exclude b/ → d/a.py d/c.py
--sort tokens → d/b/large.py d/b/z.md d/a.py d/c.py
--sort name → d/a.py d/c.py d/b/large.py d/b/z.md
--sort path → d/a.py d/b/large.py d/b/z.md d/c.py
--top 2 → d/b/large.py d/b/z.md
--top 2 --sort name → d/b/large.py d/b/z.md
--top 9 → d/b/large.py d/b/z.md d/a.py d/c.py
""",
    "args expected",
)
def test_which_files_and_in_which_order(args: str, expected: str) -> None:
    status, out, err = count(f"{args} d")
    lines = [line.split(None, 1)[1] for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert [line for line in lines if "/" in line] == expected.split()
    listed = json.loads(count(f"--json {args} d").out)["files"]
    assert [file["path"] for file in listed] == expected.split()


@pytest.mark.usefixtures("_tree")
@cases(
    rf"""
d →  4 d/a.py\n31 d/b/large.py\n 5 d/b/z.md\n 0 d/c.py\n40 total\n
--top 1 d → 31 d/b/large.py\n 9 (3 more files)\n40 total\n
--top 3 d → 31 d/b/large.py\n 5 d/b/z.md\n 4 d/a.py\n 0 (1 more file)\n40 total\n
--tree d → {TREE}
--tree d d/a.py → {TREE} 4 d/a.py\n44 total\n
--tree d d → {TREE}{TREE}80 total\n
--tree --top 1 d → 40 d/\n36 ├── b/\n31 │   ├── large.py\n 5 │   └── (1 more file)\n
     4 └── (2 more files)\n
--tree --sort tokens d →
    40 d/\n36 ├── b/\n31 │   ├── large.py\n 5 │   └── z.md\n 4 ├── a.py\n 0 └── c.py\n
--tree d/a.py → 4 d/a.py\n
--tree --depth 0 e → 40 e/\n
--tree --depth 1 e → 40 e/\n 2 ├── a\n38 └── b/\n
--tree --depth 2 e → 40 e/\n 2 ├── a\n38 └── b/\n20     ├── c/\n18     └── y\n
--tree --depth 9 e → 40 e/\n 2 ├── a\n38 └── b/\n20     ├── c/\n20     │   └── x\n
    18     └── y\n
--tree --percent --depth 1 e → 40 100.0% e/\n 2   5.0% ├── a\n38  95.0% └── b/\n
--percent --top 2 e → 20  50.0% e/b/c/x\n18  45.0% e/b/y\n 2   5.0% (1 more file)\n
    40 100.0% total\n
--percent e/a e/b/y →  2  10.0% e/a\n18  90.0% e/b/y\n20 100.0% total\n
--percent /dev/null → 0   0.0% /dev/null\n
--total-only e e/a → 42\n
--total-only --per-file --max 20 e → 40\n
--max 4 e/a e/a → 2 e/a\n2 e/a\n4 total\n
--max 0 /dev/null → 0 /dev/null\n
--max 3 e/a e/a → 2 e/a\n2 e/a\n4 total\n → total: 4 tokens, over the limit of 3\n
--total-only --per-file --limit 17 e → 40\n → e/b/c/x: 20 tokens, over the limit of 17\n
    compat-bpe: e/b/y: 18 tokens, over the limit of 17\n
--max 1 --top 1 --tree e/a → 2 e/a\n → total: 2 tokens, over the limit of 1\n
""",
    "args out over",
)
def test_directories_and_limits(args: str, out: str, over: str) -> None:
    said = f"compat-bpe: {over}" if over else ""
    assert count(args) == (int(bool(over)), out, said)


@pytest.mark.usefixtures("_tree")
def test_top_says_what_is_left_out() -> None:
    result = json.loads(count("--top 1 --json d").out)
    size = sum(Path(name).stat().st_size for name in ("d/a.py", "d/b/z.md"))
    assert result["more"] == {"files": 3, "tokens": 9, "bytes": size, "characters": size}
    assert result["total"]["tokens"] == 40


def test_directories_of_one_file_or_none_and_what_is_none() -> None:
    Path("empty").mkdir()
    assert count("empty") == (0, "0 total\n", "")
    assert count("--tree empty") == (0, "0 empty/\n", "")
    assert count("--tree -", stdin=HELLO).out == "2 -\n"
    write({"d/a": HELLO, "e/a": "<|endoftext|>"})
    assert count("d") == (0, " 2 d/a\n 2 total\n", "")
    assert count("--tree e").out == "7 e/\n7 └── a\n"
    os.chdir("d")
    assert count("--tree").out == "2 ./\n2 └── a\n"


def test_a_directory_that_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("d").mkdir()
    write({"a": HELLO})

    def refuse(path: str) -> Any:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    refused = "compat-bpe: d: Permission denied\n"
    assert count("d a") == (2, " 2 a\n 2 total\n", refused)
    errors = [{"path": "d", "error": "Permission denied"}]
    assert json.loads(count("--json d").out)["errors"] == errors


@pytest.mark.usefixtures("_tree")
def test_output_is_the_same_with_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    write({"d/b/not-text": b"\xff", "d/b/zero": b"\0"})
    alone = count("d - missing d/a.py -j 1", stdin="hello")
    monkeypatch.setattr("compat_bpe.cli.counting.WORTH_WORKERS", 0)
    monkeypatch.setattr("compat_bpe.cli.counting._SHARE", 20)
    monkeypatch.setattr("compat_bpe.parallel.pool.may_fork", lambda: False)
    with mock.patch("subprocess.Popen", side_effect=subprocess.Popen) as started:
        assert count("d - missing d/a.py -j 2", stdin="hello") == alone
    assert started.call_count == 2


TEXT = "Some words, and 今天天气很好。\n" * 9
TOKENS = tokens(TEXT)


@pytest.fixture
def _compressed() -> None:
    data = TEXT.encode()
    half = len(data) // 2
    gz = gzip.compress(data[:half]) + gzip.compress(data[half:])
    write({"a.txt": data, "b.txt.gz": gz, "c.txt.bz2": bz2.compress(data)})
    write({"d.XZ": lzma.compress(data)})


@pytest.mark.usefixtures("_compressed")
def test_compressed_text_is_counted_only_if_asked() -> None:
    result = count(".")
    assert result.out == f"{TOKENS} ./a.txt\n{TOKENS} total\n"
    assert "skipped" in result.err
    result = count("b.txt.gz")
    assert result.status == 2
    assert result.err.startswith("compat-bpe: b.txt.gz: binary: NUL byte at offset 3")
    text = Path("b.txt.gz").read_bytes().decode("utf-8", "replace")
    named = count("--text --errors replace b.txt.gz")
    assert named.out == f"{tokens(text)} b.txt.gz\n"
    result = count("-z --json .")
    assert result.err == ""
    found = {one["path"]: (one["tokens"], one["bytes"]) for one in json.loads(result.out)["files"]}
    names = ["./a.txt", "./b.txt.gz", "./c.txt.bz2", "./d.XZ"]
    assert found == dict.fromkeys(names, (TOKENS, len(TEXT.encode())))


@pytest.mark.usefixtures("_compressed")
def test_damage_in_a_directory_is_an_error() -> None:
    write({"b.txt.gz": Path("b.txt.gz").read_bytes()[:-3], "d.XZ": lzma.compress(bytes(9))})
    write({"c.txt.bz2": bz2.compress(b"\xff")})
    assert count("-z .") == (
        2,
        f"{TOKENS} ./a.txt\n{TOKENS} total\n",
        "compat-bpe: ./b.txt.gz: gzip data that is cut short\n"
        "compat-bpe: 1 binary file skipped: ./d.XZ\n"
        "compat-bpe: 1 file that is not UTF-8 skipped: ./c.txt.bz2\n",
    )


@pytest.mark.usefixtures("_compressed")
def test_a_module_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    write({"e.zst": b""})
    result = count("-z e.zst a.txt")
    assert (result.status, result.out.splitlines()[-1]) == (2, f"{TOKENS} total")
    assert result.err.startswith("compat-bpe: e.zst: Zstandard needs Python 3.14 or a package")


def test_workers_count_a_large_compressed_file_from_its_start() -> None:
    """It is not cut into parts, though its bytes look like text: they are only stored."""
    text = "one line of many words, and its end\n" * 45_000
    data = gzip.compress(text.encode(), 0)
    write({"0.txt.gz": data, "1.txt.gz": data})
    assert len(data) > 1_500_000
    assert count("-z -j 2 --total-only .").out == f"{2 * tokens(text)}\n"
    told: list[int] = []
    counter = FileCounter(get_encoding("gpt2"), decompress=True)
    counted = counter.count(Part("0.txt.gz"), told.append)
    assert counted.counts is not None
    assert counted.counts.bytes == len(text)
    assert sum(told) == len(data)
    assert len(told) > 20


# What is printed: the order of files, trees, and bars on a terminal

LISTED = [
    CountedFile(Found(path, path, 0), Counts((tokens,), tokens * 2, tokens * 3))
    for path, tokens in (("b/z", 1), ("b.py", 3), ("a/z", 3), ("b/a", 3))
]


def paths_of(files: list[CountedFile]) -> list[str]:
    return [one.found.path for one in files]


def test_the_largest_files() -> None:
    shown, rest = largest(LISTED, 2, 1)
    assert paths_of(shown) == ["b.py", "a/z"]  # of as many tokens the first
    assert rest == Rest(2, Counts((4,), 8, 12))
    assert largest(LISTED, 9, 1) == (LISTED, Rest(0, Counts((0,), 0, 0)))
    assert largest([], 1, 1) == ([], Rest(0, Counts((0,), 0, 0)))


def test_paths_of_windows_may_be_typed_with_slashes() -> None:
    with windows_paths():
        files = files_of("a", dict.fromkeys(("a/b\\z", "a/b.py", "a/b/c"), 1))
        assert paths_of(in_order(files, "path")) == ["a/b/c", "a/b\\z", "a/b.py"]
        files = files_of("a/b", {"a/b\\c\\x": 1, "a/b\\c/y": 1})
        assert lines(files) == ["2 a/b", "2 └── c\\", "1     ├── x", "1     └── y"]


def files_of(root: str, files: dict[str, int]) -> list[CountedFile]:
    return [
        CountedFile(Found(path, root, 0), Counts((tokens,), 0, 0)) for path, tokens in files.items()
    ]


def lines(files: list[CountedFile], *, top: int = 100, by_tokens: bool = False) -> list[str]:
    shown, _ = largest(files, top, 1)
    paths = list(dict.fromkeys(one.found.root for one in files))
    found = tree_lines(paths, files, shown, by_tokens=by_tokens, ascii_only=False)
    return [f"{tokens} {text}" for (tokens,), text in found]


def test_directories_may_be_deeper_than_calls() -> None:
    assert len(lines(files_of("d", {"/".join("d" + "x" * 3000): 1}))) == 3001


# A name is a directory's or a file's, as on a disk.
paths = st.lists(st.sampled_from("abc"), max_size=3).map(
    lambda folders: "/".join(["d", *folders, "file"])
)


@given(
    files=st.dictionaries(paths, st.integers(0, 50), min_size=1),
    top=st.integers(1, 8),
    by_tokens=st.booleans(),
)
def test_sums_are_right_at_every_level(files: dict[str, int], top: int, by_tokens: bool) -> None:
    # The sums of the entries of each directory, by the depth at which they stand.
    found = lines(files_of("d", files), top=top, by_tokens=by_tokens)
    stack: list[list[int]] = []
    for line in reversed(found):
        number, text = line.split(" ", 1)
        depth = (len(text) - len(text.lstrip("".join(LINES)))) // 4
        while len(stack) <= depth + 1:
            stack.append([])
        if text.endswith("/") or depth == 0:
            assert sum(stack[depth + 1]) == int(number)
            stack[depth + 1].clear()
        stack[depth].append(int(number))
    assert stack[0] == [sum(files.values())]
    named = [line for line in found if line.endswith("file")]
    assert len(named) == min(top, len(files))


@pytest.mark.usefixtures("_tree")
def test_a_limit_of_standard_input_and_of_what_cannot_be_read() -> None:
    assert count("--total-only -", stdin=HELLO) == (0, "2\n", "")
    one = "compat-bpe: standard input: 1 token, over the limit of 0\n"
    assert count("--total-only --per-file -q --limit 0", stdin="hello") == (1, "1\n", one)
    assert count("--max 0").status == 0
    assert count("--max 0 --json e/a").status == 1
    # What is over the limit and cannot be read is unreadable.
    assert count("--total-only e gone").out == "40\n"
    for args in ("--per-file --max 0 e/a gone", "--max 1 e/a gone"):
        assert count(f"--total-only {args}").status == 2


@pytest.mark.usefixtures("_tree")
def test_bars_on_a_terminal() -> None:
    tree = "count --tree -e gpt2 -q a"
    assert printed(tree, terminal=True) == (
        "400 ██████████ a/\n100 ██▌        ├── b/\n 99 ██▌        │   ├── y.txt\n"
        "  1 ▏          │   └── z.txt\n300 ███████▌   └── x.txt\n"
    )
    assert printed(f"{tree} --percent --top 1", terminal=True) == (
        "400 100.0% ██████████ a/\n300  75.0% ███████▌   ├── x.txt\n"
        "100  25.0% ██▌        └── (2 more files)\n"
    )
    assert printed(tree, terminal=True, charset="ascii") == (
        "400 ########## a/\n100 ##         |-- b/\n 99 ##         |   |-- y.txt\n"
        "  1 #          |   `-- z.txt\n300 ########   `-- x.txt\n"
    )
    # None elsewhere.
    assert command("count --tree -e gpt2 a").out.splitlines()[0] == "400 a/"
    assert "█" not in command("count -e gpt2 -q a/x.txt a/b/z.txt", terminal=True).out


@pytest.mark.usefixtures("_tree")
def test_separators_on_a_terminal_alone() -> None:
    write({"a.txt": "hello " * 1999 + "hello", "b.txt": "hello"})
    tree = "2,000 ██████████ a.txt\n    1 ▏          b.txt\n2,001 ██████████ total\n"
    for args, lines in {
        "a.txt b.txt": " 2,000 a.txt\n     1 b.txt\n 2,001 total\n",
        "a.txt": "2,000 a.txt\n",
        "--tree a.txt b.txt": tree,
        "--total-only a.txt b.txt": "2001\n",
    }.items():
        assert command(f"count -q -e gpt2 {args}", terminal=True).out == lines
        piped = command(f"count -e gpt2 {args}").out
        assert "," not in piped
        assert re.findall(r"\d+", piped) == re.findall(r"\d+", lines.replace(",", ""))


@given(parts=st.lists(st.integers(0, 1000), min_size=1), ascii_only=st.booleans())
def test_a_bar_is_as_long_as_its_share(parts: list[int], ascii_only: bool) -> None:
    total = sum(parts)
    for tokens in (*parts, total):
        shown = bar(tokens, total, ascii_only=ascii_only)
        assert len(shown) == 10
        cells = shown.rstrip(" ")
        assert bool(cells) == bool(tokens)
        if ascii_only:
            length = float(len(cells))
        else:
            length = sum(" ▏▎▍▌▋▊▉█".index(cell) for cell in cells) / 8
        share = tokens / total * 10 if total else 0
        assert abs(length - share) <= (0.5 if not tokens or length > 1 else 1)
    assert bar(total, total, ascii_only=ascii_only).strip() in ("", "█" * 10, "#" * 10)
