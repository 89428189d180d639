"""``compat-bpe truncate`` and ``split``; where a text is cut is tested in tests/fit."""

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
from tests.cli.running import (
    TextResult,
    cases,
    command,
    endless,
    objects,
    printed,
    refused,
    run,
    small_blocks,
    write,
)
from tests.strategies import utf8_texts

GPT2 = get_encoding("gpt2")
LONG = "The quick brown fox, 42 of them, jumps over the lazy dog's naïve “friend”.\r\n" * 5000


def truncate(line: str, stdin: str | bytes = b"") -> TextResult:
    return command(f"truncate -e gpt2 -n {line}", stdin=stdin)


def test_tokens_are_estimated_if_that_is_said() -> None:
    model = "-n 3 -m claude-sonnet-4-5"
    for line, out in (
        (f"truncate {model}", "hello worl"),
        (f"split -0 {model}", "hello worl\0d\0"),
    ):
        status, printed, err = command(f"{line} --estimate", stdin="hello world")
        assert (status, printed) == (0, out)
        assert err.startswith("compat-bpe: an estimate: Anthropic says")
        status, printed, err = command(line, stdin="hello world")
        assert (status, printed) == (2, "")
        assert err.endswith("; --estimate estimates it\n")


@given(
    text=utf8_texts,
    limit=st.integers(0, 60),
    keep=st.sampled_from(["head", "tail", "ends"]),
    boundary=st.sampled_from(["char", "word", "line"]),
    marker=st.sampled_from([None, "", "…", " [cut] ", "\n"]),
    block=st.integers(1, 50),
)
def test_what_is_written_is_what_the_library_keeps_however_the_input_comes(
    text: str, limit: int, keep: str, boundary: str, marker: str | None, block: int
) -> None:
    args = ["-e", "gpt2", "-n", str(limit), "--keep", keep, "--boundary", boundary, "--json"]
    if marker is not None:
        args += ["--marker", marker]
    with small_blocks(block):
        status, printed, err = run("truncate", *args, stdin=text.encode())
    expected = GPT2.truncate(text, limit, keep=keep, boundary=boundary, marker=marker)  # type: ignore[arg-type]
    report = json.loads(printed)
    out = report["text"].encode()
    assert (status, out, err) == (0, expected.text.encode(), "")
    assert GPT2.count(out.decode()) == report["tokens"] <= limit
    assert [tuple(part) for part in report["kept"]] == list(expected.kept)
    assert report["cut"] == expected.was_cut
    assert (report["boundary"] is not None) == (expected.was_cut and bool(expected.kept))
    assert (report["characters"], report["bytes"]) == (len(out.decode()), len(out))
    if report["input"] is None:
        assert keep == "head"
        assert expected.was_cut
    else:
        assert report["input"] == {"characters": len(text), "bytes": len(text.encode())}


def test_its_object() -> None:
    assert truncate("1 --json", "hello world\n") == (
        0,
        '{"text": "hello", "cut": true, "tokens": 1, "characters": 5, "bytes": 5, "kept": [[0, 5]],'
        ' "boundary": "char", "input": {"characters": 12, "bytes": 12}, "estimate": null}\n',
        "",
    )
    odd = json.loads(command("truncate -n 9 --json", stdin=b"caf\xe9").out)
    assert (odd["hex"], odd["bytes"], "text" in odd) == ("636166e9", 4, False)


def test_bytes_are_not_touched() -> None:
    data = "\ufeffa\r\n\0\r\x1a\n  naïve \t\x0b\U0001f600"
    assert truncate("100", data) == (0, data, "")
    assert truncate("100") == (0, "", "")
    assert truncate(str(10**30), "hug") == (0, "hug", "")
    write({"a": "hello world again\n"})
    assert truncate("2 a") == (0, "hello world", "")
    assert Path("a").read_bytes() == b"hello world again\n"
    # The name of a special token is text.
    assert truncate("7", "<|endoftext|>") == (0, "<|endoftext|>", "")
    assert truncate("6", "<|endoftext|>") == (0, "<|endoftext|", "")


@cases(
    f"""
9 → hello world → not cut: 2 tokens, 11 characters
0 →  → not cut: 0 tokens, 0 characters
1 → hello world → cut to 1 token, 5 of 11 characters
2 --keep tail → LONG → cut to 2 tokens, 2 of {len(LONG)} characters
2 → LONG → cut to 2 tokens, 9 characters; the rest was not read
""",
    "args text said",
)
def test_report(args: str, text: str, said: str) -> None:
    status, _, err = truncate(f"{args} --report", text.replace("LONG", LONG))
    assert (status, err) == (0, f"compat-bpe: standard input: {said}\n")


