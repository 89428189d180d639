"""Names on the page of a report: all different, broken at the right places, told apart by signs."""

from __future__ import annotations

import re
from html import unescape
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.report.names import COLORS, PATTERNS, breakable, keys, shorten, text, titled
from compat_bpe.report.style import STYLE

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
    assert written.replace("<wbr>", "") == text(name)


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
            assert f"{of}.p{pattern}" in STYLE, (of, pattern)
    assert all(f".c{number} {{ --color: var(--c{number}); }}" in STYLE for number in range(COLORS))


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


def scheme(dark: bool) -> dict[str, str]:
    light_part, dark_part = STYLE.split("prefers-color-scheme: dark", 1)
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark_part if dark else light_part))


@pytest.mark.parametrize("dark", [False, True])
def test_colors_have_contrast_and_are_told_apart_without_red_or_green(dark: bool) -> None:
    found = scheme(dark)
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
