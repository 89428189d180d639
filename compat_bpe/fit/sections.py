"""Prompts of several sections. The less important sections are cut or dropped first.

The prompt is counted as one text. At every step ``_Prompt`` knows the exact count of the text so
far, even if tokens reach across the seams, and nothing is put in that takes it above the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from ..pipeline.cutter import TextEncoder, check_encoding, last_cut_point
from .boundary import Boundary, rule_of, with_finer
from .longest_part import LimitError, check_limit, fits
from .truncate import KEEPS, Keep, Truncated, truncate_at

#: The treatment of a section that does not fit.
Cut = Literal["drop", "head", "tail", "ends", "lines"]
CUTS: tuple[Cut, ...] = get_args(Cut)


class Section(NamedTuple):
    """A part of a prompt.

    Args:
        text: any string; names of special tokens are plain text.
        priority: a number; a higher one is more important.
        min_tokens: the fewest tokens with which the section is useful. They are reserved for it,
            unless a section of higher priority would have to be dropped for that.
        cut: the treatment if it does not fit. ``"drop"`` leaves it out. ``"head"``, ``"tail"``
            and ``"ends"`` keep that part of it. ``"lines"`` keeps whole lines from its beginning.
        boundary: the positions at which the head, tail or ends may be cut: ``"char"``, ``"word"``
            or ``"line"``. If that leaves nothing of it within the limit of the whole prompt, it is
            cut at the next finer boundary.
        marker: the text to put where something was cut; see ``Encoding.truncate``.
        required: True to always reserve its minimum. If even that does not fit, it is an error.
        name: its name in the report and in messages.
    """

    text: str
    priority: float = 0
    min_tokens: int = 0
    cut: Cut = "drop"
    boundary: Boundary = "char"
    marker: str | None = None
    required: bool = False
    name: str = ""


@dataclass(frozen=True)
class FittedSection:
    """The result for one section.

    Args:
        name: its name.
        status: ``"kept"``, whole; ``"cut"``; or ``"dropped"``.
        text: the kept text, with the marker if it was cut.
        count: the number of tokens of that text alone.
        kept: the kept parts, as pairs of a start and an end in the section's text.
    """

    name: str
    status: Literal["kept", "cut", "dropped"]
    text: str
    count: int
    kept: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class FittedSections:
    """A prompt that fits.

    Args:
        text: the prompt.
        count: its exact number of tokens, at most the limit. If tokens reach across seams, it is
            not the sum of the sections' counts.
        sections: the result for each section, in the given order.
    """

    text: str
    count: int
    sections: tuple[FittedSection, ...]


def fit_sections(
    encoding: TextEncoder, sections: Iterable[Section], limit: int, *, separator: str = ""
) -> FittedSections:
    """Return a prompt of as much of the sections as fits, in their order.

    If all fit, nothing is cut. If not, these are the rules:

    1. Sections are put in by priority, the highest first. Sections of one priority are put in in
       the given order. A section is put in whole if it fits beside the sections already in. If not,
       it is cut, as its ``cut`` says, to about the remaining tokens, but not below its
       ``min_tokens``. If that does not fit, it is dropped. The remaining tokens are for the next
       section.
    2. Before that, tokens are reserved for the minimum of each section with ``min_tokens``: the
       shortest cut with at least that many tokens, or the whole section if it is shorter or is
       dropped rather than cut. If a section of higher priority would have to be dropped for a
       reserved minimum, the minimum is given up, the lowest priority first.
    3. The reserved minimum of a required section is never given up.

    A lower-priority section takes space only through its reserved minimum; only required sections
    can cause a drop. The time taken grows with the limit and the number of sections, hardly with
    the length of their texts.

    Args:
        encoding: the model's encoding.
        sections: the sections, in the order of the prompt.
        limit: the most tokens that the prompt may have, the separators included.
        separator: a text put between two sections that are not empty.

    Raises:
        ValueError: the required sections do not fit, the limit or a ``min_tokens`` is negative, or
            a ``cut`` or ``boundary`` is not known.

    >>> from compat_bpe import get_encoding
    >>> prompt = fit_sections(
    ...     get_encoding("gpt2"),
    ...     [
    ...         Section("Fix the bug.\\n", priority=3, required=True),
    ...         Section("one\\ntwo\\nthree\\nfour\\n", priority=1, cut="lines"),
    ...         Section("def f(x):\\n    return y\\n", priority=2, cut="tail"),
    ...     ],
    ...     limit=21,
    ... )
    >>> prompt.text, prompt.count
    ('Fix the bug.\\none\\ntwo\\ndef f(x):\\n    return y\\n', 21)
    >>> [section.status for section in prompt.sections]
    ['kept', 'cut', 'kept']
    """
    check_encoding(encoding)
    check_limit(limit)
    sections = list(sections)
    for number, section in enumerate(sections):
        _check(section, number)
    prompt = _Prompt(encoding, sections, limit, separator)
    if not prompt.put_in_all():
        prompt.allow_finer_cuts()
        order = sorted(range(len(sections)), key=lambda at: -sections[at].priority)
        prompt.hold_free(order)
        for rank, at in enumerate(order):
            if not prompt.put_in(at):
                prompt.put_in_instead(at, order[rank + 1 :])
    return prompt.result()


def _check(section: Section, number: int) -> None:
    """Raise ``ValueError`` if an option of a section is not known or out of range."""
    if section.cut not in CUTS:
        raise ValueError(
            f"{_called(section, number)}: unknown cut {section.cut!r}; known: {', '.join(CUTS)}"
        )
    if section.min_tokens < 0:
        raise ValueError(
            f"{_called(section, number)}: min_tokens is {section.min_tokens}; it must be 0 or more"
        )
    rule_of(section.boundary)


def _called(section: Section, number: int) -> str:
    return f"section {number}" + (f" ({section.name})" if section.name else "")


class _Gap(NamedTuple):
    """The gap in the prompt for one section.

    Args:
        before, after: the text beside it up to the next cut point, with the separator that a
            section in the gap needs.
        closed: the same text if the gap stays empty.
        room: the most tokens that ``before``, the section and ``after`` may have together.
        encoding: the encoding to count this text by, which may continue after a cut point.
    """

    before: str
    after: str
    closed: str
    room: int
    encoding: TextEncoder


class _Prompt:
    """A prompt into which sections are put, and its exact count."""

    def __init__(
        self, encoding: TextEncoder, sections: Sequence[Section], limit: int, separator: str
    ) -> None:
        self._encoding = encoding
        self._sections = sections
        self._limit = limit
        self._separator = separator
        #: The part of each section that is in the prompt, or None.
        self._parts: list[Truncated | None] = [None] * len(sections)
        self._count = 0

    def put_in_all(self) -> bool:
        """Put in all sections whole if they fit; return True if they do."""
        texts = [section.text for section in self._sections]
        if not self._may_fit(texts, self._limit):
            return False
        text = self._joined(texts)
        if not fits(self._encoding, text, self._limit):
            return False
        self._count = self._encoding.count(text)
        self._parts = list(map(self._whole, self._sections))
        return True

    def allow_finer_cuts(self) -> None:
        """Let a section be cut at a finer boundary if its own leaves nothing within the limit."""
        self._sections = list(map(self._refined, self._sections))

    def hold_free(self, order: Sequence[int]) -> None:
        """Put in the minimum of each section that reserves one, required ones first, if they fit.

        Raises:
            ValueError: a required section does not fit.
        """
        for at in sorted(order, key=lambda at: not self._sections[at].required):
            section = self._sections[at]
            if not (section.required or section.min_tokens):
                continue
            least = self._least(section)
            gap = self._gap(at)
            if least is not None and self._tokens(gap, least) <= gap.room:
                self._set(at, gap, least)
            elif section.required:
                raise LimitError(
                    f"{_called(section, at)} is required, but with the other required sections it "
                    "does not fit within the limit of ",
                    self._limit,
                )

    def put_in(self, at: int) -> bool:
        """Put in as much of a section as fits; return True if some of it is in."""
        gap = self._gap(at)
        truncated = self._most(self._sections[at], gap)
        present = self._parts[at]
        if truncated is not None and (present is None or _length(truncated) > _length(present)):
            self._set(at, gap, truncated)
        return self._parts[at] is not None

    def put_in_instead(self, at: int, lower: Sequence[int]) -> None:
        """Put in a section in place of reserved minimums of others, the last of these first."""
        parts, count = self._parts.copy(), self._count
        for other in reversed(lower):
            if self._parts[other] is not None and not self._sections[other].required:
                self._set(other, self._gap(other), None)
                if self.put_in(at):
                    return
        self._parts, self._count = parts, count

    def result(self) -> FittedSections:
        """Return the prompt, and the result for each section."""
        report = []
        for section, part in zip(self._sections, self._parts):
            if part is None:
                report.append(FittedSection(section.name, "dropped", "", 0, ()))
            else:
                status: Literal["kept", "cut"] = "cut" if part.was_cut else "kept"
                report.append(FittedSection(section.name, status, part.text, part.count, part.kept))
        return FittedSections(
            self._joined([section.text for section in report]), self._count, tuple(report)
        )

    # The prompt

    def _joined(self, texts: Sequence[str]) -> str:
        return self._separator.join(filter(None, texts))

    def _may_fit(self, texts: Sequence[str], limit: int) -> bool:
        """Return False if the texts are surely too long to fit; this joins nothing."""
        longest = self._encoding.core.longest_token
        return longest is None or sum(map(len, texts)) <= limit * longest

    def _gap(self, at: int) -> _Gap:
        texts = ["" if part is None else part.text for part in self._parts]
        before, after = self._joined(texts[:at]), self._joined(texts[at + 1 :])
        closed = self._separator if before and after else ""
        # The text beyond these two cut points has the same tokens for any text between them.
        cut = self._encoding.core.next_cut_point(after)
        last_cut = last_cut_point(self._encoding, before, len(before))
        near_before = before[last_cut:]
        near_after = after[:cut]
        gap = _Gap(
            near_before + (self._separator if before else ""),
            (self._separator if after else "") + near_after,
            near_before + closed + near_after,
            0,
            self._encoding.continued if last_cut else self._encoding,
        )
        beyond = self._count - self._tokens(gap, self._parts[at])
        return gap._replace(room=self._limit - beyond)

    def _tokens(self, gap: _Gap, part: Truncated | None) -> int:
        """Return the tokens of a gap with this part in it, and of the text beside it."""
        if part is None or not part.text:
            return gap.encoding.count(gap.closed)
        return gap.encoding.count(gap.before + part.text + gap.after)

    def _set(self, at: int, gap: _Gap, part: Truncated | None) -> None:
        self._parts[at] = part
        self._count = self._limit - gap.room + self._tokens(gap, part)

    # A section

    def _whole(self, section: Section) -> Truncated:
        text = section.text
        return Truncated(text, self._encoding.count(text), ((0, len(text)),), False)

    def _truncated(self, section: Section, limit: int) -> Truncated:
        keep: Keep = "head" if section.cut not in KEEPS else section.cut
        boundary: Boundary = "line" if section.cut == "lines" else section.boundary
        return truncate_at(self._encoding, section.text, limit, keep, (boundary,), section.marker)

    def _refined(self, section: Section) -> Section:
        """Return a section with the first boundary at which some of it fits within the limit."""
        if section.cut not in KEEPS or section.boundary == "char":
            return section
        for boundary in with_finer(section.boundary):
            section = section._replace(boundary=boundary)
            if self._truncated(section, self._limit).kept:
                break
        return section

    def _least(self, section: Section) -> Truncated | None:
        """Return the minimum of a section; None if it is surely above the limit."""
        if section.cut == "drop" or fits(self._encoding, section.text, section.min_tokens):
            is_whole = fits(self._encoding, section.text, self._limit)
            return self._whole(section) if is_whole else None
        need = max(1, section.min_tokens)
        low = need - 1
        high = min(need, self._limit)
        while not _is_enough(truncated := self._truncated(section, high), need):
            if high == self._limit:
                return None
            low, high = high, min(2 * high, self._limit)
        # Lines may be long, so look for the lowest limit that gives enough.
        while high - low > 1:
            middle = (low + high) // 2
            shorter = self._truncated(section, middle)
            if _is_enough(shorter, need):
                truncated, high = shorter, middle
            else:
                low = middle
        return truncated

    def _most(self, section: Section, gap: _Gap) -> Truncated | None:
        """Return as much of a section as fits into a gap; None if that is too little."""
        texts = (gap.before, section.text, gap.after)
        if not section.text or (
            self._may_fit(texts, gap.room) and fits(gap.encoding, "".join(texts), gap.room)
        ):
            return self._whole(section)
        need = max(1, section.min_tokens)
        limit = -1 if section.cut == "drop" else gap.room
        while limit >= need:
            truncated = self._truncated(section, limit)
            above = self._tokens(gap, truncated) - gap.room
            if above <= 0 and _is_enough(truncated, need):
                return truncated
            # Lower the limit by the tokens above the room. It always falls, so the loop ends.
            limit = min(limit, truncated.count) - max(1, above)
        return None


def _length(part: Truncated) -> int:
    """Return the number of characters that a part has of its section."""
    return sum(end - start for start, end in part.kept)


def _is_enough(part: Truncated, need: int) -> bool:
    """Return True if a part is whole, or has some of the text and at least ``need`` tokens."""
    return not part.was_cut or (bool(part.kept) and part.count >= need)
