"""Code actions, and the commands that they have carried out."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from tests.lsp.client import URI, Client, Failed, client_of, span

ENCODING = get_encoding("o200k_base")


def actions(client: Client, range_: dict[str, Any], **context: object) -> dict[str, Any]:
    params = {"textDocument": {"uri": URI}, "range": range_, "context": context}
    found = client.request("textDocument/codeAction", params)
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
        client.notify("workspace/didChangeConfiguration", {"settings": {"budget": 20}})
        found = client.request("workspace/executeCommand", command)
        assert found["text"] == "text.py\n`````python\none two three\n`````\n"
        assert (found["count"], found["wasCut"]) == (ENCODING.count(found["text"]), True)
        client.notify("workspace/didChangeConfiguration", {"settings": {"budget": 2}})
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
