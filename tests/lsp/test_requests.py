"""The requests of plug-ins: their results are those of the library, and their errors are clear."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import encoding_for_model, get_encoding, list_encoding_names
from compat_bpe.chat import count_messages
from compat_bpe.fit import Section, fim_template, fit_prompt, fit_sections
from compat_bpe.lsp.rpc import INVALID_PARAMS
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.lsp.client import URI, Client, Failed, about, client_of, position, span
from tests.strategies import texts

ENCODING = get_encoding("o200k_base")
TEXT = "import re\n\n\ndef area(r):\n    return 3.14 * r * r  # 😀 é\n\n\nprint(area(2))\n" * 20
TEMPLATE = "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with client_of() as client:
        client.open(TEXT)
        yield client


def test_names_have_what_counts_each(client: Client) -> None:
    found = client.request("compatBpe/names", {})
    assert found["encodings"] == list_encoding_names()
    models = {one["name"]: one for one in found["models"]}
    assert models["gpt-4o"] == {
        "name": "gpt-4o",
        "group": "GPT-4o",
        "encoding": "o200k_base",
        "context": 128_000,
    }
    assert "Anthropic says" in models["claude-sonnet-4-5"]["note"]
    assert models["Qwen 3"]["file"].endswith(" of https://huggingface.co/Qwen/Qwen3-8B")
    assert models["Doubao's models"]["service"]
    for word in ("Llama", "Gemma", "Mistral", "Kimi"):
        assert any("file" in one for name, one in models.items() if name.startswith(word)), word
    for name, one in models.items():
        if "encoding" in one or "note" in one:
            counted = client.request("compatBpe/count", {"text": "", "model": name})
            assert counted.get("note") == one.get("note"), name


@given(text=texts)
def test_count_fits_and_truncate(client: Client, text: str) -> None:
    # As JSON writes it, a pair of halves is one character.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    count = ENCODING.count(text)
    assert client.request("compatBpe/count", {"text": text}) == {"count": count}
    for limit in (count, count // 2):
        asked = {"text": text, "limit": limit}
        assert client.request("compatBpe/fits", asked) == {"fits": limit == count}
        cut = ENCODING.truncate(text, limit, keep="tail", boundary="word", marker="…")
        asked.update(keep="tail", boundary="word", marker="…")
        assert client.request("compatBpe/truncate", asked) == {
            "text": cut.text,
            "count": cut.count,
            "wasCut": cut.was_cut,
            "kept": [[units(text[:end]) for end in pair] for pair in cut.kept],
        }


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    "named", [{}, {"encoding": "cl100k_base"}, {"model": "gpt-4"}, {"encoding": "words"}]
)
def test_counts_of_a_document_and_of_a_range(client: Client, named: dict[str, str]) -> None:
    encoding = get_encoding(
        "cl100k_base" if "model" in named else named.get("encoding", "o200k_base")
    )
    found = client.request("compatBpe/count", about(**named))
    assert found == {"count": encoding.count(TEXT), "version": 1}
    lines = TEXT.split("\n")
    part = lines[4][4:] + "\n\n" + lines[6][:0]
    found = client.request("compatBpe/count", about(range=span(4, 4, 6, 0), **named))
    assert found == {"count": encoding.count(part), "version": 1}


def test_a_long_text_is_counted_in_steps(client: Client) -> None:
    text = TEXT * 50
    assert client.request("compatBpe/count", {"text": text})["count"] == ENCODING.count(text)


def test_tokens(client: Client) -> None:
    found = client.request("compatBpe/tokens", about(range=span(4, 0, 4, 40)))
    line = TEXT.split("\n")[4]
    assert [one["id"] for one in found["tokens"]][1:-1] == ENCODING.encode(line)[1:-1]
    assert "".join(one["text"] for one in found["tokens"]).strip() == line.strip()
    emoji = next(one for one in found["tokens"] if "😀" in one["text"])
    assert emoji["range"] == span(4, 26, 4, 29)
    other = client.request("compatBpe/tokens", about(range=span(4, 4, 4, 10), model="gpt-4"))
    assert [one["text"] for one in other["tokens"]] == [" return"]


@pytest.mark.parametrize("line", [0, 4, 60, 10**6])
@pytest.mark.parametrize("limit", [20, 100, 10**6])
@pytest.mark.parametrize("name", [None, "cl100k_base"])
def test_prompts(client: Client, line: int, limit: int, name: str | None) -> None:
    params = about(position=position(line, 6), limit=limit, template=TEMPLATE)
    if name:
        params["encoding"] = name
    lines = TEXT.splitlines(keepends=True)
    at = min(
        len("".join(lines[:line])) + min(6, len("".join(lines[line:]).split("\n")[0])), len(TEXT)
    )
    expected = fit_prompt(
        get_encoding(name or "o200k_base"), TEXT[:at], TEXT[at:], limit, template=TEMPLATE
    )
    assert client.request("compatBpe/fitPrompt", params) == {
        "prefix": expected.prefix,
        "suffix": expected.suffix,
        "ids": expected.ids,
        "text": get_encoding(name or "o200k_base").decode(expected.ids),
        "count": expected.count,
        "prefixWasCut": expected.prefix_was_cut,
        "suffixWasCut": expected.suffix_was_cut,
        "version": 1,
    }


@pytest.mark.parametrize("choice", [{}, {"encoding": "gpt2"}, {"model": "gpt-4o"}])
def test_a_prompt_for_an_encoding_without_tokens_for_the_middle(
    client: Client, choice: dict[str, str]
) -> None:
    params = about(position=position(0, 1), limit=60, **choice)
    made = client.request("compatBpe/fitPrompt", params)
    enc = get_encoding("gpt2" if choice == {"encoding": "gpt2"} else "o200k_base")
    asked = "Fill in the text at <CURSOR>. Answer with the missing text only.\n\n"
    assert enc.decode(made["ids"]) == f"{asked}{made['prefix']}<CURSOR>{made['suffix']}"
    assert made["count"] == len(made["ids"]) <= 60


@pytest.mark.parametrize("model", ["gpt-4o", "o3", "deepseek-v3", "gpt-oss-20b"])
def test_a_prompt_by_the_model_of_the_settings(model: str) -> None:
    with client_of({"model": model}) as client:
        client.open(TEXT)
        made = client.request("compatBpe/fitPrompt", about(position=position(4, 4), limit=80))
        enc = encoding_for_model(model)
        assert made["count"] == len(made["ids"]) <= 80
        assert made["text"] == enc.decode(made["ids"])
        own = fit_prompt(enc, "", "", 80, template=fim_template(enc, model))
        assert made["ids"][: len(own.ids) // 2] == own.ids[: len(own.ids) // 2]


def test_sections(client: Client) -> None:
    given = [
        Section("Fix the bug.\n", priority=3, required=True, name="task"),
        Section("é😀\ntwo\nthree\nfour\n", priority=1, cut="lines", name="log"),
        Section("def f(x):\n    return y\n", priority=2, cut="tail", min_tokens=2, name="code"),
    ]
    expected = fit_sections(ENCODING, given, 18, separator="\n")
    fields = [
        {"text": "Fix the bug.\n", "priority": 3, "required": True, "name": "task"},
        {"text": "é😀\ntwo\nthree\nfour\n", "priority": 1, "cut": "lines", "name": "log"},
        {
            "text": "def f(x):\n    return y\n",
            "priority": 2.0,
            "cut": "tail",
            "minTokens": 2.0,
            "name": "code",
            "marker": None,
        },
    ]
    found = client.request(
        "compatBpe/fitSections", {"sections": fields, "limit": 18, "separator": "\n"}
    )
    assert (found["text"], found["count"]) == (expected.text, expected.count)
    assert found["sections"] == [
        {
            "name": one.name,
            "status": one.status,
            "text": one.text,
            "count": one.count,
            "kept": [[units(section.text[:end]) for end in pair] for pair in one.kept],
        }
        for section, one in zip(given, expected.sections)
    ]
    assert [one["status"] for one in found["sections"]] == ["kept", "cut", "kept"]


def test_messages(client: Client) -> None:
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "hello"},
    ]
    for named in ({}, {"model": "gpt-4"}, {"model": "deepseek-v3"}):
        found = client.request("compatBpe/countMessages", {"messages": messages, **named})
        expected = count_messages(messages, model=named.get("model", "gpt-4o"))
        assert found == {
            "count": int(expected),
            "isEstimate": expected.is_estimate,
            "note": expected.note,
        }
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    found = client.request("compatBpe/countMessages", {"messages": messages, "tools": [tool]})
    assert found["isEstimate"]
    assert found["count"] == count_messages(messages, model="gpt-4o", tools=[tool])


def test_an_encoding_from_a_file(client: Client, tmp_path: Path) -> None:
    own = train_bpe([TEXT], 300)
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(own, path)
    for name in (path, tmp_path):
        found = client.request("compatBpe/count", about(path=str(name)))
        assert found["count"] == own.count(TEXT)


WRONG: list[tuple[str, Any, str]] = [
    ("count", None, "textDocument: it is missing"),
    ("count", [1], "params must be an object"),
    ("count", {}, "textDocument: it is missing"),
    ("count", {"text": 5}, "text: it must be a string, not 5"),
    ("count", {"text": False}, "text: it must be a string, not false"),
    ("count", {"text": "", "encoding": ["a"]}, "encoding: it must be a string, not a list"),
    (
        "fits",
        {"text": "a", "limit": "ß"},
        'limit: it must be a whole number from 0 to 2147483647, not "ß"',
    ),
    (
        "truncate",
        {"text": "a", "limit": 1, "keep": True},
        "keep: it must be one of head, tail, ends, not true",
    ),
    ("count", {"text": "", "textDocument": {"uri": URI}}, "text: give either this or"),
    ("count", {"textDocument": URI}, "textDocument: it must be an object"),
    ("count", {"textDocument": {}}, "textDocument.uri: it is missing"),
    (
        "count",
        {"textDocument": {"uri": "file:///no"}},
        "textDocument.uri: no document 'file:///no'",
    ),
    ("count", about(range=3), "range: it must be an object"),
    ("count", about(range={"start": position(0, 0)}), "range.end: it is missing"),
    ("count", about(range=span(0, -1, 0, 0)), "range.start.character: it must be a whole number"),
    ("count", about(range=span(0, 1, 1, 1.5)), "range.end.character: it must be a whole"),  # type: ignore[arg-type]
    ("count", {"text": "", "encoding": "o200k"}, "encoding: unknown encoding 'o200k'"),
    ("count", {"text": "", "model": "gpt-99x"}, "model: unknown model 'gpt-99x'"),
    ("count", {"text": "", "model": "gpt-4", "encoding": "gpt2"}, "model: give either this or"),
    ("count", {"text": "", "path": "/no/file"}, "path: /no/file: No such file"),
    ("count", {"text": "", "rangee": 1}, "rangee: there is no such field (did you mean 'range'?)"),
    ("tokens", about(), "range: it is missing"),
    ("fits", {"text": "a"}, "limit: it is missing"),
    ("fits", {"text": "a", "limit": -1}, "limit: it must be a whole number from 0"),
    ("fits", {"text": "a", "limit": True}, "limit: it must be a whole number from 0"),
    ("fits", {"text": "a", "limit": 1e300}, "limit: it must be a whole number from 0"),
    ("truncate", {"text": "a", "limit": 1, "keep": "all"}, "keep: it must be one of head, tail"),
    ("truncate", {"text": "a", "limit": 1, "boundary": []}, "boundary: it must be one of char"),
    ("fitPrompt", about(limit=9), "position: it is missing"),
    ("fitPrompt", about(position={"line": 1}, limit=9), "position.character: it is missing"),
    ("fitPrompt", about(position=position(0, 0), limit=9), "limit: limit is 9, but the template"),
    (
        "fitPrompt",
        about(position=position(0, 0), limit=9, template="{prefix}"),
        "template: the template has {suffix} 0 times",
    ),
    (
        "fitPrompt",
        about(position=position(0, 0), limit=2, template=TEMPLATE),
        "limit: limit is 2, but the template",
    ),
    (
        "fitPrompt",
        about(position=position(0, 0), limit=9, template=TEMPLATE, share=2),
        "share: share is 2; it must be from 0 to 1",
    ),
    ("fitSections", {"sections": "a", "limit": 1}, "sections: it must be a list"),
    ("fitSections", {"sections": ["a"], "limit": 1}, "sections[0]: it must be an object"),
    ("fitSections", {"sections": [{}], "limit": 1}, "sections[0].text: it is missing"),
    (
        "fitSections",
        {"sections": [{"text": "a", "minTokens": "few"}], "limit": 1},
        "sections[0].minTokens: it must be a whole number",
    ),
    (
        "fitSections",
        {"sections": [{"text": "a b c d", "required": True, "cut": "drop"}], "limit": 1},
        "sections: ",
    ),
    ("countMessages", {"messages": [{"role": 3}]}, "messages: "),
    ("countMessages", {"messages": {}}, "messages: it must be a list"),
    ("countMessages", {"messages": [], "model": "no-model"}, "model: unknown model"),
]


@pytest.mark.parametrize(("method", "params", "message"), WRONG)
def test_wrong_parameters_are_named(
    client: Client, method: str, params: object, message: str
) -> None:
    with pytest.raises(Failed) as failed:
        client.request(f"compatBpe/{method}", params)
    assert failed.value.code == INVALID_PARAMS
    assert str(failed.value).startswith(message)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
METHODS: dict[str, dict[str, Any]] = {
    "compatBpe/count": about(range=span(0, 0, 0, 1), encoding="gpt2"),
    "compatBpe/tokens": about(range=span(0, 0, 0, 1), model="gpt-4"),
    "compatBpe/fits": {"text": "a", "limit": 1, "path": "nothing"},
    "compatBpe/truncate": {"text": "a b", "limit": 1, "keep": "head", "boundary": "line"},
    "compatBpe/fitPrompt": about(position=position(0, 1), limit=9, template=TEMPLATE, share=1),
    "compatBpe/fitSections": {"sections": [{"text": "a", "priority": 1}], "limit": 3},
    "compatBpe/countMessages": {"messages": [{"role": "user", "content": "a"}], "tools": []},
    "textDocument/hover": about(position=position(0, 1), range=span(0, 0, 0, 1)),
    "textDocument/codeLens": about(),
    "textDocument/semanticTokens/range": about(range=span(0, 0, 0, 1)),
    "textDocument/codeAction": about(range=span(0, 0, 0, 1), context={"only": ["refactor"]}),
    "workspace/executeCommand": {
        "command": "compatBpe.copyAsPrompt",
        "arguments": [URI, span(0, 0, 0, 1)],
    },
}


def with_one_replaced(value: Any, data: st.DataObject) -> Any:
    """A copy in which something, at any depth, is replaced by something else."""
    if isinstance(value, (dict, list)) and value and data.draw(st.integers(0, 2)):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = data.draw(st.sampled_from(keys))
        copied = value.copy()
        copied[key] = with_one_replaced(value[key], data)
        return copied
    return data.draw(json_values)


@given(method=st.sampled_from(list(METHODS)), data=st.data())
def test_any_parameters_get_an_answer(client: Client, method: str, data: st.DataObject) -> None:
    """None of them is an error of the server itself."""
    code = client.code_of(client.ask(method, with_one_replaced(METHODS[method], data)))
    assert code in (None, INVALID_PARAMS)
