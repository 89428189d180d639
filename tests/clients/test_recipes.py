"""The blocks of ``docs/recipes.md``, each run with the package that it is for.

Run with ``pytest -m clients tests/clients/test_recipes.py``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.clients.environments import TEXTS, Environment, Wheels, make_environment, pip
from tests.docs_folder import CHAT_TEMPLATE
from tests.docs_pages import blocks_of

pytestmark = pytest.mark.clients
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "recipes.md"
SCRIPT = Path(__file__).parent / "scripts" / "recipes.py"

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
    printed = environment.run("-I", SCRIPT, "blocks.json", "texts.json", cwd=folder)
    assert [line for line in printed.splitlines() if not line.isdigit()] == names


def test_recipes_of_large_packages(
    environments: Path,
    wheels: Wheels,
    tmp_path: Path,
) -> None:
    checked(made(environments / "recipes-large", LARGE, wheels), list(LARGE), tmp_path)


def test_recipes_of_small_packages(
    environments: Path,
    wheels: Wheels,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
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
