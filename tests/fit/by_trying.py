"""The longest parts that fit, found by trying every place, and what they are asked about."""

from __future__ import annotations

from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.fit.boundary import BOUNDARIES, Boundary, rule_of

boundaries = st.sampled_from(BOUNDARIES)
asides = st.one_of(st.just(""), st.sampled_from(["…", " [cut] ", "a", "\n", "s", "1", "<b>"]))
limits = st.integers(0, 60)


def prefix_by_trying(
    encoding: Encoding, text: str, limit: int, start: int, boundary: Boundary, trail: str
) -> int | None:
    """Return what ``longest_prefix`` promises."""
    may_cut = rule_of(boundary)
    for end in range(len(text), start, -1):
        allowed = end == len(text) or may_cut(text, end)
        if allowed and encoding.count(text[start:end] + trail) <= limit:
            return end
    return start if encoding.count(trail) <= limit else None


def suffix_by_trying(
    encoding: Encoding, text: str, limit: int, end: int, boundary: Boundary, lead: str, start: int
) -> int | None:
    """Return what ``longest_suffix`` promises."""
    may_cut = rule_of(boundary)
    for begin in range(start, end):
        allowed = begin == 0 or may_cut(text, begin)
        if allowed and encoding.count(lead + text[begin:end]) <= limit:
            return begin
    return end if encoding.count(lead) <= limit else None
