"""``compat-bpe truncate``; what is kept is tested in tests/fit/test_truncate.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from tests.cli.running import endless, run, small_blocks
from tests.strategies import texts

GPT2 = get_encoding("gpt2")
LONG = "The quick brown fox, 42 of them, jumps over the lazy dog's naïve “friend”.\r\n" * 5000

#: What is in a file of UTF-8: no surrogates.
utf8_texts = texts.map(lambda text: text.encode("utf-8", "ignore").decode())


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


def test_bytes_are_not_touched() -> None:
    data = "\ufeffa\r\n\0\r\x1a\n  naïve \t\x0b\U0001f600".encode()
    assert run("truncate", "-n", "100", stdin=data) == (0, data, "")
    assert run("truncate", "-n", "100") == (0, b"", "")


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hello world again\n")
    assert run("truncate", "-e", "gpt2", "-n", "2", str(path)) == (0, b"hello world", "")
    assert path.read_bytes() == b"hello world again\n"


def test_the_name_of_a_special_token_is_text() -> None:
    args = ("truncate", "-e", "gpt2", "-n")
    assert run(*args, "7", stdin=b"<|endoftext|>") == (0, b"<|endoftext|>", "")
    assert run(*args, "6", stdin=b"<|endoftext|>") == (0, b"<|endoftext|", "")


def test_report() -> None:
    def report(*args: str, text: str = LONG) -> str:
        status, _, err = run("truncate", "-e", "gpt2", "--report", *args, stdin=text.encode())
        assert status == 0
        return err

    assert (
        report("-n", "9", text="hello world")
        == "compat-bpe: standard input: not cut: 2 tokens, 11 characters\n"
    )
    assert (
        report("-n", "0", text="")
        == "compat-bpe: standard input: not cut: 0 tokens, 0 characters\n"
    )
    assert (
        report("-n", "1", text="hello world")
        == "compat-bpe: standard input: cut to 1 token, 5 of 11 characters\n"
    )
    assert (
        report("-n", "2", "--keep", "tail")
        == f"compat-bpe: standard input: cut to 2 tokens, 2 of {len(LONG)} characters\n"
    )
    assert (
        report("-n", "2")
        == "compat-bpe: standard input: cut to 2 tokens, 9 characters; the rest was not read\n"
    )


def test_escapes_in_the_marker() -> None:
    args = ("truncate", "-e", "gpt2", "-n", "6", "--boundary", "line", "--keep", "ends")
    data = b"one\ntwo\nthree\nfour\nfive\nsix\n"
    assert run(*args, "--marker", r"-\n", stdin=data).out == b"one\n-\nsix\n"
    assert run(*args, "--marker", r"\\", stdin=data).out == b"one\n\\six\n"
    assert run(*args, stdin=data).out == "one\n…\nsix\n".encode()


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_a_line_or_a_word_that_does_not_fit_is_cut_with_a_message(keep: str) -> None:
    args = ("truncate", "-e", "gpt2", "-n", "20", "--keep", keep, "--boundary")
    words, letters = b"a b; " * 5000 + b"\n", b"xyzw" * 5000 + b"\n"
    for boundary, data, used in (
        ("line", words, "word"),
        ("line", letters, "char"),
        ("word", letters, "char"),
    ):
        status, out, err = run(*args, boundary, stdin=data)
        assert status == 0
        assert 10 <= GPT2.count(out.decode()) <= 20
        kind, finer = f"{boundary}s", {"word": "words", "char": "characters"}[used]
        assert err == (
            f"compat-bpe: standard input: no place between {kind} within the limit; "
            f"cut between {finer} instead\n"
        )
        found = json.loads(run(*args, boundary, "--json", stdin=data).out)
        assert (found["text"].encode(), found["boundary"]) == (out, used)
    one = run(*args, "line", "--json", stdin=b"one line\nof some\n" * 9)
    assert json.loads(one.out)["boundary"] == "line"
    assert json.loads(run(*args, "line", "--json", stdin=b"one").out)["boundary"] is None


def test_a_limit_below_one_character() -> None:
    args = ("truncate", "-e", "gpt2", "-n")
    err = "compat-bpe: standard input: not one character fits within the limit\n"
    assert run(*args, "1", stdin="🏴󠁧".encode()) == (0, b"", err)
    assert run(*args, "0", stdin=b"word") == (0, b"", "")


@pytest.mark.parametrize(("limit", "status"), [("2", 0), ("1", 1)])
def test_exit_code_if_asked(limit: str, status: int) -> None:
    args = ("truncate", "-e", "gpt2", "-n", limit, "--exit-code")
    assert run(*args, stdin=b"hello world").status == status
    assert run(*args[:-1], stdin=b"hello world").status == 0


LINE = b"one more line of it\n"


def test_of_a_large_input_the_beginning_is_read() -> None:
    stdin = endless(LINE)
    status, out, _ = run("truncate", "-e", "gpt2", "-n", "602", stdin=stdin)
    assert (status, out) == (0, LINE * 100 + b"one more")


def test_what_is_not_utf8_after_that_is_not_seen_unless_strict() -> None:
    data = LINE * 10_000 + b"\xff"
    args = ("truncate", "-e", "gpt2", "-n", "3")
    assert run(*args, stdin=data) == (0, b"one more line", "")
    assert run(*args, "--report", stdin=data[:65536] + b"\xff").status == 0
    assert run(*args, "--keep", "tail", stdin=data) == (0, b" it\n\xff", "")
    error = (
        "compat-bpe: standard input: not UTF-8: byte 0xff at offset 200000; convert it to UTF-8\n"
    )
    for keep in ("head", "tail", "ends"):
        assert run(*args, "--keep", keep, "--errors", "strict", stdin=data) == (2, b"", error)
    assert run(*args, "--errors", "strict", stdin=data[:-1]) == (0, b"one more line", "")
    report = run(*args, "--errors", "strict", "--report", stdin=data[:-1]).err
    assert report == (
        "compat-bpe: standard input: cut to 3 tokens, 13 characters; the rest was only checked\n"
    )


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_the_marker_is_between_bytes_that_are_not_utf8(keep: str) -> None:
    data = b"\xe9 one" * 50 + b" two \xe4\xb8" * 50
    status, out, _ = run(
        "truncate", "-e", "gpt2", "-n", "20", "--keep", keep, "--marker", "[…]", stdin=data
    )
    head, tail = out.split("[…]".encode())
    assert status == 0
    assert data.startswith(head)
    assert data.endswith(tail)
    assert (bool(head), bool(tail)) == (keep != "tail", keep != "head")
    assert GPT2.count(out.decode("utf-8", "replace")) <= 20


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((), "Missing option '-n'"),
        (("-n", "-1"), "-1 is not in the range"),
        (("-n", "x"), "'x' is not a number of tokens"),
        (("-n", "1", "--keep", "middle"), "'middle' is not one of"),
        (("-n", "1", "--marker", "\udce9"), "Invalid value for '--marker': it is not UTF-8."),
        (("-n", "1", "--marker", r"\x"), r"Invalid value for '--marker': unknown escape \x; the"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], reason: str) -> None:
    status, out, err = run("truncate", *args, stdin=b"hello")
    assert (status, out) == (2, b"")
    assert reason in err


def test_a_limit_beyond_all_sizes() -> None:
    assert run("truncate", "-e", "gpt2", "-n", str(10**30), stdin=b"hug") == (0, b"hug", "")
