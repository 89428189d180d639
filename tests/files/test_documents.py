"""The sections of Markdown, and the sources of notebooks of all versions and of none."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files import documents
from compat_bpe.files.documents import (
    NotebookError,
    body_start,
    is_markdown,
    is_notebook,
    markdown_sections,
    notebook_source,
)


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
    names = ["A.MD", "x.mdc", "x.mdx", "md", "x.txt"]
    assert list(filter(is_markdown, names)) == names[:3]


def test_the_pages_of_the_project_have_their_headings() -> None:
    page = (Path(__file__).parents[2] / "docs/architecture.md").read_text("utf-8")
    found = [one.heading for one in markdown_sections(page) if one.level == 2]
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert found == re.findall(r"^## (.+)$", outside, re.MULTILINE) != []


CODE = {"cell_type": "code", "source": ["import x\n", "x()"], "outputs": [{"text": "a" * 99}]}
WORDS = {"cell_type": "markdown", "source": "# Title\r\n", "attachments": {"a.png": {}}}
RAW = {"cell_type": "raw", "source": "raw"}
EMPTY = {"cell_type": "code", "source": []}
OLD = {"cell_type": "code", "input": ["y = ", "2"], "outputs": []}


@pytest.mark.parametrize(
    ("content", "source"),
    [
        ({"cells": [WORDS, EMPTY, CODE, RAW]}, "# Title\r\n\n\nimport x\nx()\n\nraw"),
        ({"cells": []}, ""),
        (
            {"worksheets": [{"cells": [OLD, WORDS]}, {"cells": [RAW]}]},
            "y = 2\n\n# Title\r\n\n\nraw",
        ),
        ({"cells": [RAW], "worksheets": 3}, "raw"),
        ({"cells": [{"source": "\ud83d\ude00 \ud800"}]}, "\U0001f600 \ufffd"),
    ],
)
def test_source(content: dict[str, Any], source: str) -> None:
    assert notebook_source(json.dumps(content)) == source
    assert notebook_source("\ufeff" + json.dumps(content, indent=1)) == source


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON: "),
        ('{"cells": [', "not JSON: "),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "cells: no list"),
        ("{}", "cells: no list"),
        ('{"cells": {}}', "cells: no list"),
        ('{"worksheets": []}', "cells: no list"),
        ('{"worksheets": [{"cells": []}, 3]}', "worksheets[1].cells: no list"),
        ('{"cells": [{"source": "a"}, 3]}', "cells[1]: no source"),
        ('{"cells": [{"source": ["a", 3]}]}', "cells[0]: no source"),
        ('{"cells": [{"source": null, "input": "a"}]}', "cells[0]: no source"),
        ('{"worksheets": [{"cells": [{}]}]}', "worksheets[0].cells[0]: no source"),
    ],
)
def test_what_is_no_notebook(text: str, reason: str) -> None:
    with pytest.raises(NotebookError, match=re.escape(reason)):
        notebook_source(text)


def test_a_large_one_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"cells": [RAW]})
    monkeypatch.setattr(documents, "LARGEST_NOTEBOOK", len(text) - 1)
    with pytest.raises(NotebookError, match="larger than"):
        notebook_source(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "worksheets", "source", "input", "x"]), inner, max_size=3
        )
    ),
)


@given(json_values)
def test_any_json_has_a_source_or_a_reason(value: Any) -> None:
    with suppress(NotebookError):
        notebook_source(json.dumps(value)).encode()


def test_names() -> None:
    assert is_notebook("a/B.IPYNB")
    assert not is_notebook("a.ipynb/b")
    assert not is_notebook(".ipynb")
