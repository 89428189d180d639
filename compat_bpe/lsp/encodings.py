"""The encodings that a session uses, by name, by model, and from files."""

from __future__ import annotations

import os

from ..encodings.encoding import Encoding
from ..encodings.recognise import STORES
from ..encodings.registry import encoding_of
from ..encodings.resolve import Answer, Terms, UnresolvedError, resolve
from .errors import RpcError, invalid
from .settings import Choice

#: How settings and requests write what they tell their users to give.
TERMS = Terms('"model": "{}"', '"encoding": "{}"', '"path": "{}"')


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
                encoding = encoding_of(self.answer(choice))
            except RpcError as error:
                # Names that are wrong are cheap to find out, and there may be many of them.
                raise error
            except (OSError, ValueError) as error:
                encoding = invalid(choice.kind, reason_of(error, choice))
            self._loaded[choice] = encoding
        if isinstance(encoding, RpcError):
            raise RpcError(encoding.code, encoding.message)
        return encoding

    def check(self, choice: Choice) -> None:
        """Raise the error of ``get`` if an encoding cannot be had; load it only from a file.

        Raises:
            RpcError: as in ``get``.
        """
        if self.answer(choice).path is not None:
            self.get(choice)

    def answer(self, choice: Choice, *, estimate: bool = False) -> Answer:
        """Return what a choice means; a path counts from the root.

        Args:
            choice: the choice.
            estimate: True if tokens may be estimated.

        Raises:
            RpcError: it leads to nothing.
        """
        files = choice.kind != "encoding"
        try:
            answer = resolve(choice.name, choice.kind, files=files, estimate=estimate)
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
