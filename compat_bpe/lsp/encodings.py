"""The encodings that a session uses, by name, by model, and from files."""

from __future__ import annotations

import os

from ..encodings.encoding import Encoding
from ..encodings.load import load
from ..encodings.model_names import encoding_name_for_model
from ..encodings.registry import BASELINES, get_encoding, list_encoding_names
from .errors import RpcError, invalid
from .settings import Choice


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
            try:
                encoding = self._load(choice)
            except (OSError, ValueError, KeyError) as error:
                encoding = invalid(choice.kind, _reason(error, choice))
            if choice.kind == "path" or isinstance(encoding, Encoding):
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
        name = choice.name
        if choice.kind == "model":
            try:
                name = encoding_name_for_model(name)
            except KeyError as error:
                raise invalid(choice.kind, _reason(error, choice)) from None
        if choice.kind == "path" or name not in (*list_encoding_names(), *BASELINES):
            self.get(choice)

    def place(self, choice: Choice) -> str:
        """Return the name of an encoding, or the path of a file where it is."""
        if choice.kind == "path":
            return os.path.join(self._root, os.path.expanduser(choice.name))
        return choice.name

    def forget(self) -> None:
        """Forget what is loaded from files, so that it is loaded again."""
        self._loaded = {
            choice: one for choice, one in self._loaded.items() if choice.kind != "path"
        }

    def _load(self, choice: Choice) -> Encoding:
        if choice.kind == "path":
            return load(self.place(choice))
        if choice.kind == "model":
            return get_encoding(encoding_name_for_model(choice.name))
        return get_encoding(choice.name)


def _reason(error: Exception, choice: Choice) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{choice.name}: {error.strerror}"
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
