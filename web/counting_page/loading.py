"""The encodings of the page: those that ship, each with its pack fetched, and dropped files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import compat_bpe
from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.published import DEEPSEEK


def pack_of(name: str) -> str:
    """Return the name of the pack that a shipped encoding needs.

    Raises:
        ValueError: there is no such encoding.

    >>> pack_of("gpt2"), pack_of("deepseek_r1")
    ('r50k_base', 'deepseek')
    """
    from compat_bpe.encodings.published import PUBLISHED

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
    """The encodings that the page can count by."""

    def __init__(self) -> None:
        self._dropped: dict[str, Encoding] = {}

    def get(self, key: str) -> Encoding:
        """Return an encoding: a dropped one by its key, else one that ships.

        Raises:
            OSError: its pack was not fetched.
            ValueError: there is no such encoding.
        """
        dropped = self._dropped.get(key)
        return get_encoding(key) if dropped is None else dropped

    def load(self, folder: Path, pattern: str | None) -> str:
        """Load an encoding from files, and return its key.

        Args:
            folder: a folder with the files and nothing else.
            pattern: the pattern of a rank file, or the name of one.

        Raises:
            ValueError: they are no vocabulary, or a damaged one; or one of them was removed.
        """
        names = sorted(os.listdir(folder))
        path = folder / names[0] if len(names) == 1 else folder
        try:
            encoding = compat_bpe.load(path, pattern=pattern, name=names[0])
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            reason = "cannot be read: was it changed or removed after it was chosen?"
            raise ValueError(f"{', '.join(names)}: {reason}") from None
        except ValueError as error:
            raise ValueError(str(error).replace(f"{folder}{os.sep}", "")) from None
        key = f"file:{len(self._dropped) + 1}"
        self._dropped[key] = encoding
        return key
