"""SECURITY.md names tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tools.attack.__main__ import NAMES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")

#: ``tests/a/test_b.py::test_c``, each once.
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_the_tests_named_exist(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert not name or name in names


def test_every_attack_is_named() -> None:
    named = set(re.findall(r"`tools/attack/(\w+)\.py`", PAGE))
    assert TESTS
    assert named == set(NAMES)
