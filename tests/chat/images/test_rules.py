"""The tokens of images: the published examples, and the rules at their edges."""

from __future__ import annotations

from math import ceil, floor, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat.images.rules import Patches, Tiles, patches, rule_for_images
from compat_bpe.chat.images.size import Size

sides = st.integers(1, 9000)


@pytest.mark.parametrize(
    ("size", "tokens"),
    # The first two are the guide's examples.
    [((1024, 1024), 765), ((2048, 4096), 1105), ((768, 768), 765), ((2048, 768), 1445)],
)
def test_tiles(size: tuple[int, int], tokens: int) -> None:
    count = Tiles(85, 170).tokens(Size(*size), "high")
    assert (count, count.note) == (tokens, "")


def test_what_the_guide_leaves_open_is_an_estimate() -> None:
    tiles = Tiles(85, 170)
    assert tiles.tokens(Size(1024, 1024), "auto").note.startswith("the service chooses")
    assert "small image" in tiles.tokens(Size(1024, 700), "high").note
    assert tiles.tokens(Size(500, 400), "high") == 255
    # 1024 and a third of a pixel: two tiles, or three.
    count = tiles.tokens(Size(2305, 1728), "high")
    assert (count, "rounded" in count.note) == (85 + 6 * 170, True)
    assert not tiles.tokens(Size(2304, 1728), "high").is_estimate
    assert "rounded" in tiles.tokens(Size(1728, 2305), "high").note
    assert not tiles.tokens(Size(1728, 2307), "high").is_estimate
    assert "low detail" in Patches(100).tokens(Size(32, 32), "low").note
    assert "rounded" in Patches(162).tokens(Size(32, 32), "high").note
    assert not Patches(162).tokens(Size(320, 160), "high").is_estimate


def test_a_low_detail_needs_no_size() -> None:
    assert Tiles(70, 140).tokens(None, "low") == 70
    for rule in (Tiles(70, 140), Patches(100)):
        with pytest.raises(ValueError, match="data URL"):
            rule.tokens(None, "high")
        with pytest.raises(ValueError, match="'original'"):
            rule.tokens(Size(1, 1), "original")


@given(sides, sides)
def test_patches_are_those_of_the_published_formula(width: int, height: int) -> None:
    count = ceil(width / 32) * ceil(height / 32)
    if count > 1536:
        scale = sqrt(32 * 32 * 1536 / (width * height))
        across, down = width * scale / 32, height * scale / 32
        if min(across, down) < 1 or not all(1e-6 < side % 1 < 1 - 1e-6 for side in (across, down)):
            return  # too close for floating point, or no whole patch at all
        scale *= min(floor(across) / across, floor(down) / down)
        count = ceil(width * scale / 32 - 1e-9) * ceil(height * scale / 32 - 1e-9)
    assert patches(Size(width, height)) == count


@given(sides, st.integers(1, 10**9))
def test_patches_are_bounded(width: int, height: int) -> None:
    assert 1 <= patches(Size(width, height)) == patches(Size(height, width)) <= 1536


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ("gpt-4o", Tiles(85, 170)),
        ("gpt-4o-2024-11-20", Tiles(85, 170)),
        ("chatgpt-4o-latest", Tiles(85, 170)),
        ("ft:gpt-4o-2024-08-06:me::x", Tiles(85, 170)),
        ("gpt-4o-mini-2024-07-18", Tiles(2833, 5667)),
        ("gpt-4.1", Tiles(85, 170)),
        ("gpt-4.1-mini-2025-04-14", Patches(162)),
        ("gpt-4.1-nano", Patches(246)),
        ("gpt-5", Tiles(70, 140)),
        ("gpt-5-chat-latest", Tiles(70, 140)),
        ("gpt-5-mini", Patches(162)),
        ("gpt-5.4-mini", Patches(162)),
        ("gpt-5-nano-2025-08-07", Patches(246)),
        ("o1-pro", Tiles(75, 150)),
        ("o3-2025-04-16", Tiles(75, 150)),
        ("o4-mini", Patches(172)),
        ("gpt-5.2", None),
        ("gpt-5-codex", None),
        ("o3-mini", None),
        ("computer-use-preview", Tiles(65, 129)),
        ("gpt-3.5-turbo", None),
        ("", None),
    ],
)
def test_rules(model: str, rule: object) -> None:
    assert rule_for_images(model) == rule
