"""Run the stages of CI, and say of all of them what passed.

    .ci/run                # what each change needs
    .ci/run all            # everything: before a release, and each night
    .ci/run NAME...        # these stages, and those that they need
    .ci/run --since REV    # the stages whose folders have changed since a revision
    .ci/run --list ...     # the stages that this would run, instead of running them

A stage that fails does not stop the others; one that needs it is not run. The exit status is 1 if
a stage failed or was not run, and 2 if there is no such stage or revision.

A stage is whole in ``.ci/run`` if its folders changed since the revision that
``COMPAT_BPE_CI_BASE`` names; else since main or, on main itself, since the commit before (of a
merge, since what it was merged into); else since the last release. Where none of them is here,
as in a shallow clone, nothing counts as changed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from tools.ci import fetch
from tools.ci.stages import STAGES, Stage
from tools.clean_start import clean_environment, clean_start

ROOT = Path(__file__).resolve().parents[2]
LANES = 2

#: The sweeps run an eighth at each change; the commit says which.
PARTS = 8

#: Only what hangs takes more than so many seconds and five times what its stage says.
GRACE = 900

#: A line of pytest's summary: the node id of a test that failed, and perhaps the reason.
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::[^\[\n]*?(?:\[.*?\])?)?)(?: - .*)?$", re.M)


class Result(NamedTuple):
    """What came of a stage.

    Args:
        stage: the stage.
        outcome: ``passed``, ``failed`` or ``not run``.
        seconds: how long it took.
        output: what it printed, or why it was not run.
    """

    stage: Stage
    outcome: str
    seconds: float
    output: str


# Which stages


def base(git: Path = ROOT) -> str | None:
    """Return the revision since which folders count as changed; None if there is none here.

    Raises:
        ValueError: ``COMPAT_BPE_CI_BASE`` is not a revision of this repository.
    """
    named = os.environ.get("COMPAT_BPE_CI_BASE", "")
    if named.strip("0"):  # zeros alone are a new branch
        if found := _revision(git, named):
            return found
        raise ValueError(f"COMPAT_BPE_CI_BASE: {named} is not a revision of this repository")
    head = _revision(git, "HEAD")
    joined = _git(git, "merge-base", "HEAD", "origin/main")
    if joined and joined != head:
        return joined
    tag = _git(git, "describe", "--tags", "--abbrev=0", "--match=v*", "HEAD~1")
    return _revision(git, "HEAD~1") or (tag and _revision(git, tag)) or None


def changed_since(revision: str, git: Path = ROOT) -> list[str]:
    """Return the files that differ from a revision, uncommitted and new ones included."""
    differing = _git(git, "diff", "--name-only", "-z", "--no-renames", revision, "--") or ""
    new = _git(git, "ls-files", "-z", "--others", "--exclude-standard") or ""
    return sorted(set(filter(None, f"{differing}\0{new}".split("\0"))))


def for_a_change(changed: Collection[str] | None) -> list[Stage]:
    """Return the stages that each change needs, given the changed files or None if unknown.

    A stage without folders always runs; one with folders runs if one of them changed, and else
    the stage that stands for it.
    """
    whole = {
        stage.name
        for stage in STAGES
        if stage.folders == () or (stage.folders and _touches(changed or (), stage.folders))
    }
    return [
        stage
        for stage in STAGES
        if (stage.name in whole if not stage.instead_of else stage.instead_of not in whole)
    ]


def everything() -> list[Stage]:
    """Return all stages but those that stand for others."""
    return [stage for stage in STAGES if not stage.instead_of]


def of_changed_folders(changed: Collection[str]) -> list[Stage]:
    """Return the stages whose folders changed; without folders, a stage looks at all of them."""
    return [
        stage
        for stage in everything()
        if changed
        and stage.folders is not None
        and (not stage.folders or _touches(changed, stage.folders))
    ]


def named(names: Sequence[str]) -> list[Stage]:
    """Return the stages with these names.

    Raises:
        ValueError: there is no such stage.
    """
    by_name = {stage.name: stage for stage in STAGES}
    for name in names:
        if name not in by_name:
            raise ValueError(f"there is no stage {name}; there are {', '.join(by_name)}, and all")
    return [stage for stage in STAGES if stage.name in names]


def with_needs(stages: Iterable[Stage]) -> list[Stage]:
    """Return the stages with those that they need, in the order of the list."""
    by_name = {stage.name: stage for stage in STAGES}
    wanted: set[str] = set()
    more = [stage.name for stage in stages]
    while more:
        name = more.pop()
        if name not in wanted:
            wanted.add(name)
            more += by_name[name].needs
    return [stage for stage in STAGES if stage.name in wanted]


def _touches(changed: Collection[str], folders: Collection[str]) -> bool:
    return any(
        name == folder or name.startswith(f"{folder.rstrip('/')}/")
        for name in changed
        for folder in folders
    )


def _revision(git: Path, name: str) -> str:
    return _git(git, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _git(folder: Path, *arguments: str) -> str:
    """Return what git prints; nothing if it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout.strip("\n") if done.returncode == 0 else ""


