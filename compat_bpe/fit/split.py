"""Splitting of a text into parts that each fit in a number of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..pipeline.cutter import LONG, TextEncoder, check_encoding, last_cut_point
from ..unicode.surrogates import repair_with_places
from .boundary import Boundary, boundary_at, first_cut, rule_of, with_finer
from .longest_part import LimitError, fits, longest_prefix, longest_suffix


class Part(NamedTuple):
    """A part of a text, ``text[start:end]``, and its number of tokens."""

    text: str
    start: int
    end: int
    count: int  # type: ignore[assignment]  # a tuple has a method of this name


def split_text(
    encoding: TextEncoder, text: str, limit: int, overlap: int = 0, boundary: Boundary = "char"
) -> list[Part]:
    r"""Split a text into consecutive parts that each have at most ``limit`` tokens.

    Each part is as long as possible. Without overlap, the joined parts are the text. With overlap,
    the joined ``text[max(part.start, end of the part before) : part.end]`` are the text.

    Args:
        encoding: the encoding to count by; names of special tokens count as plain text.
        text: any text.
        limit: the most tokens that a part may have.
        overlap: the most tokens that a part may share with the part before. A part begins as early
            in the part before as this and the boundary allow, or later if new text needs more.
        boundary: the positions at which the text may be cut: anywhere, between words, or at the
            ends of lines. A line that does not fit is cut between words, and a word that does not
            fit, anywhere. At such a cut, the overlap may begin at the same finer boundary.

    Returns:
        The parts in order. Each begins and ends further on than the part before. An empty text has
        no parts.

    Raises:
        ValueError: the limit is below 1, the overlap is negative or not below the limit, or the
            boundary is not known. Or a single character has more tokens than the limit.

    >>> from compat_bpe import get_encoding
    >>> enc = get_encoding("gpt2")
    >>> text = "one two\nthree four five\nsix\n"
    >>> [part.text for part in split_text(enc, text, 5, boundary="line")]
    ['one two\n', 'three four five\n', 'six\n']
    >>> split_text(enc, "one two three four", 3, overlap=1)[1]
    Part(text=' three four', start=7, end=18, count=2)
    """
    return list(iter_parts(encoding, text, limit, overlap, boundary))


def iter_parts(
    encoding: TextEncoder, text: str, limit: int, overlap: int = 0, boundary: Boundary = "char"
) -> Iterator[Part]:
    """Return an iterator over the parts of ``split_text``, each made on demand.

    Overlapping parts may be far longer together than the text.

    Raises:
        ValueError: as in ``split_text``. It is raised at once, except for a character with too many
            tokens.
    """
    check_encoding(encoding)
    check_sizes(limit, overlap)
    rule_of(boundary)
    return _Splitter(encoding, text, limit, overlap, boundary).parts()


def check_sizes(limit: int, overlap: int = 0) -> None:
    """Raise ``ValueError`` if the limit of parts or their overlap is out of range."""
    if limit < 1:
        raise ValueError(f"limit is {limit}; it must be 1 or more")
    if not 0 <= overlap < limit:
        raise ValueError(
            f"overlap is {overlap}; it must be 0 or more and less than the limit, {limit}"
        )


class _Splitter:
    def __init__(
        self, encoding: TextEncoder, text: str, limit: int, overlap: int, boundary: Boundary
    ) -> None:
        self._encoding = encoding
        self._given = text
        # Surrogates are repaired once, not in each of the parts that are tried.
        self._text, self._places = repair_with_places(text)
        self._limit = limit
        self._overlap = overlap
        #: The boundaries to try, from the requested one to the finest.
        self._boundaries = with_finer(boundary)

    def parts(self) -> Iterator[Part]:
        start = end = 0
        while end < len(self._text):
            first = end
            if self._overlap and end:
                # Not the whole part before: this one must begin further on.
                first = self._longest_suffix(start + 1, end, self._overlap, self._cut_at(end))
            start, end = self._next(first, end)
            count = self._encoding.count(self._text[start:end])
            first, last = self._places[start], self._places[end]
            yield Part(self._given[first:last], first, last, count)

    def _next(self, first: int, last: int) -> tuple[int, int]:
        """Return the start and end of the next part.

        Args:
            first: the preferred start, taken if it leaves room for new text.
            last: the end of the part before, which is the latest start.
        """
        for boundary in self._boundaries:
            end = self._longest_prefix(first, boundary)
            if end > last:
                return first, end
            if first < last:
                end = self._longest_prefix(last, boundary)
            if end > last:
                # Less overlap fits: take as much as still leaves tokens for the least new text.
                least = first_cut(self._text, boundary, last, end)
                if self._encoding.count(self._text[last:least]) > self._limit:
                    # Sometimes a text has more tokens than a longer one.
                    least = end
                start = self._longest_overlap(first, last, least)
                return start, self._longest_prefix(start, boundary)
        raise self._too_small(last)

    def _longest_overlap(self, first: int, last: int, least: int) -> int:
        """Return the first start from which the overlap up to ``last`` and ``least`` both fit.

        ``least`` is the end of the part. Text that begins later may have more tokens, so each
        start is searched from the other one on.
        """
        boundary = self._cut_at(last)
        start, reached = -1, first
        while start != reached:
            start = self._longest_suffix(reached, least, self._limit, boundary)
            reached = self._longest_suffix(start, last, self._overlap, boundary)
        return start

    def _cut_at(self, place: int) -> Boundary:
        """Return the first boundary that allows a cut here; an overlap ending here may use it."""
        return boundary_at(self._text, place, self._boundaries)

    def _longest_prefix(self, start: int, boundary: Boundary) -> int:
        end = longest_prefix(
            self._encoding, self._text, self._limit, start=start, boundary=boundary
        )
        return start if end is None else end

    def _longest_suffix(self, start: int, end: int, limit: int, boundary: Boundary) -> int:
        begin = longest_suffix(
            self._encoding, self._text, limit, start=start, end=end, boundary=boundary
        )
        return end if begin is None else begin

    def _too_small(self, place: int) -> ValueError:
        first, last = self._places[place], self._places[place + 1]
        char = self._given[first:last]
        return ValueError(
            f"limit is {self._limit}, but the character {char!r} at offset {first} alone has "
            f"{self._encoding.count(char)} tokens"
        )


class PackedText(NamedTuple):
    """A text in a part, or a stretch of it: ``text[start:end]`` is at ``at`` in the part.

    ``source`` is the index of the text among those that are packed.
    """

    source: int
    start: int
    end: int
    at: int


class PackedPart(NamedTuple):
    """A part with whole texts or a stretch of one, each below its header."""

    text: str
    count: int  # type: ignore[assignment]  # as in Part
    texts: tuple[PackedText, ...]


def pack_texts(
    encoding: TextEncoder,
    texts: Iterable[tuple[str, str]],
    limit: int,
    boundary: Boundary = "char",
) -> Iterator[PackedPart]:
    r"""Yield parts of at most ``limit`` tokens that hold named texts, each below a header line.

    Each part has as many of the next texts as fit. A text that does not fit in a part of its own
    begins a new part, and is cut. Other texts may follow its rest. Headers count, too. If the text
    before a header does not end with a newline, one is put between.

    Args:
        encoding: the encoding to count by; names of special tokens count as plain text.
        texts: the name of each text, and the text.
        limit: the most tokens that a part may have.
        boundary: the positions at which a text may be cut, as in ``split_text``.

    Raises:
        ValueError: the limit is below 1, or less than a header and one character have.

    >>> from compat_bpe import get_encoding
    >>> texts = [("a", "one\n"), ("b", "two"), ("c", "three four five six seven eight nine\n")]
    >>> for part in pack_texts(get_encoding("gpt2"), texts, 16):
    ...     print(part.count, repr(part.text))
    15 '==> a <==\none\n==> b <==\ntwo'
    14 '==> c <==\nthree four five six seven eight nine\n'
    """
    check_encoding(encoding)
    check_sizes(limit)
    rule_of(boundary)
    return _Packer(encoding, limit, boundary).parts(texts)


class _Packer:
    def __init__(self, encoding: TextEncoder, limit: int, boundary: Boundary) -> None:
        self._encoding = encoding
        self._limit = limit
        #: The boundaries to try, from the requested one to the finest.
        self._boundaries = with_finer(boundary)
        self._begin()

    def _begin(self) -> None:
        """Begin a part."""
        self._pieces: list[str] = []
        self._texts: list[PackedText] = []
        self._length = 0
        #: The text since the last cut point, its encoding, and the tokens of the part before it.
        self._tail = ""
        self._counter = self._encoding
        self._certain = self._count = 0

    def _end(self) -> PackedPart:
        part = PackedPart("".join(self._pieces), self._count, tuple(self._texts))
        self._begin()
        return part

    def parts(self, texts: Iterable[tuple[str, str]]) -> Iterator[PackedPart]:
        for source, (name, text) in enumerate(texts):
            if self._texts:
                if self._has_room(name, text):
                    self._add(source, name, text, 0, len(text))
                    continue
                yield self._end()
            start = 0
            while True:
                end = self._longest(name, text, start)
                self._add(source, name, text, start, end)
                if end == len(text):
                    break
                yield self._end()
                start = end
        if self._texts:
            yield self._end()

    def _lead(self, name: str, start: int) -> str:
        """Return the header of a stretch of a text, after the end of the line before it."""
        is_at_line = not self._pieces or self._pieces[-1].endswith(("\n", "\r"))
        return _header(name, start) if is_at_line else "\n" + _header(name, start)

    def _has_room(self, name: str, text: str) -> bool:
        """Return True if all of a text fits in the part, too."""
        tail = self._tail + self._lead(name, 0) + text
        return fits(self._counter, tail, self._limit - self._certain)

    def _add(self, source: int, name: str, text: str, start: int, end: int) -> None:
        """Add a stretch of a text, which fits, to the part."""
        lead = self._lead(name, start)
        piece = lead + text[start:end]
        tail = self._tail + piece
        self._texts.append(PackedText(source, start, end, self._length + len(lead)))
        self._pieces.append(piece)
        self._length += len(piece)
        self._count = self._certain + self._counter.count(tail)
        cut = last_cut_point(self._encoding, tail, len(tail), fine=len(tail) > LONG)
        if cut:
            self._counter = self._encoding.continued
            tail = tail[cut:]
            self._certain = self._count - self._counter.count(tail)
        self._tail = tail

    def _longest(self, name: str, text: str, start: int) -> int:
        """Return the end of the longest stretch of a text that fits in a part of its own."""
        header = _header(name, start)
        for boundary in self._boundaries:
            end = self._longest_behind(header, text, start, boundary)
            if end > start or (end == len(text) and fits(self._encoding, header, self._limit)):
                return end
        shown = header[:-1] + (f" and the character {text[start]!r}" if text else "")
        count = self._encoding.count(header + text[start : start + 1])
        raise LimitError(
            "limit is ",
            self._limit,
            f", but {shown} alone have ",
            count,
            " tokens; raise the limit",
        )

    def _longest_behind(self, header: str, text: str, start: int, boundary: Boundary) -> int:
        """Return the end of the longest stretch that fits behind a header, or ``start``."""
        # Look at only some of a long text for each part, since most tokens have a few characters.
        size = 8 * self._limit
        while True:
            window = header + text[start : start + size]
            end = longest_prefix(self._encoding, window, self._limit, boundary=boundary)
            if end is None:
                return start
            if end < len(window) or start + size >= len(text):
                return max(start, start + end - len(header))
            size *= 2


def _header(name: str, start: int) -> str:
    """Return the line above a text, or above the rest of one."""
    return f"==> {name}{' (continued)' if start else ''} <==\n"
