"""The scripts for places, without the places: the table, and what the tests print."""

from __future__ import annotations

import doctest
import re

import pytest

from tools.places import kit
from tools.places.kit import PAGE, PlaceError, Row, parsed, with_row
from tools.places.table import PLACES

ROWS = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line[:2] == "| "]


def test_examples() -> None:
    failed, tried = doctest.testmod(kit)
    assert (failed, tried > 0) == (0, True)


def test_each_row_can_be_written() -> None:
    page = PAGE.read_text("utf-8")
    for place, *_ in ROWS[1:]:
        written = with_row(page, Row(place[2:], "x", "y"), "z")
        assert len(written.splitlines()) == len(page.splitlines())
        assert f"\n{place} | x | y | z |\n" in written
    with pytest.raises(ValueError, match="no row"):
        with_row(page, Row("no such place", "x", "y"), "z")


def test_each_row_has_a_date() -> None:
    assert len(ROWS) > 25
    for place, had, ran, date in ROWS[1:]:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \|", date), place
        assert had
        assert ran


@pytest.mark.parametrize(
    "printed", ["", "x\n12 answers, 1 wrong\n", "x\n12 answers, 0 wrong\nthen a crash\n"]
)
def test_a_run_that_did_not_end_well(printed: str) -> None:
    with pytest.raises(PlaceError, match="did not end well"):
        parsed(printed)


def test_what_runs_anywhere_takes_nothing_from_debian() -> None:
    anywhere = [place for place in PLACES.values() if place.anywhere]
    assert len(anywhere) > 5
    for place in anywhere:
        for function in filter(None, (place.rows, place.fetched)):
            assert not {"debian", "_MOUNT"} & {*function.__code__.co_names}
