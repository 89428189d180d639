"""Images in requests to OpenAI's models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat_bpe.chat import count_messages, image_tokens
from tests.chat.images import made
from tests.chat.images.made import PNG, address


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
    ("model", "tokens"), [("gpt-4o-mini", 2833), ("gpt-4.1", 85), ("gpt-5", 70), ("o3", 75)]
)
def test_models(model: str, tokens: int) -> None:
    text = count_messages(request(), model=model)
    assert count_messages(request(image(detail="low")), model=model) == text + tokens


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (image("https://example.com/a.png"), ".image_url.url: the size of an image at an address"),
        (image("/etc/passwd"), ".image_url.url: the size of an image at an address"),
        ({"type": "input_image", "file_id": "f"}, ".image_url: the size of an image at an address"),
        (image("data:image/png;base64"), ".image_url.url: a data URL has a comma"),
        (image("data:image/png;base64,abcde"), ".image_url.url: the data are no base64"),
        (image("data:image/png;base64,é"), ".image_url.url: the data are no base64"),
        (image("data:image/png;base64,"), ".image_url.url: not an image"),
        (image(detail="best"), ": detail: 'best' is not known; known: low, high, auto, original"),
        (image(detail=["low"]), ": detail: "),
        (image(detail="original"), ".image_url.url: the detail 'original' is not one that this"),
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
        with pytest.raises(KeyError, match="no rule of OpenAI's for the images of"):
            image_tokens(PNG, model=name)
    with pytest.raises(ValueError, match="rule for this model's images is not known"):
        count_messages(request(image(detail="low")), encoding="o200k_base", strict=True)


def test_names_of_other_services() -> None:
    assert image_tokens((1, 1), model="azure/gpt-4o", detail="low") == 85


def test_image_tokens_of_files_data_and_sizes(tmp_path: Path) -> None:
    file = tmp_path / "a.webp"
    file.write_bytes(made.webp_extended(2048, 4096))
    for given in (file, str(file), file.read_bytes(), (2048, 4096)):
        assert image_tokens(given, model="gpt-4o", detail="high") == 1105
    with pytest.raises(ValueError, match="0 x 5"):
        image_tokens((0, 5), model="gpt-4o")
    with pytest.raises(FileNotFoundError):
        image_tokens(tmp_path / "none.png", model="gpt-4o")
