"""Limits are raised in place; whatever else would change is refused."""

from __future__ import annotations

import pytest

from compat_bpe.check.rules import Limit
from compat_bpe.check.source import Place, Source
from compat_bpe.check.written import raise_limits

TEXT = "[check]\n[[check.rules]]\nfiles = ['*']\nmax = 5_000 # five\ntotal = 9000\n"
MAX = Limit(5000, Place(".compat-bpe.toml", 4, ("check", "rules", 0, "max")))
TOTAL = Limit(9000, Place(".compat-bpe.toml", 5, ("check", "rules", 0, "total")))


def test_each_number_keeps_its_form() -> None:
    text, raised = raise_limits(Source(".compat-bpe.toml", TEXT), {TOTAL: 9001, MAX: 12_300})
    assert text == TEXT.replace("5_000", "12_300").replace("9000", "9100")
    assert [(one.limit, one.tokens, one.problem) for one in raised] == [
        (MAX, 12_300, ""),
        (TOTAL, 9100, ""),
    ]


def test_no_limit_is_lowered() -> None:
    text, raised = raise_limits(Source(".compat-bpe.toml", TEXT), {MAX: 4900, TOTAL: 9001})
    assert text == TEXT
    assert [one.problem for one in raised] == ["the file has a form that cannot be edited"] * 2


def test_an_edit_that_would_change_something_else_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Source(".compat-bpe.toml", TEXT)
    line, start, end = source.spans[TOTAL.place.way]
    wrong = {**source.spans, TOTAL.place.way: source.spans[MAX.place.way]}
    monkeypatch.setattr(Source, "spans", wrong)
    text, (raised,) = raise_limits(source, {TOTAL: 9001})
    assert (text, raised.problem) == (TEXT, "the file has a form that cannot be edited")
    assert (line, TEXT[start:end]) == (5, "9000")


def test_spellings_that_are_left_alone() -> None:
    for written in ("0x1388", "0b11", "0o7"):
        text = TEXT.replace("5_000", written)
        changed, (raised,) = raise_limits(Source(".compat-bpe.toml", text), {MAX: 6000})
        assert (changed, raised.problem) == (text, f"it is written as {written}")
