"""The names of models and encodings: what each leads to, and how the shipped ones are loaded."""

from __future__ import annotations

import re
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe import (
    Encoding,
    encoding_for_model,
    encoding_name_for_model,
    get_encoding,
    list_encoding_names,
)
from compat_bpe.encodings import registry
from compat_bpe.encodings.families import FAMILIES, NeedsFile, NotPublic
from compat_bpe.encodings.model_names import (
    MODEL_PREFIX_TO_ENCODING,
    MODEL_TO_ENCODING,
    OTHER_MODEL_PREFIX_TO_ENCODING,
    OTHER_MODEL_TO_ENCODING,
    model_names,
    openai_encoding_name,
    plain_model_name,
    resolve_model,
)
from tests.alone import ROOT, run_alone

SPELLINGS = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("model_spellings.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def test_every_encoding_in_the_tables_ships() -> None:
    tables = (
        MODEL_TO_ENCODING,
        MODEL_PREFIX_TO_ENCODING,
        OTHER_MODEL_TO_ENCODING,
        OTHER_MODEL_PREFIX_TO_ENCODING,
    )
    named = {name for table in tables for name in table.values()}
    assert named == set(list_encoding_names())


def test_unknown_model_with_nothing_close() -> None:
    with pytest.raises(KeyError) as caught:
        encoding_name_for_model("zzzzzzzzzz")
    assert "did you mean" not in caught.value.args[0]


def led_to(model: str) -> tuple[str, str]:
    """What a name leads to, as a line of the table of spellings has it."""
    resolved = resolve_model(model)
    if resolved is None:
        return "unknown", "-"
    if isinstance(resolved, str):
        return "encoding", resolved
    return "file" if isinstance(resolved, NeedsFile) else "not public", resolved.name


def test_spellings() -> None:
    wrong = []
    for model, kind, what in SPELLINGS:
        try:
            name = encoding_name_for_model(model)
        except KeyError:
            name = None
        if (*led_to(model), name) != (kind, what, what if kind == "encoding" else None):
            wrong.append((model, *led_to(model), name))
    assert not wrong


def test_the_table_of_spellings_has_each_once_and_enough() -> None:
    names = [row[0] for row in SPELLINGS]
    assert len(set(names)) == len(names) >= 300
    assert {row[1] for row in SPELLINGS} == {"encoding", "file", "not public", "unknown"}


@pytest.mark.parametrize("model", ["gpt-4 ", "\tgpt-4", "gpt-4\n", "", "/", ":", "x" * 10_000])
def test_what_is_no_name_is_unknown(model: str) -> None:
    assert led_to(model) == ("unknown", "-")


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        (
            "qwen3:8b",
            ["model 'qwen3:8b'", "Qwen 3", "then use load('hf:Qwen/Qwen3-8B')", "your file"],
        ),
        # Hugging Face's own name of a model is better than that of another of its family.
        ("Qwen/Qwen3-14B", ["'hf:Qwen/Qwen3-14B'", "`hf download Qwen/Qwen3-14B tokenizer.json"]),
        # OpenRouter's small letters are no name of Hugging Face.
        ("qwen/qwen3-14b", ["'hf:Qwen/Qwen3-8B'"]),
        ("gemini-2.5-pro", ["Gemma 3", "google/gemma_pytorch/", "spiece.model", "load('PATH')"]),
        ("gemini-3.5-flash", ["Gemma 4", "'hf:google/gemma-4-E4B-it'"]),
        ("mistral-nemo", ["tekken.json"]),
        ("claude-sonnet-4-5", ["no public tokenizer", "/v1/messages/count_tokens"]),
        ("deepseek-r1:7b", ["distilled", "hf:deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"]),
        ("acme/some-model", ["unknown model", "get_encoding", "'hf:acme/some-model'"]),
        *(
            (name, [repr(name), "'gpt-4'", "get_encoding"])
            for name in ("gpt-4p", "GPT-4P", "gpt4", " gpt-4")
        ),
    ],
)
def test_the_message_says_what_counts_a_model(model: str, parts: list[str]) -> None:
    with pytest.raises(KeyError) as caught:
        encoding_name_for_model(model)
    message = caught.value.args[0]
    assert [part for part in parts if part not in message] == []


