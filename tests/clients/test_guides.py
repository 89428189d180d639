"""The guides: recipes, tables, clients' objects and each extra, in environments of their own."""

from __future__ import annotations

import json
import re
import shutil
from itertools import takewhile
from pathlib import Path

import pytest

from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.clients.environments import (
    HERE,
    ROOT,
    TEXTS,
    Environment,
    Wheels,
    make_environment,
    pip,
    with_tiktoken,
)
from tests.docs_pages import CHAT_TEMPLATE, blocks_of
from tests.docs_pages import environment as environment
from tests.docs_pages import folder as folder
from tests.docs_pages import project as project

pytestmark = pytest.mark.clients
PAGE = ROOT / "docs" / "recipes.md"

#: The packages by the headings of the page: two environments, which are made side by side.
SMALL = {
    "LangChain": "langchain-text-splitters==1.1.3",
    "semchunk": "semchunk==4.1.1",
    "chonkie": "chonkie==1.7.0",
    "ttok": "ttok==1.0",
    "llm": "llm==0.36",
}
LARGE = {
    "Haystack": "haystack-ai==3.4.1",
    "LlamaIndex": "llama-index-core==0.14.25",
    "litellm": "litellm==1.110.2",
}


def recipes() -> dict[str, dict[str, str]]:
    """The blocks of each recipe by their languages."""
    lines = PAGE.read_text("utf-8").splitlines()
    headings = [(at, line[3:]) for at, line in enumerate(lines) if line.startswith("## ")]
    found: dict[str, dict[str, str]] = {heading: {} for _, heading in headings}
    for block in blocks_of(PAGE):
        heading = [name for at, name in headings if at < block.line][-1]
        assert block.language not in found[heading]
        found[heading][block.language] = block.text
    return found


def test_recipes_are_short_and_name_their_versions() -> None:
    blocks = recipes()
    assert blocks.keys() == {*SMALL, *LARGE}
    text = PAGE.read_text("utf-8")
    for heading, requirement in {**SMALL, **LARGE}.items():
        package, _, version = requirement.partition("==")
        assert re.search(rf"^## {heading}\n\n`{package}` {re.escape(version)}\.", text, re.M)
        lines = [line for line in blocks[heading]["python"].splitlines() if line]
        assert len(lines) <= 20, heading


def made(folder: Path, requirements: dict[str, str], wheels: Wheels) -> Environment:
    """An environment with the packages and this one."""
    python = make_environment(folder, [str(wheels.own), *requirements.values()])
    pip("install", "--force-reinstall", "--no-deps", wheels.own, python=python)
    pip("install", "jinja2", python=python)  # for chat templates
    return Environment(python, folder)


