"""The encodings of the page: those that ship, each with its pack fetched, and dropped files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import compat_bpe
from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.registry import DEEPSEEK


def pack_of(name: str) -> str:
    """Return the name of the pack that a shipped encoding needs.

    Raises:
        ValueError: there is no such encoding.

    >>> pack_of("gpt2"), pack_of("deepseek_r1")
    ('r50k_base', 'deepseek')
    """
    from compat_bpe.encodings.openai import PUBLISHED

    if name in DEEPSEEK:
        return "deepseek"
    if name not in PUBLISHED:
        raise ValueError(f"no encoding {name!r} ships")
    return PUBLISHED[name].pack


def packs() -> dict[str, str]:
    """Return the name of each shipped encoding, and that of its pack.

    >>> packs()["o200k_harmony"]
    'o200k_base'
    """
    return {name: pack_of(name) for name in compat_bpe.list_encoding_names()}


class Encodings:
    """The encodings that the page can count by.

    Args:
        folder: a folder for the files of dropped encodings.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._dropped: dict[str, Encoding] = {}

    def get(self, key: str) -> Encoding:
        """Return an encoding: a dropped one by its key, else one that ships.

        Raises:
            OSError: its pack was not fetched.
            ValueError: there is no such encoding.
        """
        dropped = self._dropped.get(key)
        return get_encoding(key) if dropped is None else dropped

    def load(self, files: Mapping[str, bytes], pattern: str | None) -> str:
        """Load an encoding from files, and return its key.

        Args:
            files: the names and contents of the files; they lie in one folder.
            pattern: the pattern of a rank file, or the name of one.

        Raises:
            ValueError: they are no vocabulary, or a damaged one.
        """
        key = f"file:{len(self._dropped) + 1}"
        folder = self._folder / key.replace(":", "-")
        # Files that could not be loaded before must not go with these.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # A name may have folders in it, which are left out.
        named = {name.replace("\\", "/").rpartition("/")[2]: data for name, data in files.items()}
        for name, data in named.items():
            (folder / name).write_bytes(data)
        names = list(named)
        path = folder / names[0] if len(names) == 1 else folder
        try:
            self._dropped[key] = compat_bpe.load(path, pattern=pattern, name=names[0])
        except ValueError as error:
            raise ValueError(str(error).replace(f"{folder}{os.sep}", "")) from None
        return key
