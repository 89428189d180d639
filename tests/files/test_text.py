from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files.text import read_text
from tests.examples import shared_fixture

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
