"""Prompts of several parts, of which the less important give way.

The whole is counted as it is joined: at every step ``_Prompt`` knows the exact count of the text so
far, also where tokens reach across the joints, and nothing is put in that takes it above the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from .boundary import Boundary, rule_of
from .limit import check_limit, fits, last_cut
from .text_encoder import TextEncoder
from .truncate import KEEPS, Keep, Truncated, truncate

#: What may become of a section that does not fit.
Cut = Literal["drop", "head", "tail", "ends", "lines"]
CUTS: tuple[Cut, ...] = get_args(Cut)


class Section(NamedTuple):
    """A part of a prompt.

    Args:
        text: any string; names of special tokens are plain text.
        priority: the higher, the more important.
        min_tokens: with fewer tokens than that the section is worth nothing.  So much is held free
            for it, unless a section above it would have to be dropped for that.
        cut: what becomes of it if it does not fit: ``"drop"``, it is left out; ``"head"``,
            ``"tail"`` or ``"ends"``, that much is kept; ``"lines"``, as many whole lines from its
            beginning are kept.
        boundary: where the head, tail or ends may be cut: ``"char"``, ``"word"`` or ``"line"``.
        marker: what stands where something was cut; see ``Encoding.truncate``.
        required: whether it is an error if not even its least can be kept, which is held free for
            it whatever is above it.
        name: what the report and messages call it.
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
    """What became of a section.

    Args:
        name: its name.
        status: ``"kept"``, whole; ``"cut"``; or ``"dropped"``.
        text: what is kept of it, with the marker if it was cut.
        count: the tokens of that text alone.
        kept: where in its text the kept parts are: pairs of a beginning and an end.
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
        count: its tokens, exactly; at most the limit.  Where tokens reach across the joints, it is
            not the sum of the sections' counts.
        sections: what became of each section, in the given order.
    """

    text: str
    count: int
    sections: tuple[FittedSection, ...]


