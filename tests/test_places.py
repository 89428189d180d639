"""The scripts for places, without the places: the table, and what the tests print."""

from __future__ import annotations

import doctest
import re
from importlib import import_module

import pytest

from tools.places import kit, table
from tools.places.__main__ import ANYWHERE, SCRIPTS
from tools.places.kit import PlaceError, Row, parsed

ROWS = [
    line.split(" | ") for line in table.PAGE.read_text("utf-8").splitlines() if line[:2] == "| "
]


@pytest.mark.parametrize("module", [kit, table])
def test_examples(module: object) -> None:
    failed, tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert (failed, tried > 0) == (0, True)


def test_each_row_can_be_written() -> None:
    page = table.PAGE.read_text("utf-8")
    for place, *_ in ROWS[1:]:
        written = table.with_row(page, Row(place[2:], "x", "y"), "z")
        assert len(written.splitlines()) == len(page.splitlines())
        assert f"\n{place} | x | y | z |\n" in written
    with pytest.raises(ValueError, match="no row"):
        table.with_row(page, Row("no such place", "x", "y"), "z")


def test_each_row_has_a_date() -> None:
    assert len(ROWS) > 25
    for place, had, ran, date in ROWS[1:]:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \|", date), place
        assert had
        assert ran


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_script_can_be_imported(name: str) -> None:
    script = import_module(f"tools.places.{name}")
    assert callable(script.rows)
    assert script.__doc__


@pytest.mark.parametrize(
    "printed", ["", "x\n12 answers, 1 wrong\n", "x\n12 answers, 0 wrong\nthen a crash\n"]
)
def test_a_run_that_did_not_end_well(printed: str) -> None:
    with pytest.raises(PlaceError, match="did not end well"):
        parsed(printed)


def test_what_runs_anywhere_takes_nothing_from_debian() -> None:
    assert set(ANYWHERE) < set(SCRIPTS)
    for name in ANYWHERE:
        script = (kit.ROOT / f"tools/places/{name}.py").read_text("utf-8")
        assert not re.search(r"^from \.(debian|built|emulated) ", script, re.MULTILINE), name
        assert "unshare" not in script
