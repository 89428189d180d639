from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from compat_bpe import get_encoding
from compat_bpe.cli import cli
from tests.cli.running import Run, runner


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe count`` in a folder of its own."""
    return runner("count", tmp_path, monkeypatch)


def tokens(text: str, encoding: str = "gpt2") -> int:
    return len(get_encoding(encoding).encode(text, disallowed_special=()))


def test_one_file(run: Run) -> None:
    Path("a.txt").write_text("hello world")
    assert run("-e", "gpt2", "a.txt") == (0, "2 a.txt\n", "")


def test_columns_are_aligned_and_summed_in_the_order_given(run: Run) -> None:
    Path("b").write_text("hello world")
    Path("a").write_text("hello world " * 600)
    many = tokens("hello world " * 600)
    status, out, err = run("-e", "gpt2", "b", "a", "b")
    assert (status, err) == (0, "")
    assert out == f"   2 b\n{many} a\n   2 b\n{many + 4} total\n"


def test_columns_hold_when_every_byte_is_a_token(run: Run) -> None:
    text = "\x01\x02\x03\x04" * 3
    assert tokens(text) == len(text) == 12
    Path("a").write_text(text)
    Path("b").write_text("hello world")
    assert run("-e", "gpt2", "a", "b").out == "12 a\n 2 b\n14 total\n"


def test_total_is_there_if_several_files_are_named(run: Run) -> None:
    Path("a").write_text("hello world")
    assert run("-e", "gpt2", "a", "missing").out == " 2 a\n 2 total\n"
    assert run("-e", "gpt2", "missing", "absent").out == "0 total\n"


def test_standard_input(run: Run) -> None:
    assert run("-e", "gpt2", stdin=b"hello world") == (0, "2\n", "")
    assert run("-e", "gpt2", "--sort", "tokens", stdin=b"hello world") == (0, "2\n", "")
    assert run("-e", "gpt2", "-", stdin=b"hello world") == (0, "2 -\n", "")


def test_empty(run: Run) -> None:
    assert run(stdin=b"") == (0, "0\n", "")


def test_content_is_counted_exactly(run: Run) -> None:
    text = "\ufeffa\r\n\r\nb\rc<|endoftext|>\U0001f600 \t\r\n"
    Path("a").write_bytes(text.encode())
    (counted,) = json.loads(run("--json", "-e", "gpt2", "a").out)["files"]
    assert counted == {
        "path": "a",
        "tokens": tokens(text),
        "bytes": len(text.encode()),
        "characters": len(text),
    }


@pytest.mark.parametrize(
    ("args", "encoding"),
    [
        ((), "o200k_base"),
        (("--encoding", "cl100k_base"), "cl100k_base"),
        (("--model", "gpt-4"), "cl100k_base"),
        (("-m", "text-davinci-edit-001"), "p50k_edit"),
    ],
)
def test_encoding_is_the_one_asked_for(run: Run, args: tuple[str, ...], encoding: str) -> None:
    text = "Здравствуйте, 你好 hello"  # no two of these encodings agree on its count
    result = json.loads(run("--json", *args, stdin=text.encode()).out)
    assert result["encoding"] == encoding
    assert result["total"]["tokens"] == tokens(text, encoding)


BAD = {
    "missing": (None, "No such file or directory"),
    "binary": (b"PNG\0\1", "binary: NUL byte at offset 3; --text takes it as text"),
    "picture": (b"PNG\0\xff", "binary: NUL byte at offset 3"),
    "latin-1": (b"caf\xe9!", "not UTF-8: byte 0xe9 at offset 3; convert it to UTF-8"),
    "cut": ("né€".encode()[:-1], "not UTF-8: byte 0xe2 at offset 3; convert it to UTF-8"),
    "surrogate": (b"\xed\xa0\x80", "not UTF-8: byte 0xed at offset 0; convert it to UTF-8"),
    "utf-16": (
        "\ufeffa".encode("utf-16-le"),
        "not UTF-8: UTF-16 byte-order mark at offset 0; convert it to UTF-8",
    ),
    "utf-16-be": (
        "\ufeffa".encode("utf-16-be"),
        "not UTF-8: UTF-16 byte-order mark at offset 0; convert it to UTF-8",
    ),
    "utf-32": (
        "\ufeffa".encode("utf-32-le"),
        "not UTF-8: UTF-32 byte-order mark at offset 0; convert it to UTF-8",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_the_others_are_counted_when_a_file_is_refused(run: Run, name: str) -> None:
    data, reason = BAD[name]
    if data is not None:
        Path(name).write_bytes(data)
    Path("good").write_text("hello world")
    status, out, err = run("-e", "gpt2", "good", name, "good")
    assert status == 2
    advice = "compat-bpe: 1 PATH cannot be counted as text: --errors skip leaves such files out\n"
    assert err == f"compat-bpe: {name}: {reason}\n" + advice * (name != "missing")
    assert [line.split() for line in out.splitlines()] == [
        ["2", "good"],
        ["2", "good"],
        ["4", "total"],
    ]


def test_standard_input_is_refused_like_a_file(run: Run) -> None:
    status, out, err = run(stdin=b"a\0")
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: standard input: binary: NUL byte at offset 1")


def test_text_with_nul_is_counted_if_asked(run: Run) -> None:
    assert run("--text", "-e", "gpt2", stdin=b"a\0b") == (0, f"{tokens(chr(0).join('ab'))}\n", "")


@pytest.mark.parametrize(
    ("option", "name", "close"),
    [
        ("-m", "gpt-4p", "'gpt-4o'"),
        ("-m", "zzzzzzzz", "compat-bpe models lists them"),
        ("-e", "o200k", "'o200k_base'"),
        ("-e", "", "o200k_base"),
        ("-e", "a\nb", "o200k_base"),
    ],
)
def test_unknown_name_is_one_line_before_any_file(
    run: Run, option: str, name: str, close: str
) -> None:
    status, out, err = run(option, name, "missing")
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: unknown ")
    assert repr(name) in err
    assert close in err
    assert err.count("\n") == 1
    assert "missing" not in err


def test_json(run: Run) -> None:
    Path("a").write_text("hello world")
    Path("é").write_bytes("né".encode())
    status, out, err = run("--json", "-e", "gpt2", "a", "missing", "é")
    files: list[dict[str, Any]] = [
        {"path": "a", "tokens": 2, "bytes": 11, "characters": 11},
        {"path": "é", "tokens": tokens("né"), "bytes": 3, "characters": 2},
    ]
    assert json.loads(out) == {
        "encoding": "gpt2",
        "files": files,
        "total": {"tokens": 2 + tokens("né"), "bytes": 14, "characters": 13},
        "errors": [{"path": "missing", "error": "No such file or directory"}],
        "skipped": [],
    }
    assert out.isascii()
    assert out.count("\n") == 1
    assert (status, err) == (2, "compat-bpe: missing: No such file or directory\n")


def test_control_characters_in_a_name_are_escaped(run: Run) -> None:
    name = "a\nb\x1b[31m\x9b"
    Path(name).write_text("hello world")
    assert run("-e", "gpt2", name) == (0, "2 a\\nb\\x1b[31m\\x9b\n", "")
    assert run("-e", "gpt2", name + "\r").err.count("\n") == 1
    assert json.loads(run("--json", name).out)["files"][0]["path"] == name


@pytest.mark.parametrize(
    ("option", "start", "expected"),
    [
        ("-e", "o200k", {"o200k_base", "o200k_harmony"}),
        ("--model", "gpt-4", {"gpt-4", "gpt-4.1", "gpt-4o"}),
    ],
)
def test_shell_completion(option: str, start: str, expected: set[str]) -> None:
    complete = ShellComplete(cli, {}, "compat-bpe", "_COMPAT_BPE_COMPLETE")
    found = complete.get_completions(["count", option], start)
    assert {item.value for item in found if item.type == "plain"} == expected


def test_shell_completion_of_a_path() -> None:
    complete = ShellComplete(cli, {}, "compat-bpe", "_COMPAT_BPE_COMPLETE")
    (found,) = complete.get_completions(["count", "-e"], "./mo")
    assert (found.value, found.type) == ("./mo", "file")


@pytest.fixture
def _tree(run: Run) -> None:
    """Some files in directories; ``run`` goes there."""
    for path, words in TREE.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("hello " + "world " * (words - 1) if words else "")
    Path("d/.gitignore").write_text("*.log\n")


# The tokens of each file; the last word has a space of its own after it.
TREE = {"d/a.py": 3, "d/b/large.py": 30, "d/b/z.md": 4, "d/b/x.log": 5, "d/c.py": 0}
COUNTS = {path: words + 1 if words else 0 for path, words in TREE.items()}


@pytest.mark.usefixtures("_tree")
def test_directory(run: Run) -> None:
    assert run("-e", "gpt2", "d") == (
        0,
        f"  {COUNTS['d/a.py']} d/a.py\n"
        f" {COUNTS['d/b/large.py']} d/b/large.py\n"
        f"  {COUNTS['d/b/z.md']} d/b/z.md\n"
        "  0 d/c.py\n"
        " 40 total\n",
        "",
    )


def test_total_of_a_directory_is_always_there(run: Run) -> None:
    Path("d").mkdir()
    assert run("-e", "gpt2", "d") == (0, "0 total\n", "")
    Path("d/a").write_text("hello world")
    assert run("-e", "gpt2", "d") == (0, " 2 d/a\n 2 total\n", "")


@pytest.mark.usefixtures("_tree")
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--no-ignore",), ["d/a.py", "d/b/large.py", "d/b/x.log", "d/b/z.md", "d/c.py"]),
        (("--hidden",), ["d/.gitignore", "d/a.py", "d/b/large.py", "d/b/z.md", "d/c.py"]),
        (("--include", "*.md", "--include", "/d/*.py"), ["d/a.py", "d/b/z.md", "d/c.py"]),
        (("--exclude", "b/"), ["d/a.py", "d/c.py"]),
        (("--sort", "tokens"), ["d/b/large.py", "d/b/z.md", "d/a.py", "d/c.py"]),
        (("--sort", "name"), ["d/a.py", "d/c.py", "d/b/large.py", "d/b/z.md"]),
        (("--sort", "path"), ["d/a.py", "d/b/large.py", "d/b/z.md", "d/c.py"]),
        (("--top", "2"), ["d/b/large.py", "d/b/z.md"]),
        (("--top", "2", "--sort", "name"), ["d/b/large.py", "d/b/z.md"]),
        (("--top", "9"), ["d/b/large.py", "d/b/z.md", "d/a.py", "d/c.py"]),
    ],
)
def test_which_files_and_in_which_order(
    run: Run, args: tuple[str, ...], expected: list[str]
) -> None:
    status, out, err = run("-e", "gpt2", *args, "d")
    lines = [line.split(None, 1)[1] for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert [line for line in lines if "/" in line] == expected
    listed = json.loads(run("-e", "gpt2", "--json", *args, "d").out)["files"]
    assert [file["path"] for file in listed] == expected


@pytest.mark.usefixtures("_tree")
def test_top_says_what_is_left_out(run: Run) -> None:
    assert run("-e", "gpt2", "--top", "1", "d").out == (
        "31 d/b/large.py\n 9 (3 more files)\n40 total\n"
    )
    assert run("-e", "gpt2", "--top", "3", "d").out.splitlines()[-2:] == [
        " 0 (1 more file)",
        "40 total",
    ]
    result = json.loads(run("-e", "gpt2", "--top", "1", "--json", "d").out)
    sizes = {path: Path(path).stat().st_size for path in TREE}
    size = sizes["d/a.py"] + sizes["d/b/z.md"]
    assert result["more"] == {"files": 3, "tokens": 9, "bytes": size, "characters": size}
    assert result["total"]["tokens"] == 40


@pytest.mark.usefixtures("_tree")
def test_tree(run: Run) -> None:
    expected = "40 d/\n 4 ├── a.py\n36 ├── b/\n31 │   ├── large.py\n 5 │   └── z.md\n 0 └── c.py\n"
    assert run("-e", "gpt2", "--tree", "d") == (0, expected, "")
    assert run("-e", "gpt2", "--tree", "d", "d/a.py").out == expected + " 4 d/a.py\n44 total\n"
    assert run("-e", "gpt2", "--tree", "d", "d").out == expected * 2 + "80 total\n"


@pytest.mark.usefixtures("_tree")
def test_tree_of_the_largest(run: Run) -> None:
    assert run("-e", "gpt2", "--tree", "--top", "1", "d").out == (
        "40 d/\n36 ├── b/\n31 │   ├── large.py\n 5 │   └── (1 more file)\n 4 └── (2 more files)\n"
    )


def test_tree_is_of_the_current_directory_if_none_is_named(run: Run) -> None:
    Path("a").write_text("hello world")
    assert run("-e", "gpt2", "--tree").out == "2 ./\n2 └── a\n"


def test_tree_of_what_is_no_directory(run: Run) -> None:
    Path("a").write_text("hello world")
    assert run("-e", "gpt2", "--tree", "a").out == "2 a\n"
    assert run("-e", "gpt2", "--tree", "-", stdin=b"hello world").out == "2 -\n"
    Path("empty").mkdir()
    assert run("-e", "gpt2", "--tree", "empty") == (0, "0 empty/\n", "")


def test_a_directory_that_cannot_be_read_is_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("d").mkdir()
    Path("a").write_text("hello world")

    def refuse(path: str) -> Any:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    status, out, err = run("-e", "gpt2", "d", "a")
    assert (status, err) == (2, "compat-bpe: d: Permission denied\n")
    assert out.splitlines()[-1].split() == ["2", "total"]
    assert json.loads(run("--json", "-e", "gpt2", "d").out)["errors"] == [
        {"path": "d", "error": "Permission denied"}
    ]


def test_a_special_name_in_a_directory_is_text(run: Run) -> None:
    Path("d").mkdir()
    Path("d/a").write_text("<|endoftext|>")
    assert run("-e", "gpt2", "--tree", "d").out == "7 d/\n7 └── a\n"


@pytest.mark.usefixtures("_tree")
def test_output_is_the_same_with_several_processes(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("d/b/not-text").write_bytes(b"\xff")
    Path("d/b/zero").write_bytes(b"\0")
    args = ("-e", "gpt2", "d", "-", "missing", "d/a.py")
    alone = run("-j", "1", *args, stdin=b"hello")
    monkeypatch.setattr("compat_bpe.cli.counting.WORTH_WORKERS", 0)
    monkeypatch.setattr("compat_bpe.cli.counting._SHARE", 20)
    started: list[Any] = []
    popen = subprocess.Popen

    def start(*args: Any, **options: Any) -> Any:
        started.append(popen(*args, **options))
        return started[-1]

    monkeypatch.setattr("subprocess.Popen", start)
    assert run("-j", "2", *args, stdin=b"hello") == alone
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
