"""The last cut point before an offset."""

from __future__ import annotations

from functools import partial

from .text_encoder import TextEncoder

#: The number of characters at the end in which a cut point is looked for first.
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