# Running them


class Runner:
    """Runs stages in two lanes, in the order of their list where the lanes allow it.

    Args:
        environment: the variables of all stages.
        logs: the folder where each stage's output is written.
    """

    def __init__(self, environment: Mapping[str, str], logs: Path) -> None:
        self._environment = dict(environment)
        self._logs = logs
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, stages: Sequence[Stage]) -> list[Result]:
        """Run stages; each output is printed when its stage ends.

        A stage starts once the stages that it needs have passed and enough lanes are free. The
        first one that could start keeps its turn: later ones do not overtake it.
        """
        waiting = list(stages)
        results: dict[str, Result] = {}
        running: dict[Future[Result], Stage] = {}
        with ThreadPoolExecutor(2 * LANES) as pool:
            try:
                while waiting or running:
                    for stage in self._to_start(waiting, results, running.values()):
                        waiting.remove(stage)
                        say(f"{stage.name}: started, about {stage.seconds} s, {self._log(stage)}")
                        running[pool.submit(self._run, stage)] = stage
                    if not running:  # all that is left needs what failed
                        results.update((stage.name, _not_run(stage, results)) for stage in waiting)
                        break
                    for ended in wait(running, return_when=FIRST_COMPLETED).done:
                        result = results[running.pop(ended).name] = ended.result()
                        _print(result)
            except BaseException:  # an interrupt: the lanes wait for what they run
                for process in list(self._processes.values()):
                    _kill(process)
                raise
        return [results[stage.name] for stage in stages]

    def _to_start(
        self, waiting: Sequence[Stage], results: Mapping[str, Result], running: Iterable[Stage]
    ) -> list[Stage]:
        free = LANES - sum(stage.cores for stage in running)
        chosen = []
        for stage in waiting:
            if all(_passed(results, name) for name in stage.needs):
                if stage.cores > free:
                    break
                free -= stage.cores
                chosen.append(stage)
        return chosen

    def _run(self, stage: Stage) -> Result:
        started = time.monotonic()
        limit = GRACE + 5 * stage.seconds
        with self._log(stage).open("wb") as log:
            process = self._processes[stage.name] = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", stage.command],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                _kill(process)
                status = process.wait()
                log.write(f"\nended: it took more than {limit} seconds\n".encode())
        _kill(process)  # what it left running
        del self._processes[stage.name]
        output = self._log(stage).read_text("utf-8", "replace")
        outcome = "failed" if status else "passed"
        return Result(stage, outcome, time.monotonic() - started, output)

    def _log(self, stage: Stage) -> Path:
        return self._logs / f"{stage.name}.log"


def _passed(results: Mapping[str, Result], name: str) -> bool:
    return name in results and results[name].outcome == "passed"


def _not_run(stage: Stage, results: Mapping[str, Result]) -> Result:
    missing = [name for name in stage.needs if not _passed(results, name)]
    return Result(stage, "not run", 0, f"it needs {', '.join(missing)}")


def _print(result: Result) -> None:
    name = result.stage.name
    say(f"\n== {name}: {result.stage.does}")
    say(result.output.strip("\n"))
    say(f"== {name}: {result.outcome}, {result.seconds:.0f} s\n")


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):  # nothing of it is left
        os.killpg(process.pid, signal.SIGKILL)


