"""The ``truncation`` and the ``padding`` of a ``tokenizer.json``, read and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...pipeline.tokenized import Padding, Truncation
from ..checked_json import Json

_STRATEGIES = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
_DIRECTIONS = {"Right": "right", "Left": "left"}


def read_truncation(part: Json) -> Truncation:
    """Return the ``truncation`` of a file.

    Raises:
        ValueError: it is wrong.
    """
    # Files of old versions have no direction.
    has_direction = "direction" in part.mapping()
    return Truncation(
        _count(part["max_length"]),
        _count(part["stride"]),
        _named(part["strategy"], _STRATEGIES),
        _named(part["direction"], _DIRECTIONS) if has_direction else "right",
    )


def read_padding(part: Json) -> Padding:
    """Return the ``padding`` of a file.

    Raises:
        ValueError: it is wrong.
    """
    strategy = part["strategy"]
    length = None
    if strategy.value != "BatchLongest":
        if not isinstance(strategy.value, dict) or list(strategy.value) != ["Fixed"]:
            strategy.fail('must be "BatchLongest" or {"Fixed": length}')
        length = _count(strategy["Fixed"])
    multiple = part.get("pad_to_multiple_of")
    return Padding(
        length,
        _named(part["direction"], _DIRECTIONS),
        _count(part["pad_id"], 1 << 32),
        _count(part["pad_type_id"], 1 << 32),
        part["pad_token"].text(),
        None if multiple is None else _count(multiple),
    )


def truncation_part(truncation: Truncation) -> dict[str, Any]:
    """Return a truncation as in a file."""
    return {
        "direction": _written(truncation.direction, _DIRECTIONS),
        "max_length": truncation.max_length,
        "strategy": _written(truncation.strategy, _STRATEGIES),
        "stride": truncation.stride,
    }


def padding_part(padding: Padding) -> dict[str, Any]:
    """Return a padding as in a file."""
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": _written(padding.direction, _DIRECTIONS),
        "pad_to_multiple_of": padding.pad_to_multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.pad_type_id,
        "pad_token": padding.pad_token,
    }


def _count(part: Json, end: int = 1 << 64) -> int:
    number = part.number()
    if not 0 <= number < end:
        part.fail(f"{number} is not from 0 to {end - 1}")
    return number


def _named(part: Json, names: Mapping[str, str]) -> str:
    if part.text() not in names:
        part.fail(f"must be one of {', '.join(names)}, not {part.text()!r}")
    return names[part.text()]


def _written(name: str, names: Mapping[str, str]) -> str:
    return next(written for written, known in names.items() if known == name)
