"""What the command reads: text byte for byte, files that cannot be read, terminals and pipes."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.cli.input import KeptBytes, read_all, read_blocks, replace_escaped
from compat_bpe.cli.output import CommandError, write_bytes, write_text
from compat_bpe.files import documents
from compat_bpe.fit.truncate import Truncated
from compat_bpe.unicode.text import Utf8Decoder
from tests.cli.running import (
    TextResult,
    command,
    commit,
    objects,
    posix,
    refused,
    run,
    run_process,
    small_blocks,
    write,
)
from tests.examples import shared_fixture
from tests.strategies import some_bytes

GPT2 = get_encoding("gpt2")

#: The commands that read text, with nothing but the result on standard output.
TEXT_READERS = ["show", "encode", "truncate -n 5", "split -n 5 --json"]
READERS = [*TEXT_READERS, "decode"]
readers = pytest.mark.parametrize("args", READERS)
text_readers = pytest.mark.parametrize("args", TEXT_READERS)


@shared_fixture()
@given(
    data=st.one_of(st.binary(max_size=50), st.text(max_size=50).map(lambda text: text.encode())),
    block=st.integers(1, 20),
)
def test_any_bytes_are_strict_utf8_or_refused_with_the_place(
    tmp_path: Path, data: bytes, block: int
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    with small_blocks(block):
        assert b"".join(read_blocks(str(path))) == data
        try:
            expected = data.decode()
        except UnicodeDecodeError as error:
            reason = f"byte 0x{data[error.start]:02x} at offset {error.start};"
            with pytest.raises(CommandError, match=reason):
                read_all(str(path))
        else:
            assert read_all(str(path)) == expected


def test_nothing_waits_for_a_full_block(monkeypatch: pytest.MonkeyPatch) -> None:
    arriving = [b"one", b"two", b""]

    class Pipe(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            data = arriving.pop(0)
            buffer[: len(data)] = data
            return len(data)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))
    assert list(read_blocks("-")) == [b"one", b"two"]


def test_a_stream_that_takes_little_at_a_time_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unbuffered(io.RawIOBase):
        taken = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.taken += bytes(data[:3])
            return len(data[:3])

    raw: Any = Unbuffered()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, write_through=True))
    write_bytes(b"hello world\r\n")
    assert raw.taken == b"hello world\r\n"


@pytest.mark.parametrize("color", [False, True])
def test_no_newline_is_translated(color: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    # As standard output is opened on Windows.
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "utf-8", newline="\r\n"))
    write_text("a\n\r\n\nb é", color=color)
    assert written.getvalue() == "a\n\r\n\nb é".encode()


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("color", [False, True])
def test_what_a_charset_does_not_have_is_escaped(
    terminal: bool, color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(written, "isatty", lambda: terminal, raising=False)
    stdout = io.TextIOWrapper(written, "cp437")
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(stdout, "isatty", lambda: terminal, raising=False)
    write_text("é … \U0001f600", color=color)
    stdout.flush()
    assert written.getvalue() == b"\x82 \\u2026 \\U0001f600"


#: Runs commands as a user who is not root, and so does not pass every check.
_UNPRIVILEGED = """
import array, difflib, os, sys  # imported late, when they may not be readable any more
from compat_bpe.cli import cli
def run(args, name):
    command, *rest = args.split()
    try:
        cli([command, "-e", "gpt2", *rest, *name.split()], prog_name="compat-bpe")
    except SystemExit as exit:
        print(exit.code)
for args in eval(sys.argv[1]):
    run(args, "open")  # so that all modules are there
run("count", "open open")
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print("now")
for args in eval(sys.argv[1]):
    run(args, "closed")
