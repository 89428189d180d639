"""Each extra alone, in a new environment: by the first block of its guide, or by what it is for."""

from __future__ import annotations

import shutil
from itertools import takewhile
from pathlib import Path

import pytest

from tests.clients.environments import ROOT, Environment, Wheels, make_environment
from tests.docs_folder import environment as environment
from tests.docs_folder import folder as folder
from tests.docs_folder import vocabulary as vocabulary
from tests.docs_pages import blocks_of

pytestmark = pytest.mark.clients

#: The guides whose first session after the line that installs an extra needs it.
GUIDES = {
    "chat": "guide-chat.md",
    "duckdb": "guide-tables.md",
    "pandas": "guide-tables.md",
    "polars": "guide-tables.md",
    "spark": "guide-spark.md",
}

#: What goes before the session of a guide.
BEFORE = {
    "spark": """\
>>> from pyspark.sql import SparkSession
>>> spark = SparkSession.builder.master("local[1]").getOrCreate()
"""
}

#: Sessions for extras without a guide of their own.
SESSIONS = {
    "lsp": """\
>>> import compat_bpe.lsp.server
""",
    "parquet": """\
>>> import pyarrow, pyarrow.parquet, subprocess, sys
>>> pyarrow.parquet.write_table(pyarrow.table({"text": ["hello world"]}), "a.parquet")
>>> command = [sys.executable, "-m", "compat_bpe", "corpus", "counts", "a.parquet"]
>>> subprocess.check_output(command).decode().split()
['chunk', 'count', 'world', '1', 'hello', '1']
""",
    "regex": r"""
>>> from compat_bpe import Encoding
>>> ranks = {bytes([number]): number for number in range(256)}
>>> Encoding("x", pat_str=r"\X", mergeable_ranks=ranks, special_tokens={}).encode("ab")
[97, 98]
""",
    "zstd": """\
>>> import subprocess, sys
>>> try:
...     from compression import zstd
... except ImportError:
...     from backports import zstd
>>> size = open("a.txt.zst", "wb").write(zstd.compress(b"hello world"))
>>> command = [sys.executable, "-m", "compat_bpe", "count", "-z", "a.txt.zst"]
>>> subprocess.check_output(command).split()[0]
b'2'
""",
}

#: The extras that tests/mcp installs alone, and those for contributors.
OTHERS = {"mcp"}, {"test", "spark-test", "docs", "dev"}


def session_of(extra: str) -> str:
    """Return what is tried with an extra.

    Of a guide that is the first session after the line which installs the extra, and those before
    it that need no other one.
    """
    if extra in SESSIONS:
        return SESSIONS[extra]
    page = ROOT / "docs" / GUIDES[extra]
    lines = page.read_text("utf-8").splitlines()
    installed = next(number for number, line in enumerate(lines) if f"[{extra}]" in line)
    sessions = [block for block in blocks_of(page) if block.language == "pycon"]
    before = takewhile(lambda block: block.line < installed, sessions)
    first = next(block for block in sessions if block.line > installed)
    own = [block.text for block in before if not block.marker]
    return "\n".join([BEFORE.get(extra, ""), *own, first.text])


@pytest.mark.parametrize("extra", [*GUIDES, *SESSIONS])
def test_an_extra_is_enough(
    extra: str, environments: Path, wheels: Wheels, folder: Path, tmp_path: Path
) -> None:
    python = make_environment(environments / f"extra-{extra}", [f"{wheels.own}[{extra}]"])
    session = tmp_path / "session.txt"
    session.write_text(session_of(extra), "utf-8")
    installed = Environment(python, tmp_path)
    assert installed.run("-I", "-m", "doctest", session, cwd=folder) == ""
    shutil.rmtree(python.parents[1])


def test_all_extras_are_tried() -> None:
    # tomllib is there from Python 3.11 on.
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    tried = {*GUIDES, *SESSIONS}
    assert project["optional-dependencies"].keys() == tried.union(*OTHERS)
