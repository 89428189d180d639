"""What the server announces, at first and when settings change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.client import URI, Client, client_of, position, server, span

#: The fields that announce each thing that is shown.
PROVIDERS = {
    "codeLens": "codeLensProvider",
    "hover": "hoverProvider",
    "inlayHints": "inlayHintProvider",
    "semanticTokens": "semanticTokensProvider",
    "codeActions": "codeActionProvider",
}
DYNAMIC = {"dynamicRegistration": True}
PULLS = {
    "textDocument": {"diagnostic": {}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


def announced(options: object, **capabilities: object) -> set[str]:
    with server() as (client, _):
        found = client.initialize(options, **capabilities)["capabilities"]
        client.leave()
    return {name for name, field in PROVIDERS.items() if field in found}


def test_what_is_not_shown_is_not_announced() -> None:
    """A client without an answer to a hover would say so."""
    assert announced({}) == {"codeLens", "codeActions"}
    assert announced({"show": {"hover": True, "codeLens": False}}) == {"hover", "codeActions"}
    assert announced({"show": {"hover": 3}}) == set(PROVIDERS)  # it may be mended
    assert announced(None) == set(PROVIDERS)


def test_what_comes_to_be_shown_is_announced_then() -> None:
    dynamic = {"hover": DYNAMIC, "inlayHint": DYNAMIC, "semanticTokens": {}}
    with client_of({}, textDocument=dynamic) as client:
        for _ in range(2):
            show = {"hover": True, "inlayHints": True, "semanticTokens": True}
            client.notify("workspace/didChangeConfiguration", {"settings": {"show": show}})
            client.shown()
            (asked,) = client.asked
            assert asked["method"] == "client/registerCapability"
            found = {one["method"]: one for one in asked["params"]["registrations"]}
            assert set(found) == {"textDocument/hover", "textDocument/inlayHint"}
            assert found["textDocument/hover"]["registerOptions"] == {"documentSelector": None}


def test_settings_that_are_asked_for_announce_what_they_show() -> None:
    asked = {"workspace": {"configuration": True}, "textDocument": {"hover": DYNAMIC}}
    assert "hover" not in announced(None, **asked)
    with server() as (client, _):
        client.answer_asked = lambda message: (
            [{"show": {"hover": True}}] if message["method"] == "workspace/configuration" else None
        )
        client.initialize(None, **asked)
        client.shown()
        client.shown()
        assert client.asked[-1]["method"] == "client/registerCapability"
        client.leave()


def pulled(client: Client) -> list[dict[str, Any]]:
    report = client.request("textDocument/diagnostic", {"textDocument": {"uri": URI}})
    assert report["kind"] == "full"
    items: list[dict[str, Any]] = report["items"]
    return items


def test_diagnostics_that_a_client_asks_for() -> None:
    with client_of({"budget": 3}, **PULLS) as client:
        client.open("one two three four five")
        (found,) = pulled(client)
        assert found["range"] == span(0, 14, 0, 23)
        client.change({"text": "one"})
        assert pulled(client) == []
        client.notify("workspace/didChangeConfiguration", {"settings": {"budget": 0}})
        client.shown()
        assert [one["method"] for one in client.asked] == ["workspace/diagnostic/refresh"]
        assert pulled(client)[0]["range"]["start"] == position(0, 0)
        settings = {"budget": 0, "show": {"diagnostics": False}}
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert pulled(client) == []
        # None come unasked: they would be shown twice.
        assert {one["method"] for one in client.notices} == {"compatBpe/didCount"}


@pytest.mark.parametrize("missing", PULLS)
def test_a_client_that_cannot_be_told_to_ask_again_is_sent_diagnostics(missing: str) -> None:
    capabilities = {name: value for name, value in PULLS.items() if name != missing}
    with server() as (client, _):
        found = client.initialize({"budget": 0}, **capabilities)["capabilities"]
        assert "diagnosticProvider" not in found
        client.open("one")
        assert client.wait_for("textDocument/publishDiagnostics")["diagnostics"]
        client.leave()
