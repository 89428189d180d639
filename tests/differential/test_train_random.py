"""Training on random small corpora with random settings: the cases of ``tools.attack training``."""

from __future__ import annotations

from random import Random

import pytest

from tools.attack.training import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_some_corpora_and_settings(kind: str) -> None:
    for number in range(3):
        KINDS[kind](Random(f"{kind} {number}"))


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_many_corpora_and_settings(kind: str, number: int) -> None:
    for case in range(10 * number, 10 * number + 10):
        KINDS[kind](Random(f"{kind} {case}"))
