"""The ids of a text, with errors as those of the command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager

from .. import Encoding
from ..encodings.tokenizer import Tokenizer
from ..fit.stream import encode_iter
from .output import CommandError


@contextmanager
def errors_of(encoding: Encoding, name: str) -> Iterator[None]:
    """Raise ``CommandError`` where there is no token for a part of a text.

    Args:
        encoding: the encoding.
        name: the name of the text in messages.
    """
    try:
        yield
    except ValueError as error:
        raise CommandError(f"{name}: {encoding.name}: {error}") from None


def encoded(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[int]:
    """Yield the ids of a text that comes in pieces, each as soon as it is certain.

    Args:
        encoding: the encoding.
        pieces: the text without surrogates, cut anywhere.
        allowed: the names of special tokens that are tokens in it.
        name: the name of the text in messages.

    Raises:
        CommandError: the vocabulary has no token for a part of the text; or raised by the pieces.
    """
    with errors_of(encoding, name):
        yield from encode_iter(encoding, pieces, allowed_special=allowed, disallowed_special=())


def with_special_tokens(encoding: Encoding, text: str, allowed: Set[str], name: str) -> list[int]:
    """Return the ids of a text, with those that the tokenizer adds at its beginning and end.

    Args:
        encoding, allowed, name: as in ``encoded``.
        text: the text.

    Raises:
        CommandError: as in ``encoded``; or the encoding has no rule for what is added.
    """
    if not isinstance(encoding, Tokenizer):
        raise CommandError(f"{encoding.name} has no tokens that are added to every text")
    with errors_of(encoding, name):
        return encoding.encode(
            text, allowed_special=allowed, disallowed_special=(), add_special_tokens=True
        )
