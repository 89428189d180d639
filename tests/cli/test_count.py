from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from compat_bpe import get_encoding
from compat_bpe.cli import cli
from tests.cli.in_process import Run, runner


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run ``compat-bpe count`` in a folder of its own."""
    return runner("count", tmp_path, monkeypatch, capfd)


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
    "binary": (b"PNG\0\1", "binary: NUL byte at offset 3; --text counts it all the same"),
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
    assert err == f"compat-bpe: {name}: {reason}\n"
    assert [line.split() for line in out.splitlines()] == [
        ["2", "good"],
        ["2", "good"],
        ["4", "total"],
    ]


def test_directory_is_refused(run: Run) -> None:
    Path("folder").mkdir()
    status, out, err = run("folder")
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: folder: ")
    assert err.count("\n") == 1


def test_standard_input_is_refused_like_a_file(run: Run) -> None:
    status, out, err = run(stdin=b"a\0")
    assert (status, out) == (2, "")
    assert err.startswith("compat-bpe: -: binary: NUL byte at offset 1")


def test_text_with_nul_is_counted_if_asked(run: Run) -> None:
    assert run("--text", "-e", "gpt2", stdin=b"a\0b") == (0, f"{tokens(chr(0).join('ab'))}\n", "")


@pytest.mark.parametrize(
    ("option", "name", "close"),
    [
        ("-m", "gpt-4p", "'gpt-4o'"),
        ("-m", "zzzzzzzz", "--encoding"),
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


def test_model_and_encoding_exclude_each_other(run: Run) -> None:
    status, out, err = run("-m", "gpt-4", "-e", "cl100k_base", stdin=b"a")
    assert (status, out) == (2, "")
    assert "--model and --encoding exclude each other" in err


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
