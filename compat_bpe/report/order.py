"""The order of the groups of a report: first those in which the encodings differ most."""

from __future__ import annotations

from math import inf

from .figures import TOKENS_PER_CHARACTER, Report


def difference(report: Report, group: str) -> float:
    """Return how many times as many tokens the worst encoding makes of a group as the best one.

    Of a single encoding, it is the tokens per character: so the groups that it writes worst are the
    first ones. It is infinite if an encoding makes no token, and 0 if none makes one.
    """
    counts = [one.groups[group] for one in report.encodings.values()]
    if len(counts) == 1:
        return TOKENS_PER_CHARACTER.of(report.groups[group], counts[0]) or 0.0
    most, least = max(one.tokens for one in counts), min(one.tokens for one in counts)
    if not least:
        return inf if most else 0.0
    return most / least


def reason(report: Report) -> str:
    """Return what is said of the groups that come first."""
    several = len(report.encodings) > 1
    return "in which the encodings differ most" if several else "with the most tokens per character"


def by_difference(report: Report) -> Report:
    """Return a report whose groups come in the order of their difference, the greatest first.

    Of equal ones, the group with more text comes first.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.report.measure import report
    >>> encodings = {name: get_encoding(name) for name in ("gpt2", "o200k_base")}
    >>> list(by_difference(report(encodings, {"en": ["A dog."], "zh": ["你好。"]})).groups)
    ['zh', 'en']
    """
    ordered = sorted(
        report.groups.items(),
        key=lambda group: (-difference(report, group[0]), -group[1].bytes),
    )
    return report._replace(groups=dict(ordered))
