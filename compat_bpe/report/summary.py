"""A report in a few lines: a row for each encoding, and the groups in which they differ most."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from textwrap import wrap

from .figures import BYTES_PER_TOKEN, RATIO, SHARE, TOKENS_PER_WORD, Report, balance, worst_to_best
from .order import by_difference, difference, reason
from .tables import Table, written
from .text import block, numbered

#: The groups that are named.
_GROUPS = 3


def summary_lines(report: Report, width: int) -> list[str]:
    """Return the lines of a summary.

    Args:
        report: the report.
        width: the largest number of characters for a line.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.report.measure import report
    >>> made = report({"gpt2": get_encoding("gpt2")}, {"en": ["A dog."]})
    >>> print("\\n".join(summary_lines(made, 80)))
    1 document, 6 bytes, 6 characters, 2 words
    <BLANKLINE>
    all text
    tokens  bytes per token  per word  used
         3             2.00      1.50  0.0%  gpt2
    """
    total = report.total
    sizes = [
        _counted(total.documents, "document"),
        _counted(total.bytes, "byte"),
        _counted(total.characters, "character"),
        _counted(total.words, "word"),
    ]
    several = len(report.groups) > 1
    if several:
        sizes[0] += f" in {_counted(len(report.groups), 'group')}"
    groups = _groups(report)
    numbers = numbered(report, groups, width) if several else {}
    lines = [*wrap(", ".join(sizes), width), ""]
    of_all = list(block(_encodings(report, numbers)))
    if len(of_all[1]) + 2 > width:  # the columns of the titles
        lines += (f"{number} {name}" for name, number in numbers.items())
        lines += [""] if numbers else []
        of_all = list(block(_turned(_encodings(report, {}), numbers)))
    lines += of_all
    if several:
        titles = [numbers.get(name, name) for name in groups.columns]
        lines += block(groups._replace(columns=titles))
    return lines[:-1]


def _turned(table: Table, numbers: Mapping[str, str]) -> Table:
    """Return a table with a column for each row, which needs less room."""
    names = [numbers.get(name, name) for name, _ in table.rows]
    columns = zip(*(cells for _, cells in table.rows))
    return Table(
        table.title, names, [(title, cells) for title, cells in zip(table.columns, columns)]
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _encodings(report: Report, numbers: Mapping[str, str]) -> Table:
    """Return a table with a row for each encoding."""
    encodings = report.encodings
    first = next(iter(encodings.values())).total.tokens
    columns: dict[str, list[str]] = {
        "tokens": [f"{one.total.tokens:,}" for one in encodings.values()]
    }
    if len(encodings) > 1:
        columns["to the first"] = [
            written(one.total.tokens / first - 1 if first else None, "{:+.1%}")
            for one in encodings.values()
        ]
    for title, measure in (("bytes per token", BYTES_PER_TOKEN), ("per word", TOKENS_PER_WORD)):
        columns[title] = [
            written(measure.of(report.total, one.total)) for one in encodings.values()
        ]
    columns["used"] = [written(one.share(one.used), SHARE) for one in encodings.values()]
    if len(report.groups) > 1:
        columns["worst to best"] = [
            written(worst_to_best(balance(report.groups, one.groups))) for one in encodings.values()
        ]
    names = [f"{numbers[name]} {name}" if numbers else name for name in encodings]
    return Table("all text", list(columns), list(zip(names, zip(*columns.values()))))


def _groups(report: Report) -> Table:
    """Return a table of the groups that come first by difference."""
    ordered = by_difference(report)
    rows = []
    for group in list(ordered.groups)[:_GROUPS]:
        ratio = difference(report, group)
        cells = [RATIO.format(ratio) if isfinite(ratio) else "-"]
        cells += [f"{one.groups[group].tokens:,}" for one in report.encodings.values()]
        rows.append((group, cells))
    first = "most to least" if len(report.encodings) > 1 else "per character"
    return Table(f"groups {reason(report)}", [first, *report.encodings], rows)
