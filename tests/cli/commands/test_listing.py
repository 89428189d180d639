"""``compat-bpe encodings`` and ``compat-bpe models``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from compat_bpe import encoding_name_for_model, get_encoding, list_encoding_names, load
from compat_bpe.cli import cli
from compat_bpe.encodings.model_names import model_names
from tests.cli.exact import run

ROOT = Path(__file__).parents[3]

# Sizes of vocabularies as OpenAI and DeepSeek publish them.
SIZES = {"gpt2": 50257, "cl100k_base": 100277, "o200k_base": 200019, "deepseek_v4": 129280}


def test_encodings() -> None:
    status, out, err = run("encodings")
    head, *lines = out.decode().splitlines()
    assert (status, err) == (0, "")
    assert head == "encoding       vocabulary  special  tokens of"
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows] == list_encoding_names()
    for name, size, special, tokens_of in rows:
        encoding = get_encoding(name)
        assert int(size) == encoding.n_vocab == SIZES.get(name, encoding.n_vocab)
        assert int(special) == len(encoding.special_tokens_set)
        assert tokens_of == ("tokenizers" if name.startswith("deepseek") else "tiktoken")
    # Columns are aligned.
    assert len({len(line[:34]) for line in lines}) == 1
    assert all(line[25:34].strip().isdigit() and line[34:36] == "  " for line in lines)


def test_encodings_as_json() -> None:
    status, out, err = run("encodings", "--json")
    assert (status, err) == (0, "")
    found = {one.pop("name"): one for one in json.loads(out)}
    assert list(found) == list_encoding_names()
    assert found["cl100k_base"] == {
        "vocabulary_size": 100277,
        "special_tokens": 5,
        "tokens_of": "tiktoken",
    }


def test_one_encoding() -> None:
    assert run("encodings", "-m", "gpt-4").out.decode().split()[5:] == [
        "cl100k_base",
        "100277",
        "5",
        "tiktoken",
    ]
    path = ROOT / "fixtures" / "gpt2_small"
    encoding = load(path)
    (found,) = json.loads(run("encodings", "--json", "-e", str(path)).out)
    assert (found["name"], found["vocabulary_size"]) == (encoding.name, encoding.n_vocab)
    status, out, err = run("encodings", "-e", "o200k")
    assert (status, out, err.count("\n")) == (2, b"", 1)


def test_damaged_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ValueError(f"packs/{name}.pack: damaged")

    monkeypatch.setattr("compat_bpe.cli.commands.listing.get_encoding", fail)
    assert run("encodings") == (2, b"", "compat-bpe: packs/gpt2.pack: damaged\n")


def test_models() -> None:
    status, out, err = run("models")
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.decode().splitlines()]
    found = {row[0]: row[1] for row in rows}
    assert len(found) == len(rows)
    assert {name for name in found if not name.endswith("*")} == set(model_names())
    for name, encoding in found.items():
        # Before a longer prefix a shorter one may fit, but then they agree.
        assert encoding_name_for_model(name.replace("*", "zz")) == encoding
    assert len({line.rindex(" ") for line in out.decode().splitlines()}) == 1
    assert json.loads(run("models", "--json").out) == found
    assert {"gpt-4o", "gpt-oss-*", "deepseek-v3*"} <= set(found)


def test_models_that_are_named() -> None:
    names = ["gpt-4o-2024-05-13", "ft:gpt-4:x", "deepseek-chat"]
    status, out, err = run("models", *names)
    assert (status, err) == (0, "")
    assert [line.split() for line in out.decode().splitlines()] == [
        [name, encoding_name_for_model(name)] for name in names
    ]
    assert json.loads(run("models", "--json", "o1-x").out) == {"o1-x": "o200k_base"}


def test_unknown_model_is_one_line() -> None:
    status, out, err = run("models", "gpt-4o", "gpt-4p")
    assert (status, out, err.count("\n")) == (2, b"", 1)
    assert err.startswith("compat-bpe: unknown model 'gpt-4p' (did you mean 'gpt-4' or")


def test_models_are_completed() -> None:
    complete = ShellComplete(cli, {}, "compat-bpe", "_COMPAT_BPE_COMPLETE")
    found = {item.value for item in complete.get_completions(["models"], "gpt-4")}
    assert found == {"gpt-4", "gpt-4.1", "gpt-4o"}
