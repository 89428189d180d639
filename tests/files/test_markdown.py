from __future__ import annotations

import re
from pathlib import Path

import pytest

from compat_bpe.files.documents import body_start, is_markdown, markdown_sections


def headings(text: str) -> list[tuple[str, int, int]]:
    return [(one.heading, one.level, one.line) for one in markdown_sections(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("# A", [("A", 1, 1)]),
        ("####### seven\n#none\n    # code\n\\# no\n", []),
        ("   ###  A ## b ###  \n#\n## ##\n", [("A ## b", 3, 1), ("", 1, 2), ("", 2, 3)]),
        ("A\n===\nB\nC\n---\n", [("A", 1, 1), ("B C", 2, 3)]),
        ("text\n\n---\n\n- item\n---\n> quote\n---\n| a |\n|---|\n---\n", []),
        ("- item\ngoes on\n---\n", []),
        ("```\n# no\n~~~\n# no\n````\n# A\n", [("A", 1, 6)]),
        ("~~~ `x`\n# no\n```\n~~~ x\n# no\n~~~~\n# A\n", [("A", 1, 7)]),
        ("``` a`b\n# A\n", [("A", 1, 2)]),
        ("---\ntitle: x\n# no\n---\n# A\n", [("A", 1, 5)]),
        ("---\nA\n---\n", []),
        ("\ufeff---\nA\n---\n# B\n", [("B", 1, 4)]),
        ("a\r\n---\r\n# B\r\n", [("a", 2, 1), ("B", 1, 3)]),
        ("# A\n```\n# a block without an end\n", [("A", 1, 1)]),
    ],
)
def test_headings(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize(
    ("front_matter", "rest"),
    [
        ("---\nname: a\n---\n", "# A\n---\n"),
        ("---\r\nname: a\r\n---  \r\n", "text"),
        ("+++\nname = 'a'\n+++\n", ""),
        ("\ufeff---\nname: a\n---\n", "# A\n"),
        ("---\n---", ""),
        ("", "# A\n---\nb\n---\n"),
        ("", "---\nname: a\n# no end\n"),
        ("", "---\n+++\n"),
        ("", " ---\n---\n"),
        ("", "\n---\na\n---\n"),
        ("", ""),
    ],
)
def test_the_end_of_front_matter(front_matter: str, rest: str) -> None:
    assert body_start(front_matter + rest) == len(front_matter)


def test_a_section_has_those_below_it() -> None:
    text = "before\n# A\none\n## B\ntwo\n### C\nthree\n## D\nfour\n# E\nfive"
    sections = {one.heading: text[one.start : one.end] for one in markdown_sections(text)}
    assert sections == {
        "A": "# A\none\n## B\ntwo\n### C\nthree\n## D\nfour\n",
        "B": "## B\ntwo\n### C\nthree\n",
        "C": "### C\nthree\n",
        "D": "## D\nfour\n",
        "E": "# E\nfive",
    }


def test_only_lines_end_lines() -> None:
    # A form feed and Unicode's separators are characters of a line, as CommonMark has it.
    assert headings("a\x0c# no\n\u2028# no\n# A\n") == [("A", 1, 3)]


def test_long_lines_take_little_time() -> None:
    for line in ("# " + " " * 10**6 + "x", "# " + "# " * 10**6, "#" * 10**6, "- " * 10**6 + "x"):
        markdown_sections(f"{line}\n---\n")


def test_names_of_markdown() -> None:
    assert [is_markdown(name) for name in ("A.MD", "x.mdc", "x.mdx", "md", "x.txt")] == [
        *(True, True, True, False, False)
    ]


def test_the_pages_of_the_project_have_their_headings() -> None:
    page = (Path(__file__).parents[2] / "docs/architecture.md").read_text("utf-8")
    found = [one.heading for one in markdown_sections(page) if one.level == 2]
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert found == re.findall(r"^## (.+)$", outside, re.MULTILINE) != []
