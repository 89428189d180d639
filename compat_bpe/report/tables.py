"""Tables of the figures of a report, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Callable, NamedTuple

from .curves import chosen
from .figures import (
    BASELINES,
    KEPT,
    MEASURES,
    RATIO,
    SHARE,
    UNKNOWN,
    WHOLE_CHUNKS,
    Measure,
    Report,
    Sizes,
    TokenCounts,
    balance,
    worst_to_best,
)


class Column(NamedTuple):
    """The counts of an encoding or a baseline: those of each group, and of all together."""

    name: str
    groups: Mapping[str, TokenCounts]
    total: TokenCounts


def columns(report: Report) -> list[Column]:
    """Return the columns of a report: its encodings, then the baselines."""
    made = [Column(name, one.groups, one.total) for name, one in report.encodings.items()]
    for name, count in BASELINES.items():
        groups = {group: count(sizes) for group, sizes in report.groups.items()}
        made.append(Column(name, groups, count(report.total)))
    return made


class Table(NamedTuple):
    """A table of figures as text.

    Args:
        title: the name of the figures.
        columns: the names of the columns.
        rows: the name of each row, mostly a group, and its figures.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def measures_of(report: Report) -> list[Measure]:
    """Return the measures that say something of the encodings of a report.

    Without an unknown token, nothing is unknown; and if nothing is lost, as with byte-level BPE,
    the share of what is kept says nothing.
    """
    totals = [one.total for one in report.encodings.values()]
    silent: list[Measure] = []
    if all(total.unknown is None for total in totals):
        silent.append(UNKNOWN)
    if not any(total.lost for total in totals):
        silent.append(KEPT)
    return [measure for measure in MEASURES if measure not in silent]


def group_tables(report: Report) -> list[Table]:
    """Return a table for each measure, by group and in total; the balance comes last."""
    listed = columns(report)
    tables = [_table(report, "tokens", listed, lambda sizes, counts: counts.tokens, "{:,}")]
    for measure in MEASURES:
        if measure not in measures_of(report):
            continue
        # Baselines have no chunks, nothing unknown, and are not decoded.
        is_of_encodings = measure in (WHOLE_CHUNKS, UNKNOWN, KEPT)
        some = listed[: len(report.encodings)] if is_of_encodings else listed
        tables.append(_table(report, measure.title, some, measure.of, measure.form))
    if len(report.groups) > 1:
        ratios = [balance(report.groups, column.groups) for column in listed]
        rows = [(group, [written(ratio[group]) for ratio in ratios]) for group in report.groups]
        rows.append(("worst to best", [written(worst_to_best(ratio)) for ratio in ratios]))
        names = [column.name for column in listed]
        tables.append(Table("tokens per character, relative to the best group", names, rows))
    return tables


def vocabulary_table(report: Report) -> Table:
    """Return a table of the used, unused and unreachable tokens of each vocabulary."""
    rows = []
    for name, one in report.encodings.items():
        counts = one.mergeable, one.used, one.unused
        mergeable, used, unused = (written(count, "{:,}") for count in counts)
        shares = [written(one.share(number), SHARE) for number in (one.used, one.unused)]
        unreachable = "not known" if one.unreachable is None else f"{len(one.unreachable):,}"
        rows.append((name, [mergeable, used, shares[0], unused, shares[1], unreachable]))
    titles = ["all", "used", "share", "unused", "share", "unreachable"]
    return Table("mergeable tokens", titles, rows)


def curve_tables(report: Report) -> list[Table]:
    """Return a table of some checks of each learning curve."""
    return [
        Table(
            f"learning curve of {name}: bytes per token of the text held out in training",
            ["tokens", "merges", "bytes per token"],
            [
                ("", [f"{check.tokens:,}", f"{check.merges:,}", f"{check.bytes_per_token:.4f}"])
                for check in chosen(checks)
            ],
        )
        for name, checks in report.curves.items()
        if checks
    ]


def _table(
    report: Report,
    title: str,
    listed: Sequence[Column],
    of: Callable[[Sizes, TokenCounts], float | None],
    form: str,
) -> Table:
    rows = [
        (group, [written(of(sizes, column.groups[group]), form) for column in listed])
        for group, sizes in report.groups.items()
    ]
    if len(rows) != 1:
        cells = [written(of(report.total, column.total), form) for column in listed]
        rows.append(("total", cells))
    return Table(title, [column.name for column in listed], rows)


def written(figure: float | None, form: str = RATIO) -> str:
    """Return a figure as text; a dash where there is none."""
    return "-" if figure is None else form.format(figure)
