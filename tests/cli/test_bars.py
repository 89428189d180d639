"""The bars of ``count --tree``: shares at a glance, on a terminal only."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.cli.count_output import bar
from tests.cli.running import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a/b").mkdir(parents=True)
    for name, words in (("a/x.txt", 300), ("a/b/y.txt", 99), ("a/b/z.txt", 1)):
        Path(name).write_text("the " * (words - 1) + "the")


@pytest.mark.usefixtures("folder")
def test_bars_on_a_terminal() -> None:
    args = ("count", "--tree", "-e", "gpt2", "-q", "a")
    assert run(*args, terminal=True).out.decode().splitlines() == [
        "400 ██████████ a/",
        "100 ██▌        ├── b/",
        " 99 ██▌        │   ├── y.txt",
        "  1 ▏          │   └── z.txt",
        "300 ███████▌   └── x.txt",
    ]
    percent = run(*args, "--percent", "--top", "1", terminal=True).out.decode().splitlines()
    assert percent == [
        "400 100.0% ██████████ a/",
        "300  75.0% ███████▌   ├── x.txt",
        "100  25.0% ██▌        └── (2 more files)",
    ]


@pytest.mark.usefixtures("folder")
def test_a_terminal_of_few_characters() -> None:
    out = run("count", "--tree", "-e", "gpt2", "-q", "a", terminal=True, charset="ascii").out
    assert out.decode("ascii").splitlines()[1:4] == [
        "100 ##         |-- b/",
        " 99 ##         |   |-- y.txt",
        "  1 #          |   `-- z.txt",
    ]


@pytest.mark.usefixtures("folder")
def test_no_bars_elsewhere() -> None:
    assert run("count", "--tree", "-e", "gpt2", "a").out.decode().splitlines()[0] == "400 a/"
    flat = run("count", "-e", "gpt2", "-q", "a/x.txt", "a/b/z.txt", terminal=True).out
    assert "█".encode() not in flat


@given(parts=st.lists(st.integers(0, 1000), min_size=1), ascii_only=st.booleans())
def test_a_bar_is_as_long_as_its_share(parts: list[int], ascii_only: bool) -> None:
    total = sum(parts)
    for tokens in (*parts, total):
        shown = bar(tokens, total, ascii_only=ascii_only)
        assert len(shown) == 10
        cells = shown.rstrip(" ")
        assert bool(cells) == bool(tokens)
        if ascii_only:
            length = float(len(cells))
        else:
            length = sum(" ▏▎▍▌▋▊▉█".index(cell) for cell in cells) / 8
        share = tokens / total * 10 if total else 0
        assert abs(length - share) <= (0.5 if not tokens or length > 1 else 1)
    assert bar(total, total, ascii_only=ascii_only).strip() in ("", "█" * 10, "#" * 10)
