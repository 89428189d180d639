"""Files as text, opened by their names, and files that are read whole."""

from __future__ import annotations

import io
import json
import os
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import load, load_gpt2, load_tiktoken
from compat_bpe.chat import load_chat_template
from compat_bpe.files.git import read_settings
from compat_bpe.files.ignore import Scope
from compat_bpe.files.text import is_name_on_windows, parts_of_path, path_of_uri, read_text, recoded
from compat_bpe.files.walk import Walk
from compat_bpe.files.whole import GITS_LIMIT, json_message, read_at_most, read_whole
from compat_bpe.formats.sentencepiece import read_sentencepiece
from tests.examples import shared_fixture
from tests.files.systems import make_special, windows_newlines, windows_paths

# Every example writes the file anew, so it may be shared.


@shared_fixture()
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_utf8_is_read_unchanged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    assert read_text(str(path), allow_nul=True) == (text, len(text.encode()))


@shared_fixture()
@given(data=st.binary())
def test_any_bytes_are_strict_utf8_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    try:
        expected = data.decode()
    except UnicodeDecodeError:
        expected = None
    if expected is None or b"\0" in data:
        with pytest.raises(ValueError, match=r"at offset \d+"):
            read_text(str(path))
    else:
        assert read_text(str(path)) == (expected, len(data))


def test_nul_counts_as_binary_only_where_git_looks(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"a" * 7999 + b"\0")
    with pytest.raises(ValueError, match="binary: NUL byte at offset 7999"):
        read_text(str(path))
    path.write_bytes(b"a" * 8000 + b"\0")
    assert read_text(str(path)) == ("a" * 8000 + "\0", 8001)


@pytest.mark.parametrize("name", ["utf-16", "utf-16-be", "utf-32", "utf-7", "gb18030", "utf-8"])
def test_text_in_another_encoding_is_recoded(name: str) -> None:
    text = "naïve 世界 \U0001f600\r\n\0" * 50
    data = text.encode(name)
    assert recoded(io.BytesIO(data), name).read() == text.encode()
    assert recoded(_Dripping(data), name).read() == text.encode()
    assert recoded(_Dripping(data), name).read1(7) == text.encode()[:1]


class _Dripping(io.BytesIO):
    """A stream that gives a byte at a time."""

    def read1(self, size: int | None = -1) -> bytes:
        return self.read(1)


@pytest.mark.parametrize(
    ("name", "data", "reason", "replaced"),
    [
        ("cp1252", b"a" * 20_000 + b"\x81b", "byte 0x81 at offset 20000", "a" * 20_000 + "\ufffdb"),
        ("utf-16-le", b"a\0\0\xd8b\0", "byte 0x00 at offset 2", "a\ufffdb"),
        ("utf-16-le", b"a\0b", "byte 0x62 at offset 2", "a\ufffd"),
        ("shift_jis", b"a\x81", "byte 0x81 at offset 1", "a\ufffd"),
        ("unicode_escape", rb"a\ud800b", "a lone surrogate", "a\ufffdb"),
        ("utf-16", b"a\0", "(UTF-16 stream does not start with BOM|byte 0x61 at offset 0)", None),
        ("undefined", b"a", "undefined encoding", None),
    ],
)
def test_what_is_not_in_the_encoding_is_named(
    name: str, data: bytes, reason: str, replaced: str | None
) -> None:
    for file in (io.BytesIO(data), _Dripping(data)):
        with pytest.raises(ValueError, match=f"not {name}: {reason}; is it another encoding?"):
            recoded(file, name).read()
    if replaced is None:
        with pytest.raises(ValueError, match=reason):
            recoded(io.BytesIO(data), name, replace=True).read()
    else:
        assert recoded(io.BytesIO(data), name, replace=True).read() == replaced.encode()


def test_only_slashes_separate_elsewhere() -> None:
    assert parts_of_path("/a/b\\c/d") == ["", "a", "b\\c", "d"]


@pytest.mark.parametrize("path", ["a/b\\c", "a\\b\\c", "a/b/c", "a\\b/c"])
def test_both_slashes_separate_on_windows(path: str) -> None:
    with windows_paths():
        assert parts_of_path(path) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["a", "a.b", ".a", "con1", "com0", "lpt10", "nuls", "é", "a b"])
def test_names_that_windows_has(name: str) -> None:
    assert is_name_on_windows(name)


@pytest.mark.parametrize(
    "name",
    [
        *("CON", "con", "Nul.txt", "aux.tar.gz", "COM1", "lpt9.log", "prn ", "CONIN$", "com¹"),
        *("a.", "a ", "a:b", "a?", "a*", "a|b", 'a"', "<a>", "a\\b", "a/b", "a\tb", "a\0", "."),
    ],
)
def test_names_that_windows_does_not_have(name: str) -> None:
    assert not is_name_on_windows(name)


