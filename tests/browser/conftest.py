"""A browser for the pages that the command writes, one for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.axe import axe as axe
from tools.browser import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened
