"""Vocabularies of other programs, and models without an encoding that ships, in the server."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_bpe import get_encoding, load
from compat_bpe.chat import count_messages
from compat_bpe.lsp.rpc import INVALID_PARAMS
from tests.encodings.stores import SMALL, cached, manifest, move_home
from tests.formats.small_gguf import gguf, gpt2
from tests.lsp.client import Client, Failed, client_of

TEXT = "the tokens of a text"
GGUF = gguf(gpt2())
#: Models that have no encoding here, with what their messages say.
REFUSED = {
    "qwen3:8b": 'has the tokenizer of Qwen 3, which does not ship: give "path": "hf:',
    "Qwen/Qwen3-8B": 'give "path": "hf:Qwen/Qwen3-8B" once `hf download',
    "acme/unknown": '"path": "hf:acme/unknown" if that is a repository',
}


@pytest.fixture(autouse=True)
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
def client() -> Iterator[Client]:
    with client_of() as client:
        client.open(TEXT)
        yield client


@pytest.mark.parametrize("name", ["hf:acme/Small", "ollama:small:1b", "lmstudio:acme/Small"])
def test_names_of_stores_are_taken_as_paths(client: Client, name: str) -> None:
    expected = load(name).count(TEXT)
    assert client.count(path=name) == expected
    client.notify("workspace/didChangeConfiguration", {"settings": {"path": name}})
    assert client.shown() == []
    assert client.count() == expected != get_encoding("o200k_base").count(TEXT)


def test_what_is_in_no_store_says_what_fetches_it(client: Client) -> None:
    settings = {"path": "hf:acme/Other"}
    with pytest.raises(Failed, match=r"^path: hf:acme/Other: .*`hf download acme/Other "):
        client.count(**settings)
    with pytest.raises(Failed, match=r"^messages: hf:acme/Other: .*`hf download acme/Other "):
        client.request("compatBpe/countMessages", {"messages": [], **settings})
    client.notify("workspace/didChangeConfiguration", {"settings": settings})
    (message,) = client.shown()
    assert message.startswith("compat-bpe: the settings are not used: path: hf:acme/Other: not in ")
    assert client.count() == get_encoding("o200k_base").count(TEXT)


def test_a_model_in_the_cache_of_hugging_face(client: Client, home: Path) -> None:
    expected = load("hf:acme/Small").count(TEXT)
    assert client.count(model="acme/Small") == expected
    client.notify("workspace/didChangeConfiguration", {"settings": {"model": "acme/Small"}})
    assert client.shown() == []
    assert client.count() == expected
    # It is looked for anew with each change of the settings.
    shutil.rmtree(home / ".cache")
    assert client.count(model="acme/Small") == expected
    client.notify("workspace/didChangeConfiguration", {"settings": {"budget": 1}})
    with pytest.raises(Failed, match=r"^model: unknown model 'acme/Small'"):
        client.count(model="acme/Small")


def test_its_messages_have_the_template_beside_it(home: Path, client: Client) -> None:
    files = home / "files"
    shutil.copytree(SMALL, files)
    (files / "chat_template.jinja").write_text("{{ messages[0].content }}!")
    cached(home / ".cache" / "huggingface" / "hub", "acme/Chat", files=files)
    messages = [{"role": "user", "content": TEXT}]
    expected = load(SMALL).count(TEXT + "!")
    for named in ({"model": "acme/Chat"}, {"path": "hf:acme/Chat"}):
        asked = {"messages": messages, **named}
        assert client.request("compatBpe/countMessages", asked)["count"] == expected


def test_models_may_be_spelled_as_services_do(client: Client) -> None:
    expected = get_encoding("o200k_base").count(TEXT)
    for model in ("openai/gpt-4o", "azure/eu/gpt-4o", "GPT-4o"):
        assert client.count(model=model) == expected
        client.notify("workspace/didChangeConfiguration", {"settings": {"model": model}})
        assert client.shown() == []
    messages = [{"role": "user", "content": TEXT}]
    asked = {"messages": messages, "model": "openai/gpt-4o"}
    counted = client.request("compatBpe/countMessages", asked)["count"]
    assert counted == count_messages(messages, model="gpt-4o")


@pytest.mark.parametrize("model", REFUSED)
def test_a_model_without_an_encoding_here_says_what_to_do(client: Client, model: str) -> None:
    for method, params in (
        ("count", {"text": TEXT}),
        ("fits", {"text": TEXT, "limit": 3}),
        ("countMessages", {"messages": []}),
    ):
        with pytest.raises(Failed) as failed:
            client.request(f"compatBpe/{method}", {**params, "model": model})
        assert failed.value.code == INVALID_PARAMS
        assert REFUSED[model] in str(failed.value)
    client.notify("workspace/didChangeConfiguration", {"settings": {"model": model}})
    (message,) = client.shown()
    assert message.startswith("compat-bpe: the settings are not used: model: ")
    assert REFUSED[model] in message
    # It names settings, and no function or option.
    assert ('"hf:' in message) == ('"path"' in message)
    assert not re.search(r"\bload\b|get_encoding| -e ", message)
    # A rule of the settings is no other.
    rules = {"files": [{"pattern": "*.py", "model": model}]}
    client.notify("workspace/didChangeConfiguration", {"settings": rules})
    assert REFUSED[model] in client.shown()[-1]
    assert client.count() == get_encoding("o200k_base").count(TEXT)