def fit_sections(
    encoding: TextEncoder, sections: Iterable[Section], limit: int, *, separator: str = ""
) -> FittedSections:
    """A prompt of as much of some sections as fits, in their order.

    If all fit, nothing is cut.  If not, this is the rule:

    1. Sections are put in by priority, the highest first, and those of one priority in the given
       order.  Each is put in whole if it fits beside what is in already; else it is cut, as it
       says, to about what is left, but not below its ``min_tokens``; else it is dropped.  What is
       left after that is for the next.
    2. Before that, the least of the sections with ``min_tokens`` is held free: the shortest cut
       with so many tokens, or the whole if it is shorter or is dropped rather than cut.  Where a
       section above would have to be dropped for it, it is given up, the lowest priority first.
    3. What is held free for required sections is never given up.

    So a section never loses anything to one of lower priority but to what is held free for that,
    and is never dropped even for this unless that is required.  The time taken grows with the limit
    and the number of sections, hardly with the length of their texts.

    Args:
        encoding: the model's encoding.
        sections: the parts.
        limit: how many tokens the prompt may have, the separators included.
        separator: what stands between two sections that are not empty.

    Raises:
        ValueError: the required sections do not fit; the limit or a ``min_tokens`` is negative;
            there is no such ``cut`` or ``boundary``.

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
    check_limit(limit)
    sections = list(sections)
    for number, section in enumerate(sections):
        _check(section, number)
    prompt = _Prompt(encoding, sections, limit, separator)
    if not prompt.put_in_all():
        order = sorted(range(len(sections)), key=lambda at: -sections[at].priority)
        prompt.hold_free(order)
        for rank, at in enumerate(order):
            if not prompt.put_in(at):
                prompt.put_in_instead(at, order[rank + 1 :])
    return prompt.result()


def _check(section: Section, number: int) -> None:
    """Refuse a section that asks for what there is not."""
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
    """The place of a section in the prompt.

    Args:
        before, after: the text beside it up to the next safe cut, with the separator that is there
            when the section is.
        closed: what stands there, without the section.
        room: how many tokens ``before``, the section and ``after`` may have together.
    """

    before: str
    after: str
    closed: str
    room: int


class _Prompt:
    """A prompt into which sections are put, and its exact count."""

    def __init__(
        self, encoding: TextEncoder, sections: Sequence[Section], limit: int, separator: str
    ) -> None:
        self._encoding = encoding
        self._sections = sections
        self._limit = limit
        self._separator = separator
        #: What is in of each section, if anything is.
        self._parts: list[Truncated | None] = [None] * len(sections)
        self._count = 0

    def put_in_all(self) -> bool:
        """Put in all sections whole, if they fit."""
        texts = [section.text for section in self._sections]
        if not self._may_fit(texts, self._limit):
            return False
        text = self._joined(texts)
        if not fits(self._encoding, text, self._limit):
            return False
        self._count = self._encoding.count(text)
        self._parts = list(map(self._whole, self._sections))
        return True

    def hold_free(self, order: Sequence[int]) -> None:
        """Put in the least of each section that is to have it, in this order, as far as they fit.

        Raises:
            ValueError: a required one does not fit.
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
                raise ValueError(
                    f"{_called(section, at)} is required, but with the other required sections it "
                    f"does not fit within the limit of {self._limit}"
                )

    def put_in(self, at: int) -> bool:
        """Put in a section as far as it fits; whether something of it is in."""
        gap = self._gap(at)
        found = self._most(self._sections[at], gap)
        present = self._parts[at]
        if found is not None and (present is None or _length(found) > _length(present)):
            self._set(at, gap, found)
        return self._parts[at] is not None

    def put_in_instead(self, at: int, lower: Sequence[int]) -> None:
        """Put in a section in place of what is held free for others, the last of these first."""
        parts, count = self._parts.copy(), self._count
        for other in reversed(lower):
            if self._parts[other] is not None and not self._sections[other].required:
                self._take_out(other)
                if self.put_in(at):
                    return
        self._parts, self._count = parts, count

    def result(self) -> FittedSections:
        """The prompt, and what became of each section."""
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
        """Whether some texts are not so long that they surely do not fit; nothing is joined."""
        longest = self._encoding.core.longest_token
        return longest is None or sum(map(len, texts)) <= limit * longest

    def _gap(self, at: int) -> _Gap:
        texts = ["" if part is None else part.text for part in self._parts]
        before, after = self._joined(texts[:at]), self._joined(texts[at + 1 :])
        closed = self._separator if before and after else ""
        # What is beyond these two has the same tokens whatever stands between them.
        cut = self._encoding.core.next_cut(after)
        near_before = before[last_cut(self._encoding, before, len(before)) :]
        near_after = after[:cut]
        gap = _Gap(
            near_before + (self._separator if before else ""),
            (self._separator if after else "") + near_after,
            near_before + closed + near_after,
            0,
        )
        beyond = self._count - self._tokens(gap, self._parts[at])
        return gap._replace(room=self._limit - beyond)

    def _tokens(self, gap: _Gap, part: Truncated | None) -> int:
        """The tokens of what is in a gap and beside it, if a part is in it."""
        if part is None or not part.text:
            return self._encoding.count(gap.closed)
        return self._encoding.count(gap.before + part.text + gap.after)

    def _set(self, at: int, gap: _Gap, part: Truncated | None) -> None:
        self._parts[at] = part
        self._count = self._limit - gap.room + self._tokens(gap, part)

    def _take_out(self, at: int) -> None:
        self._set(at, self._gap(at), None)

    # A section

    def _whole(self, section: Section) -> Truncated:
        text = section.text
        return Truncated(text, self._encoding.count(text), ((0, len(text)),), False)

    def _truncated(self, section: Section, limit: int) -> Truncated:
        keep: Keep = "head" if section.cut not in KEEPS else section.cut
        return truncate(
            self._encoding,
            section.text,
            limit,
            keep=keep,
            boundary="line" if section.cut == "lines" else section.boundary,
            marker=section.marker,
        )

    def _least(self, section: Section) -> Truncated | None:
        """The least of a section that is worth something; None if it is surely above the limit."""
        if section.cut == "drop" or fits(self._encoding, section.text, section.min_tokens):
            is_whole = fits(self._encoding, section.text, self._limit)
            return self._whole(section) if is_whole else None
        need = max(1, section.min_tokens)
        low = need - 1
        high = min(need, self._limit)
        while not _is_enough(found := self._truncated(section, high), need):
            if high == self._limit:
                return None
            low, high = high, min(2 * high, self._limit)
        # Lines may be long: of the limits between, the first that gives enough.
        while high - low > 1:
            middle = (low + high) // 2
            shorter = self._truncated(section, middle)
            if _is_enough(shorter, need):
                found, high = shorter, middle
            else:
                low = middle
        return found

    def _most(self, section: Section, gap: _Gap) -> Truncated | None:
        """As much of a section as fits into a gap; None if that is not worth anything."""
        texts = (gap.before, section.text, gap.after)
        if not section.text or (
            self._may_fit(texts, gap.room) and fits(self._encoding, "".join(texts), gap.room)
        ):
            return self._whole(section)
        need = max(1, section.min_tokens)
        limit = -1 if section.cut == "drop" else gap.room
        while limit >= need:
            found = self._truncated(section, limit)
            above = self._tokens(gap, found) - gap.room
            if above <= 0 and _is_enough(found, need):
                return found
            # By what tokens at the joints take it above; always less than before, so it ends.
            limit = min(limit, found.count) - max(1, above)
        return None


def _length(part: Truncated) -> int:
    """How much of its section a part has, in characters."""
    return sum(end - start for start, end in part.kept)


def _is_enough(part: Truncated, need: int) -> bool:
    """Whether a part is whole, or has something of the text and so many tokens."""
    return not part.was_cut or (bool(part.kept) and part.count >= need)