def checked(environment: Environment, headings: list[str], folder: Path) -> None:
    """Run the recipes with these headings, and what they define on texts."""
    model = folder / "my-chat-model"
    model.mkdir()
    save_tokenizer_json(train_bpe(TEXTS, 400), model / "tokenizer.json")
    (model / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    names = [re.sub(r"(?<=a)(?=I)", "_", heading).lower() for heading in headings]
    blocks = {name: recipes()[heading]["python"] for name, heading in zip(names, headings)}
    (folder / "blocks.json").write_text(json.dumps(blocks))
    (folder / "texts.json").write_text(json.dumps(TEXTS))
    printed = environment.script("recipes", "blocks.json", "texts.json", cwd=folder)
    assert [line for line in printed.splitlines() if not line.isdigit()] == names


def test_recipes_of_large_packages(environments: Path, wheels: Wheels, tmp_path: Path) -> None:
    checked(made(environments / "recipes-large", LARGE, wheels), list(LARGE), tmp_path)


def test_recipes_of_small_packages(
    environments: Path, wheels: Wheels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = made(environments / "recipes-small", SMALL, wheels)
    checked(environment, ["LangChain", "semchunk", "chonkie"], tmp_path)
    blocks = recipes()
    assert environment.run("-I", "-c", blocks["ttok"]["python"], cwd=tmp_path) == "It was not"
    plugin = tmp_path / "llm-tokens"
    plugin.mkdir()
    (plugin / "llm_tokens.py").write_text(blocks["llm"]["python"])
    (plugin / "pyproject.toml").write_text(blocks["llm"]["toml"])
    pip("install", "--no-deps", plugin, python=environment.python)
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    (tmp_path / "text.txt").write_text("It was not built in a day. <|endoftext|>")
    llm = ["-I", "-m", "llm", "tokens", "text.txt", "-m"]
    assert environment.run(*llm, "gpt-4", cwd=tmp_path) == "14\n"
    with pytest.raises(AssertionError, match=r"Error: unknown model 'gpt-99'"):
        environment.run(*llm, "gpt-99", cwd=tmp_path)


def test_trained_vocabulary_of_the_tutorial(
    environments: Path, wheels: Wheels, tmp_path: Path
) -> None:
    page = ROOT / "docs" / "tutorial-training.md"
    (block,) = (block for block in blocks_of(page) if block.language == "python")
    environment = made(environments / "tutorial", {"": "transformers==5.23.0"}, wheels)
    arguments = ["-n", "300", "-o", "vocabulary", "--eos", "<|end|>"]
    texts = str(ROOT / "fixtures/docs/texts")
    environment.run("-I", "-m", "compat_bpe", "train", *arguments, texts, cwd=tmp_path)
    environment.run("-I", "-c", block.text, cwd=tmp_path)


TABLES = ["duckdb==2.0.1", "polars==2.1.0", "pandas==2.3.3", "pyarrow>=14.0.1"]


def test_tables(environments: Path, wheels: Wheels, published: Path, tmp_path: Path) -> None:
    environment = with_tiktoken(environments / "tables", TABLES, published)
    pip("install", "--force-reinstall", "--no-deps", wheels.own, python=environment.python)
    guide = HERE.parents[1] / "docs" / "guide-tables.md"
    printed = environment.script("tables", guide, cwd=tmp_path)
    assert printed == "done\n"


OBJECTS = ["openai==3.57.0", "anthropic==2.14.0", "litellm==1.110.2", "langchain-core==1.8.3"]


def test_objects_of_clients(environments: Path, wheels: Wheels, tmp_path: Path) -> None:
    python = make_environment(environments / "objects", OBJECTS)
    pip("install", "--force-reinstall", "--no-deps", wheels.own, python=python)
    printed = Environment(python, tmp_path).script("objects", cwd=tmp_path)
    assert printed == "done\n"


#: The guides whose first session after the line that installs an extra needs it.
GUIDES = {
    "chat": "guide-chat.md",
    "duckdb": "guide-tables.md",
    "pandas": "guide-tables.md",
    "polars": "guide-tables.md",
    "spark": "guide-spark.md",
}

#: What goes before the session of a guide.
BEFORE = {
    "spark": """\
>>> from pyspark.sql import SparkSession
>>> spark = SparkSession.builder.master("local[1]").getOrCreate()
"""
}

#: Sessions for extras without a guide of their own.
SESSIONS = {
    "lsp": """\
>>> import compat_bpe.lsp.server
""",
    "parquet": """\
>>> import pyarrow, pyarrow.parquet, subprocess, sys
>>> pyarrow.parquet.write_table(pyarrow.table({"text": ["hello world"]}), "a.parquet")
>>> command = [sys.executable, "-m", "compat_bpe", "corpus", "counts", "a.parquet"]
>>> subprocess.check_output(command).decode().split()
['chunk', 'count', 'world', '1', 'hello', '1']
""",
    "regex": r"""
>>> from compat_bpe import Encoding
>>> ranks = {bytes([number]): number for number in range(256)}
>>> Encoding("x", pat_str=r"\X", mergeable_ranks=ranks, special_tokens={}).encode("ab")
[97, 98]
""",
    "zstd": """\
>>> import subprocess, sys
>>> try:
...     from compression import zstd
... except ImportError:
...     from backports import zstd
>>> size = open("a.txt.zst", "wb").write(zstd.compress(b"hello world"))
>>> command = [sys.executable, "-m", "compat_bpe", "count", "-z", "a.txt.zst"]
>>> subprocess.check_output(command).split()[0]
b'2'
""",
}

#: The extras that tests/mcp installs alone, and those for contributors.
OTHERS = {"mcp"}, {"test", "spark-test", "docs", "dev"}


def session_of(extra: str) -> str:
    """Return what is tried with an extra.

    Of a guide that is the first session after the line which installs the extra, and those before
    it that need no other one.
    """
    if extra in SESSIONS:
        return SESSIONS[extra]
    page = ROOT / "docs" / GUIDES[extra]
    lines = page.read_text("utf-8").splitlines()
    installed = next(number for number, line in enumerate(lines) if f"[{extra}]" in line)
    sessions = [block for block in blocks_of(page) if block.language == "pycon"]
    before = takewhile(lambda block: block.line < installed, sessions)
    first = next(block for block in sessions if block.line > installed)
    own = [block.text for block in before if not block.marker]
    return "\n".join([BEFORE.get(extra, ""), *own, first.text])


@pytest.mark.parametrize("extra", [*GUIDES, *SESSIONS])
def test_an_extra_is_enough(
    extra: str, environments: Path, wheels: Wheels, folder: Path, tmp_path: Path
) -> None:
    python = make_environment(environments / f"extra-{extra}", [f"{wheels.own}[{extra}]"])
    session = tmp_path / "session.txt"
    session.write_text(session_of(extra), "utf-8")
    installed = Environment(python, tmp_path)
    assert installed.run("-I", "-m", "doctest", session, cwd=folder) == ""
    shutil.rmtree(python.parents[1])


def test_all_extras_are_tried() -> None:
    # tomllib is there from Python 3.11 on.
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    tried = {*GUIDES, *SESSIONS}
    assert project["optional-dependencies"].keys() == tried.union(*OTHERS)
