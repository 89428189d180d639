"""Cutting text at cut points of an encoding; apart from ``stream``, since counting needs no more.

The text arrives in pieces, cut anywhere. The text so far is encoded up to its last *cut point*,
where the ids of both sides are those of the whole (``Core.next_cut_point``). The text after it is
held back. Text after a cut point is encoded as text that continues (``continued``). Most texts have
a cut point every few words. If there is none, as in a million letters, or with a pattern that looks
back, all text is held until there is one.

``TextEncoder`` is the protocol of encodings, which are defined in a layer above.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import AnyStr, Protocol

from ..unicode.surrogates import not_a_text
from .core import Core
from .special_tokens import AllowedSpecial, DisallowedSpecial


class TextEncoder(Protocol):
    """The part of ``Encoding`` that cutting and fitting need; see there for each method."""

    name: str

    @property
    def core(self) -> Core: ...

    @property
    def continued(self) -> TextEncoder: ...

    @property
    def special_tokens_set(self) -> set[str]: ...

    def count(self, text: str) -> int: ...

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = ...,
        disallowed_special: DisallowedSpecial = ...,
    ) -> list[int]: ...

    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...

    def with_special(self, names: Set[str]) -> TextEncoder: ...


def check_encoding(encoding: object) -> None:
    """Raise ``TypeError`` if an encoding is a name: encodings by name are in a layer above.

    >>> check_encoding("gpt2")
    Traceback (most recent call last):
    TypeError: encoding must be an Encoding, not the name 'gpt2'; get_encoding or load returns it
    """
    if isinstance(encoding, (str, os.PathLike)):
        kind = "name" if isinstance(encoding, str) else "path"
        named = encoding if isinstance(encoding, str) else os.fspath(encoding)
        raise TypeError(
            f"encoding must be an Encoding, not the {kind} {named!r:.80}; "
            "get_encoding or load returns it"
        )


#: The number of characters without a cut point after which finer cut points are searched.
LONG = 1024
#: The number of characters at the end that are searched first for a cut point.
_WINDOW = 16


def last_cut_point(
    encoding: TextEncoder,
    text: str,
    end: int,
    *,
    names: frozenset[str] = frozenset(),
    fine: bool = False,
    whole_chunks: bool = False,
) -> int:
    """Return the last cut point before ``end`` in a text, or 0 if there is none.

    Args:
        encoding: the encoding that defines the cut points.
        text: any string.
        end: an offset in the text.
        names, fine, whole_chunks: as in ``Core.next_cut_point``.

    >>> from compat_bpe import get_encoding
    >>> last_cut_point(get_encoding("gpt2"), "one two three", 12)
    7
    """
    next_cut_point = partial(
        encoding.core.next_cut_point, names=names, fine=fine, whole_chunks=whole_chunks
    )
    # Search windows from the end backwards, each larger than the one before.
    start, width = end, _WINDOW
    while start:
        start = max(0, start - width)
        cut = next_cut_point(text, start, end)
        if cut is not None:
            following: int | None = cut
            while following is not None:
                cut = following
                following = next_cut_point(text, cut, end)
            return cut
        # Cut points are found after `start` and before `end`, so the windows overlap.
        end = start + 1
        width *= 2
    return 0


class Cutter:
    """A cutter of text that arrives in pieces, into parts that can be encoded one by one.

    After each part, ``cutter.encoding`` is the encoding for it: the first part begins the text, and
    the others continue it.

    Args:
        encoding: the encoding to use.
        names: special tokens that must not be cut.
        whole_chunks: cut no chunk in two, not even where that makes no difference to the ids.
        whole_text: hold back all text until it is finished.
    """

    def __init__(
        self,
        encoding: TextEncoder,
        names: frozenset[str],
        *,
        whole_chunks: bool = False,
        whole_text: bool = False,
    ) -> None:
        self._whole_chunks = whole_chunks
        self._whole_text = whole_text
        self._encoding = encoding
        self._names = names
        #: The encoding of the part that was returned last.
        self.encoding = self._next_encoding = encoding
        #: The pieces since the last cut point, and their length.
        self._held: list[str] = []
        self._length = 0

    def feed(self, text: str) -> str:
        """Return the text held back and this piece, up to the last cut point.

        The result is empty if there is no cut point; then all text is held back.
        """
        if not isinstance(text, str):
            raise not_a_text(text)
        if not text:
            return ""
        # Two characters decide whether there is a cut point, so only the last one held matters.
        last = self._held[-1][-1] if self._held else ""
        cut = self._last_cut(last + text, fine=False)
        if not cut and self._length + len(text) > LONG:
            cut = self._last_cut(last + text, fine=True)
        if not cut:
            self._held.append(text)
            self._length += len(text)
            return ""
        cut -= len(last)
        self.encoding, self._next_encoding = self._next_encoding, self._encoding.continued
        certain = "".join([*self._held, text[:cut]])
        self._held = [text[cut:]]
        self._length = len(text) - cut
        return certain

    def finish(self) -> str:
        """Return the text held back, and reset the cutter."""
        self.encoding, self._next_encoding = self._next_encoding, self._encoding
        rest = "".join(self._held)
        self._held = []
        self._length = 0
        return rest

    def _last_cut(self, text: str, *, fine: bool) -> int:
        if self._whole_text:
            return 0
        return last_cut_point(
            self._encoding,
            text,
            len(text),
            names=self._names,
            fine=fine,
            whole_chunks=self._whole_chunks,
        )


#: The number of characters or bytes taken at a time: enough to be as fast as with the whole text.
PORTION = 1 << 16


def portions(piece: AnyStr) -> Iterator[AnyStr]:
    """Yield a piece in parts of a bounded length, so that memory is bounded for every input."""
    for start in range(0, len(piece), PORTION):
        yield piece[start : start + PORTION]
