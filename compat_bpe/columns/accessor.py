"""The methods ``tokens.…`` of a column: of a series of pandas, of an expression of Polars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, Literal

from ..fit.boundary import Boundary
from ..fit.truncate import Keep
from .batches import (
    AnyEncoding,
    Carried,
    Errors,
    TextFunction,
    apply_to_values,
    check_errors,
    making,
    making_ids,
    split,
    truncated,
)

#: The kind of values in a column: a number, a text, or a list of either.
Kind = Literal["int", "ints", "str", "strs"]


class Tokens(ABC):
    """Counts, ids, and texts that fit, of a column of texts or bytes. Null stays null."""

    @abstractmethod
    def _apply(self, function: TextFunction, kind: Kind, errors: Errors) -> Any:
        """Return the column of a function's results for each text."""

    def count(self, encoding: AnyEncoding, *, errors: Errors = "strict") -> Any:
        """Return the number of tokens of each text, as ``Encoding.count`` gives it.

        Args:
            encoding: the encoding, its name, or the path of its file or folder.
            errors: the treatment of bytes that are not UTF-8. ``"strict"`` raises ``ValueError``,
                ``"replace"`` replaces them by U+FFFD, and ``"skip"`` gives null.

        Raises:
            ValueError, OSError: there is no such encoding or treatment; the file is damaged.
        """
        return self._apply(Carried(encoding).get().count, "int", errors)

    def ids(
        self,
        encoding: AnyEncoding,
        *,
        allowed_special: Collection[str] = (),
        errors: Errors = "strict",
    ) -> Any:
        """Return the token ids of each text, as a list.

        Args:
            encoding, errors: as in ``count``.
            allowed_special: the special tokens that are tokens in the texts; all other names are
                plain text.

        Raises:
            ValueError, OSError: as in ``count``; the encoding numbers words as they come.
            TypeError: ``allowed_special`` is a single str.
        """
        return self._apply(making_ids(encoding, allowed_special)(), "ints", errors)

    def truncate(
        self,
        encoding: AnyEncoding,
        limit: int,
        *,
        keep: Keep = "head",
        boundary: Boundary = "char",
        marker: str | None = None,
        errors: Errors = "strict",
    ) -> Any:
        """Return as much of each text as fits in ``limit`` tokens.

        Args:
            encoding, errors: as in ``count``.
            limit, keep, boundary, marker: as in ``Encoding.truncate``.

        Raises:
            ValueError, OSError: as in ``count`` and in ``Encoding.truncate``.
        """
        make = making(truncated, encoding, limit, keep, boundary, marker)
        return self._apply(make(), "str", errors)

    def split(
        self,
        encoding: AnyEncoding,
        limit: int,
        *,
        overlap: int = 0,
        boundary: Boundary = "char",
        errors: Errors = "strict",
    ) -> Any:
        """Return the parts of each text that each fit in ``limit`` tokens, as a list.

        Args:
            encoding, errors: as in ``count``.
            limit, overlap, boundary: as in ``compat_bpe.fit.split_text``.

        Raises:
            ValueError, OSError: as in ``count`` and in ``split_text``.
        """
        return self._apply(making(split, encoding, limit, overlap, boundary)(), "strs", errors)


class PandasTokens(Tokens):
    """The accessor ``tokens`` of a series."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def _apply(self, function: TextFunction, kind: Kind, errors: Errors) -> Any:
        import pandas

        check_errors(errors)
        series = self._series
        texts = series.astype(object).where(series.notna(), None)
        found = apply_to_values(function, texts, errors, repr(series.name))
        # Each row has a list of its own, which its owner may change.
        values = [[*value] if isinstance(value, list) else value for value in found]
        dtype = {"int": "Int64", "str": "string"}.get(kind, object)
        return pandas.Series(values, index=series.index, dtype=dtype, name=series.name)


def register_pandas() -> None:
    """Give the series of pandas the accessor ``tokens``."""
    import pandas

    pandas.api.extensions.register_series_accessor("tokens")(PandasTokens)


class PolarsTokens(Tokens):
    """The namespace ``tokens`` of an expression."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def _apply(self, function: TextFunction, kind: Kind, errors: Errors) -> Any:
        import polars

        check_errors(errors)
        types: dict[Kind, Any] = {
            "int": polars.Int64,
            "ints": polars.List(polars.Int64),
            "str": polars.String,
            "strs": polars.List(polars.String),
        }
        taken = (polars.String, polars.Binary, polars.Categorical, polars.Enum, polars.Null)

        def apply(batch: Any) -> Any:
            if batch.dtype not in taken:
                raise TypeError(
                    f"column {batch.name!r} is of type {batch.dtype}; texts are strings or bytes"
                )
            values = apply_to_values(function, batch.to_list(), errors, repr(batch.name))
            return polars.Series(batch.name, values, types[kind])

        return self._expression.map_batches(apply, return_dtype=types[kind], is_elementwise=True)


def register_polars() -> None:
    """Give the expressions of Polars the namespace ``tokens``."""
    import polars

    polars.api.register_expr_namespace("tokens")(PolarsTokens)
