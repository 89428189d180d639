"""Commands that read one text: files that cannot be read, terminals and named pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.fit.truncate import Truncated
from compat_bpe.unicode.text import KeptBytes
from tests.cli.running import COMMAND, TIMEOUT, environment, posix, run, small_blocks

GPT2 = get_encoding("gpt2")

READERS = [
    ["show"],
    ["encode"],
    ["decode"],
    ["truncate", "-n", "5"],
    ["split", "-n", "5", "--json"],
]
readers = pytest.mark.parametrize("args", READERS, ids=lambda args: args[0])


@readers
def test_a_file_without_permission_is_one_line(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"1")
    really_open: Any = open

    def refuse(path: Any, *more: Any, **options: Any) -> Any:
        if path == "a.txt":
            raise PermissionError(13, "Permission denied", path)
        return really_open(path, *more, **options)

    monkeypatch.setattr(os, "access", lambda *_args, **_options: False)
    monkeypatch.setattr("builtins.open", refuse)
    assert run(*args, "-e", "gpt2", "a.txt") == (2, b"", "compat-bpe: a.txt: Permission denied\n")


#: Runs commands as a user who is not root, and so does not pass every check.
_UNPRIVILEGED = """
import array, difflib, os, sys  # imported late, when they may not be readable any more
from compat_bpe import get_encoding
from compat_bpe.fit.truncate import Truncated
from compat_bpe.unicode.text import KeptBytes
from compat_bpe.cli import cli
from compat_bpe.cli.commands import decode, encode, show, split, truncate
from compat_bpe.fit import split_text
enc = get_encoding("gpt2")
enc.truncate("a b", 1), enc.decode([1])
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for args in eval(sys.argv[1]):
    try:
        cli([*args, "-e", "gpt2", "a.txt"], prog_name="compat-bpe")
    except SystemExit as exit:
        print(exit.code)
