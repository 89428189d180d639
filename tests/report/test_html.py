"""A report as a page: nothing in it is lost or taken for HTML, and its signs are told apart."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from html import unescape
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding, load
from compat_bpe.report.charts import (
    COLORS,
    PATTERNS,
    Bar,
    Key,
    bars,
    breakable,
    coverage_chart,
    keys,
    shorten,
    text,
    titled,
    token,
)
from compat_bpe.report.figures import Report
from compat_bpe.report.html import page, page_time, style_sheet
from compat_bpe.report.measure import report

GPT2, P50K = get_encoding("gpt2"), get_encoding("p50k_base")
SMALL = load(Path(__file__).parents[2] / "fixtures" / "gpt2_small")
VOID = {"meta", "path", "polyline", "wbr"}
KEY = Key(0, "gpt2", "gpt2", False)


class Page(HTMLParser):
    """The tags of a page, which have to be closed in order, and its text by tag."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        #: The text that follows each tag.
        self.data: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.data.append("")
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    @property
    def classes(self) -> list[str]:
        """All classes, once for each element that has them."""
        return [
            name for _, attributes in self.tags for name in (attributes.get("class") or "").split()
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.data.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        if self.data:
            self.data[-1] += data
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
    assert of_tokens[0] == ["group", "1 gpt2", "2 p50k_base", "char", "byte", "word"]
    ours = made.encodings["gpt2"].groups["zh"].tokens
    assert of_tokens[2][:2] == ["zh", f"{ours:,}"]
    assert of_tokens[3] == ["none", "0", "0", "0", "0", "0"]
    assert of_bytes[3] == ["none", "-", "-", "-", "-", "-"]
    assert len({len(row) for row in of_tokens}) == 1
    # What is drawn says what it is.
    drawn = [attributes for _, attributes in found.tags if attributes.get("role") == "img"]
    assert len(drawn) == 1 + 1 + 2 + 1
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
        ["1 gpt2", "2 naïve", "1 ␣naïve"],
        ["2 p50k_base", "2 naïve", "1 ␣naïve"],
        ["<b> & c"],
        ["1 gpt2", "5 <b>␣&␣c", "5 ␣<b>␣&␣c"],
        ["2 p50k_base", "5 <b>␣&␣c", "5 ␣<b>␣&␣c"],
    ]


HARD = "</style><script>alert(1)</script>&\"'\x00\x1b\u202e\udce9\n"


def test_everything_is_escaped() -> None:
    texts = {HARD: [f"{HARD} a"], "b": ["b"]}
    written = page(
        report({HARD: GPT2}, texts, terms=[HARD]), title=HARD, corpus=[HARD], version=HARD
    )
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
    assert "Terms" not in written
    # What is alone needs no number.
    assert "badge" not in Page(written).classes


def test_of_many_groups_the_first_are_drawn_and_tables_have_all() -> None:
    texts = {f"group {number}": ["x" * number] for number in range(1, 50)}
    made = report({"gpt2": GPT2}, texts)
    for written, drawn in ((page(made), 10), (page(made, groups=30), 30)):
        found = Page(written)
        assert found.classes.count("bars-name") == drawn + 1 + 16  # balance and lengths
        assert (
            f"Only the {drawn} of 49 groups with the most tokens per character are drawn."
            in found.text
        )
        assert len(found.tables[0]) == 1 + 49 + 1
    assert "Of 49 groups" not in Page(page(made, groups=49)).text


def test_same_report_same_page(made: Report) -> None:
    assert page(made) == page(made)


def test_names_and_tokens() -> None:
    assert text("a\t<é\u200b") == "a\\t&lt;é\\u200b"
    assert token(b"  a\xff") == '<bdi class="t0">␣␣a\\xff</bdi>'


def test_charts_at_their_edges() -> None:
    # One point, no value, one token only.
    assert "style" not in bars([("1", [Bar(0.0, "0", KEY)])], "")
    assert 'points="0.00,0.00"' in coverage_chart([[1.0]], [KEY], "")
    assert 'points=""' in coverage_chart([[]], [KEY], "")
    # A line goes to the end of its series, at the place of that on the scale.
    values = [number / 1000 for number in range(1, 1001)]
    assert coverage_chart([values], [KEY], "").count(" 100.00,0.00") == 1


