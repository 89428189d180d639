"""The stages of CI, as ``stages.ini`` lists them, which says what each part of a stage means."""

from __future__ import annotations

from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path
from typing import Any, NamedTuple


class Stage(NamedTuple):
    """A stage; ``folders`` is empty if every change needs it, None if only ``all`` runs it."""

    name: str
    does: str
    command: str
    seconds: int
    fetch: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("install",)
    cores: float = 1
    folders: tuple[str, ...] | None = ()
    instead_of: str = ""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _folders(text: str) -> tuple[str, ...] | None:
    return None if text == "none" else _words(text)


#: What the texts of the file become where they do not stay texts.
_TYPES: dict[str, Callable[[str], Any]] = {
    "seconds": int,
    "cores": float,
    "fetch": _words,
    "needs": _words,
    "folders": _folders,
}

_LISTED = ConfigParser(interpolation=None)
_LISTED.read_string(Path(__file__).with_suffix(".ini").read_text("utf-8"))

STAGES = tuple(
    Stage(name, **{key: _TYPES.get(key, str)(text) for key, text in _LISTED[name].items()})
    for name in _LISTED.sections()
)
