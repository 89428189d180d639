"""Counts of parts: the lenses and the hints of headings and definitions."""

from __future__ import annotations

import pytest

from compat_bpe.files.documents import markdown_sections
from tests.lsp.client import URI, Client, client_of, span
from tests.lsp.lenses import CODE, ENCODING, NOTES, lenses, tokens

MARKDOWN = """\
# One
text
## Two
more text
```sh
# not a heading
```
### Three
x
## Four
y
# Five
"""


def test_lenses_of_code() -> None:
    with client_of({"budget": 8192}) as client:
        client.open(CODE * 100)
        at = [CODE.index(one) for one in ("class", "\n@cached", "async", "\nexport")]
        found = lenses(client)
        share = round(ENCODING.count(CODE * 100) * 100 / 8192)
        assert found[0] == (0, f"{tokens(CODE * 100)} · {share} % of 8,192")
        assert found[1:3] == [
            (2, tokens(CODE[at[0] : at[1]])),
            (7, tokens(CODE[at[2] : at[3]])),
        ]
        assert len(found) == 201


@pytest.mark.parametrize(
    ("part", "after"),
    [
        ("def f():\n    pass\n", "\nprint(1)\n"),
        ("def f():\n    pass\n", ""),
        ("def f():\n    pass\n", "\n\n\n"),
        ("def f(): pass\r\n", "\r\nx = 1\r\n"),
        ("def f(\n    x,\n) -> int:\n    return x\n", "f(1)\n"),
        ("def f():\n    a()\n# b()\n    c()\n", "# of g\n@g\n"),
        ('def f():\n    """What\nit does."""\n    g()\n', "g()\n"),
        ("def f():\n    x = '''\ny \"\"\" z\n'''\n    g()\n", "g()\n"),
        ("fn f<T>()\nwhere\n    T: U,\n{\n    g()\n}\n", "\n#[test]\nuse x;\n"),
        ("function f()\n{\n\tg();\n}\n", "g();\n// end\n"),
        ("class A\n  def b\n  end\nend\n", "A.new\n"),
        ("class A {\npublic:\n  int b;\n};\n", "int c;\n"),
        ("type A =\n  | B\n  | C\n", "let x = B\n"),
    ],
)
def test_a_definition_ends_where_lines_are_no_longer_indented(part: str, after: str) -> None:
    for before, more in (("", ""), ("x = 1\n", "def other():\n    pass\n")):
        with client_of() as client:
            client.open(before + part + after + (f"\n{more}" if more else ""))
            found = lenses(client)[1:]
            assert found[0] == (before.count("\n"), tokens(part))
            assert len(found) == 1 + bool(more)


def hints(client: Client, uri: str, start: int, end: int) -> list[tuple[int, int, str]]:
    params = {"textDocument": {"uri": uri}, "range": span(start, 0, end, 0)}
    found = client.request("textDocument/inlayHint", params)
    return [(*one["position"].values(), one["label"]) for one in found]


def test_hints_are_the_lenses_at_the_ends_of_lines() -> None:
    show = {"inlayHints": True}
    with client_of({"budget": 8192, "show": show}) as client:
        client.open(MARKDOWN, NOTES, "markdown")
        (_, whole), *others = lenses(client, NOTES)
        lines = MARKDOWN.splitlines()
        all_hints = [(0, 5, f"file: {whole}")]
        all_hints += [(line, len(lines[line]), title) for line, title in others]
        assert hints(client, NOTES, 0, 99) == all_hints
        assert hints(client, NOTES, 2, 8) == [one for one in all_hints if 2 <= one[0] < 8]
        client.open("one", URI)
        assert hints(client, URI, 0, 1) == [(0, 3, "file: 1 token · 0 % of 8,192")]


def test_lenses_of_markdown() -> None:
    with client_of() as client:
        client.open(MARKDOWN, NOTES, "markdown")
        lines = MARKDOWN.splitlines(keepends=True)
        parts = [(0, 0, 12), (0, 0, 11), (2, 2, 9), (7, 7, 9), (9, 9, 11), (11, 11, 12)]
        assert lenses(client, NOTES) == [
            (line, tokens("".join(lines[start:end]))) for line, start, end in parts
        ]


def test_headings_are_those_of_check() -> None:
    text = "---\ntitle: x\n# no\n---\nA\n===\n~~~\n# no\n~~~\n   ## B\n"
    assert [section.line - 1 for section in markdown_sections(text)] == [4, 9]
    with client_of() as client:
        for uri, language in ((NOTES, "markdown"), ("file:///rules/a.mdc", "plaintext")):
            client.open(text, uri, language)
            assert [line for line, _ in lenses(client, uri)[1:]] == [4, 9]
        client.open("pub(" * 100_000, "file:///a.md", "markdown")
        assert len(lenses(client, "file:///a.md")) == 1


@pytest.mark.parametrize("text", ["pub(\n" * 50_000, "pub (" * 50_000, "pub async " * 50_000])
def test_code_that_takes_long_to_search(text: str) -> None:
    with client_of() as client:
        client.open(text)
        assert len(lenses(client)) == 1
