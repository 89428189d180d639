"""Virtual environments made with pip, as a user makes them, and what runs in them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TIKTOKEN = "tiktoken==0.14.0"
INSTALLING = 900  # seconds; only a network that hangs takes so long
RUNNING = 300

#: Texts that tokenizers often differ in.
TEXTS = [
    "",
    "hello world",
    "It's 12345.678 o'clock; the café's naïve “menu” isn’t READY...\r\n\r\n\tWe'LL see.   \n",
    "def f(x):\n    if x:\n\n        return {'a': [1, 2, 3]}  # comment\n\treturn None\n" * 8,
    "世界は広い。東京から大阪まで、新幹線で二時間半かかります。안녕하세요 Привет мир مرحبا नमस्ते",
    "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301 \u00a0\u2003\u200b\ufeff ﷺ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \x00\x7f",
    "before<|endoftext|>between<|im_start|>after<|fim_prefix|>",
    " " * 100 + "a" * 100 + "0" * 100 + "\n" * 100,
    "The quick brown fox jumps over the lazy dog. It was not amused, and said so. " * 40,
]


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the environments."""
    kept = os.environ.get("COMPAT_BPE_CLIENTS")
    if not kept:
        return tmp_path_factory.mktemp("environments")
    folder = Path(kept).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(
    command: Sequence[str | Path],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout: int = INSTALLING,
    given: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a command with a text as its input."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )


def run_well(
    command: Sequence[str | Path],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout: int = INSTALLING,
) -> str:
    """Run a command that must succeed; return what it prints."""
    done = run(command, cwd, environment, timeout)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Environment(NamedTuple):
    """A virtual environment, and the folder where its tiktoken looks for files."""

    python: Path
    files: Path

    def run(self, *args: str | Path, cwd: Path, timeout: int = RUNNING) -> str:
        """What Python prints with these arguments, without a network."""
        nowhere = "http://127.0.0.1:9"  # the port that discards: nothing answers
        env = {
            **os.environ,
            "TIKTOKEN_CACHE_DIR": str(self.files),
            "CUSTOM_TIKTOKEN_CACHE_DIR": str(self.files),  # litellm's, else it takes its own
            "http_proxy": nowhere,
            "https_proxy": nowhere,
            "all_proxy": nowhere,
            "no_proxy": "",
            "HF_HUB_OFFLINE": "1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "PYTHONHASHSEED": "0",  # sets print in the same order
            "PYTHONIOENCODING": "utf-8",
        }
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "PYTHONPATH"):
            env.pop(name, None)
        return run_well([self.python, *args], cwd, env, timeout)

    def script(self, name: str, *args: str | Path, cwd: Path) -> str:
        """What a script of ``scripts/`` prints."""
        return self.run("-I", HERE / "scripts" / f"{name}.py", *args, cwd=cwd)


def pip(*args: str | Path, python: Path | None = None) -> str:
    target: list[str | Path] = ["--python", python] if python else []
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *target, *args]
    return run_well(command, ROOT)


def programs_of(folder: Path, packages: list[str]) -> Path:
    """The folder of the programs of an environment with some packages."""
    venv.create(folder, with_pip=True)
    command: list[str | Path] = [folder / "bin/python", "-m", "pip", "-q", "install", *packages]
    run_well(command, ROOT, plain_environment(Path.home()))
    return folder / "bin"


class Wheels(NamedTuple):
    shim: Path
    own: Path


def make_environment(folder: Path, requirements: list[str]) -> Path:
    """An environment with these requirements; one that is there already is taken as it is.

    Returns:
        Its Python.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    complete = folder / "complete.json"
    # Wheels made for this run lie elsewhere each time, and are installed again anyway.
    named = [requirement for requirement in requirements if not requirement.endswith(".whl")]
    wanted = json.dumps([sys.version, named])
    if not complete.exists() or complete.read_text() != wanted:
        venv.create(folder, clear=True, symlinks=os.name != "nt")
        pip("install", *requirements, python=python)
        complete.write_text(wanted)
    return python


def with_tiktoken(folder: Path, requirements: list[str], published: Path) -> Environment:
    python = make_environment(folder, [TIKTOKEN, *requirements])
    environment = Environment(python, published)
    module = "import tiktoken._tiktoken as module; print(module.__file__)"
    assert environment.run("-I", "-c", module, cwd=folder).strip().endswith((".so", ".pyd"))
    return environment


def with_this_package(folder: Path, requirements: list[str], wheels: Wheels) -> Environment:
    """An environment with the two wheels, and no file of tiktoken's in reach."""
    # The stable part may be kept; what stands for this package is always what it is now.
    python = make_environment(folder, [str(wheels.shim), str(wheels.own), *requirements])
    pip("install", "--force-reinstall", "--no-deps", *wheels, python=python)
    pip("check", python=python)
    files = folder / "no-files"
    files.mkdir(exist_ok=True)
    environment = Environment(python, files)
    module = (
        "import importlib.metadata as metadata, tiktoken\n"
        "print(metadata.version('tiktoken'), tiktoken.__file__)"
    )
    version, file = environment.run("-I", "-c", module, cwd=folder).split(None, 1)
    assert "+compat." in version
    assert "compat_bpe" in Path(file).parts
    return environment


def plain_environment(home: Path) -> dict[str, str]:
    """Variables without those of the tests, and with a user for git."""
    left_out = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in left_out and not name.startswith("GIT")
    }
    users = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME",
             "EMAIL")}  # fmt: skip
    return {**kept, **users, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}


def filled(text: str, known: dict[str, str]) -> str:
    """Return a text with the values of its expressions, which have to be known."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: known[match[1]], text)
