"""What an editor shows: lenses, hints, hovers, colors, diagnostics and actions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.files.documents import markdown_sections
from compat_bpe.lsp.settings import SHOWN
from tests.lsp.client import (
    CODE,
    NOTES,
    URI,
    Client,
    Failed,
    about,
    client_of,
    insert,
    position,
    span,
)

ENCODING = get_encoding("o200k_base")


def lenses(client: Client, uri: str = URI) -> list[tuple[int, str]]:
    found = client.request("textDocument/codeLens", about(uri))
    assert all(one["range"]["start"] == one["range"]["end"] for one in found)
    return [(one["range"]["start"]["line"], one["command"]["title"]) for one in found]


def tokens(text: str) -> str:
    count = ENCODING.count(text)
    return f"{count:,} token{'' if count == 1 else 's'}"


def hover(client: Client, line: int, character: int, **more: Any) -> Any:
    return client.request("textDocument/hover", about(position=position(line, character), **more))


def test_hover() -> None:
    with client_of({"budget": 50, "show": {"hover": True}}) as client:
        client.open(CODE)
        found = hover(client, 7, 8)
        line = CODE.splitlines()[7]
        assert found["contents"]["value"].split("  \n") == [
            f"Line: {tokens(line)}",
            f"Document: {tokens(CODE)} · {ENCODING.count(CODE) * 2} % of 50",
            f"Here: `  def ` {ENCODING.encode(' def')[0]}",
        ]
        assert found["range"] == span(7, 5, 7, 9)
        selection = span(7, 0, 7, 9)
        found = hover(client, 7, 8, range=selection)
        assert found["contents"]["value"].startswith(f"Selection: **{tokens(line[:9])}**  \n")
        # Editors ask for actions when the selection changes.
        actions(client, selection, diagnostics=[])
        assert hover(client, 7, 8) == found
        assert "Selection" not in hover(client, 8, 1)["contents"]["value"]
        client.change(insert(0, 0, "x"))
        assert "Selection" not in hover(client, 7, 8)["contents"]["value"]
        client.change({"text": "a`b"})
        assert "range" not in hover(client, 3, 3)


def test_a_character_of_several_tokens_is_shown_as_bytes() -> None:
    with client_of({"encoding": "gpt2", "show": {"hover": True}}) as client:
        client.open("𒀀`")
        found = hover(client, 0, 0)["contents"]["value"].split("\n")[-1]
        ids = get_encoding("gpt2").encode("𒀀")
        assert len(ids) > 1
        assert [int(word) for word in re.findall(r"` (\d+)", found)] == ids
        assert r"\xf0" in found
        assert "Here: `` ` `` 63" in hover(client, 0, 2)["contents"]["value"]


def published(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.wait_for("textDocument/publishDiagnostics")["diagnostics"]
    return found


def test_the_diagnostic_begins_where_the_budget_is_passed() -> None:
    with client_of({"budget": 5}) as client:
        client.open("one two three 😀 four five six seven")
        ids = ENCODING.encode("one two three 😀 four five six seven")
        start = len(ENCODING.decode(ids[:5]).encode("utf-16-le")) // 2
        (found,) = published(client)
        assert ENCODING.decode(ids[5:6]) == " five"  # what is underlined begins after the blank
        assert found["range"] == span(0, start + 1, 0, 36)
        assert found["message"] == (
            f"{len(ids)} tokens, {len(ids) - 5} over the budget of 5; the limit is here"
        )
        client.change({"text": "one two three four five"})
        assert published(client) == []
        client.change(insert(0, 0, "zero "))
        (found,) = published(client)
        assert found["range"] == span(0, 24, 0, 28)
        client.close()
        assert published(client) == []


def test_a_status_has_the_count_of_the_document() -> None:
    """So no lens repeats it."""
    with client_of({}, experimental={"status": True}) as client:
        client.open("# One\n\ntwo\n", uri=NOTES, language="markdown")
        (lens,) = client.request("textDocument/codeLens", about(NOTES))
        assert lens["range"]["start"]["line"] == 0
        assert lens["command"]["title"] == "5 tokens"


@pytest.mark.parametrize(
    ("text", "line", "start", "end"),
    [
        ("a b c d e f g\nh i\n" * 3, 0, 10, 13),
        ("a b c d e\n\n\n  f g\nh", 3, 2, 5),
        ("a b c d e\n\n\n\n", 0, 9, 9),
        ("a b c d e😀 f\nx", 0, 9, 13),
    ],
)
def test_one_line_is_underlined(text: str, line: int, start: int, end: int) -> None:
    with client_of({"budget": 5}) as client:
        client.open(text)
        (found,) = published(client)
        assert found["range"] == span(line, start, line, end)


def colored(client: Client, range_: dict[str, Any], uri: str = URI) -> list[tuple[int, ...]]:
    """Each colored part: line, column, length, and its type."""
    data = client.request("textDocument/semanticTokens/range", about(uri, range=range_))["data"]
    line = column = 0
    found: list[tuple[int, ...]] = []
    for at in range(0, len(data), 5):
        line, column = line + data[at], column * (not data[at]) + data[at + 1]
        found.append((line, column, data[at + 2], data[at + 3]))
        assert data[at + 4] == 0
    return found


def test_colors_alternate_in_the_range_only() -> None:
    with client_of({"show": {"semanticTokens": True}}) as client:
        client.open(CODE)
        found = colored(client, span(7, 0, 7, 25))
        assert {line for line, *_ in found} == {7}
        assert [one[3] for one in found] == [(found[0][3] + n) % 2 for n in range(len(found))]
        assert sum(length for _, _, length, _ in found) == 25  # all that is in the line
        # A token keeps its color when the range moves.
        assert colored(client, span(7, 9, 7, 25)) == [one for one in found if one[1] >= 9]
        whole = colored(client, span(0, 0, 99, 0))
        assert set(found) <= set(whole)
        lines = CODE.split("\n")
        for line, column, length, _ in whole:
            assert 0 < length <= len(lines[line].encode("utf-16-le")) // 2 - column


def test_a_character_of_several_tokens_is_colored_once() -> None:
    with client_of({"encoding": "gpt2", "show": {"semanticTokens": True}}) as client:
        client.open("𒀀𒀀 x")
        assert [one[:3] for one in colored(client, span(0, 0, 0, 9))] == [
            (0, 0, 2),
            (0, 2, 2),
            (0, 4, 2),
        ]


def test_each_thing_can_be_turned_off() -> None:
    off = dict.fromkeys(SHOWN, False)
    with client_of({"show": off, "budget": 1}) as client:
        client.open(CODE)
        assert client.request("textDocument/codeLens", about()) is None
        assert hover(client, 0, 0) is None
        params = about(range=span(0, 0, 1, 0))
        assert client.request("textDocument/codeAction", params) is None
        assert client.request("textDocument/inlayHint", params) is None
        assert client.request("textDocument/semanticTokens/range", params) is None
        assert client.count() == ENCODING.count(CODE)
        assert client.notices == []
        # They come back, and the documents that are open are told of.
        client.configure({"compatBpe": {"budget": 1}})
        assert published(client)
        assert client.wait_for("compatBpe/didCount")["limit"] == 1
        assert lenses(client)
        client.configure({"show": off})
        assert published(client) == []


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
        assert found[1:3] == [(2, tokens(CODE[at[0] : at[1]])), (7, tokens(CODE[at[2] : at[3]]))]
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
    asked = about(uri, range=span(start, 0, end, 0))
    found = client.request("textDocument/inlayHint", asked)
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


def actions(client: Client, range_: dict[str, Any], **context: object) -> dict[str, Any]:
    found = client.request("textDocument/codeAction", about(range=range_, context=context))
    return {one["title"]: one for one in found or []}


#: What a client tells that copies prompts by itself.
COPIES = {"commands": {"commands": ["compatBpe.copyAsPrompt"]}}
TEXT = "one two three\nfour ``` 😀 five six seven\n" * 3
NOTHING, SOME = span(0, 2, 0, 2), span(0, 0, 1, 4)
INVOKED, AUTOMATIC = 1, 2


def test_actions_of_a_selection() -> None:
    with client_of({"budget": 10}, experimental=COPIES) as client:
        client.open(TEXT)
        some = actions(client, SOME)
        assert set(some) == {"Copy as prompt", "Count the selection"}
        command = some["Count the selection"]["command"]
        found = client.request("workspace/executeCommand", command)
        count = ENCODING.count("one two three\nfour")
        assert found == {"count": count}
        assert client.shown()[-1] == f"{count} tokens"
        assert set(actions(client, span(0, 0, 2, 4))) == {*some, "Cut to 10 tokens"}
        for only in (["quickfix"], ["refactor.extract"], [3]):
            assert actions(client, SOME, only=only) == {}
        for only in (["refactor"], ["quickfix", "refactor.compatBpe"], [""]):
            assert actions(client, SOME, only=only) == some


def test_no_line_has_a_light_bulb() -> None:
    with client_of({"budget": 10}, experimental=COPIES) as client:
        client.open(TEXT)
        for context in ({}, {"triggerKind": AUTOMATIC}, {"only": ["refactor"]}, {"only": [""]}):
            assert actions(client, NOTHING, **context) == {}
        both = {"Copy as prompt", "Cut to 10 tokens"}
        assert set(actions(client, NOTHING, triggerKind=INVOKED)) == both
        assert set(actions(client, NOTHING, only=["refactor.compatBpe"])) == {"Copy as prompt"}
        assert set(actions(client, NOTHING, only=["quickfix.compatBpe"])) == {"Cut to 10 tokens"}


def test_the_cut_is_where_the_diagnostic_is() -> None:
    with client_of({"budget": 10}) as client:
        client.open(TEXT)
        there = client.wait_for("textDocument/publishDiagnostics")["diagnostics"]
        assert actions(client, NOTHING, diagnostics=[{"source": "pyright"}, 3]) == {}
        (found,) = actions(client, NOTHING, diagnostics=there, triggerKind=AUTOMATIC).values()
        assert found["title"] == "Cut to 10 tokens"
        (cut,) = found["edit"]["changes"][URI]
        assert cut["newText"] == ""
        client.change({"range": cut["range"], "text": ""})
        assert client.text() == ENCODING.truncate(TEXT, 10).text
        assert actions(client, NOTHING, diagnostics=there) == {}


@pytest.mark.parametrize(
    "experimental",
    [None, {}, {"commands": None}, {"commands": {"commands": "compatBpe.copyAsPrompt"}}],
)
def test_a_client_that_cannot_copy_is_offered_no_copy(experimental: object) -> None:
    with client_of(experimental=experimental) as client:
        client.open(TEXT)
        assert set(actions(client, SOME)) == {"Count the selection"}
        assert actions(client, NOTHING, triggerKind=INVOKED) == {}


def test_copy_as_prompt() -> None:
    text = "one two three\nfour ```` 😀 five six seven\n" * 3
    with client_of(experimental=COPIES) as client:
        client.open(text)
        command = actions(client, NOTHING, triggerKind=INVOKED)["Copy as prompt"]["command"]
        found = client.request("workspace/executeCommand", command)
        assert found["text"] == f"text.py\n`````python\n{text}`````\n"
        assert found["count"] == ENCODING.count(found["text"])
        client.configure({"budget": 20})
        found = client.request("workspace/executeCommand", command)
        assert found["text"] == "text.py\n`````python\none two three\n`````\n"
        assert (found["count"], found["wasCut"]) == (ENCODING.count(found["text"]), True)
        client.configure({"budget": 2})
        with pytest.raises(Failed, match="the prompt does not fit in the budget"):
            client.request("workspace/executeCommand", command)
        for wrong, reason in (
            ({"command": "rm"}, "arguments: it is missing"),
            ({"command": "rm", "arguments": []}, "command: it must be one of compatBpe.copyAs"),
            ({**command, "arguments": []}, "arguments: they must be the URI"),
            ({**command, "arguments": ["file:///no", {}]}, "no such document is open"),
            ({**command, "arguments": [URI, {}]}, r"arguments\[1\].start: it is missing"),
        ):
            with pytest.raises(Failed, match=reason):
                client.request("workspace/executeCommand", wrong)
