from __future__ import annotations

import pytest

from compat_bpe.files.names import is_name_on_windows, parts_of_path, path_of_uri
from tests.files.windows import windows_newlines, windows_paths


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
