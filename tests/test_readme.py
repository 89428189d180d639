"""The README's Python examples are true."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_examples() -> None:
    readme = Path(__file__).parent.parent / "README.md"
    result = doctest.testfile(str(readme), module_relative=False, encoding="utf-8")
    assert result.attempted == 5 + 10 + 3
    assert result.failed == 0
