"""A report on vocabularies as one page of HTML.

It needs no network and no scripts, and fits light and dark, paper and phones. Each chart has a
table with the same figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from itertools import chain, repeat
from pkgutil import get_data

from ..version import __version__
from . import charts
from .charts import Key, keys, shorten, text, titled
from .figures import (
    BYTES_PER_TOKEN,
    KEPT,
    SHARE,
    UNKNOWN,
    EncodingReport,
    Report,
    TermTokens,
    TokenUse,
    balance,
    curve_tables,
    group_tables,
    measures_of,
    notes,
    sizes_in_words,
    vocabulary_table,
    why_first,
    worst_to_best,
    written,
)

#: The most groups of a table that is not folded.
_UNFOLDED = 8

#: Tokens of this many bytes and more are counted together.
_LONG = 16

#: The most unreachable tokens that are listed.
_LISTED = 200

_COVERED = (1, 10, 100, 1_000, 10_000, 100_000)


def page(
    report: Report,
    top: int = 10,
    title: str = "Tokenizer report",
    *,
    groups: int = 10,
    corpus: Sequence[str] = (),
    version: str = "",
    made_at: datetime | None = None,
) -> str:
    """Return a report as HTML, complete in itself; the same arguments give the same page.

    Args:
        report: the report.
        top: how many of the most frequent and of the longest tokens are listed.
        title: the title of the page.
        groups: how many groups have bars, the first ones; tables have all.
        corpus: the names of the corpus, for instance paths; ``-`` is standard input.
        version: the version of compat_bpe that counted.
        made_at: the time that the page gives as its own.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.report.measure import report
    >>> made = report({"gpt2": get_encoding("gpt2")}, {"en": ["A dog."]}, terms=["<dog>"])
    >>> written = page(made, corpus=["dogs.txt"])
    >>> written.startswith("<!doctype html>"), "&lt;dog&gt;" in written
    (True, True)
    """
    named = keys(list(report.encodings))
    short = shorten(report.groups)
    in_groups = f" in {len(report.groups):,} groups" if len(report.groups) > 1 else ""
    sections = (
        _groups(report, named, short, groups),
        _balance(report, named, short),
        _lengths(report, named),
        _coverage(report, named),
        _vocabulary(report, named, top),
        _curves(report, named),
        _terms(report, named),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="generator" content="compat_bpe {__version__}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(whole_title(title, corpus))}</title>\n"
        f"<style>\n{style_sheet()}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{text(title)}</h1>{_corpus(corpus)}"
        f'<p class="lead">{", ".join(sizes_in_words(report.total))}{in_groups}</p>'
        f"{_source(version, made_at)}{_cards(report, named)}</header>\n"
        + "\n".join(filter(None, sections))
        + f"\n{_FOOTER}\n</main>\n</body>\n</html>\n"
    )


@cache
def style_sheet() -> str:
    """Return the style sheet of a page, ``style.css``.

    The eight colors differ in lightness as well as in hue, so that readers who do not see red or
    green tell them apart, too; each has a contrast of 3 to 1 with the card it is drawn on.

    Raises:
        OSError: the package's own file is missing.
    """
    data = get_data(__package__, "style.css")  # also from a zip file or a frozen program
    if data is None:
        raise OSError("style.css of the report cannot be read: its loader gives no data")
    return data.decode()


_FOOTER = """<footer>
<p>Counts are for whole documents; special tokens in the text count as plain text. Bytes are those
of UTF-8, and characters are code points. Words are separated by white space: in scripts that do not
separate words, such as Chinese and Thai, a “word” is a clause or a sentence, so compare those by
characters. A chunk is a piece of text that the pre-tokenizer splits off before any merging. An
unreachable token is proven not to occur in the encoding of any text; not all such tokens are
found, and only those of byte-level BPE are looked for. A token that is unknown stands for text that
the vocabulary cannot write; a dash means that the vocabulary has no such token. Words that decoding
gives back are the words of a document that are also in its decoded tokens: unknown text is lost,
and by some kinds of vocabularies capitals and accents, too.</p>
</footer>"""


def _cards(report: Report, named: Sequence[Key]) -> str:
    cards = []
    for key, one in zip(named, report.encodings.values()):
        ratio = BYTES_PER_TOKEN.of(report.total, one.total)
        rows = [
            ("tokens", f"{one.total.tokens:,}"),
            ("vocabulary used", written(one.share(one.used), SHARE)),
        ]
        if one.total.chunks:
            whole = SHARE.format(one.total.whole_chunks / one.total.chunks)
            rows.insert(1, ("single-token chunks", whole))
        for measure in (UNKNOWN, KEPT):
            if measure in measures_of(report):
                figure = measure.of(report.total, one.total)
                none = "no such token" if measure is UNKNOWN else "-"
                rows.append((measure.title, written(figure, measure.form, none)))
        worst = worst_to_best(balance(report.groups, one.groups))
        if worst is not None and len(report.groups) > 1:
            rows.append(("worst to best group", f"{worst:.1f}×"))
        listed = "".join(f"<dt>{label}</dt><dd>{figure}</dd>" for label, figure in rows)
        cards.append(
            f'<li><span class="fill {key.style}"></span><h2>{key.label}</h2>'
            f'<div class="big">{written(ratio)}<small>bytes per token</small></div>'
            f"<dl>{listed}</dl></li>"
        )
    return f'<ul class="cards" style="--count:{len(cards)}">{"".join(cards)}</ul>'


def _groups(report: Report, named: Sequence[Key], short: Mapping[str, str], drawn: int) -> str:
    of = BYTES_PER_TOKEN.of
    groups = []
    for group in list(report.groups)[:drawn]:
        ratios = (of(report.groups[group], one.groups[group]) for one in report.encodings.values())
        groups.append(
            (
                titled(group, short[group]),
                [
                    charts.Bar(ratio or 0.0, written(ratio), key)
                    for key, ratio in zip(named, ratios)
                ],
            )
        )
    tables = group_tables(report)
    if len(report.groups) > 1:
        tables.pop()  # that of balance has a section of its own
    chart = charts.bars(groups, "Bytes per token of each group; the table below has the figures.")
    heads = [key.label for key in named]
    # The first table has the full names; the tables below it have the short ones.
    full = {group: group for group in short}
    figures = "".join(
        charts.table(
            table.title,
            ["group", *heads, *map(text, table.columns[len(named) :])],
            [(titled(group, ratios.get(group, group)), cells) for group, cells in table.rows],
        )
        for table, ratios in zip(tables, chain([full], repeat(short)))
    )
    return _section(
        "Bytes per token",
        "The average amount of text in a token. The longer the bar, the fewer tokens the same text "
        "takes." + _not_all_drawn(report, drawn),
        charts.legend(named)
        + chart
        + charts.details(
            "All figures",
            "<p>For comparison: char, byte and word are what one token for each character, byte "
            f"or word would give. {text(' '.join(notes(report)))}</p>{figures}",
        ),
    )


def _balance(report: Report, named: Sequence[Key], short: Mapping[str, str]) -> str:
    if len(report.groups) < 2:
        return ""
    ratios = [balance(report.groups, one.groups) for one in report.encodings.values()]
    most = max(filter(None, map(worst_to_best, ratios)), default=1.0)
    parts = []
    for key, of_groups in zip(named, ratios):
        bare = key._replace(is_numbered=False)  # its number is beside the name
        worst = max(of_groups, key=lambda group: of_groups[group] or 0.0)
        name = f"{key.label} <small>{titled(worst, short[worst])}</small>"
        ratio = of_groups[worst] or 0.0
        parts.append((name, [charts.Bar(ratio, f"{ratio:.2f}×", bare)] if ratio else []))
    chart = charts.bars(parts, "The worst group of each encoding; the table below has all figures.")
    table = group_tables(report)[-1]
    rows = [
        (titled(group, short.get(group, group)), cells[: len(named)]) for group, cells in table.rows
    ]
    depth = {
        (row, column): 0.6 * (ratio - 1) / (most - 1)
        for column, of_groups in enumerate(ratios)
        for row, ratio in enumerate(of_groups.values())
        if ratio is not None and most > 1
    }
    heads = ["group", *(key.label for key in named)]
    figures = charts.table(table.title, heads, rows, shades=depth)
    if len(rows) > _UNFOLDED:
        figures = charts.details("All figures", figures)
    return _section(
        "Balance between groups",
        "Tokens per character in each group, relative to the group that needs the fewest: at 3×, "
        "the same number of characters takes three times as many tokens. The bars are those of the "
        "worst group. A character says more in some scripts than in others, so compare encodings "
        "with each other rather than groups.",
        chart + figures,
    )


def _lengths(report: Report, named: Sequence[Key]) -> str:
    lengths = [str(length) for length in range(1, _LONG)] + [f"{_LONG}+"]
    shares = []
    for one in report.encodings.values():
        by_length = [0] * len(lengths)
        for length, times in one.by_length().items():
            by_length[min(max(length, 1), _LONG) - 1] += times
        shares.append(
            [times / one.total.tokens if one.total.tokens else 0.0 for times in by_length]
        )
    most = max(chain.from_iterable(shares), default=0.0)
    panels = ""
    for key, some in zip(named, shares):
        bare = key._replace(is_numbered=False)  # its number is in the heading
        written_shares = zip(lengths, some, map(charts.percentage, some))
        groups = [(name, [charts.Bar(share, said, bare)]) for name, share, said in written_shares]
        described = f"{key.name}: tokens by length in bytes; the table below has the figures."
        panels += f"<div><h3>{key.label}</h3>{charts.bars(groups, described, most)}</div>"
    rows = [
        (name, [SHARE.format(share) for share in row]) for name, row in zip(lengths, zip(*shares))
    ]
    table = charts.table("share of all tokens", ["bytes", *(key.label for key in named)], rows)
    return _section(
        "Token lengths",
        "The tokens of the text by their length in bytes of UTF-8.",
        f'<div class="panels" style="--count:{len(named)}">{panels}</div>'
        + charts.details("All figures", table),
    )


def _coverage(report: Report, named: Sequence[Key]) -> str:
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
    rows.append(("distinct tokens used", [f"{len(one):,}" for one in series]))
    heads = ["most frequent tokens", *(key.label for key in named)]
    return _section(
        "Coverage",
        "The share of the text, in bytes, that the most frequent tokens make up.",
        charts.legend(named)
        + charts.coverage_chart(
            series,
            named,
            "Share of the text that is made up by the most frequent tokens; the "
            "table below has figures.",
        )
        + charts.details("All figures", charts.table("share of the text", heads, rows)),
    )


def _covered(one: EncodingReport) -> list[float]:
    total = one.covered[-1] if one.covered else 0
    return [size / total for size in one.covered] if total else []


def _vocabulary(report: Report, named: Sequence[Key], top: int) -> str:
    table = vocabulary_table(report)
    heads = ["encoding", "tokens", "used", "% used", "unused", "% unused", "unreachable"]
    rows = [(key.heading, cells) for key, (_, cells) in zip(named, table.rows)]
    content = charts.table("mergeable tokens", heads, rows)
    for key, one in zip(named, report.encodings.values()):
        if top and one.uses:
            content += charts.details(
                f"Tokens of {key.label}",
                f"<h3>Most frequent</h3>{_uses(one.uses[:top])}"
                f"<h3>Longest used</h3>{_uses(one.longest(top))}{_unreachable(one)}",
            )
    return _section(
        "Vocabulary use",
        "How much of each vocabulary the text uses. Mergeable tokens are all tokens except special "
        "and added ones.",
        content,
    )


def _curves(report: Report, named: Sequence[Key]) -> str:
    known = [(key, report.curves.get(key.name, ())) for key in named]
    drawn = [(key, checks) for key, checks in known if checks]
    if not drawn:
        return ""
    figures = "".join(
        charts.table(table.title, table.columns, [(cells[0], cells[1:]) for _, cells in table.rows])
        for table in curve_tables(report)
    )
    return _section(
        "Learning curve",
        "Bytes per token of the text that was held out in training, while the vocabulary grew. "
        "Where the line becomes flat, more tokens are of little use.",
        charts.legend([key for key, _ in drawn])
        + charts.curve_chart(
            drawn, "Bytes per token by number of tokens; the table below has figures."
        )
        + charts.details("All figures", figures),
    )


def _uses(uses: Sequence[TokenUse]) -> str:
    return charts.token_list((use.token, f"{use.times:,}×") for use in uses)


def _unreachable(one: EncodingReport) -> str:
    if one.unreachable is None:
        return "<p>Unreachable tokens are not known for this kind of model.</p>"
    if not one.unreachable:
        return ""
    more = len(one.unreachable) - _LISTED
    return (
        "<h3>Unreachable, and why</h3>"
        + charts.token_list((token.token, token.reason) for token in one.unreachable[:_LISTED])
        + (f"<p>and {more:,} more</p>" if more > 0 else "")
    )


def _terms(report: Report, named: Sequence[Key]) -> str:
    by_term = list(zip(*(one.terms for one in report.encodings.values())))
    if not by_term:
        return ""
    return _section(
        "Terms",
        "The tokens of each term, alone and after a space, and their number; ␣ is a space.",
        '<table class="terms"><thead><tr>'
        '<th scope="col">encoding</th><th scope="col">alone</th>'
        '<th scope="col">after a space</th></tr></thead>'
        f"{''.join(_term(named, of_encodings) for of_encodings in by_term)}</table>",
    )


def _term(named: Iterable[Key], of_encodings: Sequence[TermTokens]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{key.label}</th><td>{_cut(term.alone)}</td>'
        f"<td>{_cut(term.after_space)}</td></tr>"
        for key, term in zip(named, of_encodings)
    )
    term = f"<bdi>{text(of_encodings[0].term)}</bdi>"
    return (
        f'<tbody><tr><th class="term" colspan="3" scope="rowgroup">{term}</th></tr>{rows}</tbody>'
    )


def _cut(parts: Sequence[bytes]) -> str:
    return f'<span class="cut"><small>{len(parts)}</small> {charts.tokens(parts)}</span>'


def _not_all_drawn(report: Report, drawn: int) -> str:
    count = len(report.groups)
    if count <= drawn:
        return ""
    return f" Only the {drawn} of {count:,} groups {why_first(report)} are drawn."


def _section(title: str, explained: str, content: str) -> str:
    return f"<section><h2>{text(title)}</h2><p>{text(explained)}</p>{content}</section>"


#: Paths of the corpus that are named.
_NAMED = 3


def page_time(environment: Mapping[str, str]) -> datetime:
    """Return the time to put on a page: now, or that of ``SOURCE_DATE_EPOCH``, in UTC.

    Args:
        environment: the environment variables.

    Raises:
        ValueError: ``SOURCE_DATE_EPOCH`` is not a number of seconds.

    >>> print(page_time({"SOURCE_DATE_EPOCH": "1700000000"}))
    2023-11-14 22:13:20+00:00
    """
    given = environment.get("SOURCE_DATE_EPOCH")
    if not given:
        return datetime.now(timezone.utc)
    try:
        return datetime.fromtimestamp(int(given), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH is {given!r}: set it to a whole number of seconds since 1970, "
            "or unset it"
        ) from None


def whole_title(title: str, corpus: Sequence[str]) -> str:
    """Return a title with the name of the corpus, the one of the page's tab.

    >>> whole_title("Tokenizer report", ["a.txt", "-", "b", "c", "d"])
    'Tokenizer report: a.txt, standard input, b and 2 more'
    """
    return f"{title}: {', '.join(_named(corpus))}{_more(corpus)}" if corpus else title


def _named(corpus: Sequence[str]) -> list[str]:
    return ["standard input" if path == "-" else path for path in corpus[:_NAMED]]


def _more(corpus: Sequence[str]) -> str:
    more = len(corpus) - _NAMED
    return f" and {more:,} more" if more > 0 else ""


def _corpus(corpus: Sequence[str]) -> str:
    if not corpus:
        return ""
    named = _named(corpus)
    short = shorten(named) if len(named) > 1 else {named[0]: named[0]}
    paths = ", ".join(titled(name, short[name]) for name in named)
    return f'<p class="corpus">{paths}{_more(corpus)}</p>'


def _source(version: str, made_at: datetime | None) -> str:
    parts = []
    if made_at is not None:
        utc = made_at.astimezone(timezone.utc)
        parts.append(f'<time datetime="{utc:%Y-%m-%dT%H:%MZ}">{utc:%Y-%m-%d %H:%M} UTC</time>')
    if version:
        parts.append(f"compat_bpe {text(version)}")
    return f'<p class="lead source">{" · ".join(parts)}</p>' if parts else ""
