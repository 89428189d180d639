"""Images: their sizes, the rules of their tokens, and images in requests."""

from __future__ import annotations

import struct
from contextlib import suppress
from math import ceil, floor, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat import count_messages, image_tokens
from compat_bpe.chat.images import Bound, Patches, Size, Tiles, patches, rule_for_images, size_of
from tests.chat import images as made
from tests.chat.images import PNG, address

low = st.integers(1, 0x3FFF)


@given(st.sampled_from(sorted(made.FORMATS)), low, low)
def test_formats(name: str, width: int, height: int) -> None:
    data = made.FORMATS[name](width, height)
    assert size_of(data) == (width, height)
    assert size_of(data + b"more") == (width, height)


@given(st.sampled_from(sorted(made.FORMATS)), low, low, st.data())
def test_an_end_before_the_size_is_refused(
    name: str, width: int, height: int, data: st.DataObject
) -> None:
    image = made.FORMATS[name](width, height)
    cut = image[: data.draw(st.integers(0, len(image) - 1))]
    try:
        size = size_of(cut)
    except ValueError:
        return
    assert size == (width, height)  # what was cut off came after it


@given(st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"GIF89a", b"RIFF"]), st.binary())
def test_any_bytes_give_a_size_or_a_value_error(start: bytes, rest: bytes) -> None:
    with suppress(ValueError):
        assert min(size_of(start + rest)) > 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"\x89PNG\r\n\x1a\n" + bytes(4) + b"CgBI" + bytes(20),
        made.png(0, 5),
        b"RIFF" + bytes(4) + b"WAVEfmt " + bytes(20),
        b"RIFF" + bytes(4) + b"WEBPVP8 " + bytes(20),
        b"\xff\xd8\xff\xe0\x00\x01" + bytes(20),  # a length that is less than itself
        b"\xff\xd8\xff\xda" + struct.pack(">H", 2) + bytes(20),  # data without a frame
        b"\xff\xd8\x00\xc0" + bytes(20),
    ],
)
def test_what_is_no_image_or_damaged_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="image"):
        size_of(data)


@pytest.mark.parametrize("marker", range(0xC0, 0xD0))
def test_jpeg_frames(marker: int) -> None:
    data = made.jpeg(7, 9).replace(b"\xff\xc2", bytes([0xFF, marker]))
    if marker in (0xC4, 0xC8, 0xCC):  # tables, and what is reserved
        with pytest.raises(ValueError, match="ends before its size"):
            size_of(data)
    else:
        assert size_of(data) == (7, 9)


def test_jpeg_segments_are_passed_over() -> None:
    segment = b"\xff\xe1" + struct.pack(">H", 60002) + b"\xff\xc0" * 30000
    fill = b"\xff" * 5
    data = b"\xff\xd8" + segment * 30 + fill + made.jpeg(7, 9)[2:]
    assert size_of(data) == (7, 9)


sides = st.integers(1, 9000)
GPT_5_4 = Patches(120, {"high": Bound(2048, 2500)})


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
    assert "its earlier rule" in earlier.tokens(Size(32, 32), "high").note


def test_a_low_detail_needs_no_size() -> None:
    assert Tiles(70, 140).tokens(None, "low") == 70
    for rule in (Tiles(70, 140), GPT_5_4):
        with pytest.raises(ValueError, match="data URL"):
            rule.tokens(None, "high")
    for other in (Tiles(70, 140), rule_for_images("gpt-5.2")):
        assert other is not None
        with pytest.raises(ValueError, match=r"^this model does not accept the detail 'original'"):
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
        ValueError, match=r"^an image of 35,344 patches is refused: OpenAI accepts at most 30,"
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
    assert patches(Size(width, height), Bound(10_000, 1536)) == count


@given(sides, st.integers(1, 10**9))
def test_patches_are_bounded(width: int, height: int) -> None:
    limit = Bound(10**9, 1536)
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


def request(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, *parts]}]


def image(url: str = address(), **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **more}}