run("count", "open closed open")
"""


@posix
def test_a_file_of_someone_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # its content is found from the working directory
    for name, mode in (("1", 0o644), ("open", 0o644), ("closed", 0o000)):
        write({name: "1"})
        Path(name).chmod(mode)
    readers = [*READERS, "count --files-from"]
    done = run_process(repr(readers), code=_UNPRIVILEGED)
    err = done.stderr.decode().replace("compat-bpe: open: 1 token, 1 character\n", "")
    assert err == "compat-bpe: closed: Permission denied\n" * (len(readers) + 1)
    out = done.stdout.decode().partition("now\n")[2]
    assert out == "2\n" * len(readers) + "1 open\n1 open\n2 total\n2\n"


@contextmanager
def typed(text: bytes) -> Iterator[BinaryIO]:
    """A terminal on which somebody types some text, and its end."""
    ours, theirs = os.openpty()
    os.write(ours, text + b"\x04")
    with open(theirs, "rb") as stdin:
        yield stdin
    os.close(ours)


@posix
@pytest.mark.parametrize("args", [*READERS, "count -", "count --files-from -"])
def test_a_terminal_is_told_that_it_is_read(args: str) -> None:
    write({"1": "hello"})
    words = (*args.split(), "-e", "gpt2")
    with typed(b"1\n") as stdin:
        done = run(*words, stdin=stdin)
    said = "compat-bpe: reading standard input; Ctrl-D on an empty line ends it\n"
    assert done.err.startswith(said)
    assert done.status == 0
    assert done.out
    assert said not in run(*words, stdin=b"1\n").err


@posix
@pytest.mark.parametrize("args", ["", "--top 3", "--tree", "-n 1k"])
def test_count_on_a_terminal_counts_the_current_directory(args: str) -> None:
    write({"a.py": "hello world"})
    with typed(b"") as stdin:
        done = run("count", "-q", *args.split(), stdin=stdin)
    assert done.status == 0
    assert b"a.py" in done.out
    if args != "--tree":
        assert command(f"count {args}", stdin="hello").out == "1\n"


@posix
@readers
def test_a_named_pipe_is_read_as_a_stream(args: str) -> None:
    os.mkfifo("pipe")
    writer = Thread(target=lambda: Path("pipe").write_bytes(b"1 2"))
    writer.start()
    done = command(f"{args} -e gpt2 pipe")
    writer.join()
    assert done[:2] == command(f"{args} -e gpt2", stdin="1 2")[:2]
    assert done.status == 0


@pytest.mark.parametrize("block", [1, 2, 3, 1 << 16])
@text_readers
def test_what_is_not_utf8_is_one_line(args: str, block: int) -> None:
    """Of standard input, which has its name in messages."""
    marks = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
    reasons = {
        b"caf\xe9!": "byte 0xe9 at offset 3",
        "né€".encode()[:-1]: "byte 0xe2 at offset 3",
        b"\xed\xa0\x80": "byte 0xed at offset 0",
    }
    for name in marks:
        reasons["\ufeffab".encode(name)] = f"{name[:6].upper()} byte-order mark at offset 0"
    with small_blocks(block):
        for data, reason in reasons.items():
            said = f"compat-bpe: standard input: not UTF-8: {reason}; convert it to UTF-8\n"
            refused = command(f"{args} -e gpt2 --errors strict", stdin=data)
            assert refused[::2] == (2, said)
            if "mark" in reason:  # it is also without --errors
                assert command(args, stdin=data) == (2, "", said)
        for data in (b"\xff", b"\xfe", b"\xff\xff", b"\0", b"\0\0", b"", b"\xfea"):
            assert command(args, stdin=data).status == 0
        assert command(f"{args} --errors replace", stdin=b"\xff\xfea").status == 0
    assert command("decode -e gpt2", stdin=b"\xff").err.startswith("compat-bpe: standard input: ")


@given(st.one_of(some_bytes, st.lists(st.binary(max_size=4))))
def test_escaped_bytes_are_replaced_as_by_python_and_kept(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    expected = data.decode("utf-8", "replace")
    kept = KeptBytes(data.decode("utf-8", "surrogateescape"))
    assert kept.text == expected
    assert kept.bytes_of(0, len(expected)) == data
    cuts = range(len(expected) + 1)
    for cut in cuts:
        assert kept.bytes_of(0, cut) + kept.bytes_of(cut, len(expected)) == data
    assert b"".join(kept.bytes_of(at, at + 1) for at in cuts) == data
    # In pieces, too: a decoder holds back what may be replaced by one U+FFFD.
    decoder = Utf8Decoder("surrogateescape")
    fed = [*map(decoder.feed, pieces), decoder.finish()]
    assert "".join(map(replace_escaped, fed)) == expected


#: Data that is often UTF-8, and often not.
some_data = st.lists(
    st.sampled_from(
        [b"a", b"word ", b"\n", b" 12", "naïve".encode(), "世界".encode(), b"\xe9", b"\xe4\xb8"]
    )
    | st.binary(max_size=3),
    max_size=20,
).map(b"".join)


def content_of(found: dict[str, Any]) -> bytes:
    """The bytes of an object with text, or what is no text in hexadecimal."""
    return found["text"].encode() if "text" in found else bytes.fromhex(found["hex"])


# It is taken for UTF-16 or UTF-32.
some_data = some_data.filter(
    lambda data: not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe"))
)


def is_seam_clean(data: bytes, cut: Truncated) -> bool:
    """Return True if the bytes of both ends, joined without a marker, are the text of both."""
    kept = KeptBytes(data.decode("utf-8", "surrogateescape"))
    joined = b"".join(kept.bytes_of(*part) for part in cut.kept)
    return joined.decode("utf-8", "replace") == cut.text


@example(b"\xe9a\x80", 1, "ends", "char", 1)
@example(b"\xc3 one two three \xa9\xa9", 4, "ends", "char", 9)
@given(
    data=some_data,
    limit=st.integers(0, 12),
    keep=st.sampled_from(["head", "tail", "ends"]),
    boundary=st.sampled_from(["char", "word", "line"]),
    block=st.integers(1, 9),
)
def test_what_is_not_utf8_is_kept_by_truncate(
    data: bytes, limit: int, keep: str, boundary: str, block: int
) -> None:
    line = f"truncate -e gpt2 -n {limit} --keep {keep} --boundary {boundary} --marker ''"
    with small_blocks(block):
        (report,) = objects(f"{line} --json", stdin=data)
    out = content_of(report)
    status, plain, _ = command(line, stdin=data)  # which says if it cuts at a finer boundary
    assert (status, plain.encode("utf-8", "surrogateescape")) == (0, out)
    text = data.decode("utf-8", "replace")
    expected = GPT2.truncate(text, limit, keep=keep, boundary=boundary, marker="")  # type: ignore[arg-type]
    # Bytes of two ends, joined, may make a character that was not there; then the tail is shorter.
    is_clean = is_seam_clean(data, expected)
    kept = out.decode("utf-8", "replace")
    assert GPT2.count(kept) == report["tokens"] <= limit
    assert is_clean == (kept == expected.text)
    assert is_clean == ([tuple(part) for part in report["kept"]] == list(expected.kept))
    assert (report["bytes"], report["characters"]) == (len(out), len(kept))
    if report["input"] is not None:
        assert report["input"] == {"characters": len(text), "bytes": len(data)}
    if keep == "head":
        assert data.startswith(out)
    elif keep == "tail":
        assert data.endswith(out)
    elif report["kept"]:
        assert any(
            data.startswith(out[:at]) and data.endswith(out[at:]) for at in range(len(out) + 1)
        )
    if not report["cut"]:
        assert out == data


@given(data=some_data, limit=st.integers(6, 12), boundary=st.sampled_from(["char", "line"]))
def test_what_is_not_utf8_is_kept_by_split(data: bytes, limit: int, boundary: str) -> None:
    args = ("split", "-e", "gpt2", "-n", str(limit), "--boundary", boundary)
    assert run(*args, "--separator", "", stdin=data) == (0, data, "")
    status, out, _ = run(*args, "--json", stdin=data)
    parts = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert b"".join(map(content_of, parts)) == data
    for part in parts:
        content = content_of(part)
        text = content.decode("utf-8", "replace")
        assert GPT2.count(text) == part["tokens"] <= limit
        assert len(text) == part["end"] - part["start"]
        assert ("hex" in part) == (content != text.encode())


@given(data=some_data, block=st.integers(1, 9))
def test_what_is_not_utf8_is_kept_by_encode_and_show(data: bytes, block: int) -> None:
    with small_blocks(block):
        status, ids, err = run("encode", "-e", "gpt2", stdin=data)
        shown = run("show", "-q", "--ids", "-e", "gpt2", stdin=data)
        offsets = run("encode", "--offsets", "-e", "gpt2", stdin=data)
    assert (status, err) == (0, "")
    assert run("decode", "-e", "gpt2", stdin=ids) == (0, data, "")
    numbers = list(map(int, ids.split()))
    assert [int(line.split()[0]) for line in shown.out.splitlines()] == numbers
    places = [json.loads(line) for line in offsets.out.splitlines()]
    assert [place["id"] for place in places] == numbers
    text = data.decode("utf-8", "replace")
    end = 0
    for place in places:
        (start, end), before = place["bytes"], end
        assert start == before
        assert data[start:end] == content_of(place)
        first, last = place["characters"]
        assert data[start:end] in text[first:last].encode() or "\ufffd" in text[first:last]
        if "text" in place:
            assert text[first:last] == place["text"]
    assert end == len(data)
    assert [place["characters"][1] for place in places[-1:]] in ([], [len(text)])
    if data == text.encode():
        assert numbers == GPT2.encode(text, disallowed_special=())
    else:
        replaced = run("encode", "-e", "gpt2", "--errors", "replace", stdin=data)
        assert list(map(int, replaced.out.split())) == GPT2.encode(text, disallowed_special=())


@text_readers
def test_errors_and_encodings_of_files(args: str) -> None:
    args = f"{args} -e gpt2"
    text = "naïve – “café”\r\n"
    expected = command(args, stdin=text)
    assert expected.status == 0
    for encoding in ("utf-16", "UTF-16LE", "utf_32", "cp1252", "utf-8-sig", "UTF-8", "utf-7"):
        for block in (1, 3, 1 << 16):
            with small_blocks(block):
                data = text.encode(encoding)
                assert command(f"{args} --encoding-of-file {encoding}", stdin=data) == expected
    # What is not in the encoding is an error: it could not be kept.
    wrong = "not cp1252: byte 0x81 at offset 2; is it another encoding?"
    asked = f"{args} --encoding-of-file cp1252"
    found = command(asked, stdin=b"ab\x81")
    assert found.status == 2
    assert found.err.endswith(f"compat-bpe: standard input: {wrong}\n")
    replaced = command(args, stdin="ab\ufffd")
    assert command(f"{asked} --errors replace", stdin=b"ab\x81") == replaced
    assert command(f"{args} --errors replace", stdin=b"ab\x81") == replaced
    for unknown in ("latin-99", "hex", "a\0b", "é"):
        err = refused(args, "--encoding-of-file", unknown, stdin="a")
        assert f"unknown text encoding {unknown!r}" in err


def test_vocabularies_without_tokens_for_bytes_have_u_fffd() -> None:
    for name in ("words", "characters"):
        kept, replaced = (
            command(f"encode --offsets -e {name} --errors {errors}", stdin=b"caf\xe9 \xe4\xb8")
            for errors in ("keep", "replace")
        )
        assert kept == replaced
        assert kept.status == 0
    merges = "show --merges -e gpt2 -"
    assert command(merges, stdin=b"caf\xe9") == command(merges, stdin="caf\ufffd")
    assert command(f"{merges} --errors strict", stdin=b"caf\xe9").status == 2


# ``--notebooks source``: the same source by each command that reads files.

SOURCE = "# Café\n\nprint(1)\nprint(2)"
CONTENT = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Café"]},
        {
            "cell_type": "code",
            "source": ["print(1)\n", "print(2)"],
            "outputs": [{"data": {"image/png": "iVBORw0KGgo" * 500}}],
        },
    ],
    "nbformat": 4,
}
WHOLE = json.dumps(CONTENT)
DAMAGED = WHOLE[:-9]
TOKENS = GPT2.count(SOURCE)
REASON = "compat-bpe: d/c.ipynb: not a notebook: not JSON: "
NOTEBOOKS = {"d/a.ipynb": WHOLE, "d/b.py": "x = 1\n"}


def of_source(line: str) -> TextResult:
    """Run a command, which has its name first."""
    name, _, rest = line.partition(" ")
    return command(f"{name} -e gpt2 --notebooks source {rest}")


def test_count_takes_the_source_of_notebooks_only_when_asked() -> None:
    write(NOTEBOOKS)
    assert command("count -e gpt2 d/a.ipynb").out == f"{GPT2.count(WHOLE)} d/a.ipynb\n"
    assert command("count -e gpt2 --notebooks whole d") == command("count -e gpt2 d")
    (found,) = objects("count -e gpt2 --notebooks source --json d")
    sizes = {"tokens": TOKENS, "bytes": len(SOURCE.encode()), "characters": len(SOURCE)}
    plain = {"tokens": GPT2.count("x = 1\n"), "bytes": 6, "characters": 6}
    assert found["files"] == [{"path": "d/a.ipynb", **sizes}, {"path": "d/b.py", **plain}]


def test_a_damaged_notebook_is_named_and_counted_as_it_is() -> None:
    write({**NOTEBOOKS, "d/c.ipynb": DAMAGED})
    status, out, err = of_source("count d/a.ipynb d/c.ipynb")
    damaged = GPT2.count(DAMAGED)
    shown = f"{TOKENS} d/a.ipynb {damaged} d/c.ipynb {TOKENS + damaged} total"
    assert (status, out.split()) == (0, shown.split())
    assert err.startswith(REASON)
    assert err.endswith("; counted as it is\n")
    assert of_source("count -q d/c.ipynb").err == ""
    write({"d/c.ipynb": b"caf\xe9"})
    assert "not UTF-8: byte 0xe9 at offset 3" in of_source("count d/c.ipynb").err
    (found,) = json.loads(of_source("count --errors replace --json d/c.ipynb").out)["files"]
    assert (found["bytes"], found["characters"]) == (4, 4)
    write({"d/c.ipynb": b"\0"})
    assert "binary: NUL byte" in of_source("count d/c.ipynb").err


def test_a_compressed_notebook() -> None:
    data = gzip.compress(WHOLE.encode())
    write({"d/a.ipynb.gz": data})
    assert of_source("count -z d/a.ipynb.gz").out == f"{TOKENS} d/a.ipynb.gz\n"
    assert "binary" in of_source("count d/a.ipynb.gz").err
    write({"d/a.ipynb.gz": data[:-4]})
    status, _, err = of_source("count -z d")
    assert (status, "d/a.ipynb.gz: " in err) == (2, True)


def test_a_very_large_notebook_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    write(NOTEBOOKS)
    for module in ("files.documents", "corpus.documents"):
        monkeypatch.setattr(f"compat_bpe.{module}.LARGEST_NOTEBOOK", 100)
    assert documents.LARGEST_NOTEBOOK == 100
    larger = "compat-bpe: d/a.ipynb: larger than 100 bytes; counted as it is\n"
    assert of_source("count d/a.ipynb") == (0, f"{GPT2.count(WHOLE)} d/a.ipynb\n", larger)
    done = of_source("report --json d/a.ipynb")
    assert json.loads(done.out)["total"]["characters"] == len(WHOLE)
    assert "d/a.ipynb: not a notebook: larger than 100 bytes; read as it is" in done.err


def test_workers_count_the_source_and_send_the_note() -> None:
    text = " word" * 400_000
    source = json.dumps({"cells": [{"source": text}]})
    write({**NOTEBOOKS, "d/p.ipynb": source, "d/r.ipynb": text})
    together = of_source("count -j 2 --json d")
    assert together == of_source("count -j 1 --json d")
    assert [one["characters"] for one in json.loads(together.out)["files"][2:]] == [len(text)] * 2
    assert "d/r.ipynb: not a notebook" in together.err


def test_split_and_report_take_the_source() -> None:
    write({**NOTEBOOKS, "d/c.ipynb": DAMAGED})
    status, out, err = of_source("split -n 1M --files --separator '' d")
    packed = f"==> d/a.ipynb <==\n{SOURCE}\n==> d/b.py <==\nx = 1\n==> d/c.ipynb <==\n{DAMAGED}"
    assert (status, out) == (0, packed)
    assert err.startswith(REASON)
    assert err.endswith("; read as it is\n")

    def sizes(done: TextResult) -> dict[str, int]:
        return {name: one["characters"] for name, one in json.loads(done.out)["groups"].items()}

    write({"d/a2.ipynb.gz": gzip.compress(WHOLE.encode())})
    done = of_source("report --by file --json d")
    names = ["d/a.ipynb", "d/a2.ipynb.gz", "d/b.py", "d/c.ipynb"]
    assert sizes(done) == dict(zip(names, (len(SOURCE), len(SOURCE), 6, len(DAMAGED))))
    assert done.err.startswith(REASON)
    assert done.err.endswith("; read as it is\n")
    assert sizes(command("report -e gpt2 --by file --json d"))["d/a.ipynb"] == len(WHOLE)


def test_check_limits_the_source_and_compares_it() -> None:
    configuration = '[check]\nencoding = "gpt2"\n[[check.rules]]\nfiles = ["*.ipynb", "*.json"]\n'
    write({**NOTEBOOKS, ".compat-bpe.toml": configuration + "max = 20\nbody = 30\ngrowth = 0\n"})
    source = "check --notebooks source --json"
    assert command("check --json").status == 1
    (found,) = objects(source)
    assert [one["tokens"] for one in found["results"]] == [TOKENS, TOKENS]
    # The same content by another name is no notebook.
    write({"d/a.json": WHOLE})
    commit("init -q")
    # New outputs are no growth, and a new cell is.
    changed = json.loads(WHOLE)
    changed["cells"][1]["outputs"] = ["a" * 999]
    write({"d/a.ipynb": json.dumps(changed)})
    assert json.loads(command(f"{source} --base HEAD").out)["changes"] == []
    changed["cells"].append({"cell_type": "code", "source": "x"})
    write({"d/a.ipynb": json.dumps(changed), "d/a.json": WHOLE + " "})
    changes = json.loads(command(f"{source} --base HEAD").out)["changes"]
    assert [(one["path"], one["before"], one["after"]) for one in changes] == [
        ("d/a.ipynb", TOKENS, GPT2.count(f"{SOURCE}\n\nx")),
        ("d/a.json", GPT2.count(WHOLE), GPT2.count(WHOLE + " ")),
    ]
    write({"d/a.ipynb": DAMAGED})
    status, _, err = command(source)
    assert status == 1
    assert err.startswith(REASON.replace("c.ipynb", "a.ipynb"))
    assert err.endswith("; counted as it is\n")
