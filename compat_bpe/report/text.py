"""A report on vocabularies as lines for a terminal, in full or as a summary, and as JSON.

Names are at the ends of lines, so that names of any length and script leave the columns aligned.
The summary has a row for each encoding, and the groups in which they differ most.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from math import isfinite
from textwrap import wrap
from typing import Any

from ..unicode.text import Visible, can_show, escape, plural
from .figures import (
    BASELINES,
    BYTES_PER_TOKEN,
    MEASURES,
    RATIO,
    SHARE,
    TOKENS_PER_CHARACTER,
    TOKENS_PER_WORD,
    Column,
    EncodingReport,
    Report,
    Sizes,
    Table,
    TokenCounts,
    TokenUse,
    balance,
    by_difference,
    columns,
    curve_tables,
    difference,
    estimated,
    group_tables,
    sizes_in_words,
    vocabulary_table,
    why_first,
    worst_to_best,
    written,
)

#: The measures of an estimate.
_OF_ESTIMATES = (BYTES_PER_TOKEN, TOKENS_PER_CHARACTER, TOKENS_PER_WORD)

#: Columns of a line for the name at its end.
_NAME_WIDTH = 12

#: The width of a line in characters if it is not known, as in a pipe.
_PIPE_WIDTH = 80

_GAP = "  "


def line_width() -> int:
    """Return the largest number of characters for a line of standard output."""
    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size((_PIPE_WIDTH, 0)).columns
    return _PIPE_WIDTH


def table_lines(report: Report, width: int, top: int, groups: int | None = None) -> list[str]:
    """Return the lines of a report.

    Args:
        report: the report.
        width: the largest number of characters for a line.
        top: the number of most frequent and of longest tokens.
        groups: the number of groups that have lines, the first ones; None for all. Totals are those
            of all.
    """
    # The blank line after the last block is left out.
    return _shown(list(_blocks(report, width, top, groups))[:-1])


def _shown(lines: list[str]) -> list[str]:
    """Return lines with another sign for estimates if the charset lacks ``≈``."""
    return lines if can_show("≈") else [line.replace("≈", "~") for line in lines]


def _blocks(report: Report, width: int, top: int, groups: int | None) -> Iterator[str]:
    count = len(report.groups)
    if groups is not None and groups < count:
        yield f"{groups} of {count:,} groups, those {why_first(report)}; --groups {count} shows all"
        yield ""
    else:
        groups = count
    tables = group_tables(report)
    numbers = numbered(report, tables[0], width)
    if numbers:
        yield from (f"{number} {name}" for name, number in numbers.items())
        yield ""
    for table in tables:
        titles = [numbers.get(name, name) for name in table.columns]
        rows = [*table.rows[:groups], *table.rows[count:]]
        yield from block(Table(table.title, titles, rows))
    if report.encodings:
        yield from block(vocabulary_table(report))
    for table in curve_tables(report):
        yield from block(table)
    for name, one in report.encodings.items():
        yield from _token_block(f"most frequent tokens of {name}", one, one.uses[:top])
        yield from _token_block(f"longest used tokens of {name}", one, one.longest(top))
    yield from _term_lines(report)


def numbered(report: Report, table: Table, width: int) -> dict[str, str]:
    """Return numbers for the encodings if a table with their names above it is too wide."""
    if _width(table) + _NAME_WIDTH <= width:
        return {}
    names = (*report.encodings, *report.estimates)
    return {name: f"[{number}]" for number, name in enumerate(names, 1)}


def _token_block(title: str, one: EncodingReport, uses: Sequence[TokenUse]) -> Iterator[str]:
    visible = Visible(separator='"', can_show=can_show)
    rows = [
        (
            f'"{escape(use.token, visible)}"',
            [
                f"{use.times:,}",
                SHARE.format(use.times / one.total.tokens),
                str(use.size),
                str(use.id),
            ],
        )
        for use in uses
    ]
    if rows:
        yield from block(Table(title, ["times", "share", "bytes", "id"], rows))


def _term_lines(report: Report) -> Iterator[str]:
    visible = Visible(separator="|", can_show=can_show)
    width = max(map(len, report.encodings), default=0)
    by_term = zip(*(one.terms for one in report.encodings.values()))
    for number, of_encodings in enumerate(by_term):
        if number == 0:
            yield "terms: tokens, alone and after a space"
        for name, term in zip(report.encodings, of_encodings):
            for tokens in (term.alone, term.after_space):
                shown = "|".join(escape(token, visible) for token in tokens)
                yield f"{len(tokens):5}{_GAP}{name:{width}}{_GAP}{shown}"
        yield ""


def block(table: Table) -> Iterator[str]:
    """Yield the lines of a table, and a blank one."""
    widths = _widths(table)
    yield table.title
    yield _GAP.join(map(str.rjust, table.columns, widths)).rstrip()
    for name, cells in table.rows:
        yield f"{_GAP.join(map(str.rjust, cells, widths))}{_GAP}{name}".rstrip()
    yield ""


def _widths(table: Table) -> list[int]:
    return [max(map(len, column)) for column in zip(table.columns, *(row[1] for row in table.rows))]


def _width(table: Table) -> int:
    return sum(len(_GAP) + width for width in _widths(table))


def as_json(report: Report, top: int, left_out: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Write a report as one line of ASCII.

    Args:
        report: the report.
        top: the number of most frequent and of longest tokens.
        left_out: further members of the object: "errors" and "skipped".
    """
    return json.dumps(
        {
            "groups": {group: sizes._asdict() for group, sizes in report.groups.items()},
            "total": report.total._asdict(),
            "encodings": [
                {
                    **_of_column(report, column),
                    **_of_encoding(one, top),
                    "learning_curve": [
                        check._asdict() for check in report.curves.get(column.name, ())
                    ],
                }
                for column, one in zip(columns(report), report.encodings.values())
            ],
            "baselines": [
                _of_column(report, column) for column in columns(report)[-len(BASELINES) :]
            ],
            **({"estimates": _of_estimates(report)} if report.estimates else {}),
            **left_out,
        }
    )


