"""Configurations as they are written: the place of each value, and limits that are raised."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.check.rules import Limit
from compat_bpe.check.source import Place, Source, Way, parse_toml, toml_spans
from compat_bpe.check.written import raise_limits

TEXT = (
    r"""# a comment with [brackets] and "quotes"
top = 1 # = 2
"quoted key" = 'single # no comment'
a.b . "c.d" = [1, 2, # three, ]
  [3, "]"], { x = 1, "y z" = { w = "}" } },]
date = 1979-05-27 07:32:00
long = QQQ
x = 1
"quotes" \QQQ and a backslash \\QQQ
literal = '''
[no.table]
'''
[tool.compat-bpe.check] # here
warn = "90%"
[[tool.compat-bpe.check.rules]]
files = [
  "a]",
  'b#c',
]
max=5_000
[[tool.compat-bpe.check.rules]]
max = +7
[[tool.compat-bpe.check.rules.sections]]
heading = "\"x\""
[[tool.compat-bpe.check.rules.sections]]
heading = ''
[tool.other]
max = 0x1f
"""
).replace("QQQ", '"' * 3)


def values(value: Any, way: Way = ()) -> dict[Way, Any]:
    """All values below a value, by their ways."""
    found = {} if way == () else {way: value}
    steps = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, inner in steps:
        found.update(values(inner, (*way, step)))
    return found


def check_spans(text: str) -> None:
    spans = toml_spans(text)
    for way, value in values(parse_toml(text)).items():
        if way not in spans:
            # Only what a header or a key with dots names on its way, or a list of tables.
            assert isinstance(value, (dict, list)), way
            continue
        line, start, end = spans[way]
        assert line == text[:start].count("\n") + 1
        written = text[start:end]
        if written.startswith("[") and isinstance(value, dict):
            assert re.match(r"\[", written)
            continue
        assert parse_toml(f"value = {written}")["value"] == value


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_each_value_is_where_it_is_said_to_be(ends: str) -> None:
    text = TEXT.replace("\n", ends)
    check_spans(text)
    spans = toml_spans(text)
    way: Way = ("tool", "compat-bpe", "check", "rules")
    for index, written in ((0, "5_000"), (1, "+7")):
        max_way: Way = (*way, index, "max")
        line, start, end = spans[max_way]
        assert text[start:end] == written
        assert text.split(ends)[line - 1].startswith("max")
    last: Way = (*way, 1, "sections", 1, "heading")
    assert spans[last].line == text.count("\n") - 2


def quoted(text: str) -> str:
    return '"' + "".join(f"\\U{ord(char):08x}" for char in text) + '"'


KEYS = st.one_of(
    st.text("abc-_1", min_size=1, max_size=3),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3).map(quoted),
)
SIMPLE = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(["true", "1.5e3", "0xff", "'#]}'", '"\\"]"', '"""\n"" ]"""', "'''\n]''''"]),
    st.sampled_from(["2020-01-01 00:00:00Z", "12:30:00", '""', "''", '"""a\\\n  b"""']),
)


@st.composite
def tables(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    keys = draw(st.lists(KEYS, max_size=3, unique_by=lambda key: parse_toml(f"{key}=1").popitem()))
    return "{" + ", ".join(f"{key} = {draw(inner)}" for key in keys) + "}"


VALUES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[ # ]\n" + ",\n ".join(items) + "]"),
        tables(st.one_of(SIMPLE, inner.filter(lambda text: "\n" not in text))),
    ),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.booleans(), VALUES), min_size=1, max_size=4))
def test_of_any_values(some: list[tuple[bool, str]]) -> None:
    text = ""
    for number, (is_list, value) in enumerate(some):
        header = f"[[tables.list]]\n[tables.list.in{number}]" if is_list else f"[t{number}]"
        text += f"{header}\nkey{number} = {value} # a comment\n"
    check_spans(text)


LIMITS = "[check]\n[[check.rules]]\nfiles = ['*']\nmax = 5_000 # five\ntotal = 9000\n"
MAX = Limit(5000, Place(".compat-bpe.toml", 4, ("check", "rules", 0, "max")))
TOTAL = Limit(9000, Place(".compat-bpe.toml", 5, ("check", "rules", 0, "total")))


def test_each_number_keeps_its_form() -> None:
    text, raised = raise_limits(Source(".compat-bpe.toml", LIMITS), {TOTAL: 9001, MAX: 12_300})
    assert text == LIMITS.replace("5_000", "12_300").replace("9000", "9100")
    assert [(one.limit, one.tokens, one.problem) for one in raised] == [
        (MAX, 12_300, ""),
        (TOTAL, 9100, ""),
    ]


def test_no_limit_is_lowered() -> None:
    text, raised = raise_limits(Source(".compat-bpe.toml", LIMITS), {MAX: 4900, TOTAL: 9001})
    assert text == LIMITS
    assert [one.problem for one in raised] == ["the file has a form that cannot be edited"] * 2


def test_an_edit_that_would_change_something_else_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Source(".compat-bpe.toml", LIMITS)
    line, start, end = source.spans[TOTAL.place.way]
    wrong = {**source.spans, TOTAL.place.way: source.spans[MAX.place.way]}
    monkeypatch.setattr(Source, "spans", wrong)
    text, (raised,) = raise_limits(source, {TOTAL: 9001})
    assert (text, raised.problem) == (LIMITS, "the file has a form that cannot be edited")
    assert (line, LIMITS[start:end]) == (5, "9000")


def test_spellings_that_are_left_alone() -> None:
    for written in ("0x1388", "0b11", "0o7"):
        text = LIMITS.replace("5_000", written)
        changed, (raised,) = raise_limits(Source(".compat-bpe.toml", text), {MAX: 6000})
        assert (changed, raised.problem) == (text, f"it is written as {written}")
