"""Other programs as clients: those of Node, and pytest-lsp."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from tests.clients.environments import ROOT, RUNNING, programs_of, run_well
from tests.lsp.client import COMMAND

pytestmark = pytest.mark.editors

PLUGIN = ROOT / "editors/vscode"
TEXT = "function area(r) {\n    return 3 * r; // 😀 é\n}\nconsole.log(area(2));\n" * 3


def run(command: list[str], folder: Path) -> None:
    own = {"PYTHONPATH": str(ROOT), "NODE_PATH": str(folder / "node_modules")}
    run_well(command, folder, {**os.environ, **own}, RUNNING)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the plug-in with the packages that it needs."""
    npm = shutil.which("npm")
    assert npm, "npm is missing: apt-get install npm"
    folder = tmp_path_factory.mktemp("vscode") / "plugin"
    shutil.copytree(PLUGIN, folder, ignore=shutil.ignore_patterns("node_modules", "out"))
    run([npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"], folder)
    return folder


def test_the_plugin_compiles(folder: Path) -> None:
    run(["npm", "run", "compile"], folder)
    run(["npm", "run", "bundle"], folder)
    assert (folder / "out/extension.js").is_file()
    assert json.loads((folder / "package.json").read_text())["main"] == "./out/extension.js"


@pytest.fixture(scope="module")
def written(folder: Path) -> dict[str, Any]:
    given = {"command": COMMAND, "text": TEXT}
    (folder / "input.json").write_text(json.dumps(given))
    node = shutil.which("node") or "nodejs"
    script = Path(__file__).with_name("node_session.js")
    run([node, str(script), "input.json", "output.json"], folder)
    found: dict[str, Any] = json.loads((folder / "output.json").read_text())
    return found


def test_counts_follow_the_text(written: dict[str, Any]) -> None:
    encoding = get_encoding("cl100k_base")
    assert [one["version"] for one in written["counts"]] == list(range(2, 202))
    for one in written["counts"]:
        assert one["count"] == encoding.count(one["text"])
    by_version = {one["version"]: one["count"] for one in written["counts"]}
    told = [one for one in written["told"] if one["version"] in by_version]
    assert told
    assert all(one["count"] == by_version[one["version"]] for one in told)


def test_what_is_asked_is_answered(written: dict[str, Any]) -> None:
    encoding = get_encoding("cl100k_base")
    prompt = written["prompt"]
    assert prompt["prefix"] + prompt["suffix"] in TEXT
    assert encoding.encode(prompt["prefix"] + prompt["suffix"]) == prompt["ids"]
    assert prompt["suffixWasCut"]
    count = encoding.count(TEXT)
    assert f"Document: {count} tokens" in written["hover"]["contents"]["value"]
    assert (
        written["lenses"][0]["command"]["title"]
        == f"{count} tokens · {count * 100 / 40:.0f} % of 40"
    )
    assert len(written["lenses"]) == 4
    assert len(written["tokens"]["data"]) % 5 == 0
    assert [one["title"] for one in written["actions"]] == ["Copy as prompt", "Cut to 40 tokens"]
    assert written["error"]["code"] == -32602
    assert written["error"]["message"].startswith("limit: it must be a whole number")
    assert written["cancelled"] == -32800
    assert written["published"]["diagnostics"]
    assert written["capabilities"]["positionEncoding"] == "utf-16"
    assert written["status"] == 0


FOLDER = Path(__file__).with_name("pytest_lsp")
PYTEST_LSP = "pytest-lsp==1.0.1"


def test_a_session_of_pytest_lsp(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SERVER": shlex.join(COMMAND),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    program = str(programs_of(tmp_path, [PYTEST_LSP]) / "pytest")
    session = [program, "-q", "-p", "no:cacheprovider", str(FOLDER / "session.py")]
    assert "2 passed" in run_well(session, ROOT, environment, RUNNING)
