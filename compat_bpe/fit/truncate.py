"""Truncation of a text: its beginning, its end, or both with a marker between them are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Callable, Literal, get_args

from ..pipeline.cutter import TextEncoder, last_cut_point
from .boundary import Boundary, first_cut, rule_of, with_finer
from .longest_part import fits, longest_prefix, longest_suffix

#: The part of a text that is kept.
Keep = Literal["head", "tail", "ends"]
KEEPS: tuple[Keep, ...] = get_args(Keep)

#: The default marker between two ends.
_ELLIPSIS = "…"

#: The first search for a cut covers this many characters per token, and this many further ones. A
#: part with a marker may be shorter than the longest by up to the number of further ones.
_SOON, _MORE = 4, 256


@dataclass(frozen=True)
class Truncated:
    """A text that was cut to fit, or did not have to be.

    Args:
        text: the kept parts, with the marker if something was cut.
        count: the number of its tokens.
        kept: the kept parts as slices of the original: none, one or two pairs of start and end.
        was_cut: True if anything is missing.
    """

    text: str
    count: int
    kept: tuple[tuple[int, int], ...]
    was_cut: bool


def truncate(
    encoding: TextEncoder,
    text: str,
    limit: int,
    *,
    keep: Keep = "head",
    boundary: Boundary = "char",
    marker: str | None = None,
) -> Truncated:
    """Return as much of a text as fits in ``limit`` tokens; see ``Encoding.truncate``.

    >>> from compat_bpe import get_encoding
    >>> truncate(get_encoding("gpt2"), "one two three four five", 3, keep="ends").text
    'one … five'
    """
    if keep not in KEEPS:
        raise ValueError(f"unknown keep {keep!r}; known: {', '.join(KEEPS)}")
    return truncate_at(encoding, text, limit, keep, with_finer(boundary), marker)


def truncate_at(
    encoding: TextEncoder,
    text: str,
    limit: int,
    keep: Keep,
    boundaries: Sequence[Boundary],
    marker: str | None,
) -> Truncated:
    """Return as much of a text as fits, each end cut at the first boundary that leaves enough.

    Args:
        encoding, text, limit, keep, marker: as in ``truncate``.
        boundaries: the boundaries to try. A later one is used only if those before leave nothing
            but white space.
    """
    if fits(encoding, text, limit):
        return _result(encoding, text, len(text), "", len(text))
    shown = _default_marker(text, keep, boundaries[0]) if marker is None else marker
    if not fits(encoding, shown, limit):
        marker = shown = ""
    end, begin = 0, len(text)
    if keep != "tail":
        share = limit if keep == "head" else (limit + encoding.count(shown) + 1) // 2
        head = cache(partial(_end_of_head, encoding, text, share, shown))
        for boundary in boundaries:
            if _is_in_vain(text, boundary, 0, len(text), share, partial(head, "char")):
                continue
            place = head(boundary)
            # White space alone is too little. Blank lines are lines, if there is another end.
            is_enough = not _is_blank(text[:place]) or (boundary == "line" and keep == "ends")
            if not end or is_enough:
                end = place
            if end and is_enough:
                break
    if keep != "head":
        after = None if keep == "tail" else end
        tail = cache(partial(_begin_of_tail, encoding, text, limit, after))
        for boundary in boundaries:
            # The default is a line of its own only where a line follows it.
            tried = _default_marker(text, keep, boundary) if marker is None else marker
            finest = partial(tail, tried, "char")
            if _is_in_vain(text, boundary, len(text), end, limit, finest):
                continue
            found = tail(tried, boundary)
            if found is None or found == len(text):
                continue
            is_enough = not _is_blank(text[found:])
            is_enough = is_enough or (boundary == "line" and not _is_blank(text[:end]))
            if begin == len(text) or is_enough:
                begin, shown = found, tried
            if is_enough:
                break
    return _result(encoding, text, end, shown, begin)


def _is_in_vain(
    text: str,
    boundary: Boundary,
    near: int,
    far: int,
    limit: int,
    finest: Callable[[], int | None],
) -> bool:
    """Return True if a search for a part will find no cut at a boundary.

    No part reaches farther than a part that may be cut anywhere. In a text without places for cuts,
    a search tries many parts, and takes several times as long as a search that finds a cut.

    Args:
        text, boundary: the text and the boundary.
        near, far: the end of the text at which the part begins, and the other end.
        limit: the most tokens of the part.
        finest: finds the end of a part that may be cut anywhere.
    """
    if boundary == "char":
        return False
    may_cut = rule_of(boundary)
    step = 1 if near < far else -1
    soon = near + step * min(abs(far - near), _SOON * limit + _MORE)
    if any(may_cut(text, place) for place in range(near + step, soon, step)):
        return False
    end = finest()
    last = near if end is None else end + step * _MORE
    last = min(last, far) if step > 0 else max(last, far)
    return not any(may_cut(text, place) for place in range(soon, last, step))


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _end_of_head(
    encoding: TextEncoder, text: str, limit: int, marker: str, boundary: Boundary
) -> int:
    """Return the end of the longest head that fits with a marker, which alone fits."""
    end = longest_prefix(encoding, text, limit, boundary=boundary, trail=marker)
    if end == len(text):  # the text and the marker, joined, have fewer tokens than the text
        rest = text[: _last_cut(text, boundary)]
        end = longest_prefix(encoding, rest, limit, boundary=boundary, trail=marker)
    assert end is not None
    return end


def _begin_of_tail(
    encoding: TextEncoder,
    text: str,
    limit: int,
    head: int | None,
    marker: str,
    boundary: Boundary,
) -> int | None:
    """Return the beginning of the longest tail that fits; None if not even the text before it does.

    Args:
        encoding, text, limit: as above.
        head: the end of the head that is before the marker; None for a tail alone.
        marker, boundary: as above.
    """
    if head is None:
        begin = longest_suffix(encoding, text, limit, boundary=boundary, lead=marker)
        if begin == 0:  # as above
            first = first_cut(text, boundary, 0, len(text))
            begin = longest_suffix(
                encoding, text, limit, boundary=boundary, lead=marker, start=first
            )
        return begin
    cut = last_cut_point(encoding, text, head)
    return longest_suffix(
        encoding.continued if cut else encoding,
        text,
        limit - encoding.count(text[:cut]),
        boundary=boundary,
        lead=text[cut:head] + marker,
        start=head + 1,
    )


def _last_cut(text: str, boundary: Boundary) -> int:
    """Return the last place within a text at which it may be cut; 0 if there is none."""
    may_cut = rule_of(boundary)
    return next((place for place in range(len(text) - 1, 0, -1) if may_cut(text, place)), 0)


def _default_marker(text: str, keep: Keep, boundary: Boundary) -> str:
    """Return the default marker; between lines it is a line with the line end of the first line."""
    if keep != "ends":
        return ""
    if boundary != "line":
        return _ELLIPSIS
    end = text.find("\n")
    return _ELLIPSIS + ("\r\n" if text[max(end - 1, 0) : end + 1] == "\r\n" else "\n")


def _result(encoding: TextEncoder, text: str, end: int, marker: str, begin: int) -> Truncated:
    """Return the text with a marker in place of ``text[end:begin]``."""
    left = text[:end] + marker + text[begin:]
    kept = tuple(part for part in ((0, end), (begin, len(text))) if part[0] < part[1])
    return Truncated(left, encoding.count(left), kept, end < begin)
