"""The encodings that a session uses, by name, by model, and from files."""

from __future__ import annotations

import os

from ..encodings.encoding import Encoding
from ..encodings.load import load
from ..encodings.local_stores import stored_encoding
from ..encodings.model_names import encoding_name_for_model
from ..encodings.recognise import STORES
from ..encodings.registry import BASELINES, get_encoding, list_encoding_names
from .errors import RpcError, invalid
from .settings import Choice

#: Words in messages of the library, and those for the same in settings.
_IN_SETTINGS = (
    (" to -e or load", ' as "path"'),
    ("get_encoding takes", '"encoding" takes'),
    ("load takes", '"path" takes'),
)


class Encodings:
    """Encodings, each loaded when it is first asked for.

    Args:
        root: the folder that relative paths count from.
    """

    def __init__(self, root: str = "") -> None:
        self._root = root
        self._loaded: dict[Choice, Encoding | RpcError] = {}

    def get(self, choice: Choice) -> Encoding:
        """Return an encoding.

        Raises:
            RpcError: it is not known, or cannot be loaded. That is remembered until ``forget``.
        """
        encoding = self._loaded.get(choice)
        if encoding is None:
            used = self.used(choice)
            try:
                encoding = self._load(used)
            except (OSError, ValueError, KeyError) as error:
                encoding = invalid(choice.kind, reason_of(error, choice))
            if used.kind == "path" or isinstance(encoding, Encoding):
                # Names that are wrong are cheap to find out, and there may be many of them.
                self._loaded[choice] = encoding
        if isinstance(encoding, RpcError):
            raise RpcError(encoding.code, encoding.message)
        return encoding

    def check(self, choice: Choice) -> None:
        """Raise the error of ``get`` if an encoding cannot be had; load it only from a file.

        Raises:
            RpcError: as in ``get``.
        """
        used = self.used(choice)
        name = used.name
        if used.kind == "model":
            try:
                name = encoding_name_for_model(name)
            except KeyError as error:
                raise invalid(choice.kind, reason_of(error, choice)) from None
        if used.kind == "path" or name not in (*list_encoding_names(), *BASELINES):
            self.get(choice)

    def used(self, choice: Choice) -> Choice:
        """Return a choice as it is used: of a model in Hugging Face's cache, its files."""
        stored = stored_encoding(choice.name) if choice.kind == "model" else None
        return choice if stored is None else Choice("path", stored)

    def place(self, choice: Choice) -> str:
        """Return the name of an encoding, or what ``load`` takes for a file."""
        if choice.kind == "path" and not choice.name.startswith(STORES):
            return os.path.join(self._root, os.path.expanduser(choice.name))
        return choice.name

    def forget(self) -> None:
        """Forget what may be loaded from files, so that it is loaded again."""
        self._loaded = {
            choice: one for choice, one in self._loaded.items() if choice.kind == "encoding"
        }

    def _load(self, choice: Choice) -> Encoding:
        if choice.kind == "path":
            return load(self.place(choice))
        if choice.kind == "model":
            return get_encoding(encoding_name_for_model(choice.name))
        return get_encoding(choice.name)


def reason_of(error: Exception, choice: Choice) -> str:
    """Return why an encoding cannot be had, as a sentence for people.

    >>> reason_of(FileNotFoundError(2, "No such file"), Choice("path", "vocab.txt"))
    'vocab.txt: No such file'
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{choice.name}: {error.strerror}"
    reason = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    # The library's message names what its callers use; users of an editor have settings.
    for of_library, of_settings in _IN_SETTINGS:
        reason = reason.replace(of_library, of_settings)
    return reason