def test_bars_are_on_one_scale() -> None:
    groups = [(name, [Bar(value, name, KEY)]) for name, value in (("a", 0.3), ("b", 0.1))]
    for most, widths in ((None, ["100.00", "33.33"]), (0.6, ["50.00", "16.67"])):
        assert re.findall(r"width:([\d.]+)%", bars(groups, "", most)) == widths


def test_the_worst_group_of_each_encoding_is_drawn_and_named() -> None:
    found = Page(page(report({"gpt2": GPT2}, {"en": ["a b"], "th": ["ขข"]})))
    drawn = next(
        attributes for tag, attributes in found.tags if "×" in (attributes.get("title") or "")
    )
    assert drawn["title"] == "gpt2: 3.00×"
    assert "gpt2 th3.00×" in found.text


@pytest.fixture(scope="module")
def many() -> Report:
    """Forty encodings, the last but one with a path for a name."""
    named = [
        *(f"encoding {number}" for number in range(1, 39)),
        "/home/me/own/vocabulary/tokenizer.json",
    ]
    return report(dict.fromkeys([*named, "last"], SMALL), {"en": ["a b"], "fr": ["c"]})


def test_any_number_of_encodings_is_told_apart(many: Report) -> None:
    found = Page(page(many))
    signs = {
        (attributes["class"], data.strip())
        for (tag, attributes), data in zip(found.tags, found.data)
        if "badge" in (attributes.get("class") or "")
    }
    assert {data for _, data in signs} == {str(number) for number in range(1, 41)}
    assert len(signs) == 40
    assert len({style for style, _ in signs}) == 32  # eight colors, each with four patterns
    figures = [
        data
        for (_, attributes), data in zip(found.tags, found.data)
        if attributes.get("class") == "figure"
    ]
    assert figures == 2 * [str(number) for number in range(1, 41)]


def test_heads_name_the_encodings_and_the_full_name_is_there(many: Report) -> None:
    written = page(many)
    found = Page(written)
    assert found.tables[0][0][39] == "39 …/vocabulary/tokenizer.json"
    assert "/home/me/own/vocabulary/tokenizer.json" in written
    of_vocabulary = next(rows for rows in found.tables if "unreachable" in rows[0])
    assert of_vocabulary[39][0] == "39 /home/me/own/vocabulary/tokenizer.json"
    assert {len(row) for row in of_vocabulary} == {7}
    assert of_vocabulary[0] == [
        "encoding",
        "tokens",
        "used",
        "% used",
        "unused",
        "% unused",
        "unreachable",
    ]


def test_groups_of_several_encodings_are_drawn_by_their_difference() -> None:
    texts = {f"group {number}": ["x" * number] for number in range(1, 50)}
    found = Page(page(report({str(number): SMALL for number in range(16)}, texts)))
    assert found.classes.count("bars-name") == 10 + 16 + 16 * 16  # groups, balance, lengths
    assert found.classes.count("bar") == 10 * 16 + 16 + 16 * 16
    assert "Only the 10 of 49 groups in which the encodings differ most are drawn." in found.text


def test_it_says_when_by_which_version_and_of_what(made: Report) -> None:
    zone = timezone(timedelta(hours=2))
    at = datetime(2024, 5, 17, 1, 30, tzinfo=zone)
    found = Page(page(made, corpus=["-", "b/", "c", "d", "e"], version="1.2.3", made_at=at))
    assert "2024-05-16 23:30 UTC · compat_bpe 1.2.3" in found.text
    assert "standard input, b/, c and 2 more" in found.text
    assert "Tokenizer report: standard input, b/, c and 2 more" in found.text
    assert ("time", {"datetime": "2024-05-16T23:30Z"}) in found.tags
    # What is not known is not there.
    without = Page(page(made))
    assert not {"corpus", "source"} & set(without.classes)


def test_the_time_of_a_page() -> None:
    at = datetime(2001, 9, 9, 1, 46, 40, tzinfo=timezone.utc)
    assert page_time({"SOURCE_DATE_EPOCH": "1000000000"}) == at
    before = datetime.now(timezone.utc)
    assert before <= page_time({}) <= datetime.now(timezone.utc)
    assert before <= page_time({"SOURCE_DATE_EPOCH": ""}) <= datetime.now(timezone.utc)
    for wrong in ("now", "1.5", "9" * 30):
        with pytest.raises(ValueError, match=f"SOURCE_DATE_EPOCH is '{wrong}': set it to"):
            page_time({"SOURCE_DATE_EPOCH": wrong})


