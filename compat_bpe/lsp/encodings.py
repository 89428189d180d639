"""The encodings that a session uses, by name, by model, and from files."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..encodings.encoding import Encoding
from ..encodings.local_stores import STORES
from ..encodings.registry import encoding_of
from ..encodings.resolve import Answer, Terms, UnresolvedError, resolve
from .rpc import RpcError, invalid
from .settings import Choice

#: How settings and requests write what they tell their users to give.
TERMS = Terms('"model": "{}"', '"encoding": "{}"', '"path": "{}"')


class Loaded(NamedTuple):
    """What a choice means, and the encoding of that."""

    answer: Answer
    encoding: Encoding


class Encodings:
    """Encodings, each loaded when it is first asked for.

    Args:
        root: the folder that relative paths count from.
    """

    def __init__(self, root: str = "") -> None:
        self._root = root
        self._loaded: dict[Choice, Loaded | RpcError] = {}

    def get(self, choice: Choice) -> Loaded:
        """Return what a choice means, and its encoding.

        Raises:
            RpcError: it is not known, or cannot be loaded. A file that cannot be loaded is
                remembered until ``forget``; there may be many names that are wrong.
        """
        loaded = self._loaded.get(choice)
        if loaded is None:
            answer = self.answer(choice)
            try:
                loaded = Loaded(answer, encoding_of(answer))
            except (OSError, ValueError) as error:
                loaded = invalid(choice.kind, reason_of(error, choice))
            self._loaded[choice] = loaded
        if isinstance(loaded, RpcError):
            raise RpcError(loaded.code, loaded.message)
        return loaded

    def check(self, choice: Choice) -> None:
        """Raise the error of ``get`` if an encoding cannot be had; load it only from a file.

        Raises:
            RpcError: as in ``get``.
        """
        if self.answer(choice).path is not None:
            self.get(choice)

    def answer(self, choice: Choice) -> Answer:
        """Return what a choice means; a path counts from the root.

        Raises:
            RpcError: it leads to nothing.
        """
        files = choice.kind != "encoding"
        try:
            answer = resolve(choice.name, choice.kind, files=files, estimate=True)
        except UnresolvedError as error:
            raise invalid(choice.kind, error.message(TERMS)) from None
        path = answer.path
        if path is None or path.startswith(STORES):
            return answer
        return answer._replace(path=os.path.join(self._root, os.path.expanduser(path)))

    def forget(self) -> None:
        """Forget what may be loaded from files, so that it is loaded again."""
        self._loaded = {
            choice: one for choice, one in self._loaded.items() if choice.kind == "encoding"
        }


def reason_of(error: Exception, choice: Choice) -> str:
    """Return why an encoding cannot be had, as a sentence for people.

    >>> reason_of(FileNotFoundError(2, "No such file"), Choice("path", "vocab.txt"))
    'vocab.txt: No such file'
    """
    if isinstance(error, UnresolvedError):
        return error.message(TERMS)
    if isinstance(error, OSError) and error.strerror:
        return f"{choice.name}: {error.strerror}"
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
