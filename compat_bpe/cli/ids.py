"""The ids of a text, with errors as those of the command, and as it writes them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import NamedTuple

from .. import Encoding
from ..encodings.tokenizer import Tokenizer
from ..fit.stream import StreamEncoder, portions
from ..pipeline.core import is_byte_level, joins_to_text
from ..unicode.text import split_escaped
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
    r"""Yield the ids of a text that comes in pieces, each as soon as it is certain.

    Args:
        encoding: the encoding.
        pieces: the text, cut anywhere; bytes in it that are not UTF-8 are as Python's
            ``"surrogateescape"`` has them.
        allowed: the names of special tokens that are tokens in it.
        name: the name of the text in messages.

    Raises:
        CommandError: the vocabulary has no token for a part of the text; or raised by the pieces.

    >>> from compat_bpe import get_encoding
    >>> enc = get_encoding("gpt2")
    >>> ids = list(encoded(enc, ["caf\udce9 au"], frozenset(), "x"))
    >>> [enc.decode_single_token_bytes(token) for token in ids]
    [b'c', b'af', b'\xe9', b' au']
    """
    for ids, _ in encoded_parts(encoding, pieces, allowed, name):
        yield from ids


def encoded_parts(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[tuple[Sequence[int], bytes]]:
    """Yield the ids of ``encoded`` in lists; beside each are the bytes that it stands for.

    These are empty but for a list that stands for bytes that are not UTF-8, for which there would
    be one U+FFFD. They are encoded as they are, each such part as a chunk, and text goes on after
    them. A vocabulary that does not merge bytes has no tokens for them: it encodes a U+FFFD.
    """
    merges_bytes = is_byte_level(encoding.core) and joins_to_text(encoding.core)
    with errors_of(encoding, name):
        encoder = StreamEncoder(encoding, allowed_special=allowed, disallowed_special=())
        following: StreamEncoder | None = None
        for piece in pieces:
            for text, data in split_escaped(piece):
                for portion in portions(text):
                    yield encoder.feed(portion), b""
                if data and merges_bytes:
                    yield encoder.finish(), b""
                    yield encoding.core.encode_single_piece(data), data
                    following = following or StreamEncoder(
                        encoding.continued, allowed_special=allowed, disallowed_special=()
                    )
                    encoder = following
                elif data:
                    yield encoder.feed("\ufffd"), b""
        yield encoder.finish(), b""


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


class IdLayout(NamedTuple):
    """A layout of ids: the text before, between and after them, if there are any."""

    before: str = ""
    between: str = " "
    after: str = "\n"
    #: The text if there are none.
    nothing: str = ""
    #: True for ids as bytes, little-endian uint32, without any text.
    is_packed: bool = False

    def write(self, ids: Sequence[int]) -> bytes:
        """Return some ids as bytes, without what is before and after them."""
        if not self.is_packed:
            return self.between.join(map(str, ids)).encode()
        packed = array("I", ids)
        if sys.byteorder == "big":
            packed.byteswap()
        return packed.tobytes()

    def joined(self, portions: Iterable[bytes]) -> Iterator[bytes]:
        """Yield portions of ids as ``write`` returns them, with what is around them.

        Empty portions are left out.

        >>> list(IdLayout("[", ", ", "]").joined([b"1, 2", b"", b"3"]))
        [b'[1, 2', b', 3', b']']
        """
        before, between, after = (
            ("", "", "") if self.is_packed else (self.before, self.between, self.after)
        )
        is_first = True
        for portion in portions:
            if portion:
                yield (before if is_first else between).encode() + portion
                is_first = False
        yield (self.nothing if is_first else after).encode()


LAYOUTS = {
    "spaces": IdLayout(),
    "lines": IdLayout(between="\n"),
    "json": IdLayout("[", ", ", "]\n", "[]\n"),
    "packed": IdLayout(is_packed=True),
}