TEXT = count_messages(request(), model="gpt-4o")


@pytest.mark.parametrize(
    ("part", "tokens", "is_estimate"),
    [
        (image(detail="low"), 85, False),
        (image("https://example.com/a.png", detail="low"), 85, False),
        (image(address(made.jpeg(1024, 1024)), detail="high"), 765, False),
        (image(address(made.jpeg(1024, 1024))), 765, False),
        (image(address().upper()[:5] + address()[5:], detail="high"), 255, False),
        ({"type": "input_image", "image_url": address(), "detail": "low"}, 85, False),
        ({"type": "input_image", "file_id": "file-1", "detail": "low"}, 85, False),
    ],
)
def test_parts_of_both_services(part: dict[str, Any], tokens: int, is_estimate: bool) -> None:
    count = count_messages(request(part), model="gpt-4o")
    assert (count, count.is_estimate) == (TEXT + tokens, is_estimate)
    both = count_messages(request(part, image(detail="low")), model="gpt-4o")
    assert both == TEXT + tokens + 85


def test_data_that_are_percent_encoded() -> None:
    url = "data:image/gif," + "".join(f"%{byte:02x}" for byte in made.gif(1024, 1024))
    assert count_messages(request(image(url, detail="high")), model="gpt-4o") == TEXT + 765


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (image("https://example.com/a.png"), ".image_url.url: the size of an image at an address"),
        (image("/etc/passwd"), ".image_url.url: the size of an image at an address"),
        ({"type": "input_image", "file_id": "f"}, ".image_url: the size of an image at an address"),
        (image("data:image/png;base64"), ".image_url.url: the data URL lacks the comma"),
        (image("data:image/png;base64,abcde"), ".image_url.url: the data is not base64"),
        (image("data:image/png;base64,é"), ".image_url.url: the data is not base64"),
        (image("data:image/png;base64,"), ".image_url.url: not a PNG"),
        (image(detail="best"), ": detail: 'best' is not known; known: low, high, auto, original"),
        (image(detail=["low"]), ": detail: "),
        (image(detail="original"), ".image_url.url: this model does not accept the detail 'or"),
        ({"type": "image_url", "image_url": 3}, ".image_url: must be a string"),
        ({"type": "input_audio", "input_audio": {}}, ": a part of type 'input_audio' cannot"),
        ({"type": "input_file", "file_id": "f"}, ": a part of type 'input_file' cannot"),
    ],
)
def test_what_cannot_be_counted_is_refused_with_its_place(
    part: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (its text is compared)
        count_messages(request(part), model="gpt-4o", strict=True)
    assert str(caught.value).startswith("messages[0].content[1]" + reason)


def test_a_model_without_a_rule_is_refused() -> None:
    for name in ("gpt-3.5-turbo", "gpt-5.3-codex", "o3-mini"):
        with pytest.raises(ValueError, match="rule for this model's images is not known"):
            count_messages(request(image(detail="low")), model=name, strict=True)
        with pytest.raises(KeyError, match="OpenAI's rule for images of"):
            image_tokens(PNG, model=name)
    with pytest.raises(ValueError, match="rule for this model's images is not known"):
        count_messages(request(image(detail="low")), encoding="o200k_base", strict=True)


def test_names_of_other_services() -> None:
    assert image_tokens((1, 1), model="azure/gpt-4o", detail="low") == 85


def test_image_tokens_of_files_data_and_sizes(tmp_path: Path) -> None:
    file = tmp_path / "a.webp"
    file.write_bytes(made.webp_extended(2048, 4096))
    for image in (file, str(file), file.read_bytes(), (2048, 4096)):
        assert image_tokens(image, model="gpt-4o", detail="high") == 1105
    with pytest.raises(ValueError, match="0 x 5"):
        image_tokens((0, 5), model="gpt-4o")
    with pytest.raises(FileNotFoundError):
        image_tokens(tmp_path / "none.png", model="gpt-4o")
