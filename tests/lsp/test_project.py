"""The budgets of a project, and models without a public tokenizer, in an editor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.encodings.resolve import resolve
from tests.cli.running import command
from tests.lsp.client import URI, Client, Failed, client_of, insert

TEXT = "one two three four five six\nseven eight\n"
CONFIGURATION = """[check]
encoding = "gpt2"
[[check.rules]]
files = ["*.md"]
max = 5
[[check.rules]]
files = ["docs/*.md"]
model = "gpt-4o"
max = 3
[[check.rules]]
files = ["prompts/*"]
model = "claude-opus-4-7"
estimate = true
max = 6
[[check.exempt]]
files = ["free.md"]
reason = "as it is"
"""
CLAUDE = resolve("claude-sonnet-4-5", "model", estimate=True)


@pytest.fixture
def client() -> Iterator[Client]:
    with client_of({"encoding": "cl100k_base", "budget": 1000}) as client:
        yield client


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".compat-bpe.toml").write_text(CONFIGURATION)
    return tmp_path


def told(client: Client, uri: str) -> dict[str, Any]:
    """What a status bar is told of a document."""
    found: dict[str, Any] = client.wait_for("compatBpe/didCount", lambda one: one["uri"] == uri)
    return found


@pytest.mark.parametrize(
    ("name", "encoding", "limit"),
    [
        ("a.md", "gpt2", 5),
        ("docs/a.md", "o200k_base", 3),
        ("prompts/a.txt", "", 6),
        ("free.md", "cl100k_base", 1000),
        ("a.py", "cl100k_base", 1000),
    ],
)
def test_a_file_has_the_limit_that_check_has(
    client: Client,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    encoding: str,
    limit: int,
) -> None:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(TEXT)
    client.open(TEXT, path.as_uri())
    count = told(client, path.as_uri())
    assert (count["encoding"], count["limit"]) == (encoding, limit)
    monkeypatch.chdir(project)
    status = command("check --allow-empty", str(path)).status
    assert status == ("passedAt" in count)
    shown = client.wait_for("textDocument/publishDiagnostics") if status else {"diagnostics": []}
    messages = [one["message"] for one in shown["diagnostics"]]
    assert all(f"over the budget of {limit}" in message for message in messages)
    assert len(messages) == status


def test_a_change_of_the_budgets_is_taken(client: Client, project: Path) -> None:
    uri = (project / "a.md").as_uri()
    client.open(TEXT, uri)
    assert told(client, uri)["limit"] == 5
    (project / ".compat-bpe.toml").write_text(CONFIGURATION.replace("max = 5", "max = 7"))
    client.notify("workspace/didChangeWatchedFiles", {"changes": []})
    client.wait_for("compatBpe/didCount", lambda one: one["limit"] == 7)
    (project / ".compat-bpe.toml").write_text("[check]\nmax = 1\n")
    client.notify("workspace/didChangeWatchedFiles", {"changes": []})
    client.wait_for("compatBpe/didCount", lambda one: one["limit"] == 1000)
    (message,) = client.shown()
    assert message.startswith("compat-bpe: the budgets of the project are not used: ")
    assert ".compat-bpe.toml:2: there is no key 'max'" in message


def test_the_client_is_asked_to_watch_the_files() -> None:
    able = {"didChangeWatchedFiles": {"dynamicRegistration": True}}
    with client_of({}, workspace=able) as client:
        client.shown()
        (asked,) = client.asked
        (found,) = asked["params"]["registrations"]
        names = [one["globPattern"] for one in found["registerOptions"]["watchers"]]
        assert names == ["**/.compat-bpe.toml", "**/pyproject.toml"]


def test_an_estimate_is_marked_and_explained() -> None:
    settings = {"model": "claude-sonnet-4-5", "budget": 4, "show": {"hover": True}}
    with client_of(settings) as client:
        client.open(TEXT)
        count = told(client, URI)
        tokens = CLAUDE.tokens(len(TEXT))
        assert (count["count"], count["encoding"], count["note"]) == (tokens, "", CLAUDE.note)
        assert count["passedAt"] == {"line": 0, "character": CLAUDE.limit(4)}
        document = {"textDocument": {"uri": URI}}
        lens, *_ = client.request("textDocument/codeLens", document)
        assert lens["command"]["title"] == f"≈{tokens} tokens · 300 % of 4"
        place = {"position": {"line": 0, "character": 1}}
        hover = client.request("textDocument/hover", {**document, **place})
        assert f"Document: ≈{tokens} tokens" in hover["contents"]["value"]
        assert f"An estimate: {CLAUDE.note}" in hover["contents"]["value"]
        client.change(insert(0, 0, "zero "))
        assert client.request("compatBpe/count", document)["count"] == CLAUDE.tokens(len(TEXT) + 5)
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
        with pytest.raises(Failed, match="has no public tokenizer"):
            client.request("compatBpe/tokens", {**document, "range": everything})


def test_requests_go_by_an_estimate(client: Client) -> None:
    asked = {"text": TEXT, "model": "claude-sonnet-4-5"}
    count = client.request("compatBpe/count", asked)
    assert count == {
        "count": CLAUDE.tokens(len(TEXT)),
        "isEstimate": True,
        "note": CLAUDE.note,
    }
    assert client.request("compatBpe/count", {"text": TEXT}) == {
        "count": get_encoding("cl100k_base").count(TEXT)
    }
    cut = client.request("compatBpe/truncate", {**asked, "limit": 4})
    assert (cut["text"], cut["count"]) == (TEXT[:14], 4)
    for limit, fits in ((12, True), (11, False)):
        assert client.request("compatBpe/fits", {**asked, "limit": limit})["fits"] is fits
