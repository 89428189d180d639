"""The page of a report: complete in itself, well formed, and everything in it escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding, load
from compat_bpe.report.charts import columns, lines, strip, text, token
from compat_bpe.report.figures import Report
from compat_bpe.report.html import page
from compat_bpe.report.measure import report

GPT2, P50K = get_encoding("gpt2"), get_encoding("p50k_base")
SMALL = load(Path(__file__).parents[2] / "fixtures" / "gpt2_small")
VOID = {"meta", "path", "polyline"}


class Page(HTMLParser):
    """The tags of a page, which have to be closed in order, and its text by tag."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data


@pytest.fixture(scope="module")
def made() -> Report:
    texts = {"en": ["The cat sat on the mat.\n" * 20], "zh": ["你好，世界。" * 9], "none": []}
    return report({"gpt2": GPT2, "p50k_base": P50K}, texts, terms=["naïve", "<b> & c"])


def test_it_is_complete_in_itself(made: Report) -> None:
    written = page(made)
    for tag, attributes in Page(written).tags:
        assert tag not in ("script", "link", "img", "iframe", "base", "form", "object")
        assert not {"src", "href", "srcset", "action"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in written
    assert "@import" not in written
    assert "://" not in written


def test_the_figures_are_in_tables(made: Report) -> None:
    found = Page(page(made))
    captions = [line for line in found.text.split("\n") if line]
    assert captions
    of_tokens, of_bytes, *_ = found.tables
    assert of_tokens[0] == ["group", "gpt2", "p50k_base", "char", "byte", "word"]
    ours = made.encodings["gpt2"].groups["zh"].tokens
    assert of_tokens[2][:2] == ["zh", f"{ours:,}"]
    assert of_tokens[3] == ["none", "0", "0", "0", "0", "0"]
    assert of_bytes[3] == ["none", "-", "-", "-", "-", "-"]
    assert len({len(row) for row in of_tokens}) == 1
    # What is drawn says what it is.
    drawn = [attributes for _, attributes in found.tags if attributes.get("role") == "img"]
    assert len(drawn) == 1 + 2 + 2 + 1
    assert all(attributes["aria-label"] for attributes in drawn)
    # Cells have heads.
    assert all(
        attributes.get("scope") in ("row", "col", "rowgroup")
        for tag, attributes in found.tags
        if tag == "th"
    )


def test_terms(made: Report) -> None:
    found = Page(page(made))
    assert found.tables[-1] == [
        ["encoding", "alone", "after a space"],
        ["naïve"],
        ["gpt2", "naïve 2", "␣naïve 1"],
        ["p50k_base", "naïve 2", "␣naïve 1"],
        ["<b> & c"],
        ["gpt2", "<b>␣&␣c 5", "␣<b>␣&␣c 5"],
        ["p50k_base", "<b>␣&␣c 5", "␣<b>␣&␣c 5"],
    ]


HARD = "</style><script>alert(1)</script>&\"'\x00\x1b\u202e\udce9\n"


def test_everything_is_escaped() -> None:
    texts = {HARD: [f"{HARD} a"], "b": ["b"]}
    written = page(report({HARD: GPT2}, texts, terms=[HARD]), title=HARD)
    found = Page(written)
    assert "script" not in {tag for tag, _ in found.tags}
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", written)
    assert "\\u202e\\udce9\\n" in found.text
    assert written.encode()


names = st.text(st.characters(exclude_categories=()), max_size=5)


@given(
    st.dictionaries(names, st.lists(st.text("a é中<", max_size=9), max_size=2), max_size=3), names
)
def test_any_names_and_texts(texts: dict[str, list[str]], name: str) -> None:
    Page(page(report({name: SMALL}, texts, terms=[name]))).text.encode()


def test_one_group_has_no_balance() -> None:
    written = page(report({"gpt2": GPT2}, {"en": ["a"]}))
    assert "Balance" not in written
    assert "How terms are cut" not in written


def test_of_many_groups_the_largest_are_drawn() -> None:
    texts = {f"group {number}": ["x" * number] for number in range(1, 50)}
    found = Page(page(report({"gpt2": GPT2}, texts)))
    drawn = [attributes.get("class") for _, attributes in found.tags].count("bars-name")
    assert drawn == 40
    assert "Here are the 40 largest of 49 groups." in found.text
    assert len(found.tables[0]) == 1 + 49 + 1


def test_same_report_same_page(made: Report) -> None:
    assert page(made) == page(made)


def test_names_and_tokens() -> None:
    assert text("a\t<é\u200b") == "a\\t&lt;é\\u200b"
    assert token(b"  a\xff") == '<bdi class="t0">␣␣a\\xff</bdi>'


def test_charts_at_their_edges() -> None:
    # One point, no value, one token only.
    assert "left:0.00%" in strip("x", 0, [("en", 1.0)], 1.0, "")
    assert "height:0.00%" in columns([("1", 0.0)], 0.0, 0, "")
    assert 'points="0.00,0.00"' in lines([[1.0]], "")
    assert 'points=""' in lines([[]], "")
    # A line goes to the end of its series, at the place of that on the scale.
    assert lines([[number / 1000 for number in range(1, 1001)]], "").count(" 100.00,0.00") == 1
