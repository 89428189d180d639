"""tools/mutants.py: what it changes, and whether a test that sees the change is heard."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import mutants

# Tools of maintainers, each run as a whole.
pytestmark = pytest.mark.sweep

SOURCE = 'é = [1 < 2, "é", not é]\nif é:\n    é: int | None = 7\n'


def test_changes() -> None:
    found = list(mutants.mutants(SOURCE))
    assert {(mutant.line, mutant.text) for mutant in found} == {
        *((1, text) for text in ("(1 <= 2)", "(é)", "2", "0", "3", "1")),
        *((2, text) for text in ("True", "False")),
        *((3, text) for text in ("8", "6")),
    }
    for mutant in found:
        after = mutants.changed(SOURCE, mutant)
        assert ast.dump(ast.parse(after)) != ast.dump(ast.parse(SOURCE))
        assert mutants.changed(after, mutant).count("\n") == SOURCE.count("\n")


@pytest.mark.parametrize("value", [1, 2])
def test_survivors(tmp_path: Path, value: int) -> None:
    (tmp_path / "module.py").write_text(f"VALUE = {value}\n")
    (tmp_path / "test_it.py").write_text(
        "from module import VALUE\ndef test_value(): assert VALUE == 1\n"
    )
    assert mutants.survives(tmp_path, "module.py", ["test_it.py"]) == (value == 1)


def test_tests_see_the_module_that_the_package_has(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from .module import value as value\n")
    (package / "module.py").write_text("LIMIT = 2\ndef value(): return LIMIT\n")
    (tmp_path / "test_it.py").write_text(
        "import package\n"
        "from package import module\n"
        "def test_value(monkeypatch):\n"
        "    monkeypatch.setattr(module, 'LIMIT', 5)\n"
        "    assert package.value() == 5\n"
    )
    tests = ["--import-mode=importlib", "--doctest-modules", "test_it.py"]  # as in pyproject.toml
    assert mutants.survives(tmp_path, "package/module.py", tests)