def test_escapes_in_the_marker() -> None:
    data = "one\ntwo\nthree\nfour\nfive\nsix\n"
    for marker, shown in ((r"--marker -\n", "-\n"), (r"--marker \\", "\\"), ("", "…\n")):
        found = truncate(f"6 --boundary line --keep ends {marker}", data)
        assert found.out == f"one\n{shown}six\n"


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_a_line_or_a_word_that_does_not_fit_is_cut_with_a_message(keep: str) -> None:
    words, letters = "a b; " * 5000 + "\n", "xyzw" * 5000 + "\n"
    finer = {"word": "words", "char": "characters"}
    for boundary, data, used in (
        ("line", words, "word"),
        ("line", letters, "char"),
        ("word", letters, "char"),
    ):
        args = f"20 --keep {keep} --boundary {boundary}"
        status, out, err = truncate(args, data)
        assert status == 0
        assert 10 <= GPT2.count(out) <= 20
        said = f"between {boundary}s within the limit; cut between {finer[used]} instead"
        assert err == f"compat-bpe: standard input: no boundary {said}\n"
        found = json.loads(truncate(f"{args} --json", data).out)
        assert (found["text"], found["boundary"]) == (out, used)
    for text, used_here in (("one line\nof some\n" * 9, "line"), ("one", None)):
        found = json.loads(truncate(f"20 --keep {keep} --boundary line --json", text).out)
        assert found["boundary"] == used_here


def test_a_limit_below_one_character() -> None:
    err = "compat-bpe: standard input: not one character fits within the limit\n"
    assert truncate("1", "🏴󠁧") == (0, "", err)
    assert truncate("0", "word") == (0, "", "")


def test_exit_code_if_asked() -> None:
    for limit, status in (("2", 0), ("1", 1)):
        assert truncate(f"{limit} --exit-code", "hello world").status == status
        assert truncate(limit, "hello world").status == 0


LINE = b"one more line of it\n"


def test_of_a_large_input_the_beginning_is_read() -> None:
    status, out, _ = run("truncate", "-e", "gpt2", "-n", "602", stdin=endless(LINE))
    assert (status, out) == (0, LINE * 100 + b"one more")


def test_what_is_not_utf8_after_that_is_not_seen_unless_strict() -> None:
    data = LINE * 10_000 + b"\xff"
    assert truncate("3", data) == (0, "one more line", "")
    assert truncate("3 --report", data[:65536] + b"\xff").status == 0
    assert truncate("3 --keep tail", data) == (0, " it\n\udcff", "")
    error = "standard input: not UTF-8: byte 0xff at offset 200000; convert it to UTF-8\n"
    for keep in ("head", "tail", "ends"):
        assert truncate(f"3 --keep {keep} --errors strict", data) == (2, "", f"compat-bpe: {error}")
    said = "compat-bpe: standard input: cut to 3 tokens, 13 characters; the rest was only checked\n"
    assert truncate("3 --errors strict", data[:-1]) == (0, "one more line", "")
    assert truncate("3 --errors strict --report", data[:-1]) == (0, "one more line", said)


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_the_marker_is_between_bytes_that_are_not_utf8(keep: str) -> None:
    data = b"\xe9 one" * 50 + b" two \xe4\xb8" * 50
    args = ("-e", "gpt2", "-n", "20", "--keep", keep, "--marker", "[…]")
    status, out, _ = run("truncate", *args, stdin=data)
    head, tail = out.split("[…]".encode())
    assert status == 0
    assert data.startswith(head)
    assert data.endswith(tail)
    assert (bool(head), bool(tail)) == (keep != "tail", keep != "head")
    assert GPT2.count(out.decode("utf-8", "replace")) <= 20


DATA = "One, two.\r\nNaïve three\n\nfour five"


def split(line: str, stdin: str | bytes = DATA) -> TextResult:
    return command(f"split -e gpt2 {line}", stdin=stdin)


def parts_of(line: str, stdin: str | bytes = DATA) -> list[Any]:
    """The objects that ``--json`` prints."""
    return list(map(json.loads, split(f"{line} --json", stdin).out.splitlines()))


@given(
    text=utf8_texts,
    limit=st.integers(4, 30),
    overlap=st.integers(0, 3),
    boundary=st.sampled_from(["char", "word", "line"]),
)
def test_json_has_the_parts_of_the_library(
    text: str, limit: int, overlap: int, boundary: str
) -> None:
    args = f"-n {limit} --overlap {overlap} --boundary {boundary} --json"
    parts = objects(f"split -e gpt2 {args}", stdin=text)
    expected = split_text(GPT2, text, limit, overlap, boundary)  # type: ignore[arg-type]
    assert parts == [
        {"start": part.start, "end": part.end, "tokens": part.count, "text": part.text}
        for part in expected
    ]
    assert all(GPT2.count(part["text"]) == part["tokens"] <= limit for part in parts)


