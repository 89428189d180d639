"""A report on vocabularies as lines for a terminal, and as JSON.

Names stand at the ends of lines, so that the columns stay aligned however long a name is, and
whatever script it is written in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional

from compat_bpe.cli.output import can_show
from compat_bpe.train.report import (
    BASELINES,
    MEASURES,
    EncodingReport,
    Measure,
    Report,
    Sizes,
    TokenCounts,
    TokenUse,
    balance,
)
from compat_bpe.visible import Visible, escape

#: What of a line is left for the names at its end.
_NAME_WIDTH = 12

_GAP = "  "
_NOTHING = "-"


class Column(NamedTuple):
    """An encoding or what it is compared with: the counts of each group and of all together."""

    name: str
    groups: dict[str, TokenCounts]
    total: TokenCounts


def columns(report: Report, *, baselines: bool = True) -> list[Column]:
    """The encodings of a report, and a token for each character, byte or word."""
    found = [
        Column(name, dict(one.groups), one.total) for name, one in report.encodings.items()
    ]
    if baselines:
        for name, count in BASELINES.items():
            groups = {group: count(sizes) for group, sizes in report.groups.items()}
            found.append(Column(name, groups, count(report.total)))
    return found


def table_lines(report: Report, width: int, top: int) -> Iterator[str]:
    """The lines of a report.

    Args:
        report: the report.
        width: the characters that a line should have at most.
        top: how many of the most frequent and of the longest tokens there are.
    """
    listed = columns(report)
    titles = [column.name for column in listed]
    tokens = _rows(report, listed, lambda _, counts: counts.tokens, _whole)
    if _width(titles, [cells for cells, _ in tokens]) > width - _NAME_WIDTH:
        # Numbers in place of names.
        for number, name in enumerate(report.encodings, 1):
            titles[number - 1] = f"[{number}]"
            yield f"[{number}] {name}"
        yield ""
    yield from _block("tokens", titles, tokens)
    for measure in MEASURES:
        some = listed[: len(report.encodings)] if measure.is_share else listed
        yield from _block(
            measure.title, titles, _rows(report, some, measure.of, _percent if measure.is_share else _ratio)
        )
    if len(report.groups) > 1:
        yield from _block("tokens per character, relative to the best", titles, _balance(report, listed))
    encodings = report.encodings.items()
    yield from _block(
        "mergeable tokens",
        ["all", "met", "", "never met", "", "no text gives"],
        [(_vocabulary(one), name) for name, one in encodings],
    )
    for name, one in encodings:
        yield from _token_block(f"most frequent tokens of {name}", one, one.uses[:top])
        yield from _token_block(f"longest tokens met of {name}", one, one.longest(top))
    yield from _term_lines(report)


def _rows(
    report: Report,
    listed: Sequence[Column],
    of: Callable[[Sizes, TokenCounts], Optional[float]],
    written: Callable[[float], str],
) -> list[tuple[list[str], str]]:
    rows = [
        ([_cell(of(sizes, column.groups[group]), written) for column in listed], group)
        for group, sizes in report.groups.items()
    ]
    if len(rows) != 1:
        cells = [_cell(of(report.total, column.total), written) for column in listed]
        rows.append((cells, "total"))
    return rows


def _balance(report: Report, listed: Sequence[Column]) -> list[tuple[list[str], str]]:
    ratios = [balance(report.groups, column.groups) for column in listed]
    rows = [
        ([_cell(ratio[group], _ratio) for ratio in ratios], group) for group in report.groups
    ]
    highest = [max(filter(None, ratio.values()), default=None) for ratio in ratios]
    rows.append(([_cell(ratio, _ratio) for ratio in highest], "worst to best"))
    return rows


def _vocabulary(one: EncodingReport) -> list[str]:
    def share(number: int) -> str:
        return _percent(number / one.mergeable)

    return [
        _whole(one.mergeable),
        _whole(one.met),
        share(one.met),
        _whole(one.never_met),
        share(one.never_met),
        _whole(len(one.unreachable)),
    ]


def _token_block(title: str, one: EncodingReport, uses: Sequence[TokenUse]) -> Iterator[str]:
    visible = Visible(separator='"', can_show=can_show)
    rows = [
        (
            [
                _whole(use.times),
                _percent(use.times / one.total.tokens),
                _whole(len(use.token)),
                str(use.id),
            ],
            f'"{escape(use.token, visible)}"',
        )
        for use in uses
    ]
    if rows:
        yield from _block(title, ["times", "share", "bytes", "id"], rows)


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


def _block(
    title: str, titles: Sequence[str], rows: Sequence[tuple[Sequence[str], str]]
) -> Iterator[str]:
    titles = titles[: len(rows[0][0])]
    widths = [max(map(len, cells)) for cells in zip(titles, *(cells for cells, _ in rows))]
    yield title
    yield _GAP.join(map(str.rjust, titles, widths)).rstrip()
    for cells, name in rows:
        yield f"{_GAP.join(map(str.rjust, cells, widths))}{_GAP}{name}"
    yield ""


def _width(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, cells)) + len(_GAP) for cells in zip(titles, *rows))


def _cell(value: float | None, written: Callable[[float], str]) -> str:
    return _NOTHING if value is None else written(value)


def _whole(number: float) -> str:
    return f"{number:,}"


def _ratio(number: float) -> str:
    return f"{number:.2f}"


def _percent(share: float) -> str:
    return f"{share:.1%}"


def as_json(report: Report, top: int) -> str:
    """The report as one line of ASCII."""
    return json.dumps(
        {
            "groups": {group: sizes._asdict() for group, sizes in report.groups.items()},
            "total": report.total._asdict(),
            "encodings": [
                {**_of_column(report, column), **_of_encoding(one, top)}
                for column, one in zip(columns(report), report.encodings.values())
            ],
            "baselines": [
                _of_column(report, column) for column in columns(report)[len(report.encodings) :]
            ],
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
        "worst_to_best": max(filter(None, ratios.values()), default=None),
    }


def _figures(sizes: Sizes, counts: TokenCounts) -> dict[str, Any]:
    ratios: dict[str, Any] = {measure.key: measure.of(sizes, counts) for measure in MEASURES}
    return {**counts._asdict(), **ratios}


def _of_encoding(one: EncodingReport, top: int) -> dict[str, Any]:
    return {
        "vocabulary": {
            "mergeable": one.mergeable,
            "met": one.met,
            "never_met": one.never_met,
            "unreachable": [
                {**_token(found.id, found.token), "reason": found.reason}
                for found in one.unreachable
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
