"""tools/simulate_scale.py: the law is that of counted chunks, and the page has its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.simulate_scale import (
    KINDS,
    MEMORY,
    PART,
    Figures,
    Heaps,
    fit,
    growth,
    table,
)

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"


def test_a_minimal_count_leaves_what_fits() -> None:
    law = Heaps(1.64, 0.716)
    for most in (1e6, 1e7, 1e9):
        least = law.least_count(1e12, most)
        assert law.distinct(1e12) * law.share(least) <= most
        assert least == 1 or law.distinct(1e12) * law.share(least - 1) > most


def test_growth_is_measured_and_fitted() -> None:
    text = "".join(f"the {number % 97} and {number} are\n" for number in range(9000))
    points = growth([text], "gpt2")
    assert points == growth([text], "gpt2")
    assert points[-1] == (len(text), 4 + 2 * 9000 - 8999 - 1)
    assert 0.9 < fit(points).exponent < 1.01


@pytest.mark.parametrize("name", KINDS)
def test_the_page_has_the_figures(name: str) -> None:
    page = PAGE.read_text("utf-8")
    assert "\n".join(table(name, KINDS[name], Figures(), MEMORY)) in page
    law, figures = KINDS[name].law, Figures()
    factor, exponent = f"{law.factor:.3g}", f"{law.exponent:.2f}"
    assert f"{factor} *n*^{exponent}" in page
    assert f"{law.exponent:.0%}"[:-1] + " % for" in page
    assert f"counts {figures.rate / 1e6:.0f} MB of text a second" in page
    assert f"takes {figures.feed * 1e6:.0f} µs to read a distinct chunk" in page
    assert f"{figures.learn * 1e6:.0f} µs to learn 32,000 merges from it" in page
    assert f"and {figures.memory:.0f} bytes." in page
    assert PART == 128 << 20