def test_long_groups_are_short_beside_charts_and_whole_in_the_first_table() -> None:
    names = [f"/home/me/corpora/{part}/documents/text.en.txt" for part in ("train", "test")]
    found = Page(page(report({"small": SMALL}, {name: ["a"] for name in names})))
    assert [row[0] for row in found.tables[0]] == ["group", *names, "total"]
    assert [row[0] for row in found.tables[1]][1:3] == [
        "…/train/documents/text.en.txt",
        "…/test/documents/text.en.txt",
    ]
    assert [a.get("title") for _, a in found.tags if a.get("class") == "name"].count(names[0]) > 4


paths = st.lists(
    st.sampled_from(["a", "bc", "…", "", "tokenizer.json", "a_long_name_of_a_folder", "x" * 30]),
    min_size=1,
    max_size=7,
).map("/".join)


@given(st.lists(paths, unique=True, max_size=6))
def test_short_names_are_different_and_end_as_the_name_does(names: list[str]) -> None:
    found = shorten(names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    for name, short in found.items():
        assert len(short) <= len(name)
        assert short == name or (short.startswith("…/") and len(name) > 32)
        # Every piece is in the name, in this order.
        assert re.search(".*".join(map(re.escape, short.split("…"))), name) or "…" in name
        # A file's name is never cut.
        assert short.rsplit("/", 1)[-1] == name.rsplit("/", 1)[-1]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gpt2"], ["gpt2"]),
        (["x" * 40], ["x" * 40]),
        (["a/" + "x" * 40], ["a/" + "x" * 40]),  # "…/" would not be shorter
        (["/home/me/models/large/tokenizer.json"], ["…/large/tokenizer.json"]),
        (["C:\\Users\\me\\models\\large\\vocabulary.json"], ["…\\large\\vocabulary.json"]),
        (["/home/me/vocabularies/own-model/small/"], ["…/own-model/small/"]),
        (
            [
                "models/one/checkpoint-1000/tokenizer.json",
                "models/two/checkpoint-1000/tokenizer.json",
            ],
            ["…/one/…/tokenizer.json", "…/two/…/tokenizer.json"],
        ),
        (
            [f"corpora/{part}/Declaration_of_Human_Rights.txt" for part in ("a", "b")],
            [f"…/{part}/Declaration_of_Human_Rights.txt" for part in ("a", "b")],
        ),
        # A short name is shown as it is, even if it looks like a shortened one.
        (["…/a/tokenizer.json", "/a_very_long_folder/a/tokenizer.json"], None),
        (["one/checkpoint-1000/tokenizer.json", "two/checkpoint-1000/tokenizer.json"], None),
    ],
)
def test_short_names(names: list[str], expected: list[str] | None) -> None:
    assert list(shorten(names).values()) == (expected or names)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("cl100k_base", ["cl100k_base"]),
        (
            "/home/some-one/own_model.d/tokenizer.json",
            ["/", "home/", "some-", "one/", "own_", "model.", "d/", "tokenizer.json"],
        ),
        ("corpora/a--b__c//archive.txt", ["corpora/", "a--", "b__", "c//", "archive.txt"]),
        ("C:\\Users\\a\\tokenizer.json", ["C:", "\\Users", "\\a", "\\tokenizer.json"]),
        ("a name with \x1b[31m\u202e <b>", ["a name with ", "\\x1b[31m", "\\u202e <b>"]),
        ("version-1.2-of-the-vocabulary-", ["version-", "1.", "2-", "of-", "the-", "vocabulary-"]),
    ],
)
def test_names_are_broken_between_their_parts(name: str, lines: list[str]) -> None:
    written = breakable(name)
    assert [unescape(part) for part in written.split("<wbr>")] == lines


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_nothing_but_breaks_is_added(name: str) -> None:
    assert breakable(name).replace("<wbr>", "") == text(name)


def test_a_short_name_has_the_full_one_for_a_title() -> None:
    assert titled("a_longer_name/<b>", "…/<b>") == (
        '<span class="name" title="a_longer_name/&lt;b&gt;">…/&lt;b&gt;</span>'
    )
    assert titled("gpt2", "gpt2") == '<span class="name">gpt2</span>'


