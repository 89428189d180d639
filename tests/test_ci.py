"""The stages of CI, the program that runs them, with stages of a second; and a clean start."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tools.ci import fetch, part, run
from tools.ci.run import Result, Runner, summary
from tools.ci.stages import STAGES, Stage
from tools.clean_start import clean_environment

ROOT = Path(__file__).parents[1]
BY_NAME = {stage.name: stage for stage in STAGES}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="CI's stages are scripts of bash")


def names(stages: Sequence[Stage]) -> set[str]:
    return {stage.name for stage in stages}


# The list


@pytest.mark.parametrize("module", [fetch, part, run])
def test_examples(module: object) -> None:
    failed, tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert (failed, tried > 0) == (0, True)


@pytest.mark.parametrize("stage", STAGES, ids=BY_NAME)
def test_a_stage_is_what_it_says(stage: Stage) -> None:
    before = list(BY_NAME)[: list(BY_NAME).index(stage.name)]
    assert set(stage.needs) <= set(before), "a stage comes after those that it needs"
    assert stage.cores in (0.5, 1, 2)
    for folder in stage.folders or ():
        assert (ROOT / folder).exists(), folder
    assert set(stage.fetch) <= {*fetch.WHEELS, *fetch.NPM, *fetch.DEBIAN, *fetch.OTHERS}
    if stage.instead_of:
        assert BY_NAME[stage.instead_of].folders != (), "it would never run"
        assert stage.folders == ()
    done = subprocess.run(["bash", "-n", "-c", stage.command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(STAGES)


def test_each_kind_of_test_has_a_stage() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    (markers,) = re.findall(r"^markers = \[(.*?)^\]", pyproject, re.MULTILINE | re.DOTALL)
    commands = "\n".join(stage.command for stage in run.everything())
    for marker in re.findall(r'"(\w+):', markers):
        if marker != "smoke":
            assert re.search(rf'-m "?\(?(\w+ or )?{marker}\b', commands), marker


# Which stages run


def test_a_stage_is_whole_if_its_folders_changed() -> None:
    page = names(run.for_a_change(["web/counting_page/a.js"]))
    assert {"page", "editors-smoke", "tests", "style"} <= page
    assert not page & {"page-smoke", "editors", "sweeps"}
    server = names(run.for_a_change(["compat_bpe/lsp/server.py"]))
    assert {"page-smoke", "editors", "vscode"} <= server
    # A name that only begins like a folder's is another one.
    assert "page" not in names(run.for_a_change(["web.txt", "webs/a"]))


@pytest.mark.parametrize("changed", [None, [], ["docs/index.md"], ["compat_bpe/x.py", "web/a"]])
def test_what_each_change_needs(changed: list[str] | None) -> None:
    chosen = names(run.for_a_change(changed))
    for stage in run.everything():
        stand_ins = {other.name for other in STAGES if other.instead_of == stage.name}
        if stage.folders == ():
            assert stage.name in chosen
        else:
            assert (stage.name in chosen) + len(stand_ins & chosen) == bool(
                stand_ins or stage.name in chosen
            )


def test_all_leaves_nothing_out() -> None:
    everything = run.everything()
    stand_ins = {stage.instead_of: stage for stage in STAGES if stage.instead_of}
    assert names(everything) == set(BY_NAME) - names(list(stand_ins.values()))


def test_what_changed_since() -> None:
    assert run.of_changed_folders([]) == []
    chosen = names(run.of_changed_folders(["compat_bpe/mcp/server.py"]))
    assert {"tests", "mcp"} <= chosen
    assert not chosen & {"page", "page-smoke", "sweeps"}


def test_needs_come_along_and_first() -> None:
    chosen = run.with_needs(run.named(["oldest-python"]))
    assert [stage.name for stage in chosen] == ["install", "wheel", "oldest-python"]
    with pytest.raises(ValueError, match="no stage nothing; there are install, "):
        run.named(["style", "nothing"])


# Since when


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits on main."""
    monkeypatch.delenv("COMPAT_BPE_CI_BASE", raising=False)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "a")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "a@b")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "a")
    commit(tmp_path, "b")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path, name: str) -> str:
    (folder / name).write_text(name)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", name)
    return git(folder, "rev-parse", "HEAD")


def test_on_main_it_is_the_commit_before(repository: Path) -> None:
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert run.base(repository) == git(repository, "rev-parse", "HEAD~1")


def test_of_a_merge_it_is_what_it_was_merged_into(repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "-b", "other")
    commit(repository, "c")
    commit(repository, "d")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "other")
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert run.base(repository) == before
    assert run.changed_since(before, repository) == ["c", "d"]


