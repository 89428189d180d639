"""Lines of a file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from compat_bpe.formats import lines
from compat_bpe.formats.lines import read_lines


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\r\n\nb\x0b\xe2\x80\xa8", ["a\r", "", "b\x0b\u2028"]),
        (gzip.compress("é\nb\n".encode(), mtime=0), ["é", "b"]),
    ],
)
def test_lines_end_at_line_feeds(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    (tmp_path / "x").write_bytes(data)
    assert read_lines(tmp_path / "x") == expected


@pytest.mark.parametrize("data", [b"12345678", gzip.compress(b"0" * 100_000, mtime=0)])
def test_large_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    (tmp_path / "x").write_bytes(data)
    assert len(read_lines(tmp_path / "x")) == 1
    monkeypatch.setattr(lines, "SIZE_LIMIT", min(len(data) + 10, 90_000) if len(data) > 8 else 7)
    with pytest.raises(ValueError, match=r"x: larger than \d+ bytes"):
        read_lines(tmp_path / "x")
