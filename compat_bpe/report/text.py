"""A report on vocabularies as lines for a terminal, and as JSON.

Names are at the ends of lines: so the columns stay aligned, however long a name is and whatever its
script.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..unicode.text import Visible, can_show, escape
from .figures import (
    MEASURES,
    SHARE,
    EncodingReport,
    Report,
    Sizes,
    TokenCounts,
    TokenUse,
    balance,
    worst_to_best,
)
from .order import reason
from .tables import Column, Table, columns, curve_tables, group_tables, vocabulary_table

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
    return list(_blocks(report, width, top, groups))[:-1]


def _blocks(report: Report, width: int, top: int, groups: int | None) -> Iterator[str]:
    count = len(report.groups)
    if groups is not None and groups < count:
        yield f"{groups} of {count:,} groups, those {reason(report)}; --groups {count} shows all"
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
    return {name: f"[{number}]" for number, name in enumerate(report.encodings, 1)}


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
                _of_column(report, column) for column in columns(report)[len(report.encodings) :]
            ],
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
