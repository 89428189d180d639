"""Functions for SQL, in SQLite and in DuckDB."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Callable

from .batches import (
    AnyEncoding,
    Batches,
    Carried,
    Errors,
    RowFunction,
    check_errors,
    count,
    encoding_named,
    split,
    text_of,
    truncated,
)

#: The most values that each of SQLite's functions caches, and the length of the longest of these.
#: That is 16 MiB of ASCII, or 64 MiB of the widest characters, and as much again for results that
#: are texts.
_CACHED, _LONGEST = 4096, 4096

#: The functions, each with its type in DuckDB and whether it takes a limit.
_FUNCTIONS: dict[str, tuple[RowFunction, str, bool]] = {
    "token_count": (count, "BIGINT", False),
    "truncate_tokens": (truncated, "VARCHAR", True),
    "split_tokens": (split, "VARCHAR[]", True),
}


def register(
    connection: Any,
    encodings: Mapping[str, AnyEncoding] | None = None,
    *,
    errors: Errors = "strict",
) -> list[str]:
    """Give a connection to SQLite or DuckDB functions that count, truncate and split texts.

    - ``token_count(text, encoding)``
    - ``truncate_tokens(text, encoding, limit)``
    - ``split_tokens(text, encoding, limit)``: in SQLite an array of JSON, for ``json_each``; in
      DuckDB a list, for ``unnest``

    NULL as an argument gives NULL. SQLite's functions take text and blobs. DuckDB has one type for
    a function, so those for blobs end in ``_blob``.

    Args:
        connection: an ``sqlite3.Connection`` or a ``duckdb.DuckDBPyConnection``.
        encodings: other encodings, by their names in SQL.
        errors: the treatment of blobs that are not UTF-8. ``"strict"`` fails the query,
            ``"replace"`` replaces them by U+FFFD, and ``"skip"`` gives NULL.

    Returns:
        The names of the functions.

    Raises:
        ValueError: there is no such encoding or treatment; the file is damaged.
        OSError: a file cannot be read.
        TypeError: it is a connection to something else.
        ImportError: with DuckDB, PyArrow is not installed.

    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> register(connection)
    ['token_count', 'truncate_tokens', 'split_tokens']
    >>> connection.execute("SELECT token_count('hello world', 'gpt2')").fetchone()
    (2,)
    >>> connection.close()
    """
    check_errors(errors)
    own = {name: Carried(encoding) for name, encoding in (encodings or {}).items()}
    modules = {one.__module__.partition(".")[0] for one in type(connection).__mro__}
    if "sqlite3" in modules:
        return _register_sqlite(connection, own, errors)
    if modules & {"duckdb", "_duckdb"}:
        return _register_duckdb(connection, own, errors)
    raise TypeError(
        f"connection must be of sqlite3 or DuckDB, not a {type(connection).__name__}; "
        "for Spark there is compat_bpe.spark.register"
    )


def _register_sqlite(connection: Any, own: Mapping[str, Carried], errors: Errors) -> list[str]:
    for name, (function, _, has_limit) in _FUNCTIONS.items():
        call = _of_row(function, own, errors)
        connection.create_function(name, 3 if has_limit else 2, call, deterministic=True)
    return list(_FUNCTIONS)


def _of_row(function: RowFunction, own: Mapping[str, Carried], errors: Errors) -> RowFunction:
    """Return a function on the values of one row of SQLite, which has no batches."""

    def make(value: Any, name: Any, *limit: Any) -> Any:
        if value is None or name is None or None in limit:
            return None
        encoding = encoding_named(name, own)
        text = text_of(value, errors, "'text'")
        made = None if text is None else function(encoding, text, *limit)
        return json.dumps(made, ensure_ascii=False) if isinstance(made, list) else made

    # typed: 1 and 1.0 are equal, and only one of them is a limit.
    cached = lru_cache(_CACHED, typed=True)(make)

    def call(value: Any, *others: Any) -> Any:
        short = isinstance(value, (str, bytes)) and len(value) <= _LONGEST
        return (cached if short else make)(value, *others)

    return call


def _register_duckdb(connection: Any, own: Mapping[str, Carried], errors: Errors) -> list[str]:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            "compat_bpe.sql needs PyArrow for DuckDB: "
            "pip install '.[duckdb]' in a checkout of compat-bpe"
        ) from None
    types = {
        "BIGINT": pyarrow.int64(),
        "VARCHAR": pyarrow.string(),
        "VARCHAR[]": pyarrow.list_(pyarrow.string()),
    }
    names = []
    for name, (function, returns, has_limit) in _FUNCTIONS.items():
        for suffix, takes in (("", "VARCHAR"), ("_blob", "BLOB")):
            connection.create_function(
                name + suffix,
                _of_batch(function, own, errors, pyarrow.array, types[returns], has_limit),
                [takes, "VARCHAR", *(["BIGINT"] if has_limit else [])],
                returns,
                type="arrow",
                null_handling="special",
            )
            names.append(name + suffix)
    return names


def _of_batch(
    function: RowFunction,
    own: Mapping[str, Carried],
    errors: Errors,
    array: Callable[[list[Any], Any], Any],
    returns: Any,
    has_limit: bool,
) -> RowFunction:
    """Return a function on the Arrow arrays of a batch of DuckDB."""

    batches = Batches(function, own, errors)

    def apply(*arrays: Any) -> Any:
        return array(batches.apply(*arrays), returns)

    # DuckDB counts the parameters of the function.
    if has_limit:
        return lambda texts, names, limits: apply(texts, names, limits)
    return lambda texts, names: apply(texts, names)
