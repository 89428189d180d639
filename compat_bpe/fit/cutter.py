"""Cutting of text that arrives in pieces, at cut points."""

from __future__ import annotations

from .last_cut_point import last_cut_point
from .text_encoder import TextEncoder

#: The number of characters without a cut point after which finer cut points are looked for.
_LONG = 1024


class Cutter:
    """A cutter of text that arrives in pieces, into parts that can be encoded one by one.

    Each part is to be encoded by ``encoding``, which then is the encoding of that part.

    Args:
        encoding: the encoding to use.
        names: special tokens that must not be cut.
        whole_chunks: cut no chunk in two, not even where that makes no difference to the ids.
        whole_text: cut nothing: all text is held back until it is finished.
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
        #: The encoding of the part that was returned last: it begins the text, or goes on.
        self.encoding = self._next_encoding = encoding
        #: The pieces since the last cut point, and their length.
        self._held: list[str] = []
        self._length = 0

    def feed(self, text: str) -> str:
        """Return the text held back and this piece, up to the last cut point.

        The result is empty if there is no cut point; then all text is held back.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        if not text:
            return ""
        # Two characters decide whether there is a cut point, so only the last one held matters.
        last = self._held[-1][-1] if self._held else ""
        cut = self._last_cut(last + text, fine=False)
        if not cut and self._length + len(text) > _LONG:
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
