"""Text is read as it is, and paths are cut as the system cuts them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files.text import is_name_on_windows, parts_of_path, path_of_uri, read_text, recoded
from tests.examples import shared_fixture
from tests.files.systems import windows_newlines, windows_paths

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