def test_the_table_of_families_is_sound() -> None:
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names)
    listed = {what for _, kind, what in SPELLINGS if kind in ("file", "not public")}
    assert listed <= set(names)
    for family in FAMILIES:
        assert re.compile(family.models)
        if isinstance(family, NotPublic):
            assert family.counted_by
        elif family.files:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", family.repository)
            # The repository that is named is one of the family.
            name = family.repository
            if not family.name.startswith("Gemini"):
                assert resolve_model(name) == family, name
        else:
            assert family.repository.startswith("https://")


# What tiktoken answers, the table for the library's own function does not change.
LOWER = [*MODEL_TO_ENCODING, *(f"{prefix}x" for prefix in MODEL_PREFIX_TO_ENCODING)]


@pytest.mark.parametrize("model", LOWER)
def test_tiktokens_names_lead_where_tiktoken_leads(model: str) -> None:
    assert encoding_name_for_model(model) == openai_encoding_name(model)


@pytest.mark.parametrize(
    "model", ["openai/gpt-4o", "GPT-4o", "gpt-4.5", "o4", "gpt-oss", "deepseek-chat"]
)
def test_tiktokens_function_knows_no_spellings(model: str) -> None:
    with pytest.raises(KeyError) as caught:
        openai_encoding_name(model)
    assert caught.value.args[0].startswith(f"unknown model {model!r}")
    assert caught.value.args[0].endswith("; if you know its encoding, pass that to get_encoding")


KNOWN = [
    *model_names(),
    *(row[0] for row in SPELLINGS if row[1] != "unknown" and "/" not in row[0]),
]
SERVICES = """
    openai azure eu openrouter deepseek bedrock us-east-1 groq ollama library someone accounts
    fireworks models @cf qwen vertex_ai
""".split()
before = st.lists(st.sampled_from(SERVICES), max_size=3)
after = st.sampled_from(
    ["", ":free", ":online", ":thinking", "-2024-08-06", "-20240806", "@20240806", "@latest"]
    + ["-v1:0", "-maas", ":latest"]
)


@example([], "gpt-4-o-preview", str, ":free")
@given(before, st.sampled_from(KNOWN), st.sampled_from([str, str.upper, str.title]), after)
def test_decorations_never_lead_elsewhere(
    services: list[str], model: str, case: type[str], suffix: str
) -> None:
    plain = led_to(model)
    decorated = led_to("/".join([*services, case(model) + suffix]))
    if "ollama" in services or suffix == ":latest" or ":" in model:
        # Ollama's names without a size are its own: only encodings must not differ.
        assert decorated[0] != "encoding" or plain == decorated
    elif suffix and decorated[0] == "not public":
        # A date makes it a name that no table has, of a maker whose other models are not public.
        assert plain[0] != "unknown"
    else:
        assert decorated in (plain, ("unknown", "-"))


@given(st.text(max_size=40))
def test_any_text_leads_to_something_or_to_a_key_error(model: str) -> None:
    if led_to(model)[0] == "encoding":
        assert encoding_name_for_model(model) in list_encoding_names()
    else:
        with pytest.raises(KeyError) as caught:
            encoding_name_for_model(model)
        assert repr(model) in caught.value.args[0]


@pytest.mark.parametrize(
    ("model", "plain"),
    [
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("azure/gpt-41-mini", "gpt-4.1-mini"),
        ("GPT-4", "gpt-4"),
        ("openrouter/deepseek/deepseek-r1:free", "deepseek-r1"),
        ("ft:gpt-4o:acme::1", "ft:gpt-4o:acme::1"),
        ("qwen3:8b", "qwen3:8b"),
        ("nothing/known", "nothing/known"),
    ],
)
def test_plain_names(model: str, plain: str) -> None:
    assert plain_model_name(model) == plain


