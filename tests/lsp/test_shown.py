"""What an editor shows: hovers, diagnostics, colors; and the settings of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.lsp.settings import SHOWN
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.lsp.client import URI, Client, client_of, insert, position, span
from tests.lsp.lenses import CODE, ENCODING, NOTES, lenses, tokens


def hover(client: Client, line: int, character: int, **more: object) -> Any:
    params = {"textDocument": {"uri": URI}, "position": position(line, character), **more}
    return client.request("textDocument/hover", params)


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
        params = {"textDocument": {"uri": URI}, "range": selection, "context": {"diagnostics": []}}
        client.request("textDocument/codeAction", params)
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
            f"{len(ids)} tokens are {len(ids) - 5} over the budget of 5: it is exceeded here"
        )
        client.change({"text": "one two three four five"})
        assert published(client) == []
        client.change(insert(0, 0, "zero "))
        (found,) = published(client)
        assert found["range"] == span(0, 24, 0, 28)
        client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        assert published(client) == []


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
    params = {"textDocument": {"uri": uri}, "range": range_}
    data = client.request("textDocument/semanticTokens/range", params)["data"]
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
    document = {"textDocument": {"uri": URI}}
    with client_of({"show": off, "budget": 1}) as client:
        client.open(CODE)
        assert client.request("textDocument/codeLens", document) is None
        assert hover(client, 0, 0) is None
        params = {**document, "range": span(0, 0, 1, 0)}
        assert client.request("textDocument/codeAction", params) is None
        assert client.request("textDocument/inlayHint", params) is None
        assert client.request("textDocument/semanticTokens/range", params) is None
        assert client.count() == ENCODING.count(CODE)
        assert client.notices == []
        # They come back, and the documents that are open are told of.
        client.notify(
            "workspace/didChangeConfiguration", {"settings": {"compatBpe": {"budget": 1}}}
        )
        assert published(client)
        assert client.wait_for("compatBpe/didCount")["limit"] == 1
        assert lenses(client)
        client.notify("workspace/didChangeConfiguration", {"settings": {"show": off}})
        assert published(client) == []


def configure(client: Client, settings: object) -> list[str]:
    """Send settings; return the messages that are shown for them."""
    seen = len(client.shown())
    client.notify("workspace/didChangeConfiguration", {"settings": settings})
    return client.shown()[seen:]


def test_settings_by_file(tmp_path: Path) -> None:
    own = train_bpe([CODE], 300)
    save_tokenizer_json(own, tmp_path / "tokenizer.json")
    rules = [
        {"pattern": "*.md", "model": "gpt-4", "budget": 9},
        {"pattern": "src/**/*.{rs,py}", "path": str(tmp_path / "tokenizer.json")},
        {"pattern": "/work/?.txt", "encoding": "words"},
    ]
    of = {
        NOTES: get_encoding("cl100k_base"),
        "file:///work/src/a/b/x%20y.py": own,
        "file:///work/src/x.rs": own,
        "file:///work/a.txt": get_encoding("words"),
        "file:///work/ab.txt": get_encoding("gpt2"),
        "untitled:Untitled-1": get_encoding("gpt2"),
    }
    with client_of({"encoding": "gpt2", "budget": 7, "files": rules}) as client:
        for uri, encoding in of.items():
            client.open(CODE, uri)
            assert client.count(uri) == encoding.count(CODE), uri
            told = client.wait_for("compatBpe/didCount", lambda one: one["uri"] == uri)  # noqa: B023
            assert told["limit"] == (9 if uri == NOTES else 7)
        assert configure(client, {"encoding": "o200k_base"}) == []
        for uri in of:
            assert client.count(uri) == ENCODING.count(CODE)
        assert client.shown() == []


def test_the_first_rule_that_has_a_say_decides() -> None:
    rules = [
        {"pattern": "*.py", "budget": 5},
        {"pattern": "text.*", "budget": 6, "encoding": "gpt2"},
        {"pattern": "**", "budget": 7, "encoding": "words"},
    ]
    with client_of({"files": rules}) as client:
        client.open(CODE)
        assert client.count() == get_encoding("gpt2").count(CODE)
        assert client.wait_for("compatBpe/didCount")["limit"] == 5


def test_a_vocabulary_that_is_replaced_is_loaded_when_settings_come(tmp_path: Path) -> None:
    settings = {"path": str(tmp_path / "tokenizer.json")}
    first, second = train_bpe([CODE], 270), train_bpe([CODE], 300)
    save_tokenizer_json(first, tmp_path / "tokenizer.json")
    with client_of(settings) as client:
        client.open(CODE)
        assert client.count() == first.count(CODE)
        (tmp_path / "tokenizer.json").unlink()
        save_tokenizer_json(second, tmp_path / "tokenizer.json")
        assert configure(client, settings) == []
        assert client.count() == second.count(CODE) != first.count(CODE)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"encoding": "nope"}, "encoding: unknown encoding 'nope'"),
        ({"model": "gpt5o"}, "model: unknown model 'gpt5o'"),
        ({"path": "/no/where.json"}, "path: /no/where.json: No such file"),
        ({"budget": -1}, "budget: it must be a whole number"),
        ({"budgte": 1}, "budgte: there is no such field (did you mean 'budget'?)"),
        ({"show": {"codeLens": 1}}, "show.codeLens: it must be true or false"),
        ({"show": {"lens": True}}, "show.lens: there is no such field"),
        ({"files": {}}, "files: it must be a list, not an object"),
        ({"budget": True}, "budget: it must be a whole number from 0 to 2147483647, not true"),
        ({"encoding": {"name": "gpt2"}}, "encoding: it must be a string, not an object"),
        ({"model": "x" * 60}, "model: unknown model"),
        ({"files": [{"encoding": "gpt2"}]}, "files[0].pattern: it is missing"),
        ({"files": [{"pattern": "*", "encoding": "x"}]}, "encoding: unknown encoding 'x'"),
        ({"files": [{"pattern": "*", "model": "gpt-4", "path": "x"}]}, "files[0].path: give"),
        ([3], "they must be an object, not a list"),
        ("gpt2", 'they must be an object, not "gpt2"'),
        ({"compatBpe": ["x"]}, "they must be an object, not a list"),
        ({"show": "all"}, 'show: it must be an object, not "all"'),
    ],
)
def test_a_wrong_setting_is_told_and_the_last_good_ones_stay(wrong: object, message: str) -> None:
    with client_of({"encoding": "gpt2", "budget": 3}) as client:
        client.open(CODE)
        (shown,) = configure(client, wrong)
        assert shown.startswith(f"compat-bpe: the settings are not used: {message}")
        assert client.count() == get_encoding("gpt2").count(CODE)
        client.change(insert(0, 0, "x"), version=7)
        told = client.wait_for("compatBpe/didCount", lambda one: one["version"] == 7)
        assert told["limit"] == 3


def test_wrong_settings_that_are_sent_again_are_told_once() -> None:
    with client_of({"budget": "big"}) as client:
        for settings in ({"compatBpe": {"budget": "big"}}, {"budget": "big"}):
            client.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert len(client.shown()) == 1
        assert configure(client, {"budget": "small"}) != []
        assert configure(client, {"budget": "big"}) != []


def test_lua_writes_an_object_without_fields_as_a_list() -> None:
    with client_of({"encoding": "gpt2", "show": []}) as client:
        client.open(CODE)
        assert client.count() == get_encoding("gpt2").count(CODE)
        assert configure(client, []) == []
        assert client.count() == ENCODING.count(CODE)


def test_the_server_asks_for_settings_if_it_may() -> None:
    with client_of(None, workspace={"configuration": True}) as client:
        client.answer_asked = lambda _message: [{"encoding": "gpt2"}]
        client.open(CODE)
        assert client.asked == [] or client.count() == get_encoding("gpt2").count(CODE)
        client.shown()
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        client.shown()
        client.shown()
        assert client.asked[0]["params"] == {"items": [{"section": "compatBpe"}]}
        assert client.count() == get_encoding("gpt2").count(CODE)


def test_lenses_and_colors_are_refreshed_when_settings_change() -> None:
    refresh = {"refreshSupport": True}
    with client_of(None, workspace={"codeLens": refresh, "semanticTokens": refresh}) as client:
        configure(client, {"budget": 3})
        assert [one["method"] for one in client.asked] == [
            "workspace/codeLens/refresh",
            "workspace/semanticTokens/refresh",
        ]
