"""What counts a file: settings, the project's budgets, stores; and what the client is told."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding, load
from compat_bpe.chat import count_messages
from compat_bpe.encodings.resolve import resolve
from compat_bpe.lsp.rpc import INVALID_PARAMS
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.cli.running import command
from tests.encodings.stores import SMALL, cached, manifest, move_home
from tests.formats.small_gguf import gguf, gpt2
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
    server,
    span,
)

ENCODING = get_encoding("o200k_base")


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
        assert client.configure({"encoding": "o200k_base"}) == []
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
        assert client.configure(settings) == []
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
        (shown,) = client.configure(wrong)
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
        assert client.configure({"budget": "small"}) != []
        assert client.configure({"budget": "big"}) != []


def test_a_client_with_a_status_is_told_what_is_wrong_until_it_is_right() -> None:
    """No message is shown, which would stay."""
    refused = "the settings are not used: model: unknown model 'nonsense'"

    def problem_after(settings: object, version: int) -> str:
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        client.change({"text": "one two"}, version=version)
        told = client.wait_for("compatBpe/didCount", lambda one: one["version"] == version)
        return str(told.get("problem", ""))

    with client_of({"model": "nonsense"}, experimental={"status": True}) as client:
        client.open("one two")
        assert client.wait_for("compatBpe/didCount")["problem"].startswith(refused)
        assert problem_after({"model": "gpt-4"}, 2) == ""
        assert problem_after({"model": "nonsense"}, 3).startswith(refused)
        # The same for a document: one that its encoding cannot be used for.
        assert problem_after({"encoding": "o200k_base"}, 4) == ""
        rule = {"files": [{"pattern": "*.py", "path": "/nowhere.json"}]}
        assert "/nowhere.json: No such file" in problem_after(rule, 5)
        assert problem_after({}, 6) == ""
        assert client.shown() == []


def test_the_problem_of_a_document_is_in_its_status(project: Path) -> None:
    (project / ".compat-bpe.toml").write_text("[budgets\n")
    with client_of({}, experimental={"status": True}) as client:
        client.open("one", uri=(project / "a.md").as_uri())
        problem = client.wait_for("compatBpe/didCount")["problem"]
        assert problem.startswith("the budgets of the project are not used: ")
        (project / ".compat-bpe.toml").unlink()
        client.notify("workspace/didChangeWatchedFiles", {"changes": []})
        assert "problem" not in client.wait_for("compatBpe/didCount")
        assert client.shown() == []


def test_lua_writes_an_object_without_fields_as_a_list() -> None:
    with client_of({"encoding": "gpt2", "show": []}) as client:
        client.open(CODE)
        assert client.count() == get_encoding("gpt2").count(CODE)
        assert client.configure([]) == []
        assert client.count() == ENCODING.count(CODE)


def test_the_server_asks_for_settings_if_it_may() -> None:
    with client_of(None, workspace={"configuration": True}) as client:
        client.answer_asked = lambda _message: [{"encoding": "gpt2"}]
        client.open(CODE)
        assert client.asked == [] or client.count() == get_encoding("gpt2").count(CODE)
        client.shown()
        client.configure(None)
        client.shown()
        assert client.asked[0]["params"] == {"items": [{"section": "compatBpe"}]}
        assert client.count() == get_encoding("gpt2").count(CODE)


def test_lenses_and_colors_are_refreshed_when_settings_change() -> None:
    refresh = {"refreshSupport": True}
    with client_of(None, workspace={"codeLens": refresh, "semanticTokens": refresh}) as client:
        client.configure({"budget": 3})
        assert [one["method"] for one in client.asked] == [
            "workspace/codeLens/refresh",
            "workspace/semanticTokens/refresh",
        ]


WORDS = "one two three four five six\nseven eight\n"
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
def in_project() -> Iterator[Client]:
    with client_of({"encoding": "cl100k_base", "budget": 1000}) as client:
        yield client


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".compat-bpe.toml").write_text(CONFIGURATION)
    return tmp_path


def told(in_project: Client, uri: str) -> dict[str, Any]:
    """What a status bar is told of a document."""
    found: dict[str, Any] = in_project.wait_for("compatBpe/didCount", lambda one: one["uri"] == uri)
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
    in_project: Client,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    encoding: str,
    limit: int,
) -> None:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(WORDS)
    in_project.open(WORDS, path.as_uri())
    count = told(in_project, path.as_uri())
    assert (count["encoding"], count["limit"]) == (encoding, limit)
    monkeypatch.chdir(project)
    status = command("check --allow-empty", str(path)).status
    assert status == ("passedAt" in count)
    shown = (
        in_project.wait_for("textDocument/publishDiagnostics") if status else {"diagnostics": []}
    )
    messages = [one["message"] for one in shown["diagnostics"]]
    assert all(f"over the budget of {limit}" in message for message in messages)
    assert len(messages) == status


def test_a_change_of_the_budgets_is_taken(in_project: Client, project: Path) -> None:
    uri = (project / "a.md").as_uri()
    in_project.open(WORDS, uri)
    assert told(in_project, uri)["limit"] == 5
    (project / ".compat-bpe.toml").write_text(CONFIGURATION.replace("max = 5", "max = 7"))
    in_project.notify("workspace/didChangeWatchedFiles", {"changes": []})
    in_project.wait_for("compatBpe/didCount", lambda one: one["limit"] == 7)
    (project / ".compat-bpe.toml").write_text("[check]\nmax = 1\n")
    in_project.notify("workspace/didChangeWatchedFiles", {"changes": []})
    in_project.wait_for("compatBpe/didCount", lambda one: one["limit"] == 1000)
    (message,) = in_project.shown()
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
        client.open(WORDS)
        count = told(client, URI)
        tokens = CLAUDE.tokens(len(WORDS))
        assert (count["count"], count["encoding"], count["note"]) == (tokens, "", CLAUDE.note)
        assert count["passedAt"] == position(0, CLAUDE.limit(4))
        lens, *_ = client.request("textDocument/codeLens", about())
        assert lens["command"]["title"] == f"≈{tokens} tokens · 300 % of 4"
        hover = client.request("textDocument/hover", about(position=position(0, 1)))
        assert f"Document: ≈{tokens} tokens" in hover["contents"]["value"]
        assert f"An estimate: {CLAUDE.note}" in hover["contents"]["value"]
        client.change(insert(0, 0, "zero "))
        assert client.count() == CLAUDE.tokens(len(WORDS) + 5)
        with pytest.raises(Failed, match="has no public tokenizer"):
            client.request("compatBpe/tokens", about(range=span(0, 0, 9, 0)))


def test_requests_go_by_an_estimate(in_project: Client) -> None:
    asked = {"text": WORDS, "model": "claude-sonnet-4-5"}
    count = in_project.request("compatBpe/count", asked)
    assert count == {"count": CLAUDE.tokens(len(WORDS)), "isEstimate": True, "note": CLAUDE.note}
    assert in_project.request("compatBpe/count", {"text": WORDS}) == {
        "count": get_encoding("cl100k_base").count(WORDS)
    }
    cut = in_project.request("compatBpe/truncate", {**asked, "limit": 4})
    assert (cut["text"], cut["count"]) == (WORDS[:14], 4)
    for limit, fits in ((12, True), (11, False)):
        assert in_project.request("compatBpe/fits", {**asked, "limit": limit})["fits"] is fits
    section = {"text": WORDS, "required": True}
    with pytest.raises(Failed, match=r"does not fit within the limit of 4$"):
        in_project.request(
            "compatBpe/fitSections", {"sections": [section], "limit": 4, "model": asked["model"]}
        )


STORED = "the tokens of a text"
GGUF = gguf(gpt2())
#: Models that have no encoding here, with what their messages say.
REFUSED = {
    "qwen3:8b": "uses the tokenizer of Qwen 3, which is not included: run `hf download",
    "Qwen/Qwen3-8B": "then set path to hf:Qwen/Qwen3-8B, or give the path",
    "acme/unknown": "set path to hf:acme/unknown if this is a Hugging Face",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a model in each store."""
    move_home(tmp_path, monkeypatch)
    cached(tmp_path / ".cache" / "huggingface" / "hub")
    manifest(tmp_path / ".ollama/models", "registry.ollama.ai/library/small/1b").write_bytes(GGUF)
    folder = tmp_path / ".lmstudio" / "models" / "acme" / "Small"
    folder.mkdir(parents=True)
    (folder / "small.gguf").write_bytes(GGUF)
    return tmp_path


