"""``compat-bpe encodings`` and ``compat-bpe models``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from compat_bpe import encoding_name_for_model, get_encoding, list_encoding_names, load
from compat_bpe.chat import context_limit
from compat_bpe.chat.limits import DATE
from compat_bpe.cli import cli
from compat_bpe.encodings.families import FAMILIES
from compat_bpe.encodings.model_names import model_names
from compat_bpe.encodings.published import BASELINES
from tests.cli.running import run

ROOT = Path(__file__).parents[3]

# Sizes of vocabularies as OpenAI and DeepSeek publish them.
SIZES = {"gpt2": 50257, "cl100k_base": 100277, "o200k_base": 200019, "deepseek_v4": 129280}


def test_encodings() -> None:
    status, out, err = run("encodings")
    head, *lines = out.decode().splitlines()
    assert (status, err) == (0, "")
    assert head == "encoding               vocabulary  special  tokens of"
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows] == [*list_encoding_names(), *BASELINES]
    for name, size, special, tokens_of in rows:
        encoding = get_encoding(name)
        if name not in ("words", "words_and_punctuation", "categories"):
            assert int(size) == encoding.n_vocab == SIZES.get(name, encoding.n_vocab)
        else:
            assert size == "-"
        assert int(special) == len(encoding.special_tokens_set)
        kind = "tokenizers" if name.startswith("deepseek") else "tiktoken"
        assert tokens_of == ("baseline" if name in BASELINES else kind)
    # Columns are aligned.
    assert len({len(line[:42]) for line in lines}) == 1
    assert all(line[33:42].strip().isdigit() and line[42:44] == "  " for line in lines)


def test_encodings_as_json() -> None:
    status, out, err = run("encodings", "--json")
    assert (status, err) == (0, "")
    found = {one.pop("name"): one for one in json.loads(out)}
    assert list(found) == [*list_encoding_names(), *BASELINES]
    assert found["words"]["vocabulary_size"] is None
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
    head, *lines = out.decode().splitlines()
    assert head.split() == ["model", "encoding", "context", "reply"]
    rows = [line.split() for line in lines]
    found = {row[0]: row[1] for row in rows}
    assert len(found) == len(rows)
    assert {name for name in found if not name.endswith("*")} == set(model_names())
    for name, encoding in found.items():
        # Before a longer prefix a shorter one may fit, but then they agree.
        assert encoding_name_for_model(name.replace("*", "-0731")) == encoding
    assert (
        len({line.index(" ", line.index(" o200k") + 1) for line in lines if " o200k_b" in line})
        == 1
    )
    assert json.loads(run("models", "--json").out) == found
    # Limits are those of the library, and unknown ones a dash.
    for name, _, *limits in rows:
        try:
            known = context_limit(name)
        except KeyError:
            assert limits == ["-", "-"]
        else:
            reply = "-" if known.output is None else f"{known.output:,}"
            assert limits == [f"{known.context:,}", reply]
    assert [row[2:] for row in rows if row[0] == "gpt-4o"] == [["128,000", "16,384"]]
    assert {"gpt-4o", "gpt-oss-*", "deepseek-v3*"} <= set(found)


def test_models_that_are_named() -> None:
    names = ["gpt-4o-2024-05-13", "ft:gpt-4:x", "deepseek-chat"]
    status, out, err = run("models", *names)
    assert status == 0
    assert err == (
        "compat-bpe: gpt-4o-2024-05-13: tiktoken has the prefix 'gpt-4o-'\n"
        "compat-bpe: ft:gpt-4:x: tiktoken has the prefix 'ft:gpt-4'\n"
    )
    assert [line.split()[:2] for line in out.decode().splitlines()[1:]] == [
        [name, encoding_name_for_model(name)] for name in names
    ]
    assert json.loads(run("models", "--json", "o1-x").out) == {"o1-x": "o200k_base"}


def test_unknown_models_are_named_after_those_that_are_known() -> None:
    status, out, err = run("models", "gpt-9", "gpt-4o", "gpt-4p", "o200k_base")
    assert status == 2
    assert out.decode().splitlines()[1:] == ["gpt-4o  o200k_base  128,000  16,384"]
    assert err == (
        "compat-bpe: unknown model 'gpt-9' (did you mean 'gpt-5' or 'gpt-4' or 'gpt-2'?); "
        "compat-bpe models lists them\n"
        "compat-bpe: unknown model 'gpt-4p' (did you mean 'gpt-4' or 'gpt-4o' or 'gpt-4.1'?); "
        "compat-bpe models lists them\n"
        "compat-bpe: unknown model 'o200k_base': that is an encoding: -e o200k_base\n"
    )
    status, out, _ = run("models", "--json", "gpt-9", "gpt-4o")
    assert (status, json.loads(out)) == (2, {"gpt-4o": "o200k_base"})
    assert run("models", "gpt-9")[:2] == (2, b"")


def test_spellings_and_words_are_listed() -> None:
    status, out, err = run("models", "azure/eu/gpt-4o", "gpt-oss:20b")
    assert status == 0
    assert err == (
        "compat-bpe: azure/eu/gpt-4o: as 'gpt-4o': tiktoken lists it\n"
        "compat-bpe: gpt-oss:20b: as 'gpt-oss': compat-bpe lists it\n"
    )
    assert out.decode().splitlines()[1:] == [
        "azure/eu/gpt-4o  o200k_base     128,000  16,384",
        "gpt-oss:20b      o200k_harmony        -       -",
    ]
    status, out, err = run("models", "4O-")
    assert (status, err) == (0, "")
    assert [line.split()[0] for line in out.decode().splitlines()[1:]] == [
        "chatgpt-4o-*",
        "gpt-4o-*",
    ]
    # A word stands for models and for families.
    status, out, err = run("models", "deepseek")
    assert (status, err) == (0, "")
    models, families = out.decode().split("\n\n")
    assert [line.split()[0] for line in models.splitlines()[1:]] == [
        name for name in json.loads(run("models", "--json").out) if "deepseek" in name
    ]
    assert "hf:deepseek-ai/DeepSeek-R1-Distill-Qwen-7B" in families


def test_families_are_listed() -> None:
    status, out, err = run("models", "qwen")
    assert (status, err) == (0, "")
    models, families = out.decode().split("\n\n")
    assert all("qwen" in line.split()[0] for line in models.splitlines()[1:])
    head, *lines = families.splitlines()
    assert head.split() == ["family", "-e", "from"]
    assert any(line.startswith("Qwen 3 ") and " hf:Qwen/Qwen3-8B " in line for line in lines)
    assert run("models", "qwen3:8b").out.decode().splitlines()[1:] == [
        "Qwen 3  hf:Qwen/Qwen3-8B  hf download Qwen/Qwen3-8B tokenizer.json tokenizer_config.json"
    ]
    claude = (
        "Claude's models  -   no public tokenizer; Anthropic's POST /v1/messages/count_tokens "
        "counts a request"
    )
    assert run("models", "claude-2").out.decode().splitlines()[1:] == [claude]
    # The limits of a model may be known without its tokenizer.
    assert run(
        "models", "claude-opus-5", "anthropic/claude-opus-4.1"
    ).out.decode().splitlines() == [
        "model                      encoding    context    reply",
        "claude-opus-5              -         1,000,000  128,000",
        "anthropic/claude-opus-4.1  -           200,000   32,000",
        "",
        "family           -e  from",
        claude,
    ]
    grok = run("models", "grok").out.decode().split("\n\n")[0].splitlines()
    assert grok[1].split() == ["grok-4.7", "-", "500,000", "-"]
    everything = run("models", "--families")
    assert everything[::2] == (0, "")
    assert len(everything.out.decode().splitlines()) == 1 + len(FAMILIES)
    found = json.loads(run("models", "--families", "--json").out)
    assert [one["family"] for one in found] == [family.name for family in FAMILIES]
    for one in found:
        assert (one["counted_by"] is None) == (one["source"] is not None)
        assert one["encoding"] is None or one["encoding"].startswith("hf:")
    assert json.loads(run("models", "--families", "--json", "gemini-2.5-pro").out) == [
        one for one in found if one["family"].startswith("Gemini 2.0")
    ]


def test_what_is_of_no_family_and_what_is_one() -> None:
    assert run("models", "--families", "gpt-4o") == (
        2,
        b"",
        "compat-bpe: model 'gpt-4o' is of no family: its encoding ships, o200k_base\n",
    )
    # The values of the object are encodings, for programs that read it.
    status, out, err = run("models", "--json", "qwen", "qwen3:8b", "gpt-4o")
    assert (status, json.loads(out)) == (2, {"gpt-4o": "o200k_base"})
    assert err.splitlines()[0] == (
        "compat-bpe: unknown model 'qwen'; compat-bpe models --families lists some of that name"
    )
    assert err.splitlines()[1].startswith("compat-bpe: model 'qwen3:8b' has the tokenizer of Qwen")
    status, out, err = run("models", "--limits", "--json", "--families")
    assert (status, out) == (2, b"")
    assert "--limits is for models" in err


def test_limits_of_models_as_json() -> None:
    found = json.loads(run("models", "--json", "--limits", "gpt-4o-2024-11-20", "gpt-oss-x").out)
    assert found["gpt-4o-2024-11-20"] == {
        "encoding": "o200k_base",
        "context": 128_000,
        "input": 128_000,
        "output": 16_384,
        "source": "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json",
        "date": DATE,
    }
    assert found["gpt-oss-x"] == {
        "encoding": "o200k_harmony",
        **dict.fromkeys(("context", "input", "output", "source", "date")),
    }
    found = json.loads(run("models", "--json", "--limits", "claude-opus-5", "gemini-2.5").out)
    assert found["claude-opus-5"]["encoding"] is None
    assert found["claude-opus-5"]["context"] == 1_000_000
    assert found["gemini-2.5-pro"]["output"] == 65_536
    assert run("models", "--json", "claude-opus-5").status == 2
    status, out, err = run("models", "--limits")
    assert (status, out) == (2, b"")
    assert "--limits needs --json." in err


def test_models_are_completed() -> None:
    complete = ShellComplete(cli, {}, "compat-bpe", "_COMPAT_BPE_COMPLETE")
    found = {item.value for item in complete.get_completions(["models"], "gpt-4")}
    assert found == {"gpt-4", "gpt-4.1", "gpt-4o"}


def test_encodings_are_completed_and_files_if_none_fits() -> None:
    complete = ShellComplete(cli, {}, "compat-bpe", "_COMPAT_BPE_COMPLETE")

    def found(start: str) -> list[tuple[str, str]]:
        items = complete.get_completions(["encode", "-e"], start)
        return [(item.type, item.value) for item in items]

    assert found("") == [("plain", name) for name in [*list_encoding_names(), *BASELINES]]
    assert found("o200k") == [("plain", "o200k_base"), ("plain", "o200k_harmony")]
    assert found("tok") == [("file", "tok")]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-e", "gpt-4o"), "unknown encoding 'gpt-4o': that is a model: -m gpt-4o"),
        (("-e", "gpt-4o-2099"), "unknown encoding 'gpt-4o-2099': that is a model: -m gpt-4o-2099"),
        (("-m", "o200k_base"), "unknown model 'o200k_base': that is an encoding: -e o200k_base"),
        (("-m", "a.json"), "unknown model 'a.json': that is a file or folder: -e a.json"),
        (
            ("-m", "gpt-9"),
            "unknown model 'gpt-9' (did you mean 'gpt-5' or 'gpt-4' or 'gpt-2'?); "
            "compat-bpe models lists them",
        ),
        (("-m", "zzzzzzzz"), "unknown model 'zzzzzzzz'; compat-bpe models lists them"),
        (
            ("-e", "o200k_bse"),
            "unknown encoding 'o200k_bse' (did you mean 'o200k_base' or 'cl100k_base' or "
            "'r50k_base'?); no file has this name either",
        ),
        (
            ("-e", "b.json"),
            "unknown encoding 'b.json'; no file has this name either; the encodings are "
            + ", ".join([*list_encoding_names(), *BASELINES]),
        ),
        (("-e", "./b.json"), "./b.json: No such file or directory"),
    ],
)
def test_a_name_in_the_wrong_place_is_told_from_an_unknown_one(
    args: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_bytes(b"{}")
    assert run("encode", *args) == (2, b"", f"compat-bpe: {message}\n")
