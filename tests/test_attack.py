"""The attacks are run, and what they find is told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.attack import _cases
from tools.attack.__main__ import NAMES

_MODULE = """
SECONDS = {seconds}
MEMORY = 1 << 30

def attack(random):
    if random.random() < 0.01:
        {hostile}
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of attacks of our own."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "hostile"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "does", "told"),
    [
        ("fails", "assert 1 > 2, random.getstate", "assert 1 > 2"),
        ("hangs", "while True: pass", "it takes more than 0.5 seconds"),
        ("grows", "bytearray(1 << 33)", "MemoryError"),
        ("dies", "__import__('os')._exit(0)", "the process died"),
    ],
)
def test_what_is_wrong_is_told_with_its_case(
    hostile: Path, name: str, does: str, told: str
) -> None:
    seconds = 0.5 if name == "hangs" else 60
    module = _MODULE.format(hostile=does, seconds=seconds)
    (hostile / f"{name}.py").write_text(module, "utf-8")
    right, wrong = _cases.attack(f"hostile.{name}", 1, 60)
    assert right > 0
    assert wrong is not None
    assert told in wrong
    if name == "fails":
        for number in range(right):
            _cases.try_case(f"hostile.{name}", 1, number)
        with pytest.raises(AssertionError):
            _cases.try_case(f"hostile.{name}", 1, right)


def test_what_is_right_ends_in_time(hostile: Path) -> None:
    (hostile / "right.py").write_text(_MODULE.format(hostile="pass", seconds=60), "utf-8")
    right, wrong = _cases.attack("hostile.right", 1, 0.2)
    assert right > 0
    assert wrong is None


@pytest.mark.parametrize("name", NAMES)
def test_each_module_is_an_attack(name: str) -> None:
    module = _cases.module_of(name)
    assert module.__doc__
    assert callable(module.attack)
