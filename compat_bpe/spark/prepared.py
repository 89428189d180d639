"""Preparation of a corpus on the cluster: the rows that ``compat_bpe.corpus.prepare`` gives.

Each document is prepared by the functions that prepare a corpus on one machine. Only one step needs
other documents: dropping duplicates. It takes a first pass, in which each row gives the digests of
its lines, or of itself. Spark then finds for each digest the row and the line that come first. It
reduces on the map side, so a line that occurs a billion times costs little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ..columns.batches import Errors, check_errors, texts_of
from ..corpus.prepare import Duplicates, Preparation, Rule
from ..pipeline.normalizers.forms import Form
from .counts import digests_of, prepared
from .frames import check_text_column, column_type, mapped, needed, picked, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns that are added for a time: the place of a row in the corpus, and the numbers of those
#: of its digests that come first.
_ORDER, FIRST = "_compat_bpe_order", "_compat_bpe_first"

#: The column with True for held-out rows.
HELD_OUT = "held_out"


def prepare(
    df: DataFrame,
    column: str,
    *,
    normalization: Form | None = None,
    rules: Sequence[Rule] = (),
    drop_duplicates: Duplicates | None = None,
    validation: float = 0.0,
    order: str | Sequence[str] | None = None,
    errors: Errors = "strict",
) -> DataFrame:
    """Return a corpus prepared: the same rows as on one machine.

    Rows whose text is null, empty, or empty after its preparation, are left out. Otherwise a row
    stays one row, except a document of more than 65,536 characters with held-out parts: each such
    part is a row, and so is the text between two.

    Args:
        df: the corpus, one document a row.
        column: the column of the texts, of type string or binary; the result has strings in it.
            Other columns stay as they are.
        normalization, rules, drop_duplicates, validation: as in ``corpus.prepare.Preparation``,
            in this order. With a ``validation`` above 0 the result has a column ``held_out``.
        order: with ``drop_duplicates``, one or more columns by which the documents are in order.
            No two rows may have the same values there, and they must stay the same when Spark
            reads the corpus once more. Required for ``"lines"``. For ``"documents"`` it decides
            which row of equal texts stays; without it, the other columns decide.
        errors: as in ``count_tokens``; ``"skip"`` leaves the row out.

    Raises:
        ValueError: there is no such column; an argument is impossible; ``order`` is missing.
        TypeError: the column is not of strings or bytes.
        ImportError: PySpark or PyArrow is not installed.
    """
    preparation = Preparation(normalization, tuple(rules), drop_duplicates, validation)
    marked = with_first(df, column, preparation, order, errors)
    types = needed("pyspark.sql.types")
    fields = [
        types.StructField(field.name, types.StringType()) if field.name == column else field
        for field in df.schema.fields
    ]
    if validation:
        if HELD_OUT in df.columns:
            raise ValueError(f"there is a column {HELD_OUT!r} already; rename it")
        fields.append(types.StructField(HELD_OUT, types.BooleanType(), False))
    make = partial(_prepared_rows, preparation, column, errors, df.columns.index(column))
    return mapped(marked, make, types.StructType(fields))


def with_first(
    df: DataFrame,
    column: str,
    preparation: Preparation,
    order: str | Sequence[str] | None,
    errors: Errors,
) -> DataFrame:
    """Return a corpus with one more column, the last: the numbers of digests that come first.

    Without ``drop_duplicates`` it is null. The arguments are as in ``prepare``.
    """
    check_errors(errors)
    check_text_column(df, column)
    functions = needed("pyspark.sql.functions")
    if preparation.drop_duplicates is None:
        return df.withColumn(FIRST, functions.lit(None).cast("array<int>"))
    place = _place(df, column, preparation, order)
    df = df.withColumn(_ORDER, place)
    note = partial(_note_digests, preparation, column, errors)
    schema = needed("pyspark.sql.types").StructType()
    schema = schema.add("place", df.schema[_ORDER].dataType).add("number", "integer")
    rows = picked(df, column, None, _ORDER)
    digests = mapped(rows, note, schema.add("digest", "binary"))
    if order is None:  # the place is the row itself, and there may be equal rows
        rows = digests.groupBy("digest").agg(functions.min("place").alias("place"))
        own = [functions.col(f"place.{quoted(name)}") for name in df.columns if name != _ORDER]
        return rows.select(*own, functions.array(functions.lit(0)).alias(FIRST))
    first = functions.min(functions.struct("place", "number")).alias("first")
    firsts = digests.groupBy("digest").agg(first)
    numbers = functions.collect_list("first.number").alias(FIRST)
    by_row = firsts.groupBy(functions.col("first.place").alias(_ORDER)).agg(numbers)
    # A row whose digests all occurred before gets an empty list.
    joined = df.join(by_row, df[_ORDER].eqNullSafe(by_row[_ORDER]), "left")
    none = functions.array().cast("array<int>")
    return joined.select(
        *(df[quoted(name)] for name in df.columns if name != _ORDER),
        functions.coalesce(by_row[FIRST], none).alias(FIRST),
    )


def _place(
    df: DataFrame, column: str, preparation: Preparation, order: str | Sequence[str] | None
) -> Any:
    """Return the column by which rows are in order: a struct of others."""
    functions = needed("pyspark.sql.functions")
    if order is not None:
        names = [order] if isinstance(order, str) else list(order)
        for name in names:
            column_type(df, name)
        return functions.struct(*(functions.col(quoted(name)) for name in names))
    if preparation.drop_duplicates == "lines":
        raise ValueError(
            "drop_duplicates='lines' needs order: the column by which the documents are in order"
        )
    others = [name for name in df.columns if name != column]
    return functions.struct(*(functions.col(quoted(name)) for name in [*others, column]))


def _note_digests(
    preparation: Preparation, column: str, errors: Errors, batches: Iterable[Any]
) -> Iterator[Any]:
    """Yield the digests of the rows of a partition, each with the place of its row."""
    arrow = needed("pyarrow")
    for batch in batches:
        texts = texts_of(batch.column(0), errors, repr(column))
        rows: list[int] = []
        numbers: list[int] = []
        digests: list[bytes] = []
        for row, text in enumerate(texts):
            if text:
                of_text = digests_of(text, preparation)
                rows += [row] * len(of_text)
                numbers += range(len(of_text))
                digests += of_text
        columns = [
            batch.column(2).take(arrow.array(rows, arrow.int32())),
            arrow.array(numbers, arrow.int32()),
            arrow.array(digests, arrow.binary()),
        ]
        yield arrow.RecordBatch.from_arrays(columns, ["place", "number", "digest"])


def _prepared_rows(
    preparation: Preparation, column: str, errors: Errors, index: int, batches: Iterable[Any]
) -> Iterator[Any]:
    """Yield the rows of a partition prepared; the last column has the numbers of first digests."""
    arrow = needed("pyarrow")
    for batch in batches:
        texts = texts_of(batch.column(index), errors, repr(column))
        firsts = batch.column(batch.num_columns - 1).to_pylist()
        rows: list[int] = []
        made: list[str] = []
        held_out: list[bool] = []
        for row, (text, first) in enumerate(zip(texts, firsts)):
            if not text:
                continue
            document = prepared(text, "", preparation, first or ())
            kept = ["".join(part.text for part in parts) for parts in document.kept]
            out = [part.text for part in document.held_out]
            made += [*kept, *out]
            held_out += [*([False] * len(kept)), *([True] * len(out))]
            rows += [row] * (len(kept) + len(out))
        taken = arrow.array(rows, arrow.int32())
        columns = [one.take(taken) for one in batch.columns[:-1]]
        columns[index] = arrow.array(made, arrow.string())
        names = batch.schema.names[:-1]
        if preparation.validation:
            columns.append(arrow.array(held_out, arrow.bool_()))
            names.append(HELD_OUT)
        yield arrow.RecordBatch.from_arrays(columns, names)