def _of_column(report: Report, column: Column) -> dict[str, Any]:
    ratios = balance(report.groups, column.groups)
    return {
        "name": column.name,
        "groups": {
            group: {**_figures(sizes, column.groups[group]), "relative_to_best": ratios[group]}
            for group, sizes in report.groups.items()
        },
        "total": _figures(report.total, column.total),
        "worst_to_best": worst_to_best(ratios),
    }


def _of_estimates(report: Report) -> list[dict[str, Any]]:
    def figures(sizes: Sizes, counts: TokenCounts) -> dict[str, Any]:
        ratios = {one.key: one.of(sizes, counts) for one in _OF_ESTIMATES}
        return {"tokens": counts.tokens, **ratios}

    return [
        {
            "name": column.name,
            "estimate": report.estimates[column.name].reason,
            "groups": {
                group: figures(sizes, column.groups[group])
                for group, sizes in report.groups.items()
            },
            "total": figures(report.total, column.total),
        }
        for column in estimated(report)
    ]


def _figures(sizes: Sizes, counts: TokenCounts) -> dict[str, Any]:
    ratios: dict[str, Any] = {measure.key: measure.of(sizes, counts) for measure in MEASURES}
    return {**counts._asdict(), **ratios}


def _of_encoding(one: EncodingReport, top: int) -> dict[str, Any]:
    return {
        "vocabulary": {
            "mergeable": one.mergeable,
            "used": one.used,
            "unused": one.unused,
            "unreachable": one.unreachable
            if one.unreachable is None
            else [
                {**_token(token.id, token.token), "reason": token.reason}
                for token in one.unreachable
            ],
        },
        "most_frequent": [_use(use) for use in one.uses[:top]],
        "longest": [_use(use) for use in one.longest(top)],
        "tokens_by_bytes": one.by_length(),
        "terms": [
            {
                "term": term.term,
                "alone": list(map(_text, term.alone)),
                "after_space": list(map(_text, term.after_space)),
            }
            for term in one.terms
        ],
    }


def _use(use: TokenUse) -> dict[str, Any]:
    return {**_token(use.id, use.token), "times": use.times}


def _token(number: int, token: bytes) -> dict[str, Any]:
    return {"id": number, "text": _text(token), "bytes": token.hex()}


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")


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
    sizes = sizes_in_words(report.total)
    several = len(report.groups) > 1
    if several:
        sizes[0] += f" in {plural(len(report.groups), 'group')}"
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
    return _shown(lines[:-1])


def _turned(table: Table, numbers: Mapping[str, str]) -> Table:
    """Return a table with a column for each row, which needs less room."""
    names = [numbers.get(name, name) for name, _ in table.rows]
    columns = zip(*(cells for _, cells in table.rows))
    return Table(
        table.title, names, [(title, cells) for title, cells in zip(table.columns, columns)]
    )


def _encodings(report: Report, numbers: Mapping[str, str]) -> Table:
    """Return a table with a row for each encoding."""
    compared = columns(report)[: -len(BASELINES)]
    first = compared[0].total.tokens
    figures = {"tokens": [f"{one.mark}{one.total.tokens:,}" for one in compared]}
    if len(compared) > 1:
        figures["to the first"] = [
            one.mark + written(one.total.tokens / first - 1 if first else None, "{:+.1%}")
            for one in compared
        ]
    for title, measure in (("bytes per token", BYTES_PER_TOKEN), ("per word", TOKENS_PER_WORD)):
        figures[title] = [
            one.mark + written(measure.of(report.total, one.total)) for one in compared
        ]
    encodings = report.encodings.values()
    if encodings:
        figures["used"] = [written(one.share(one.used), SHARE) for one in encodings]
    if encodings and len(report.groups) > 1:
        figures["worst to best"] = [
            written(worst_to_best(balance(report.groups, one.groups))) for one in encodings
        ]
    names = [f"{numbers[one.name]} {one.name}" if numbers else one.name for one in compared]
    rows = zip_longest(*figures.values(), fillvalue="-")
    return Table("all text", list(figures), list(zip(names, rows)))


def _groups(report: Report) -> Table:
    """Return a table of the groups that come first by difference."""
    ordered = by_difference(report)
    compared = columns(report)[: -len(BASELINES)]
    rows = []
    for group in list(ordered.groups)[:_GROUPS]:
        ratio = difference(report, group)
        cells = [RATIO.format(ratio) if ratio and isfinite(ratio) else "-"]
        cells += [f"{one.mark}{one.groups[group].tokens:,}" for one in compared]
        rows.append((group, cells))
    first = "most to least" if len(report.encodings) > 1 else "per character"
    return Table(f"groups {why_first(report)}", [first, *(one.name for one in compared)], rows)