"""


@posix
def test_a_file_of_someone_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # its content is found from the working directory
    (tmp_path / "a.txt").write_bytes(b"1")
    (tmp_path / "a.txt").chmod(0o000)
    done = subprocess.run(
        [sys.executable, "-c", _UNPRIVILEGED, repr(READERS)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stderr.decode() == "compat-bpe: a.txt: Permission denied\n" * len(READERS)
    assert done.stdout.split() == [b"2"] * len(READERS)


@posix
@readers
def test_a_terminal_is_told_that_it_is_read(args: list[str]) -> None:
    import pty

    ours, theirs = pty.openpty()
    os.write(ours, b"1\n\x04")
    try:
        done = subprocess.run(
            [*COMMAND, *args, "-e", "gpt2"],
            env=environment(),
            stdin=theirs,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    finally:
        os.close(theirs)
        os.close(ours)
    said = b"compat-bpe: reading standard input; Ctrl-D on an empty line ends it\n"
    assert done.stderr.startswith(said)
    assert done.returncode == 0
    assert done.stdout


@posix
@readers
def test_a_named_pipe_is_read_as_a_stream(args: list[str], tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(b"1 2",))
    writer.start()
    done = run(*args, "-e", "gpt2", str(path))
    writer.join()
    assert done[:2] == run(*args, "-e", "gpt2", stdin=b"1 2")[:2]
    assert done.status == 0


@readers
def test_standard_input_has_its_name_in_messages(args: list[str]) -> None:
    errors = [] if args == ["decode"] else ["--errors", "strict"]
    status, _, err = run(*args, *errors, "-e", "gpt2", stdin=b"\xff")
    assert status == 2
    assert err.startswith("compat-bpe: standard input: ")


#: The commands that read text, with nothing but the result on standard output.
TEXT_READERS = [args for args in READERS if args != ["decode"]]
text_readers = pytest.mark.parametrize("args", TEXT_READERS, ids=lambda args: args[0])

#: Data that is often UTF-8, and often not.
some_data = st.lists(
    st.sampled_from(
        [b"a", b"word ", b"\n", b" 12", "naïve".encode(), "世界".encode(), b"\xe9", b"\xe4\xb8"]
    )
    | st.binary(max_size=3),
    max_size=20,
).map(b"".join)
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
    args = ["-n", str(limit), "--keep", keep, "--boundary", boundary, "--marker", "", "--json"]
    with small_blocks(block):
        status, printed, err = run("truncate", "-e", "gpt2", *args, stdin=data)
    report = json.loads(printed)
    out = report["text"].encode() if "text" in report else bytes.fromhex(report["hex"])
    assert (out, err) == (run("truncate", "-e", "gpt2", *args[:-1], stdin=data).out, "")
    text = data.decode("utf-8", "replace")
    expected = GPT2.truncate(text, limit, keep=keep, boundary=boundary, marker="")  # type: ignore[arg-type]
    assert status == 0
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
    contents = [
        part["text"].encode() if "text" in part else bytes.fromhex(part["hex"]) for part in parts
    ]
    assert b"".join(contents) == data
    for part, content in zip(parts, contents):
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
        assert data[start:end] == (
            place["text"].encode() if "text" in place else bytes.fromhex(place["hex"])
        )
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
def test_errors_and_encodings_of_files(args: list[str]) -> None:
    args = [*args, "-e", "gpt2"]
    text = "naïve – “café”\r\n"
    expected = run(*args, stdin=text.encode())
    assert expected.status == 0
    for encoding in ("utf-16", "UTF-16LE", "utf_32", "cp1252", "utf-8-sig", "UTF-8", "utf-7"):
        for block in (1, 3, 1 << 16):
            with small_blocks(block):
                data = text.encode(encoding)
                assert run(*args, "--encoding-of-file", encoding, stdin=data) == expected
    # What is not in the encoding is an error: it could not be kept.
    wrong = "not cp1252: byte 0x81 at offset 2; is it another encoding?"
    asked = (*args, "--encoding-of-file", "cp1252")
    assert run(*asked, stdin=b"ab\x81").err.endswith(f"compat-bpe: standard input: {wrong}\n")
    assert run(*asked, stdin=b"ab\x81").status == 2
    replaced = run(*args, stdin="ab\ufffd".encode())
    assert run(*asked, "--errors", "replace", stdin=b"ab\x81") == replaced
    assert run(*args, "--errors", "replace", stdin=b"ab\x81") == replaced
    for unknown in ("latin-99", "hex", "a\0b", "é"):
        status, out, err = run(*args, "--encoding-of-file", unknown, stdin=b"a")
        assert (status, out) == (2, b"")
        assert f"unknown encoding of text {unknown!r}" in err


@text_readers
@pytest.mark.parametrize("block", [1, 2, 3, 1 << 16])
@pytest.mark.parametrize("errors", [[], ["--errors", "strict"]])
def test_other_byte_order_marks_are_named(args: list[str], block: int, errors: list[str]) -> None:
    for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        with small_blocks(block):
            status, out, err = run(*args, *errors, stdin="\ufeffab".encode(name))
        assert (status, out) == (2, b"")
        assert err == (
            f"compat-bpe: standard input: not UTF-8: {name[:6].upper()} byte-order mark at offset "
            "0; convert it to UTF-8\n"
        )
    with small_blocks(block):
        for data in (b"\xff", b"\xfe", b"\xff\xff", b"\0", b"\0\0", b"", b"\xfea"):
            assert run(*args, stdin=data).status == 0
        assert run(*args, "--errors", "replace", stdin=b"\xff\xfea").status == 0


def test_vocabularies_without_tokens_for_bytes_have_u_fffd() -> None:
    for name in ("words", "characters"):
        kept, replaced = (
            run("encode", "--offsets", "-e", name, "--errors", errors, stdin=b"caf\xe9 \xe4\xb8")
            for errors in ("keep", "replace")
        )
        assert kept == replaced
        assert kept.status == 0


def test_merges_of_what_is_not_utf8() -> None:
    args = ("show", "--merges", "-e", "gpt2", "-")
    assert run(*args, stdin=b"caf\xe9") == run(*args, stdin="caf\ufffd".encode())
    assert run(*args, "--errors", "strict", stdin=b"caf\xe9").status == 2
