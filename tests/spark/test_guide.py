"""The guide to Spark is true: its blocks run, in the session of the tests and as jobs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs_folder import environment as environment
from tests.docs_folder import folder as folder
from tests.docs_folder import vocabulary as vocabulary
from tests.docs_pages import ROOT, run_commands, run_sessions
from tests.spark.conftest import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

GUIDE = ROOT / "docs/guide-spark.md"


def test_python_sessions(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Paths are relative to the folder that Java was started in, which it cannot change.
    home = Path(str(spark._jvm.java.lang.System.getProperty("user.dir")))
    monkeypatch.chdir(home)
    (home / "texts").symlink_to(folder / "texts")
    run_sessions(GUIDE, {"spark": spark})


def test_commands(folder: Path, environment: Mapping[str, str], tmp_path: Path) -> None:
    settings = tmp_path / "conf"
    settings.mkdir()
    lines = [f"{name} {value}\n" for name, value in SETTINGS.items()]
    (settings / "spark-defaults.conf").write_text("".join(lines))
    own = str(Path(sys.executable).parent)
    path = os.pathsep.join([own, environment["PATH"]])
    others = {"SPARK_CONF_DIR": str(settings), "PYSPARK_PYTHON": sys.executable, "PATH": path}
    run_commands(GUIDE, folder, {**environment, **others})
