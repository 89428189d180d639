"""``compat-bpe encodings`` and ``models``, and the names that a shell completes."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import suppress
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
from tests.cli.running import FIXTURES, cases, command, objects, printed, run_process, write

# Sizes of vocabularies as OpenAI and DeepSeek publish them.
SIZES = {"gpt2": 50257, "cl100k_base": 100277, "o200k_base": 200019, "deepseek_v4": 129280}
NAMES = [*list_encoding_names(), *BASELINES]


def test_encodings() -> None:
    head, *lines = printed("encodings").splitlines()
    assert head == "encoding               vocabulary  special  tokens of"
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows] == NAMES
    for name, size, special, tokens_of in rows:
        encoding = get_encoding(name)
        if name in ("words", "words_and_punctuation", "categories"):
            assert size == "-"
        else:
            assert int(size) == encoding.n_vocab == SIZES.get(name, encoding.n_vocab)
        assert int(special) == len(encoding.special_tokens_set)
        kind = "tokenizers" if name.startswith("deepseek") else "tiktoken"
        assert tokens_of == ("baseline" if name in BASELINES else kind)
    # Columns are aligned.
    assert len({len(line[:42]) for line in lines}) == 1
    assert all(line[33:42].strip().isdigit() and line[42:44] == "  " for line in lines)
    found = {one.pop("name"): one for one in json.loads(command("encodings --json").out)}
    assert list(found) == NAMES
    assert found["words"]["vocabulary_size"] is None
    sizes = {"vocabulary_size": 100277, "special_tokens": 5, "tokens_of": "tiktoken"}
    assert found["cl100k_base"] == sizes


def test_one_encoding() -> None:
    one = command("encodings -m gpt-4").out.split()[5:]
    assert one == ["cl100k_base", "100277", "5", "tiktoken"]
    path = FIXTURES / "gpt2_small"
    encoding = load(path)
    ((found,),) = objects(f"encodings --json -e {path}")
    assert (found["name"], found["vocabulary_size"]) == (encoding.name, encoding.n_vocab)


def test_damaged_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ValueError(f"packs/{name}.pack: damaged")

    monkeypatch.setattr("compat_bpe.cli.commands.listing.get_encoding", fail)
    assert command("encodings") == (2, "", "compat-bpe: packs/gpt2.pack: damaged\n")


def test_models() -> None:
    head, *lines = printed("models").splitlines()
    assert head.split() == ["model", "encoding", "context", "reply"]
    rows = [line.split() for line in lines]
    found = {row[0]: row[1] for row in rows}
    assert len(found) == len(rows)
    assert {name for name in found if not name.endswith("*")} == set(model_names())
    for name, encoding in found.items():
        # Before a longer prefix a shorter one may fit, but then they agree.
        assert encoding_name_for_model(name.replace("*", "-0731")) == encoding
    columns = {line.index(" ", line.index(" o200k") + 1) for line in lines if " o200k_b" in line}
    assert len(columns) == 1
    assert json.loads(command("models --json").out) == found
    # Limits are those of the library, and unknown ones a dash.
    for name, _, *limits in rows:
        expected = ["-", "-"]
        with suppress(KeyError):
            known = context_limit(name)
            expected = [f"{known.context:,}", "-" if known.output is None else f"{known.output:,}"]
        assert limits == expected
    assert [row[2:] for row in rows if row[0] == "gpt-4o"] == [["128,000", "16,384"]]
    assert {"gpt-4o", "gpt-oss-*", "deepseek-v3*"} <= set(found)


CLAUDE = (
    "Claude's models  -   no public tokenizer; Anthropic's POST /v1/messages/count_tokens "
    "counts a request"
)
LISTS = "; compat-bpe models lists them"


@cases(
    rf"""
gpt-4o-2024-05-13 ft:gpt-4:x →
    gpt-4o-2024-05-13  o200k_base   128,000  4,096\n
    ft:gpt-4:x         cl100k_base    8,192  4,096\n
    → compat-bpe: gpt-4o-2024-05-13: tiktoken has the prefix 'gpt-4o-'\n
    compat-bpe: ft:gpt-4:x: tiktoken has the prefix 'ft:gpt-4'\n
gpt-9 gpt-4o gpt-4p o200k_base → gpt-4o  o200k_base  128,000  16,384\n
    → compat-bpe: unknown model 'gpt-9' (did you mean 'gpt-5' or 'gpt-4' or 'gpt-2'?){LISTS}\n
    compat-bpe: unknown model 'gpt-4p' (did you mean 'gpt-4' or 'gpt-4o' or 'gpt-4.1'?){LISTS}\n
    compat-bpe: unknown model 'o200k_base': that is an encoding; use -e o200k_base\n
azure/eu/gpt-4o gpt-oss:20b →
    azure/eu/gpt-4o  o200k_base     128,000  16,384\n
    gpt-oss:20b      o200k_harmony        -       -\n
    → compat-bpe: azure/eu/gpt-4o: as 'gpt-4o': tiktoken lists it\n
    compat-bpe: gpt-oss:20b: as 'gpt-oss': compat-bpe lists it\n
qwen3:8b → Qwen 3  hf:Qwen/Qwen3-8B
     hf download Qwen/Qwen3-8B tokenizer.json tokenizer_config.json\n