@pytest.mark.parametrize(
    "name", ["gpt-realtime", "gpt-realtimes", "gpt-6", "deepseek-chat", "o200k"]
)
def test_the_drop_in_suggests_names_that_it_knows(name: str) -> None:
    from compat_bpe.tiktoken.model import encoding_name_for_model as tiktokens

    with pytest.raises(KeyError) as error:
        tiktokens(name)
    suggested = re.findall(r"'([^']+)'", str(error.value).partition("did you mean")[2])
    assert name not in suggested
    for one in suggested:
        tiktokens(one)


def test_names() -> None:
    names = "gpt2 r50k_base p50k_base p50k_edit cl100k_base o200k_base o200k_harmony "
    names += "deepseek_v3 deepseek_r1 deepseek_v4"
    assert list_encoding_names() == names.split()
    for name in list_encoding_names():
        assert get_encoding(name).name == name
        assert get_encoding(name) is get_encoding(name)


@pytest.mark.parametrize("name", ["nope", "", None, ["gpt2"]])
def test_an_unknown_encoding_lists_those_there_are(name: object) -> None:
    with pytest.raises(ValueError, match=r"the encodings are gpt2, .*o200k_harmony"):
        get_encoding(name)  # type: ignore[arg-type]


def test_models() -> None:
    assert encoding_for_model("gpt-4") is get_encoding("cl100k_base")
    assert encoding_for_model("gpt-4o-mini") is get_encoding("o200k_base")
    assert encoding_for_model("azure/eu/gpt-4o") is get_encoding("o200k_base")
    with pytest.raises(KeyError):
        encoding_for_model("nope")


def test_many_threads_load_one_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    barrier = threading.Barrier(8)

    def run(_: int) -> Encoding:
        barrier.wait()
        return get_encoding("cl100k_base")

    with ThreadPoolExecutor(8) as executor:
        assert len(set(map(id, list(executor.map(run, range(8)))))) == 1


def test_unload() -> None:
    first = get_encoding("p50k_edit")
    compat_bpe.unload()
    assert get_encoding("p50k_edit") is not first
    assert first.encode("hello world") == get_encoding("p50k_edit").encode("hello world")


def test_the_standard_library_is_enough() -> None:
    code = (
        "import compat_bpe\n"
        "compat_bpe.get_encoding('o200k_base').decode(\n"
        "    compat_bpe.get_encoding('o200k_base').encode('naïve 字 😀'))\n"
        "names = {name.partition('.')[0] for name in sys.modules} - {'compat_bpe'}\n"
        "known = getattr(sys, 'stdlib_module_names', names)\n"
        "print(*sorted(name for name in names - set(known) if name[0] != '_'))\n"
    )
    assert run_alone(code, ROOT, "-W", "error").split() == []


def test_it_works_from_a_zip(tmp_path: Path) -> None:
    package = Path(compat_bpe.__file__).parent
    vendored = tmp_path / "vendored.zip"
    with zipfile.ZipFile(vendored, "w") as archive:
        for path in package.rglob("*"):
            if path.suffix in (".py", ".pack"):
                archive.write(path, path.relative_to(package.parent))
    code = (
        "import compat_bpe\n"
        "print(compat_bpe.__file__, compat_bpe.get_encoding('gpt2').encode('hello world'))"
    )
    printed = run_alone(code, vendored)
    assert "vendored.zip" in printed
    assert "[31373, 995]" in printed
    # And by several threads that are the first: modules come late, and perhaps twice at once.
    code = (
        "import threading, compat_bpe\n"
        "encoding = compat_bpe.get_encoding('gpt2')\n"
        "found = []\n"
        "text = 'na\xefve \u5b57 ' * 30_000\n"
        "def work():\n"
        "    found.append(encoding.decode(encoding.encode(text)) == text)\n"
        "    found.append(encoding.decode_batch([[995]]) == [' world'])\n"
        "threads = [threading.Thread(target=work) for _ in range(6)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(found.count(True), len(found))\n"
    )
    assert run_alone(code, vendored) == "12 12\n"


@pytest.mark.parametrize("name", ["model.gguf", "tokenizer.json", "./gpt2"])
def test_a_file_is_for_load(name: str) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"that is a file or folder; use load({name!r})")
    ):
        get_encoding(name)
