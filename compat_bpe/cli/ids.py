"""The ids of a text, with errors as those of the command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from .. import Encoding
from ..encodings.tokenizer import Tokenizer
from ..fit.stream import encode_iter
from .output import CommandError


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
    try:
        yield from encode_iter(encoding, pieces, allowed_special=allowed, disallowed_special=())
    except ValueError as error:
        raise CommandError(f"{name}: {encoding.name}: {error}") from None


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
    try:
        return encoding.encode(
            text, allowed_special=allowed, disallowed_special=(), add_special_tokens=True
        )
    except ValueError as error:
        raise CommandError(f"{name}: {encoding.name}: {error}") from None