claude-2 → {CLAUDE}\n
claude-opus-5 anthropic/claude-opus-4.1 →
    claude-opus-5              -         1,000,000  128,000\n
    anthropic/claude-opus-4.1  -           200,000   32,000\n
    \nfamily           -e  from\n
    {CLAUDE}\n
""",
    "args out said",
)
def test_models_that_are_named(args: str, out: str, said: str) -> None:
    status, found, err = command(f"models {args}")
    assert (status, err) == (2 if "unknown" in said else 0, said)
    assert found.partition("\n")[2].lstrip("\n") == out.strip(" ")


def test_models_that_are_named_as_json() -> None:
    assert json.loads(command("models --json o1-x").out) == {"o1-x": "o200k_base"}
    status, out, _ = command("models --json gpt-9 gpt-4o")
    assert (status, json.loads(out)) == (2, {"gpt-4o": "o200k_base"})
    assert command("models --json claude-opus-5").status == 2
    # The values of the object are encodings, for programs that read it.
    status, out, err = command("models --json qwen qwen3:8b gpt-4o")
    assert (status, json.loads(out)) == (2, {"gpt-4o": "o200k_base"})
    first, second = err.splitlines()
    lists = "compat-bpe models --families lists families of that name"
    assert first == f"compat-bpe: unknown model 'qwen'; {lists}"
    assert second.startswith("compat-bpe: model 'qwen3:8b' uses the tokenizer of Qwen")


def test_a_word_stands_for_models_and_families() -> None:
    lines = printed("models 4O-").splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["chatgpt-4o-*", "gpt-4o-*"]
    models, families = command("models deepseek").out.split("\n\n")
    assert [line.split()[0] for line in models.splitlines()[1:]] == [
        name for name in json.loads(command("models --json").out) if "deepseek" in name
    ]
    assert "hf:deepseek-ai/DeepSeek-R1-Distill-Qwen-7B" in families
    models, families = printed("models qwen").split("\n\n")
    assert all("qwen" in line.split()[0] for line in models.splitlines()[1:])
    head, *lines = families.splitlines()
    assert head.split() == ["family", "-e", "from"]
    assert any(line.startswith("Qwen 3 ") and " hf:Qwen/Qwen3-8B " in line for line in lines)
    grok = command("models grok").out.split("\n\n")[0].splitlines()
    assert grok[1].split() == ["grok-4.7", "-", "500,000", "-"]


def test_families_are_listed() -> None:
    assert len(printed("models --families").splitlines()) == 1 + len(FAMILIES)
    (found,) = objects("models --families --json")
    assert [one["family"] for one in found] == [family.name for family in FAMILIES]
    for one in found:
        assert (one["counted_by"] is None) == (one["source"] is not None)
        assert one["encoding"] is None or one["encoding"].startswith("hf:")
    gemini = [one for one in found if one["family"].startswith("Gemini 2.0")]
    assert json.loads(command("models --families --json gemini-2.5-pro").out) == gemini


def test_limits_of_models_as_json() -> None:
    args = "models --json --limits"
    source = "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json"
    limits = {"context": 128_000, "input": 128_000, "output": 16_384, "source": source}
    known = {"encoding": "o200k_base", **limits, "date": DATE}
    unknown = {**dict.fromkeys(known), "encoding": "o200k_harmony"}
    found = json.loads(command(f"{args} gpt-4o-2024-11-20 gpt-oss-x").out)
    assert found == {"gpt-4o-2024-11-20": known, "gpt-oss-x": unknown}
    found = json.loads(command(f"{args} claude-opus-5 gemini-2.5").out)
    assert found["claude-opus-5"]["encoding"] is None
    assert found["claude-opus-5"]["context"] == 1_000_000
    assert found["gemini-2.5-pro"]["output"] == 65_536


@cases(
    f"""
'' → trun → truncate
models → gpt-4 → gpt-4 gpt-4.1 gpt-4o
count --model → gpt-4 → gpt-4 gpt-4.1 gpt-4o
encode -e →  → {" ".join(NAMES)}
count -e → o200k → o200k_base o200k_harmony
""",
    "args start expected",
)
def test_names_are_completed(args: str, start: str, expected: str) -> None:
    complete = ShellComplete(cli, {}, "compat-bpe", "_COMPAT_BPE_COMPLETE")
    found = complete.get_completions(args.strip("'").split(), start)
    plain = [item.value for item in found if item.type == "plain"]
    assert sorted(plain) == sorted(expected.split())
    # Files, if no name fits.
    for path in ("tok", "./mo"):
        (item,) = complete.get_completions(["count", "-e"], path)
        assert (item.type, item.value) == ("file", path)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str) -> None:
    out = printed(f"completion {shell}")
    assert f"_COMPAT_BPE_COMPLETE={shell}_complete" in out
    assert "compat-bpe" in out
    assert out.endswith("\n")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes() -> None:
    write({"completion": command("completion bash").out})
    write({"compat-bpe": f'#!/bin/sh\nexec "{sys.executable}" -m compat_bpe "$@"\n'})
    Path("compat-bpe").chmod(0o755)
    ask = (
        "shopt -s progcomp; source ./completion; "
        "COMP_WORDS=(compat-bpe count --model gpt-4); COMP_CWORD=3; "
        "_compat_bpe_completion ./compat-bpe; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = run_process("--norc", "-c", ask, program=["bash"])
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(done.stdout.decode().split()) == ["gpt-4", "gpt-4.1", "gpt-4o"]