def test_signs() -> None:
    assert keys(["gpt2"])[0].badge == ""
    found = keys([str(number) for number in range(COLORS * PATTERNS + 1)])
    assert len({key.style for key in found}) == COLORS * PATTERNS
    assert [key.figure for key in found] == [str(number) for number in range(1, len(found) + 1)]
    assert found[0].badge == '<b class="badge c0 p0">1</b> '
    assert found[COLORS].style == "c0 p1"
    assert found[-1].style == "c0 p0"


def test_each_pattern_is_in_the_style_sheet() -> None:
    for pattern in range(1, PATTERNS):
        for of in (".fill", ".badge", ".plot "):
            assert f"{of}.p{pattern}" in style_sheet(), (of, pattern)
    assert all(
        f".c{number} {{ --color: var(--c{number}); }}" in style_sheet() for number in range(COLORS)
    )


# What someone sees who has no cones for long, or none for medium waves (Machado et al., 2009).
SIGHT = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
}
Color = tuple[float, ...]


def linear(color: str) -> Color:
    values = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return tuple(v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values)


def times(matrix: tuple[Color, ...], color: Color) -> Color:
    return tuple(max(0.0, sum(map(float.__mul__, map(float, row), color))) for row in matrix)


def oklab(color: Color) -> Color:
    """Return a color in Björn Ottosson's space, in which distances are as they are seen."""
    to_cones = ((0.4122, 0.5363, 0.0514), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300))
    l, m, s = (value ** (1 / 3) for value in times(to_cones, color))  # noqa: E741
    return (
        0.2105 * l + 0.7936 * m - 0.0041 * s,
        1.9780 * l - 2.4286 * m + 0.4506 * s,
        0.0259 * l + 0.7828 * m - 0.8087 * s,
    )


def luminance(color: str) -> float:
    red, green, blue = linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def scheme(dark: bool, style: str) -> dict[str, str]:
    light_part, dark_part = style.split("prefers-color-scheme: dark", 1)
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark_part if dark else light_part))


@pytest.mark.parametrize("dark", [False, True])
def test_report_page_tokens_and_editors_have_one_palette(dark: bool) -> None:
    def at(path: str) -> str:
        return (Path(__file__).parents[2] / path).read_text("utf-8")

    report = scheme(dark, at("compat_bpe/report/style.css"))
    page = scheme(dark, at("web/site/css/page.css"))
    both = {**{name: name for name in ("ground", "card", "soft", "line")}, "ink": "text"}
    both.update((f"t{number}", f"c{number}") for number in range(4))
    assert {name: page[of] for name, of in both.items()} == {name: report[name] for name in both}
    tokens = scheme(dark, at("compat_bpe/cli/tokens.css"))
    assert tokens == {name: {**page, **report}[name] for name in tokens}
    assert {"ground", "ink", "t0", "t1", "special"} <= tokens.keys()
    colors = json.loads(at("editors/vscode/package.json"))["contributes"]["colors"]
    kind = "dark" if dark else "light"
    assert [color["defaults"][kind] for color in colors] == [report["t0"], report["t1"]]
    nvim = at("editors/nvim/lua/compat_bpe/tokens.lua")  # with a black text, in any scheme
    assert dark or re.findall('"(#[0-9a-f]{6})", ', nvim) == [report["t0"], report["t1"]]


@pytest.mark.parametrize("dark", [False, True])
def test_colors_have_contrast_and_are_told_apart_without_red_or_green(dark: bool) -> None:
    found = scheme(dark, style_sheet())
    colors = [found[f"c{number}"] for number in range(COLORS)]
    assert min(contrast(color, found["card"]) for color in colors) >= 3
    for matrix in SIGHT.values():
        seen = [oklab(times(matrix, linear(color))) for color in colors]
        nearest = min(
            sum((a - b) ** 2 for a, b in zip(*pair)) ** 0.5 for pair in combinations(seen, 2)
        )
        assert nearest >= 0.09
    for ground in ("card", "ground"):
        assert contrast(found["ink"], found[ground]) >= 7
        assert contrast(found["soft"], found[ground]) >= 4.5
    # Text on the tints of tokens.
    assert min(contrast(found["ink"], found[f"t{number}"]) for number in range(4)) >= 4.5
