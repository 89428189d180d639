"""The common parts of all jobs on Spark: requirements, shipping the package, columns, batches.

A batch is an Arrow ``RecordBatch``.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Callable

from ..columns.batches import Errors, texts_of
from ..corpus.documents import DocumentPart, parts_of
from ..corpus.tables import import_pyarrow
from ..files.write import written_whole
from ..unicode.surrogates import repair
from ..version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_INSTALL = "pip install '.[spark]' in a checkout of compat-bpe"
_MISSING = f"compat_bpe.spark needs PySpark 4 and PyArrow: {_INSTALL}"


def needed(name: str) -> Any:
    """Return a module of PySpark or PyArrow.

    Raises:
        ImportError: it is not installed, or not in a version that is safe; the message says how to
            install it.

    >>> needed("pyspark.no_such_module")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ImportError: compat_bpe.spark needs PySpark 4 and PyArrow: pip install ...
    """
    if name == "pyarrow":
        return import_pyarrow(_MISSING)
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(_MISSING) from error


#: The time that the zip has for all files, so that the same files make the same zip.
_TIME = (1980, 1, 1, 0, 0, 0)

#: The package, which may itself be in a zip.
_PACKAGE = Path(__file__).parent.parent


def ship(spark: SparkSession) -> str:
    """Put this package on the executors, for later jobs.

    The executors need Python of the driver's version, and PyArrow. They use this package rather
    than one that is installed there.

    Args:
        spark: the session.

    Returns:
        The path of the zip, which is removed when the driver ends.
    """
    folder = tempfile.mkdtemp(prefix="compat_bpe-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, f"compat_bpe-{__version__}.zip")
    write_zip(path)
    spark.addArtifacts(path, pyfile=True)
    return path


def write_zip(path: str | os.PathLike[str]) -> None:
    """Write this package as a zip, such as for ``spark-submit --py-files``; all of it or nothing.

    Raises:
        OSError: it cannot be written.
        ValueError: the package is neither in a folder nor in a zip.
    """
    with (
        written_whole(os.fspath(path)) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name, data in sorted(_files().items()):
            info = zipfile.ZipInfo(f"{_PACKAGE.name}/{name}", _TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            made.writestr(info, data)


def _files() -> dict[str, bytes]:
    """Return the files of the package, by their paths in it."""
    if _PACKAGE.is_dir():
        return {
            path.relative_to(_PACKAGE).as_posix(): path.read_bytes()
            for path in _PACKAGE.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        }
    archive = _PACKAGE.parent
    if not zipfile.is_zipfile(archive):
        raise ValueError(f"{_PACKAGE} is neither in a folder nor in a zip")
    start = f"{_PACKAGE.name}/"
    with zipfile.ZipFile(archive) as own:
        return {
            name[len(start) :]: own.read(name)
            for name in own.namelist()
            if name.startswith(start) and not name.endswith(("/", ".pyc"))
        }


#: The types of columns that have texts.
_TEXTS = ("string", "binary")

#: The most columns that a message lists.
_LISTED = 12


def check_text_column(df: DataFrame, column: str) -> None:
    """Raise an error unless a column of a DataFrame has texts.

    Raises:
        TypeError: the column has values of another type.
        ValueError: there is no such column.
    """
    type_name = column_type(df, column)
    if type_name.partition(" ")[0] not in _TEXTS:
        raise TypeError(
            f"the column {column!r} is of type {type_name}; it must be string or binary"
        )


def column_type(df: DataFrame, column: str) -> str:
    """Return the type of a column.

    Raises:
        TypeError: ``column`` is not a str.
        ValueError: there is no such column; the message lists the columns.
    """
    if not isinstance(column, str):
        raise TypeError(f"a column is given by its name, a str, not {type(column).__name__}")
    types: dict[str, str] = dict(df.dtypes)
    if column not in types:
        names = ", ".join(map(repr, [*types][:_LISTED])) + (", …" if len(types) > _LISTED else "")
        raise ValueError(f"there is no column {column!r}; the columns are {names}")
    return types[column]


def quoted(column: str) -> str:
    """Return any name of a column as Spark reads it.

    >>> print(quoted("a.b"), quoted("a`b"))
    `a.b` `a``b`
    """
    return "`" + column.replace("`", "``") + "`"


def picked(df: DataFrame, column: str, group: str | None, *others: Any) -> DataFrame:
    """Return the texts and the groups of a DataFrame, as its first two columns.

    Args:
        df: the DataFrame.
        column: the column of texts.
        group: the column of groups; None if all texts are of the group "".
        others: columns that follow.

    Raises:
        TypeError: the column has no texts, or a name is not a str.
        ValueError: there is no such column.
    """
    functions = needed("pyspark.sql.functions")
    needed("pyarrow")
    check_text_column(df, column)
    groups = functions.lit("")
    if group is not None:
        if column_type(df, group).startswith(("array", "map", "struct")):
            raise TypeError(
                f"the column of groups, {group!r}, is of type {column_type(df, group)}; it must "
                "not "
                "be an array, a map or a struct"
            )
        named = functions.col(quoted(group)).cast("string")
        groups = functions.coalesce(named, functions.lit(""))
    text = functions.col(quoted(column)).alias("text")
    return df.select(text, groups.alias("group"), *others)


def rows_of(
    batches: Iterable[Any],
    errors: Errors,
    column: str,
    skipped: Callable[[int], None] = lambda texts: None,
) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield the text, the group and the rest of the rows of ``picked`` that have a text.

    Args:
        batches: the batches of a partition.
        errors: as in ``count_tokens``.
        column: the name of the column, for messages.
        skipped: called with the number of texts of a batch that are left out because of errors.
    """
    for batch in batches:
        texts = texts_of(batch.column(0), errors, repr(column))
        if errors == "skip":
            skipped(texts.count(None) - batch.column(0).null_count)
        others = [one.to_pylist() for one in batch.columns[1:]]
        for text, group, *rest in zip(texts, *others):
            if text:
                yield text, group, tuple(rest)


def documents_of(batches: Iterable[Any], errors: Errors, column: str) -> Iterator[DocumentPart]:
    """Yield the parts of the documents of ``rows_of``."""
    for text, group, _ in rows_of(batches, errors, column):
        yield from parts_of([repair(text)], group, "")


def mapped(
    df: DataFrame, function: Callable[[Iterator[Any]], Iterator[Any]], schema: Any
) -> DataFrame:
    """Return the results of a function for the batches of each partition."""
    return df.mapInArrow(lambda batches: function(batches), schema)


def batch_of(names: Sequence[str], types: Sequence[str], columns: Sequence[list[Any]]) -> Any:
    """Return a batch of some columns.

    Args:
        names: their names.
        types: their types, each the name of a function of PyArrow.
        columns: their values.
    """
    arrow = needed("pyarrow")
    arrays = [arrow.array(values, getattr(arrow, kind)()) for kind, values in zip(types, columns)]
    return arrow.RecordBatch.from_arrays(arrays, list(names))
