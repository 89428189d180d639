"""The tokens of images: the published examples, and the rules at their edges."""

from __future__ import annotations

from math import ceil, floor, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat.images.rules import Limit, Patches, Tiles, patches, rule_for_images
from compat_bpe.chat.images.size import Size

sides = st.integers(1, 9000)
GPT_5_4 = Patches(120, {"high": Limit(2048, 2500)})


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
    assert tiles.tokens(Size(1024, 1024), "auto").note == ""  # the same as high
    assert tiles.tokens(Size(500, 400), "high") == 255  # nothing is made larger
    # 1024 and a third of a pixel, in two steps: two tiles, or three.
    count = tiles.tokens(Size(2305, 1728), "high")
    assert (count, "rounded" in count.note) == (85 + 4 * 170, True)
    assert not tiles.tokens(Size(2304, 1728), "high").is_estimate
    assert "rounded" in tiles.tokens(Size(1728, 2305), "high").note
    assert not tiles.tokens(Size(1728, 2307), "high").is_estimate
    # In one step, for the shorter side, it is rounded down.
    count = tiles.tokens(Size(1537, 1152), "high")
    assert (count, count.note) == (85 + 4 * 170, "")
    assert "one token more or less" in GPT_5_4.tokens(Size(32, 32), "high").note
    earlier = rule_for_images("o4-mini")
    assert earlier is not None
    assert "what it said before" in earlier.tokens(Size(32, 32), "high").note


def test_a_low_detail_needs_no_size() -> None:
    assert Tiles(70, 140).tokens(None, "low") == 70
    for rule in (Tiles(70, 140), GPT_5_4):
        with pytest.raises(ValueError, match="data URL"):
            rule.tokens(None, "high")
    for other in (Tiles(70, 140), rule_for_images("gpt-5.2")):
        assert other is not None
        with pytest.raises(
            ValueError, match=r"^the detail 'original' is not one that this model ta"
        ):
            other.tokens(Size(1, 1), "original")


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [
        # The guide's examples, then the edges of each limit.
        ("gpt-5.4", (1024, 1024), "high", 1229),
        ("gpt-5.4", (2048, 2048), "high", 3000),
        ("gpt-5.4", (2048, 2048), "auto", 3000),
        ("gpt-5.4", (2048, 2048), "original", 4916),
        ("gpt-5.4", (2048, 2048), "low", 4916),
        ("gpt-5.5", (2048, 2048), "auto", 4916),
        ("gpt-5.5", (2048, 2048), "low", 308),
        ("gpt-5.5", (6000, 12000), "original", 11_760),
        ("gpt-5.6-sol", (4800, 6400), "auto", 36_000),
        ("gpt-5.2", (4096, 4096), "high", 4916),
        ("gpt-4.1-mini", (1800, 2400), "high", 4977),
        ("gpt-5.4-nano", (1, 100_000), "high", 77),
    ],
)
def test_models_with_patches(model: str, size: tuple[int, int], detail: str, tokens: int) -> None:
    rule = rule_for_images(model)
    assert rule is not None
    assert rule.tokens(Size(*size), detail) == tokens


def test_an_image_that_is_refused() -> None:
    rule = rule_for_images("gpt-5.6-luna")
    assert rule is not None
    assert rule.tokens(Size(6000, 6000), "high") == 3000
    with pytest.raises(
        ValueError, match=r"^an image of 35,344 patches is refused: OpenAI takes 30,"
    ):
        rule.tokens(Size(6000, 6000), "original")


@given(sides, sides)
def test_patches_are_those_of_the_published_formula(width: int, height: int) -> None:
    count = ceil(width / 32) * ceil(height / 32)
    if count > 1536:
        scale = sqrt(32 * 32 * 1536 / (width * height))
        across, down = width * scale / 32, height * scale / 32
        if min(across, down) < 1 or not all(1e-6 < side % 1 < 1 - 1e-6 for side in (across, down)):
            return  # too close for floating point, or no whole patch at all
        scale *= min(floor(across) / across, floor(down) / down)
        count = ceil(floor(width * scale + 1e-6) / 32) * ceil(floor(height * scale + 1e-6) / 32)
    assert patches(Size(width, height), Limit(10_000, 1536)) == count


@given(sides, st.integers(1, 10**9))
def test_patches_are_bounded(width: int, height: int) -> None:
    limit = Limit(10**9, 1536)
    found = patches(Size(width, height), limit)
    assert 1 <= found == patches(Size(height, width), limit) <= 1536


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ("gpt-4o", Tiles(85, 170)),
        ("gpt-4o-2024-11-20", Tiles(85, 170)),
        ("chatgpt-4o-latest", Tiles(85, 170)),
        ("ft:gpt-4o-2024-08-06:me::x", Tiles(85, 170)),
        ("gpt-4o-mini-2024-07-18", Tiles(2833, 5667)),
        ("gpt-4.1", Tiles(85, 170)),
        ("gpt-4.1-mini-2025-04-14", 162),
        ("gpt-4.1-nano", 246),
        ("gpt-5", Tiles(70, 140)),
        ("gpt-5-chat-latest", Tiles(70, 140)),
        ("gpt-5.1-2025-11-13", Tiles(70, 140)),
        ("gpt-5-mini", 120),
        ("gpt-5-nano-2025-08-07", 150),
        ("gpt-5.2", 120),
        ("gpt-5.4-mini", 120),
        ("gpt-5.5", 120),
        ("gpt-5.6", 120),
        ("gpt-5.6-terra-2026-07-01", 120),
        ("o1-pro", Tiles(75, 150)),
        ("o3-2025-04-16", Tiles(75, 150)),
        ("o4-mini", 172),
        ("gpt-5.2-codex", None),
        ("gpt-5.1-chat-latest", None),
        ("gpt-5.4-pro", None),
        ("gpt-6-astra", None),
        ("gpt-5-codex", None),
        ("o3-mini", None),
        ("computer-use-preview", Tiles(65, 129)),
        ("gpt-3.5-turbo", None),
        ("", None),
    ],
)
def test_rules(model: str, rule: object) -> None:
    found = rule_for_images(model)
    assert (found.each if isinstance(found, Patches) else found) == rule
