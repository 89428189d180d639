"""Columns of DuckDB, Polars and pandas, and the guide's blocks, beside tiktoken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.environments import Wheels, pip, with_tiktoken

pytestmark = pytest.mark.clients
HERE = Path(__file__).parent
REQUIREMENTS = ["duckdb==2.0.1", "polars==2.1.0", "pandas==2.3.3", "pyarrow>=14.0.1"]


def test_tables(
    environments: Path,
    wheels: Wheels,
    published: Path,
    tmp_path: Path,
) -> None:
    environment = with_tiktoken(environments / "tables", REQUIREMENTS, published)
    pip("install", "--force-reinstall", "--no-deps", wheels.own, python=environment.python)
    guide = HERE.parents[1] / "docs" / "guide-tables.md"
    printed = environment.run("-I", HERE / "scripts/tables.py", guide, cwd=tmp_path)
    assert printed == "done\n"