def summary(results: Sequence[Result]) -> str:
    """Return a line for each stage, and a command for each test that failed.

    >>> stage = Stage("tests", "the tests", "python -m pytest", 9)
    >>> print(summary([Result(stage, "failed", 8.2, "FAILED tests/test_a.py::test_b[1] - x")]))
    tests                   failed       8 s
    <BLANKLINE>
    tests: .ci/run tests
        python -m pytest -m '' 'tests/test_a.py::test_b[1]'
    """
    lines = []
    for result in results:
        why = f"  {result.output}" if result.outcome == "not run" else ""
        lines.append(f"{result.stage.name:<22}  {result.outcome:<8} {result.seconds:>5.0f} s{why}")
    for result in results:
        if result.outcome == "failed":
            lines += ["", f"{result.stage.name}: .ci/run {result.stage.name}"]
            profile = " --hypothesis-profile=full" * ("=full" in result.stage.command)
            for test in dict.fromkeys(_FAILED.findall(result.output)):
                lines.append(f"    python -m pytest -m ''{profile} {shlex.quote(test)}")
    return "\n".join(lines)


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog=".ci/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a stage, or all")
    parser.add_argument("--since", metavar="REV", help="stages whose folders changed since then")
    parser.add_argument("--list", action="store_true", help="list the stages, and run nothing")
    options = parser.parse_args(arguments)
    clean_start()
    try:
        stages, changed = _asked(options.names, options.since)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        for stage in stages:
            say(f"{stage.name:<22} {stage.seconds:>5} s  {stage.does}")
        return 0
    if not stages:
        say("no stage looks at what has changed")
        return 0
    stages = with_needs(stages)
    signal.signal(signal.SIGTERM, _interrupt)
    with tempfile.TemporaryDirectory(prefix="compat-bpe-ci-") as folder:
        try:
            return _run(stages, changed, Path(folder))
        except KeyboardInterrupt:
            say("interrupted")
            return 130


def _asked(names: Sequence[str], since: str | None) -> tuple[list[Stage], list[str]]:
    """Return the stages that the arguments ask for, and the files that count as changed."""
    if names and since:
        raise ValueError("stages are chosen by their names or by --since, not by both")
    if since and not _revision(ROOT, since):
        raise ValueError(f"{since} is not a revision of this repository")
    revision = since or base()
    changed = changed_since(revision) if revision else []
    if since:
        return of_changed_folders(changed), changed
    if names == ["all"]:
        return everything(), changed
    if names:
        return named(names), changed
    return for_a_change(changed), changed


def _run(stages: Sequence[Stage], changed: Iterable[str], work: Path) -> int:
    started = time.monotonic()
    environment = {
        **clean_environment(os.environ),
        "CI": "true",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        # Most modules of what is installed are never imported. That pip takes a 0 for this option
        # as given, and a 1 as not, is how it reads the options that switch something off.
        "PIP_NO_COMPILE": "0",
        "PIP_QUIET": "1",
        "PYTHON": sys.executable,
        "WORK": str(work),
        # Compiled once for all the processes that tests start, and not into the checkout.
        "PYTHONPYCACHEPREFIX": str(work / "pycache"),
        "COMPAT_BPE_CACHE_DIR": str(work / "counts"),  # not the user's
        "PART": f"{int(_revision(ROOT, 'HEAD') or '0', 16) % PARTS + 1}/{PARTS}",
        "CHANGED": "\n".join(changed),
    }
    environment.pop("VIRTUAL_ENV", None)
    results = Runner(environment, work).run([_fetching(stages)])
    if results[0].outcome == "passed":
        # From here on without registries.
        environment.update(fetch.environment(fetch.cache_folder(), _things(stages)))
        environment["PATH"] = f"{work}/main/bin{os.pathsep}{environment['PATH']}"
        results += Runner(environment, work).run(stages)
    else:
        results += [Result(stage, "not run", 0, "it needs fetch") for stage in stages]
    say(summary(results))
    count = {
        outcome: sum(result.outcome == outcome for result in results)
        for outcome in ("passed", "failed", "not run")
    }
    counted = ", ".join(f"{number} {outcome}" for outcome, number in count.items() if number)
    say(f"\n{len(results)} stages: {counted}, in {time.monotonic() - started:.0f} s")
    return 0 if count["passed"] == len(results) else 1


def _fetching(stages: Iterable[Stage]) -> Stage:
    """Return the stage that fetches what others need."""
    command = shlex.join([sys.executable, "-m", "tools.ci.fetch", *_things(stages)])
    return Stage(
        "fetch", "what the stages need from registries", command, 300, needs=(), cores=LANES
    )


def _things(stages: Iterable[Stage]) -> list[str]:
    return list(dict.fromkeys(thing for stage in stages for thing in stage.fetch))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
