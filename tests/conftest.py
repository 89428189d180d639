"""Settings of all tests."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, settings

from tools.clean_start import clean_start

# A quick look by default, for the time that README.md promises: CI then draws a hundred examples of
# each property, with the profile "full". A machine that is busy makes a test slow, not wrong. In CI
# hypothesis's own profile, on which this one is built, also draws the same examples each time.
settings.register_profile(
    "compat_bpe",
    settings.default,
    deadline=None,
    max_examples=4,
    suppress_health_check=[HealthCheck.too_slow],
)
#: By ``--hypothesis-profile``: for CI, and for the slow search before a release.
settings.register_profile("full", settings.get_profile("compat_bpe"), max_examples=100)
settings.register_profile("many", settings.get_profile("compat_bpe"), max_examples=10_000)
#: For ``tools/mutants.py``, which asks only if a test fails: an example that does is not shrunk.
settings.register_profile(
    "unshrunk",
    settings.get_profile("full"),
    phases=[phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)],
)
settings.load_profile("compat_bpe")

# What is collected stays to the end: to look through it again and again for garbage would take a
# tenth of the time of all tests.
gc.disable()


def pytest_collection_finish() -> None:
    """Leave what is there by now out of the search for garbage, and begin it."""
    if sys.implementation.name == "cpython":
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)  # the default searches 30 times as often: a tenth of all
    gc.enable()


def pytest_sessionstart() -> None:
    """Begin in a known state; the report has its colours by now, and workers are yet to start."""
    clean_start()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in the package alone: the helpers of tests, and the tests, have none."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


#: The folders whose tests are run for many kinds of tokenizers and texts, and how many of these
#: README's command takes, spread over all of them; sweeps take all.
_MANY_KINDS = tuple(
    f"{Path(__file__).parent.as_posix()}/{folder}/"
    for folder in ("differential", "fit", "pipeline", "train")
)
_VARIANTS = 5


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make sweeps of the variants of a test beyond five."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.path.as_posix().startswith(_MANY_KINDS) and not item.get_closest_marker("sweep"):
            groups.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for variants in groups.values():
        last = len(variants) - 1
        kept = {last * at // (_VARIANTS - 1) for at in range(_VARIANTS)}
        for at, item in enumerate(variants):
            if last >= _VARIANTS and at not in kept:
                item.add_marker("sweep")


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_disks() -> Iterator[None]:
    """Nothing that tests write has to outlast the machine: each wait would take milliseconds.

    Tests that look at these calls put their own in place; and processes have the system's.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        patch.setattr(os, "sync", lambda: None, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Counts that tests keep are theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPAT_BPE_CACHE_DIR", str(tmp_path_factory.mktemp("counts")))
        yield


#: What has no wheel for PyPy, and the modules that cannot be tested without.
_NOT_ON_PYPY = {
    "pyarrow": ["cli/test_corpus.py", "corpus/test_counts_file.py"],
    "tiktoken": [
        "differential",
        "formats/test_rank_files.py",
        "web/test_features.py",
        "web/test_field.py",
        "web/test_text.py",
    ],
}
if sys.implementation.name == "pypy":
    collect_ignore = [
        path for name, paths in _NOT_ON_PYPY.items() if find_spec(name) is None for path in paths
    ]


#: What reads ``editors/`` or ``web/``, which have releases of their own, and are not in the sdist.
_READS_THEM = re.compile(r"""["'](?:editors|web)[/"']|\bfrom web\b""")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out of the sdist's tests those that read what it does not have."""
    here = Path(__file__).parent
    if (here.parent / "web").exists():
        return None
    if collection_path in (here / "vscode", here / "web", here / "browser", here / "axe.py"):
        return True
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if is_test and _READS_THEM.search(collection_path.read_text("utf-8")) else None