def contents(names: list[str]) -> list[str]:
    return [Path(name).read_bytes().decode("utf-8", "surrogateescape") for name in names]


def test_files() -> None:
    names = printed("split -e gpt2 -n 3 -o part-", stdin=DATA).splitlines()
    assert names == [f"part-{number:04}.txt" for number in range(1, len(names) + 1)]
    assert sorted(os.listdir()) == names
    assert contents(names) == [part.text for part in split_text(GPT2, DATA, 3)]
    assert "".join(contents(names)) == DATA
    assert len(names) > 3
    os.mkdir("parts")
    parts = parts_of("-n 3 --output parts/a --suffix .md")
    assert [part["path"] for part in parts] == [f"parts/a{n + 1:04}.md" for n in range(len(parts))]
    for part in parts:
        (text,) = contents([part.pop("path")])
        end = part["start"] + len(text)
        assert part == {"start": part["start"], "end": end, "tokens": GPT2.count(text)}


def test_file_names_have_as_many_digits_as_the_last_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.cli.commands.split._DIGITS", 1)
    names = split("-n 1 -o '' --suffix ''", "a b" * 120).out.split()
    assert names == [f"{number:03}" for number in range(1, len(names) + 1)]
    assert len(names) > 99
    assert split("-n 9 -o x", "a b").out == "x1.txt\n"


def test_no_file_is_overwritten_unless_asked() -> None:
    write({"part-0002.txt": "mine"})
    exists = "compat-bpe: part-0002.txt: the file exists; --force overwrites it\n"
    assert split("-n 3 -o part-") == (2, "", exists)
    assert os.listdir() == ["part-0002.txt"]
    assert contents(os.listdir()) == ["mine"]
    assert split("-n 3 -o part- --force").status == 0
    assert "".join(contents(sorted(os.listdir()))) == DATA


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_replaced() -> None:
    os.mkfifo("part-0002.txt")
    said = "compat-bpe: part-0002.txt: not a regular file\n"
    assert split("-n 3 -o part- --force") == (2, "", said)
    assert os.listdir() == ["part-0002.txt"]


