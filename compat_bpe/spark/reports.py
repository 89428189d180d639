"""Reports on vocabularies, with the figures added up on the cluster."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..columns.batches import AnyEncoding, Carried, Errors, check_errors
from ..report.figures import EncodingReport, Report, Sizes, TokenCounts
from ..report.measure import report_parts
from .frames import batch_of, documents_of, mapped, needed, picked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns of figures: the name of one, the number of an encoding, a group, and the id of a
#: token; the token itself stands in place of the group if its id is that of one process.
_BY = ("figure", "encoding", "group", "token")
_TYPES = ("string", "int32", "string", "int64", "int64")
_SCHEMA = "figure string, encoding int, `group` string, token bigint, count bigint"

#: The figure of the uses of tokens.
_USES = "uses"


def report(
    df: DataFrame,
    column: str,
    encodings: Mapping[str, AnyEncoding] | Sequence[str],
    *,
    group: str | None = None,
    terms: Iterable[str] = (),
    errors: Errors = "strict",
) -> Report:
    """Measure encodings on a corpus: the report of ``compat-bpe report`` on the same documents.

    ``compat_bpe.report.html.page`` makes a page of it, ``compat_bpe.report.text`` a text. Its
    groups are sorted by name.

    Args:
        df: the corpus, one document a row.
        column: the column of the texts, of type string or binary. Null and empty texts do not count
            as documents.
        encodings: the encodings by their names in the report; or names of encodings.
        group: a column of groups, languages for instance; null is the group "".
        terms: words or names whose tokens the report shows.
        errors: as in ``count_tokens``; ``"skip"`` leaves the text out.

    Raises:
        ValueError: there is no such column or encoding; a vocabulary has no token for a part of the
            text.
        OSError: the file of an encoding cannot be read.
        TypeError: the column is not of strings or bytes.
        ImportError: PySpark or PyArrow is not installed.
    """
    check_errors(errors)
    named = encodings if isinstance(encodings, Mapping) else {name: name for name in encodings}
    carried = {name: Carried(encoding) for name, encoding in named.items()}
    functions = needed("pyspark.sql.functions")
    rows = mapped(picked(df, column, group), partial(_measured, carried, column, errors), _SCHEMA)
    summed = rows.groupBy(*_BY).agg(functions.sum("count")).collect()
    return _report_of([tuple(row) for row in summed], carried, terms)


def _measured(
    carried: Mapping[str, Carried], column: str, errors: Errors, batches: Iterable[Any]
) -> Iterator[Any]:
    """Yield the figures of the documents of a partition."""
    encodings = {name: one.get() for name, one in carried.items()}
    documents = documents_of(batches, errors, column)
    rows = list(_rows_of_report(report_parts(encodings, documents)))
    if rows:
        columns = [list(values) for values in zip(*rows)]
        yield batch_of([*_BY, "count"], _TYPES, columns)


def _rows_of_report(made: Report) -> Iterator[tuple[str, int, str, int, int]]:
    """Yield the figures of a report as rows that can be added up."""
    for group, sizes in made.groups.items():
        for name, value in sizes._asdict().items():
            yield name, -1, group, -1, value
    for number, one in enumerate(made.encodings.values()):
        for group, counts in one.groups.items():
            for name, value in counts._asdict().items():
                if value is not None:
                    yield name, number, group, -1, value
        if one.mergeable is not None:
            yield from ((_USES, number, "", token, times) for token, times in one.times.items())
        else:
            # A baseline numbers words as they come, so the ids of two processes differ.
            yield from ((_USES, number, use.token.decode(), -1, use.times) for use in one.uses)


def _report_of(
    rows: Iterable[tuple[Any, ...]], encodings: Mapping[str, Carried], terms: Iterable[str]
) -> Report:
    """Return the report of rows of figures."""
    figures: defaultdict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    uses: defaultdict[int, Counter[int]] = defaultdict(Counter)
    listed_encodings = [one.get() for one in encodings.values()]
    for name, number, group, token, value in sorted(rows):
        if name == _USES:
            own = [token] if token >= 0 else listed_encodings[number].encode_ordinary(group)
            uses[number].update(dict.fromkeys(own, value))
        else:
            figures[number, group][name] = value
    groups = sorted(group for number, group in figures if number < 0)
    listed = list(terms)
    return Report(
        {group: Sizes(**figures[-1, group]) for group in groups},
        {
            name: EncodingReport(
                carried.get(),
                {group: TokenCounts(**figures[number, group]) for group in groups},
                uses[number],
                listed,
            )
            for number, (name, carried) in enumerate(encodings.items())
        },
    )
