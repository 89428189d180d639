"""The head of a report's page: its title, the corpus and its size, the time and the version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from .figures import Sizes
from .names import shorten, text, titled

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


def head(
    total: Sizes,
    groups: int,
    title: str,
    corpus: Sequence[str],
    version: str,
    made_at: datetime | None,
) -> str:
    """Return the head as HTML.

    Args:
        total: the sizes of the text.
        groups: how many groups it has.
        title, corpus, version, made_at: as in ``html.page``.
    """
    figures = (
        (total.documents, "document"),
        (total.bytes, "byte"),
        (total.characters, "character"),
        (total.words, "word"),
    )
    said = ", ".join(_counted(number, unit) for number, unit in figures)
    return (
        f"<h1>{text(title)}</h1>{_corpus(corpus)}"
        f'<p class="lead">{said}{f" in {groups:,} groups" if groups > 1 else ""}</p>'
        f"{_source(version, made_at)}"
    )


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


def _counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _source(version: str, made_at: datetime | None) -> str:
    parts = []
    if made_at is not None:
        utc = made_at.astimezone(timezone.utc)
        parts.append(f'<time datetime="{utc:%Y-%m-%dT%H:%MZ}">{utc:%Y-%m-%d %H:%M} UTC</time>')
    if version:
        parts.append(f"compat_bpe {text(version)}")
    return f'<p class="lead source">{" · ".join(parts)}</p>' if parts else ""