@pytest.mark.parametrize(
    ("path", "there", "here"),
    [
        ("/C:/a b/c.py", "C:/a b/c.py", "/C:/a b/c.py"),
        ("/c:/a", "c:/a", "/c:/a"),
        ("/home/a", "/home/a", "/home/a"),
        ("/1:/a", "/1:/a", "/1:/a"),
    ],
)
def test_a_uri_has_a_slash_before_the_drive(path: str, there: str, here: str) -> None:
    with windows_paths():
        assert path_of_uri(path) == there
    assert path_of_uri(path) == here


def test_newlines_of_windows_would_show(tmp_path: object) -> None:
    path = f"{tmp_path}/a"
    with windows_newlines():
        with open(path, "w", encoding="utf-8") as file:
            file.write("a\n")
        with open(path, "rb") as file:
            assert file.read() == b"a\r\n"
        with open(path, "wb") as file:
            file.write(b"a\n")
        with open(path, "rb") as file:
            assert file.read() == b"a\n"


posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices with names")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without settings, in which one is at work."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345678")
    assert read_whole(tmp_path / "a", 8) == b"12345678"
    with pytest.raises(ValueError, match=r"a: larger than 7 bytes$"):
        read_whole(tmp_path / "a", 7)
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)


def test_no_buffer_of_the_size_of_the_limit_is_asked_for() -> None:
    for size in (0, 1 << 16, 300_000):
        file, asked = io.BytesIO(bytes(size)), [0]

        def read(most: int, file: io.BytesIO = file, asked: list[int] = asked) -> bytes:
            asked.append(most)
            return file.read(most)

        assert read_at_most(read, 1 << 28) == bytes(size)
        assert max(asked) <= 2 * size + (1 << 16)


@posix
@pytest.mark.parametrize("special", ["fifo", "/dev/zero"])
@pytest.mark.parametrize("name", ["a.tiktoken", "tokenizer.json", "a.model", "vocab.txt", "x.gz"])
def test_a_vocabulary_is_a_regular_file(tmp_path: Path, special: str, name: str) -> None:
    # A folder is hostile, too: reading it must neither wait nor go on for ever.
    path = tmp_path / name
    make_special(path, special)
    for read in (
        load,
        partial(load_tiktoken, pattern="gpt2"),
        partial(load_gpt2, path),
        read_sentencepiece,
    ):
        with pytest.raises(OSError, match="Not a regular file"):
            read(path)


@posix
@pytest.mark.parametrize("name", ["chat_template.jinja", "tokenizer_config.json"])
def test_what_is_beside_a_vocabulary_is_a_regular_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises((OSError, ValueError), match=r"Not a regular file|no chat template"):
        load_chat_template(tmp_path)


@posix
@pytest.mark.parametrize("place", [".gitignore", ".git", ".git/config", ".git/info/exclude"])
@pytest.mark.parametrize("special", ["fifo", "/dev/zero"])
def test_a_repository_with_a_pipe_or_a_device_is_searched(
    home: Path, place: str, special: str
) -> None:
    path = home / "top" / place
    path.parent.mkdir(parents=True)
    make_special(path, special)
    (home / "top" / "a").touch()
    found = list(Walk().find([str(home / "top")]))
    assert [(os.path.basename(one.path), one.problem) for one in found] == [("a", "")]


@posix
def test_a_users_ignore_file_may_be_a_device(home: Path) -> None:
    (home / ".git").mkdir()
    for path in ("/dev/null", "/dev/zero"):
        (home / ".gitconfig").write_text(f"[core] excludesFile = {path}\n")
        assert Scope().inside(str(home)).git == ()


def test_an_ignore_file_has_a_limit(home: Path) -> None:
    (home / "top").mkdir()
    (home / "top" / "a").touch()
    path = home / "top" / ".gitignore"
    path.write_bytes(b"#" * GITS_LIMIT)
    assert [os.path.basename(one.path) for one in Walk().find([str(home / "top")])] == ["a"]
    path.write_bytes(b"#" * (GITS_LIMIT + 1))
    (found,) = Walk().find([str(home / "top")])
    assert (found.path, found.problem) == (str(path), "Larger than 1,048,576 bytes")


def test_configuration_may_not_branch_without_end(home: Path) -> None:
    (home / ".git").mkdir()
    for depth in range(9):
        lines = [f"[include] path = {depth + 1}.config"] * 10
        (home / f"{depth}.config").write_text("\n".join(lines))
    (home / ".gitconfig").write_text("[include] path = 0.config\n")
    with pytest.raises(OSError, match="Includes more than 100 files"):
        read_settings(str(home / ".git"), str(home))


@pytest.mark.parametrize("text", ["\x80", '{"a": é}', "[1 中", '"\\é"', "[😀", "[", '{"a" 1}'])
def test_messages_can_be_printed(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    for message in (str(raised.value), raised.value.msg):
        shown = f"not JSON: {json_message(message)}"
        assert ascii(shown).isprintable()
        assert len(shown) > len("not JSON: ")


@pytest.mark.parametrize(
    "message", ["", "Expecting value: line 1 column 1 (char 0)", "'é'", "\ud800"]
)
def test_other_messages_stay(message: str) -> None:
    kept = message.replace("\ud800", "\\ud800")
    assert json_message(message) == kept