@pytest.fixture
def at_home(home: Path) -> Iterator[Client]:
    with client_of() as client:
        client.open(STORED)
        yield client


@pytest.mark.parametrize("name", ["hf:acme/Small", "ollama:small:1b", "lmstudio:acme/Small"])
def test_names_of_stores_are_taken_as_paths(at_home: Client, name: str) -> None:
    expected = load(name).count(STORED)
    assert at_home.count(path=name) == expected
    assert at_home.configure({"path": name}) == []
    assert at_home.count() == expected != get_encoding("o200k_base").count(STORED)


def test_what_is_in_no_store_says_what_fetches_it(at_home: Client) -> None:
    settings = {"path": "hf:acme/Other"}
    with pytest.raises(Failed, match=r"^path: hf:acme/Other: .*`hf download acme/Other "):
        at_home.count(**settings)
    with pytest.raises(Failed, match=r"^messages: hf:acme/Other: .*`hf download acme/Other "):
        at_home.request("compatBpe/countMessages", {"messages": [], **settings})
    (message,) = at_home.configure(settings)
    assert message.startswith("compat-bpe: the settings are not used: path: hf:acme/Other: not in ")
    assert at_home.count() == get_encoding("o200k_base").count(STORED)


def test_a_model_in_the_cache_of_hugging_face(at_home: Client, home: Path) -> None:
    expected = load("hf:acme/Small").count(STORED)
    assert at_home.count(model="acme/Small") == expected
    assert at_home.configure({"model": "acme/Small"}) == []
    assert at_home.count() == expected
    # It is looked for anew with each change of the settings.
    shutil.rmtree(home / ".cache")
    assert at_home.count(model="acme/Small") == expected
    at_home.configure({"budget": 1})
    with pytest.raises(Failed, match=r"^model: unknown model 'acme/Small'"):
        at_home.count(model="acme/Small")


