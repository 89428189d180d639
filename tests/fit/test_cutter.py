"""The cutter: what it returns at once, and what it holds back."""

from __future__ import annotations

import pytest

from compat_bpe import get_encoding
from compat_bpe.fit import cutter as cutter_module
from compat_bpe.fit.cutter import Cutter
from tests.fit.small_kinds import small_kind

NO_NAMES: frozenset[str] = frozenset()


def test_an_empty_piece_changes_nothing() -> None:
    cutter = Cutter(get_encoding("gpt2"), NO_NAMES)
    pieces = ["", "a", "", "b c", ""]
    assert list(map(cutter.feed, pieces)) == ["", "", "", "ab", ""]
    assert cutter.finish() == " c"


def test_chunks_are_cut_unless_they_are_to_stay_whole() -> None:
    encoding = small_kind("llama")
    assert Cutter(encoding, NO_NAMES).feed("the ab the") == "the ab"
    assert Cutter(encoding, NO_NAMES, whole_chunks=True).feed("the ab the") == ""


@pytest.mark.parametrize(
    ("pieces", "cut", "rest"),
    [
        (["x" * 5, "don't"], ["", ""], "xxxxxdon't"),
        (["x" * 6, "don't"], ["", "xxxxxxdon"], "'t"),
        # What is held back is not longer than this after the cut.
        (["x" * 9, "don't", "don't", "n't"], ["", "x" * 9 + "don", "", ""], "'tdon'tn't"),
    ],
)
def test_finer_cut_points_are_looked_for_in_long_text_only(
    pieces: list[str], cut: list[str], rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutter_module, "_LONG", 10)
    cutter = Cutter(get_encoding("gpt2"), NO_NAMES)
    for _ in range(2):  # a finished one is as new
        assert list(map(cutter.feed, pieces)) == cut
        assert cutter.finish() == rest
