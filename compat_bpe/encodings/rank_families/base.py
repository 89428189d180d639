"""What is known of a family of models whose vocabulary is a rank file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Callable, NamedTuple

from ...formats.settings_beside import Settings


def fits_always(settings: Settings) -> bool:
    """Return True: the name of the class says enough."""
    return True


class RankFamily(NamedTuple):
    """A family of models whose vocabulary is a rank file.

    Args:
        name: its name, and that of its pattern in ``PATTERNS``.
        special_tokens: returns the special tokens and their ids, given the number of ranks and the
            settings beside the file.
        classes: the names of its class in ``tokenizer_config.json``.
        sha256: the hashes of published files that no other family has.
        fits: returns True if the settings are of this family, for the name of a class that other
            models have, too.
        is_nfc: True if text is brought into NFC first.
        by_line: True if a token's rank is its place in the file, not the number beside it.
    """

    name: str
    special_tokens: Callable[[int, Settings], Mapping[str, int]]
    classes: tuple[str, ...] = ()
    sha256: frozenset[str] = frozenset()
    fits: Callable[[Settings], bool] = fits_always
    is_nfc: bool = False
    by_line: bool = False


def numbered(names: list[str], start: int) -> dict[str, int]:
    """Return names with ids from ``start`` on.

    >>> numbered(["<a>", "<b>"], 256)
    {'<a>': 256, '<b>': 257}
    """
    return {name: id_ for id_, name in enumerate(names, start)}


def listed(settings: Settings) -> dict[int, str]:
    """Return the names in ``added_tokens_decoder`` by their ids; none if there is no such list.

    Raises:
        ValueError: the list is damaged.
    """
    return {token["id"]: token["content"] for token in settings.listed()}
