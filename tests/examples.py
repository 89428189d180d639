"""The examples that a property draws: how many, and on what fixtures; and tables of cases."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

Test = Callable[..., None]


def scaled(number: int) -> int:
    """Return ``number`` as a percentage of the profile's examples, at least six.

    A property that needs more examples than others says so by a number over 100. So one option,
    ``--hypothesis-profile``, chooses between the quick look and the long search for all of them.
    """
    assert settings.default is not None
    return max(6, number * settings.default.max_examples // 100)


def shared_fixture() -> settings:
    """Return settings of a property whose examples share what a fixture has made.

    The checks that they leave out stand in place of the profile's, so that these are here, too.
    """
    return settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    )


def drawn(number: int, *strategies: Any, **named: Any) -> Callable[[Test], Test]:
    """Return ``given`` with its strategies, and ``scaled`` as the number of its examples."""

    def decorate(test: Test) -> Test:
        draws: Any = given
        limits: Any = settings(max_examples=scaled(number), deadline=None)
        found: Test = limits(draws(*strategies, **named)(test))
        return found

    return decorate


def unescaped(word: str) -> str:
    """A word of a table, in which characters may be escaped as in Python."""
    return word.encode("latin-1", "backslashreplace").decode("unicode_escape")


def rows(table: str, width: int) -> list[tuple[str, ...]]:
    """Return the lines of a table, whose cells have arrows between them.

    A line that begins with four spaces goes on with the one before. In cells, but for the first
    one, characters may be escaped as in Python. The last cells may be missing.
    """
    joined = table.strip("\n").replace("\n    →", " →").replace("\\n\n    ", "\\n")
    cells = [re.split(" → ?", line) for line in joined.replace("\n    ", " ").split("\n")]
    found = [[line.strip(), *map(unescaped, more)] for line, *more in cells]
    return [(*row, *[""] * width)[:width] for row in found]


def cases(table: str, names: str = "line said") -> pytest.MarkDecorator:
    """Parametrize a test with the ``rows`` of a table."""
    return pytest.mark.parametrize(names.split(), rows(table, len(names.split())))


def check_refused(table: str, names: dict[str, Any]) -> None:
    """Evaluate each call of a table of ``rows``, and compare what is said.

    "…" stands for any text. The third cell is the type of the error where it is no ``ValueError``.
    """
    for call, said, error in rows(table, 3):
        with pytest.raises(eval(error or "ValueError", names)) as caught:
            eval(call, names)
        expected = ".*".join(map(re.escape, said.strip().split("…")))
        assert re.fullmatch(expected, str(caught.value), re.DOTALL), f"{call}: {caught.value}"