@pytest.mark.parametrize("function", ["builtins.open", "os.replace"])
def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing_half_done(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    real: Any = os.replace if function == "os.replace" else open

    def fail(path: str, *args: Any, **options: Any) -> Any:
        if "0003" in str(path):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(function, fail)
        result = split("-n 3 -o part-")
    assert result == (2, "", "compat-bpe: part-0003.txt: Permission denied\n")
    assert os.listdir() == []
    folder = os.path.realpath("missing")
    missing = f"compat-bpe: missing/a0001.txt: there is no directory {folder}\n"
    assert split("-n 3 -o missing/a") == (2, "", missing)


def test_separator_and_nul() -> None:
    parts = [part.text for part in split_text(GPT2, DATA, 5)]
    assert len(parts) > 2
    for separator in (r"\n--\t\0\\n", "\n--\n", ""):
        shown = separator.replace(r"\n--\t\0\\n", "\n--\t\0\\n")
        found = split(f"-n 5 --separator '{separator}'")
        assert found == (0, shown.join(parts), "")
    assert split("-n 5 -0") == (0, "".join(f"{part}\0" for part in parts), "")
    # NUL in the text is not mixed up with its end.
    err = refused("split -n 5 --null", stdin="né\0")
    assert err.startswith("compat-bpe: standard input: NUL byte at offset 3")
    assert parts_of("-n 5", "né\0")[0]["text"] == "né\0"


def test_of_an_empty_text_there_is_no_part() -> None:
    for args in ("--json", "-0", "--separator x", "-o x"):
        assert split(f"-n 5 {args}", "") == (0, "", "")
        assert os.listdir() == []


TREE = {
    "src/a.py": "naïve = 1\r\n",
    "src/b/c.txt": "no line end",
    "src/b/empty": "",
    "src/z.md": "one two three\n" * 40,
}
STRICT = "--files --errors strict"
SKIPPED = (
    "compat-bpe: src/logo.png: skipped: binary: NUL byte at offset 4\n"
    "compat-bpe: src/old.txt: skipped: not UTF-8: byte 0xe9 at offset 3; convert it to UTF-8\n"
)


@pytest.fixture
def _tree() -> None:
    """Files in src/, one of them binary, and one not UTF-8; ``TREE`` has the order of a walk."""
    write({**TREE, "src/logo.png": b"\x89PNG\0\0", "src/old.txt": b"caf\xe9"})


@pytest.mark.usefixtures("_tree")
def test_files_are_packed_each_byte_once() -> None:
    args = f"-n 60 {STRICT} src --boundary line"
    status, out, err = split(f"{args} -o part-")
    assert (status, err) == (0, SKIPPED)
    parts = contents(out.splitlines())
    assert len(parts) > 2
    first = "==> src/a.py <==\nnaïve = 1\r\n==> src/b/c.txt <==\nno line end\n==> src/b/empty <==\n"
    assert parts[0] == first
    assert parts[1].startswith("==> src/z.md <==\none two three\n")
    assert parts[2].startswith("==> src/z.md (continued) <==\none two three\n")
    assert all(GPT2.count(part) <= 60 for part in parts)
    found = parts_of(args)
    assert [one["text"] for one in found] == parts
    assert [one["tokens"] for one in found] == list(map(GPT2.count, parts))
    written = dict.fromkeys(TREE, "")
    for one in found:
        assert list(one) == ["files", "tokens", "text"]
        for file in one["files"]:
            at, size = file["at"], file["end"] - file["start"]
            assert file["start"] == len(written[file["path"]])
            written[file["path"]] += one["text"][at : at + size]
    assert written == TREE


@pytest.mark.usefixtures("_tree")
def test_packed_files_are_chosen_as_by_count() -> None:
    write({"src/.hidden": "hidden\n"})

    def paths(args: str) -> list[str]:
        parts = parts_of(f"-n 100k {STRICT} {args}")
        return [file["path"] for part in parts for file in part["files"]]

    for options in ("", "--include *.py", "--exclude b --hidden"):
        counted = json.loads(command(f"count -q --json {options} src").out)["files"]
        assert paths(f"{options} src") == [file["path"] for file in counted]
    # Each once, however it is named.
    os.symlink("src/a.py", "link")
    assert sorted(paths("src/a.py src link src/a.py")) == sorted(TREE)
    assert paths("-") == ["-"]


@pytest.mark.usefixtures("_tree")
def test_files_that_cannot_be_packed_are_all_named_and_nothing_is_written() -> None:
    err = refused(f"split -n 60 {STRICT} src/old.txt gone src/logo.png src -o part-")
    assert [line.split(": ")[1:3] for line in err.splitlines()] == [
        ["src/old.txt", "not UTF-8"],
        ["gone", "No such file or directory"],
        ["src/logo.png", "binary"],
    ]
    assert os.listdir() == ["src"]
    os.mkdir("empty")
    assert split(f"-n 60 {STRICT} --json empty") == (0, "", "")
    err = refused(f"split -e gpt2 -n 3 {STRICT} src/a.py --json")
    assert err.startswith("compat-bpe: limit is 3, but ==> src/a.py <== and the character 'n' ")
    # NUL would be mixed up with the end of a part.
    write({"src/late.txt": b"x" * 9000 + b"\0"})
    err = refused(f"split -n 9k {STRICT} src -0")
    assert err.splitlines()[-1].startswith("compat-bpe: src/late.txt: NUL byte at offset 9000")


@pytest.mark.skipif(os.name == "nt", reason="names of files are text")
def test_names_of_files_are_one_line_of_utf8() -> None:
    os.mkdir("d")
    for name in (b"a\nb", rb"a\nb", b"\xff"):
        Path("d", os.fsdecode(name)).write_bytes(name.hex().encode())
    out = "==> d/a\\nb <==\n610a62\n==> d/a\\nb <==\n615c6e62\n==> d/\\udcff <==\nff"
    assert split(f"-n 99 {STRICT} d --separator ''") == (0, out, "")
    (part,) = parts_of(f"-n 99 {STRICT} d")
    assert [file["path"] for file in part["files"]] == ["d/a\nb", "d/a\\nb", "d/\udcff"]


@pytest.mark.usefixtures("_tree")
def test_bytes_that_are_not_utf8_are_packed_as_they_are() -> None:
    status, out, err = split("-n 60 --files src --boundary line -o part-")
    assert (status, err) == (0, SKIPPED.splitlines(keepends=True)[0])
    assert "==> src/old.txt <==\ncaf\udce9" in "".join(contents(out.splitlines()))
    for part in parts_of("-n 9 --files src/old.txt src"):
        assert ("hex" in part) == (part["files"][0]["path"] == "src/old.txt")
    write({"wide.txt": "naïve".encode("utf-16")})
    (part,) = parts_of("-n 60 --files --encoding-of-file utf-16 wide.txt")
    assert part["text"].endswith("naïve")