def test_on_a_branch_it_is_where_it_left_main(repository: Path) -> None:
    main = git(repository, "rev-parse", "HEAD")
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(repository, "checkout", "-q", "-b", "other")
    commit(repository, "c")
    commit(repository, "d")
    assert run.base(repository) == main


def test_a_revision_can_be_named(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = git(repository, "rev-parse", "HEAD~1")
    monkeypatch.setenv("COMPAT_BPE_CI_BASE", first)
    assert run.base(repository) == first
    monkeypatch.setenv("COMPAT_BPE_CI_BASE", "0" * 40)  # what GitHub says of a new branch
    assert run.base(repository) == first
    monkeypatch.setenv("COMPAT_BPE_CI_BASE", "nothing")
    with pytest.raises(ValueError, match="nothing is not a revision"):
        run.base(repository)


def test_no_earlier_revision(repository: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", str(shallow))
    assert run.base(shallow) is None


def test_what_is_not_committed_has_changed(repository: Path) -> None:
    (repository / "a").write_text("other")
    (repository / "néw\nfile").write_text("")
    git(repository, "mv", "b", "c")
    assert run.changed_since("HEAD", repository) == ["a", "b", "c", "néw\nfile"]


# Running


def stage(name: str, command: str, *needs: str, cores: float = 1, seconds: int = 1) -> Stage:
    return Stage(name, f"does {name}", command, seconds, needs=needs, cores=cores)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner({**os.environ, "WORK": str(tmp_path)}, tmp_path)


def test_all_faults_are_seen_in_one_run(runner: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    failed = "echo 'FAILED tests/{0}.py::test - assert 1 == 2'; exit 1"
    results = runner.run(
        [
            stage("a", failed.format("a")),
            stage("b", "echo 3 passed in 0.1s"),
            stage("c", failed.format("c"), "b"),
            stage("d", "echo never", "a", "b"),
            stage("e", "echo never", "d"),
        ]
    )
    assert [(result.stage.name, result.outcome) for result in results] == [
        ("a", "failed"),
        ("b", "passed"),
        ("c", "failed"),
        ("d", "not run"),
        ("e", "not run"),
    ]
    assert [result.output for result in results[3:]] == ["it needs a", "it needs d"]
    printed = capsys.readouterr().out
    assert "\n3 passed in 0.1s\n" in printed
    assert "\nnever\n" not in printed
    lines = summary(results)
    assert "\n    python -m pytest -m '' tests/a.py::test\n" in lines
    assert lines.endswith("\n    python -m pytest -m '' tests/c.py::test")


def test_two_stages_run_at_the_same_time(runner: Runner) -> None:
    meet = 'touch "$WORK/{0}"; until test -e "$WORK/{1}"; do sleep 0.01; done'
    results = runner.run([stage("a", meet.format("a", "b")), stage("b", meet.format("b", "a"))])
    assert [result.outcome for result in results] == ["passed", "passed"]


def test_a_stage_of_two_cores_runs_alone(runner: Runner) -> None:
    alone = 'mkdir "$WORK/busy"; sleep 0.05; rmdir "$WORK/busy"'
    results = runner.run([stage("a", alone), stage("b", alone, cores=2), stage("c", alone)])
    assert [result.outcome for result in results] == ["passed"] * 3


def test_stages_that_mostly_wait_share_a_core(runner: Runner) -> None:
    meet = 'touch "$WORK/{}"; until test "$(cd "$WORK"; echo [abc])" = "a b c"; do sleep 0.01; done'
    half = [stage(name, meet.format(name), cores=0.5) for name in "ab"]
    results = runner.run([*half, stage("c", meet.format("c"))])
    assert [result.outcome for result in results] == ["passed"] * 3


def test_a_stage_that_hangs_is_ended(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "GRACE", 0.3)
    (result,) = runner.run([stage("a", "sleep 600 & sleep 600", seconds=0)])
    assert result.outcome == "failed"
    assert result.output == "\nended: it took more than 0.3 seconds\n"


def test_nothing_is_left_running(runner: Runner, tmp_path: Path) -> None:
    runner.run([stage("a", 'sleep 600 & echo $! > "$WORK/pid"')])
    command = ["ps", "-o", "stat=", "-p", (tmp_path / "pid").read_text().strip()]
    ends = time.monotonic() + 60  # only what is left running takes so long
    while subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.strip(b" \nZs"):
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_output_that_is_not_utf_8(runner: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = runner.run([stage("a", r"printf 'a\377b\n'")])
    assert result.output == "a\ufffdb\n"
    assert "a\ufffdb" in capsys.readouterr().out


SUMMARIES = {
    "FAILED tests/a.py::test_b": "tests/a.py::test_b",
    "FAILED tests/a.py::test_b - AssertionError: x": "tests/a.py::test_b",
    "FAILED tests/a.py::A::test_b[a b - [c]] - x [1] - y": "tests/a.py::A::test_b[a b - [c]]",
    "ERROR tests/a.py - ImportError: no module": "tests/a.py",
    "ERROR tests/a.py::test_b[x]": "tests/a.py::test_b[x]",
    "FAILED compat_bpe/fit/split.py::compat_bpe.fit.split": "compat_bpe/fit/split.py::"
    "compat_bpe.fit.split",
}


@pytest.mark.parametrize("line", SUMMARIES)
def test_a_failed_test_is_named_as_pytest_takes_it(line: str) -> None:
    output = f"FFF\nFAILED to do a thing\n{line}\n1 failed in 0.1s\n"
    (found,) = run._FAILED.findall(output)
    assert found == SUMMARIES[line]


def test_the_status(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # It would take away variables that fixtures have set for the tests that come later.
    monkeypatch.setattr(run, "clean_start", lambda: None)
    with pytest.raises(SystemExit) as caught:
        run.main(["nothing"])
    assert caught.value.code == 2
    with pytest.raises(SystemExit):
        run.main(["style", "--since", "HEAD"])
    assert run.main(["all", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(run.everything())
    passed = Result(STAGES[0], "passed", 1, "")
    assert summary([passed]).split()[:2] == ["install", "passed"]


# Parts of the sweeps


def test_each_test_is_in_one_part() -> None:
    tests = [f"tests/test_a.py::test_{number}" for number in range(800)]
    parts = [{name for name in tests if part.is_taken(name, k, 8, 1)} for k in range(1, 9)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 800
    assert all(parts)
    assert all(part.is_taken(name, 5, 8, 8) for name in tests)


class FakeItem(NamedTuple):
    path: Path
    nodeid: str


class FakeHook:
    """Pytest's configuration and hooks, as far as a part is chosen by them."""

    def __init__(self, part: str, changed: str) -> None:
        self.options = {"--part": part, "--changed": changed}
        self.left_out: list[Any] = []
        self.hook = self

    def getoption(self, name: str) -> str:
        return self.options[name]

    def pytest_deselected(self, items: list[Any]) -> None:
        self.left_out += items


def test_a_part_and_what_has_changed() -> None:
    """Part of the tests of one file are taken, and all of one that has changed."""
    files = ["tests/test_golden.py", "tests/parallel/test_pool.py"]
    tests = [(file, f"{file}::test_{number}") for number in range(40) for file in files]

    def chosen(part_of_all: str, changed: str = "") -> set[str]:
        items: list[Any] = [FakeItem(ROOT / file, name) for file, name in tests]
        config: Any = FakeHook(part_of_all, changed)
        part.pytest_collection_modifyitems(config, items)
        assert len(items) + len(config.left_out) == len(tests)
        return {item.nodeid for item in items}

    first, second = chosen("1/2"), chosen("2/2")
    assert not first & second
    assert first
    assert second
    some = chosen("1/2", "README.md\ntests/test_golden.py")
    assert some == first | {name for name in second if "test_golden" in name}
    assert len(chosen("")) == len(tests)


def test_what_a_test_looks_at() -> None:
    found = part.packages_of(ROOT / "tests/differential/test_train_bpe.py")
    assert {"train", "pipeline"} <= found
    assert "tests/differential/test_train_bpe.py" in found
    assert "spark" not in found


# Fetching


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would fetch something; they make a file, or fail as often as one says."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> str:
        commands.append(command)
        if "venv" in command:
            return ""
        if "--wheel-dir" in command:
            folder = Path(command[command.index("--wheel-dir") + 1])
            folder.mkdir(parents=True)
            (folder / "a-1-py3-none-any.whl").touch()
            if any("fails" in word for word in command):
                raise OSError("the network")
            (folder / "compat_bpe-1-py3-none-any.whl").touch()
        return "3.99"

    monkeypatch.setattr(fetch, "run", run)
    monkeypatch.setattr(fetch, "PAUSES", (0, 0))
    fetch._version.cache_clear()
    return commands


def test_wheels_are_kept_by_what_asks_for_them(
    asked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fetch.fetch_wheels(fetch.Wheels(["a"]), tmp_path) == "1 files"
    count = len(asked)
    assert fetch.fetch_wheels(fetch.Wheels(["a"]), tmp_path) == ""
    assert len(asked) == count
    fetch.fetch_wheels(fetch.Wheels(["a==1"]), tmp_path)
    fetch.fetch_wheels(fetch.Wheels(["."]), tmp_path)
    folders = list((tmp_path / "wheels").iterdir())
    assert len(folders) == 3
    # The project's own wheel would be stale.
    assert [path.name for path in tmp_path.rglob("*.whl")] == ["a-1-py3-none-any.whl"] * 3
    # Of all that is kept, pip looks through what was asked for.
    wanted = fetch.Wheels(["a"])
    monkeypatch.setitem(fetch.WHEELS, "docs", wanted)
    variables = fetch.environment(tmp_path, ["docs", "npm-itself"])
    assert variables["PIP_NO_INDEX"] == "1"
    assert variables["PIP_FIND_LINKS"] == fetch.kept_wheels(wanted, tmp_path).as_uri()
    assert fetch.kept_wheels(wanted, tmp_path) in folders


def test_what_was_fetched_in_part_is_not_kept(
    asked: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = fetch.Wheels(["fails"])
    assert fetch.fetched("one", lambda: fetch.fetch_wheels(one, tmp_path))
    assert capsys.readouterr().out == "one: cannot be had: the network\n"
    assert sum("wheel" in command for command in asked) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_fetch_is_tried_three_times(asked: list[list[str]]) -> None:
    problems = [OSError("1"), OSError("2")]

    def step() -> str:
        if problems:
            raise problems.pop()
        return "had"

    assert fetch.tried(step) == "had"


def test_debian_s_packages_are_installed_at_once(
    asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"npm": "/usr/bin/npm"}
    monkeypatch.setattr(shutil, "which", there.get)
    monkeypatch.setattr(fetch, "_is_installed", lambda packages: packages == ["vim", "vim-ale"])
    assert fetch.install_debian(["npm-itself", "vim"]) == ""
    assert asked == []
    assert fetch.install_debian(["npm-itself", "vim", "mandoc", "java"]) == (
        "mandoc default-jre-headless"
    )
    assert [command[-2:] for command in asked] == [
        ["-qq", "update"],
        ["mandoc", "default-jre-headless"],
    ]


def test_names_that_are_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no nothing to fetch; there are main, "):
        fetch.steps(["main", "nothing"], tmp_path)
    with pytest.raises(LookupError, match="NOTHING"):
        fetch.constant("tests/test_ci.py", "NOTHING")


#: Begins as badly as a process can, and tells its state and what a child inherits.
_STARTED = """
import os, signal, subprocess, sys

numbers = [getattr(signal, name) for name in sys.argv[1:]]
for number in numbers:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.umask(0o077)

from tools.clean_start import clean_start

clean_start()
for number in numbers:
    handler = signal.getsignal(number)
    print(number.name, getattr(handler, "name", handler is signal.default_int_handler))
print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), repr(sys.stdin.read()), flush=True)
subprocess.run(["sh", "-c", "umask; exec env"])
"""


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_process_that_was_started_badly() -> None:
    kept = {"PATH": os.environ["PATH"], "HOME": "/home/me"}
    odd = {
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "1",
        "GIT_DIR": "/x",
        "LC_NUMERIC": "de_DE.UTF-8",
        "LANGUAGE": "de",
        "TERM": "xterm",
        "COLUMNS": "20",
        "NO_COLOR": "",
        "CLICOLOR_FORCE": "1",
        "PAGER": "less",
    }
    names = ["SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT", "SIGCHLD", "SIGPIPE"]
    done = subprocess.run(
        [sys.executable, "-c", _STARTED, *names],
        env={**kept, **odd},
        input="not read",
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    first, *others = done.stdout.splitlines()[: len(names)]
    assert first == "SIGINT True"
    assert others == [*(f"{name} SIG_DFL" for name in names[1:-1]), "SIGPIPE SIG_IGN"]
    mask, umask, *variables = done.stdout.splitlines()[len(names) :]
    assert (mask, int(umask, 8)) == ("set() ''", 0o022)
    inherited = dict(line.split("=", 1) for line in variables)
    assert {**kept, "LC_ALL": "C.UTF-8", "TERM": "dumb"}.items() <= inherited.items()
    assert not inherited.keys() & (odd.keys() - {"TERM"})


def test_the_tests_have_begun_so() -> None:
    assert clean_environment(os.environ).items() <= {**os.environ}.items()


def test_an_environment_for_children() -> None:
    given = {"PYTHONPYCACHEPREFIX": "/x", "HOME": "/root", "GIT_DIR": "x", "TERM": "xterm"}
    expected = {"PYTHONPYCACHEPREFIX": "/x", "HOME": "/root", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    assert clean_environment(given) == expected
