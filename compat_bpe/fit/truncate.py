"""Truncation of a text: its beginning, its end, or both with a marker between them are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .boundary import Boundary, rule_of
from .last_cut_point import last_cut_point
from .longest_part import fits, longest_prefix, longest_suffix
from .text_encoder import TextEncoder

#: The part of a text that is kept.
Keep = Literal["head", "tail", "ends"]
KEEPS: tuple[Keep, ...] = get_args(Keep)

#: The default marker between two ends.
_ELLIPSIS = "…"


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
    """Return the most of a text that fits in ``limit`` tokens; see ``Encoding.truncate``.

    >>> from compat_bpe import get_encoding
    >>> truncate(get_encoding("gpt2"), "one two three four five", 3, keep="ends").text
    'one … five'
    """
    if keep not in KEEPS:
        raise ValueError(f"unknown keep {keep!r}; known: {', '.join(KEEPS)}")
    rule_of(boundary)
    if fits(encoding, text, limit):
        return _result(encoding, text, len(text), "", len(text))
    if marker is None:
        marker = _marker_between_ends(text, boundary) if keep == "ends" else ""
    if not fits(encoding, marker, limit):
        marker = ""
    end: int | None = 0
    begin: int | None = len(text)
    if keep != "tail":
        share = limit if keep == "head" else (limit + encoding.count(marker) + 1) // 2
        end = longest_prefix(encoding, text, share, boundary=boundary, trail=marker)
        if end == len(text):  # the text and the marker, joined, have fewer tokens than the text
            rest = text[: _last_cut(text, boundary)]
            end = longest_prefix(encoding, rest, share, boundary=boundary, trail=marker)
    # The marker alone fits, so a place is always found.
    assert end is not None
    if keep == "tail":
        begin = longest_suffix(encoding, text, limit, boundary=boundary, lead=marker)
        if begin == 0:
            first = _first_cut(text, boundary)
            begin = longest_suffix(
                encoding, text, limit, boundary=boundary, lead=marker, start=first
            )
    elif keep == "ends":
        cut = last_cut_point(encoding, text, end)
        begin = longest_suffix(
            encoding.continued if cut else encoding,
            text,
            limit - encoding.count(text[:cut]),
            boundary=boundary,
            lead=text[cut:end] + marker,
            start=end + 1,
        )
    assert begin is not None
    return _result(encoding, text, end, marker, begin)


def _last_cut(text: str, boundary: Boundary) -> int:
    """Return the last place within a text at which it may be cut; 0 if there is none."""
    may_cut = rule_of(boundary)
    return next((place for place in range(len(text) - 1, 0, -1) if may_cut(text, place)), 0)


def _first_cut(text: str, boundary: Boundary) -> int:
    """Return the first place within a text at which it may be cut; its end if there is none."""
    may_cut = rule_of(boundary)
    return next((place for place in range(1, len(text)) if may_cut(text, place)), len(text))


def _marker_between_ends(text: str, boundary: Boundary) -> str:
    """Return the default marker; between lines it is a line, and ends as the first line does."""
    if boundary != "line":
        return _ELLIPSIS
    end = text.find("\n")
    return _ELLIPSIS + ("\r\n" if text[max(end - 1, 0) : end + 1] == "\r\n" else "\n")


def _result(encoding: TextEncoder, text: str, end: int, marker: str, begin: int) -> Truncated:
    """Return the text with a marker in place of ``text[end:begin]``."""
    left = text[:end] + marker + text[begin:]
    kept = tuple(part for part in ((0, end), (begin, len(text))) if part[0] < part[1])
    return Truncated(left, encoding.count(left), kept, end < begin)
