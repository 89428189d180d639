"""A report on vocabularies as one page of HTML.

It is read without a network and without scripts, in light and dark, on paper and on a phone.  What
is drawn is in a table, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from ..version import __version__
from . import charts as charts
from .charts import text
from .figures import (
    BYTES_PER_TOKEN,
    RATIO,
    SHARE,
    EncodingReport,
    Report,
    Table,
    TermTokens,
    TokenUse,
    balance,
    group_tables,
    vocabulary_table,
    worst_to_best,
)
from .style import STYLE

#: So many groups are drawn, those with the most text; tables have all.
_DRAWN = 40

#: Tokens of so many bytes and more are counted together.
_LONG = 16

#: So many tokens that no text gives are listed.
_LISTED = 200

_COVERED = (1, 10, 100, 1_000, 10_000, 100_000)


def page(report: Report, top: int = 10, title: str = "What vocabularies make of a corpus") -> str:
    """A report as HTML, complete in itself.

    Args:
        report: the report.
        top: how many of the most frequent and of the longest tokens are listed.
        title: the title of the page.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.report.measure import report
    >>> made = report({"gpt2": get_encoding("gpt2")}, {"en": ["A dog."]}, terms=["<dog>"])
    >>> written = page(made)
    >>> written.startswith("<!doctype html>"), "&lt;dog&gt;" in written
    (True, True)
    """
    sections = (
        _groups(report),
        _balance(report),
        _lengths(report),
        _coverage(report),
        _vocabulary(report, top),
        _terms(report),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="generator" content="compat_bpe {__version__}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{text(title)}</h1>{_lead(report)}{_cards(report)}</header>\n"
        + "\n".join(filter(None, sections))
        + f"\n{_FOOTER}\n</main>\n</body>\n</html>\n"
    )


_FOOTER = """<footer>
<p>All counts are those of whole documents; special tokens in the text are plain text. Bytes are of
UTF-8, characters are code points. A word is what stands between white space: in writing that has
none between words, such as Chinese or Thai, that is a clause or a sentence, so there compare by
characters. A chunk is what a text is split into before anything is merged. A token “no text gives”
was proven to be out of reach; not all such tokens are found.</p>
</footer>"""


def _lead(report: Report) -> str:
    total = report.total
    figures = (
        (total.documents, "document"),
        (total.bytes, "byte"),
        (total.characters, "character"),
        (total.words, "word"),
    )
    said = ", ".join(f"{number:,} {unit}{'' if number == 1 else 's'}" for number, unit in figures)
    groups = len(report.groups)
    return f'<p class="lead">{said}{f" in {groups:,} groups" if groups > 1 else ""}.</p>'


def _cards(report: Report) -> str:
    cards = []
    for number, (name, one) in enumerate(report.encodings.items()):
        ratio = BYTES_PER_TOKEN.of(report.total, one.total)
        rows = [
            ("tokens", f"{one.total.tokens:,}"),
            ("vocabulary used", SHARE.format(one.used / one.mergeable)),
        ]
        if one.total.chunks:
            whole = SHARE.format(one.total.whole_chunks / one.total.chunks)
            rows.insert(1, ("one-token chunks", whole))
        worst = worst_to_best(balance(report.groups, one.groups))
        if worst is not None and len(report.groups) > 1:
            rows.append(("worst to best", f"{worst:.1f}×"))
        listed = "".join(f"<dt>{label}</dt><dd>{figure}</dd>" for label, figure in rows)
        cards.append(
            f'<li class="{charts.color(number)}"><h2>{text(name)}</h2>'
            f'<div class="big">{_written(ratio)} <small>bytes per token</small></div>'
            f"<dl>{listed}</dl></li>"
        )
    return f'<ul class="cards">{"".join(cards)}</ul>'


def _groups(report: Report) -> str:
    drawn = _drawn(report)
    of = BYTES_PER_TOKEN.of
    groups = []
    for group in drawn:
        found = (of(report.groups[group], one.groups[group]) for one in report.encodings.values())
        groups.append(
            (
                group,
                [charts.Bar(ratio or 0.0, _written(ratio), i) for i, ratio in enumerate(found)],
            )
        )
    tables = group_tables(report)
    if len(report.groups) > 1:
        tables.pop()  # that of balance has a section of its own
    chart = charts.bars(groups, "Bytes per token of each group; the table below has the figures.")
    return _section(
        "Bytes per token",
        "How much text a token holds. The longer a bar, the fewer tokens the same text takes."
        + _not_all_drawn(report),
        charts.legend(report.encodings)
        + chart
        + charts.details("All figures", "".join(_table(table, "group") for table in tables)),
    )


def _balance(report: Report) -> str:
    if len(report.groups) < 2:
        return ""
    ratios = {name: balance(report.groups, one.groups) for name, one in report.encodings.items()}
    most = max(filter(None, map(worst_to_best, ratios.values())), default=1.0)
    parts = []
    for number, (name, of_groups) in enumerate(ratios.items()):
        points = [(group, ratio) for group, ratio in of_groups.items() if ratio]
        if points:
            said = f"{name}: {worst_to_best(of_groups):.2f} from the worst group to the best"
            parts.append(charts.strip(name, number, points, most, said))
    table = group_tables(report)[-1]
    shown = table._replace(columns=list(report.encodings))
    rows = [(name, cells[: len(report.encodings)]) for name, cells in shown.rows]
    depth = {
        (row, column): 0.85 * (ratio - 1) / (most - 1)
        for column, of_groups in enumerate(ratios.values())
        for row, ratio in enumerate(of_groups.values())
        if ratio is not None and most > 1
    }
    written = charts.table(table.title, ["group", *shown.columns], rows, shades=depth)
    if len(rows) > _DRAWN:
        written = charts.details("All figures", written)
    return _section(
        "Balance between groups",
        "Tokens per character of each group, relative to the group that is treated best: at 3× as "
        "much text costs three times as many tokens. Writing systems put more or less into a "
        "character, so compare encodings with each other rather than groups.",
        f'<div class="strips">{"".join(parts)}</div>{written}',
    )


def _lengths(report: Report) -> str:
    named = [str(length) for length in range(1, _LONG)] + [f"{_LONG}+"]
    shares = []
    for one in report.encodings.values():
        found = [0] * len(named)
        for length, times in one.by_length().items():
            found[min(max(length, 1), _LONG) - 1] += times
        shares.append([times / one.total.tokens if one.total.tokens else 0.0 for times in found])
    most = max(chain.from_iterable(shares), default=0.0)
    panels = "".join(
        f"<div><h3>{text(name)}</h3>"
        + charts.columns(
            list(zip(named, some)),
            most,
            number,
            f"{name}: tokens by length in bytes; the table below has the figures.",
        )
        + "</div>"
        for number, (name, some) in enumerate(zip(report.encodings, shares))
    )
    rows = [
        (name, [SHARE.format(share) for share in row]) for name, row in zip(named, zip(*shares))
    ]
    table = charts.table("share of all tokens", ["bytes", *report.encodings], rows)
    return _section(
        "How long the tokens are",
        "The share of the tokens of the text that are so many bytes long.",
        f'<div class="panels">{panels}</div>{charts.details("All figures", table)}',
    )


def _coverage(report: Report) -> str:
    series = [_covered(one) for one in report.encodings.values()]
    longest = max(map(len, series), default=0)
    rows = [
        (
            f"{number:,}",
            [SHARE.format(one[min(number, len(one)) - 1]) if one else "-" for one in series],
        )
        for number in _COVERED
        if number <= longest
    ]
    rows.append(("tokens that came", [f"{len(one):,}" for one in series]))
    table = charts.table("share of the text", ["tokens", *report.encodings], rows)
    return _section(
        "How much of the text the most frequent tokens are",
        "Across: a number of tokens, the most frequent ones. Up: the share of the text's bytes "
        "that they make up.",
        charts.legend(report.encodings)
        + charts.lines(
            series,
            "Share of the text that is made up by the most frequent tokens; the "
            "table below has figures.",
        )
        + charts.details("Figures", table),
    )


def _covered(one: EncodingReport) -> list[float]:
    total = one.covered[-1] if one.covered else 0
    return [size / total for size in one.covered] if total else []


def _vocabulary(report: Report, top: int) -> str:
    content = _table(vocabulary_table(report), "encoding")
    for name, one in report.encodings.items():
        if top and one.uses:
            content += charts.details(
                f"Tokens of {name}",
                f"<h3>Most frequent</h3>{_uses(one.uses[:top])}"
                f"<h3>Longest that came</h3>{_uses(one.longest(top))}{_unreachable(one)}",
            )
    return _section(
        "What of the vocabulary is used",
        "Mergeable tokens are all but the special and added ones.",
        content,
    )


def _uses(uses: Sequence[TokenUse]) -> str:
    return charts.token_list((use.token, f"{use.times:,}×") for use in uses)


def _unreachable(one: EncodingReport) -> str:
    if not one.unreachable:
        return ""
    more = len(one.unreachable) - _LISTED
    return (
        "<h3>That no text gives, and why</h3>"
        + charts.token_list((found.token, found.reason) for found in one.unreachable[:_LISTED])
        + (f"<p>{more:,} more</p>" if more > 0 else "")
    )


def _terms(report: Report) -> str:
    names = list(report.encodings)
    by_term = list(zip(*(one.terms for one in report.encodings.values())))
    if not by_term:
        return ""
    return _section(
        "How terms are cut",
        "Each token of a term, alone and after a space, and how many there are; ␣ is a space.",
        '<div class="wide" tabindex="0"><table class="terms"><thead><tr>'
        '<th scope="col">encoding</th><th scope="col">alone</th>'
        '<th scope="col">after a space</th></tr></thead>'
        f"{''.join(_term(names, of_encodings) for of_encodings in by_term)}</table></div>",
    )


def _term(names: Iterable[str], of_encodings: Sequence[TermTokens]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{_cut(term.alone)}</td>'
        f"<td>{_cut(term.after_space)}</td></tr>"
        for name, term in zip(names, of_encodings)
    )
    term = f"<bdi>{text(of_encodings[0].term)}</bdi>"
    return (
        f'<tbody><tr><th class="term" colspan="3" scope="rowgroup">{term}</th></tr>{rows}</tbody>'
    )


def _cut(parts: Sequence[bytes]) -> str:
    return f"{charts.tokens(parts)} <small>{len(parts)}</small>"


def _drawn(report: Report) -> list[str]:
    """The groups that are drawn, in the order of the report."""
    sizes = report.groups
    largest = set(sorted(sizes, key=lambda group: -sizes[group].bytes)[:_DRAWN])
    return [group for group in sizes if group in largest]


def _not_all_drawn(report: Report) -> str:
    groups = len(report.groups)
    return f" Here are the {_DRAWN} largest of {groups:,} groups." if groups > _DRAWN else ""


def _table(table: Table, first: str) -> str:
    return charts.table(table.title, [first, *table.columns], table.rows)


def _section(title: str, explained: str, content: str) -> str:
    return f"<section><h2>{text(title)}</h2><p>{text(explained)}</p>{content}</section>"


def _written(ratio: float | None) -> str:
    return "-" if ratio is None else RATIO.format(ratio)