def test_its_messages_have_the_template_beside_it(home: Path, at_home: Client) -> None:
    files = home / "files"
    shutil.copytree(SMALL, files)
    (files / "chat_template.jinja").write_text("{{ messages[0].content }}!")
    cached(home / ".cache" / "huggingface" / "hub", "acme/Chat", files=files)
    messages = [{"role": "user", "content": STORED}]
    expected = load(SMALL).count(STORED + "!")
    for named in ({"model": "acme/Chat"}, {"path": "hf:acme/Chat"}):
        asked = {"messages": messages, **named}
        assert at_home.request("compatBpe/countMessages", asked)["count"] == expected


def test_models_may_be_spelled_as_services_do(at_home: Client) -> None:
    expected = get_encoding("o200k_base").count(STORED)
    for model in ("openai/gpt-4o", "azure/eu/gpt-4o", "GPT-4o"):
        assert at_home.count(model=model) == expected
        assert at_home.configure({"model": model}) == []
    messages = [{"role": "user", "content": STORED}]
    asked = {"messages": messages, "model": "openai/gpt-4o"}
    counted = at_home.request("compatBpe/countMessages", asked)["count"]
    assert counted == count_messages(messages, model="gpt-4o")


@pytest.mark.parametrize("model", REFUSED)
def test_a_model_without_an_encoding_here_says_what_to_do(at_home: Client, model: str) -> None:
    for method, params in (
        ("count", {"text": STORED}),
        ("fits", {"text": STORED, "limit": 3}),
        ("countMessages", {"messages": []}),
    ):
        with pytest.raises(Failed) as failed:
            at_home.request(f"compatBpe/{method}", {**params, "model": model})
        assert failed.value.code == INVALID_PARAMS
        assert REFUSED[model] in str(failed.value)
    (message,) = at_home.configure({"model": model})
    assert message.startswith("compat-bpe: the settings are not used: model: ")
    assert REFUSED[model] in message
    # It names settings, and no function or option.
    assert ('"hf:' in message) == ('"path"' in message)
    assert not re.search(r"\bload\b|get_encoding| -e ", message)
    # A rule of the settings is no other.
    rules = {"files": [{"pattern": "*.py", "model": model}]}
    assert REFUSED[model] in at_home.configure(rules)[-1]
    assert at_home.count() == get_encoding("o200k_base").count(STORED)


#: The fields that announce each thing that is shown.
PROVIDERS = {
    "codeLens": "codeLensProvider",
    "hover": "hoverProvider",
    "inlayHints": "inlayHintProvider",
    "semanticTokens": "semanticTokensProvider",
    "codeActions": "codeActionProvider",
}
DYNAMIC = {"dynamicRegistration": True}
PULLS = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}


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
    report = client.request("textDocument/diagnostic", about())
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
        client.configure({"budget": 0})
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
