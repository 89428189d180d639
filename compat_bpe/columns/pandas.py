"""The methods ``series.tokens.…`` of pandas."""

from __future__ import annotations

from typing import Any

from .accessor import Kind, Tokens
from .batches import Errors, Made, check_errors, made_of


class PandasTokens(Tokens):
    """The accessor ``tokens`` of a series."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def _made(self, made: Made, kind: Kind, errors: Errors) -> Any:
        import pandas

        check_errors(errors)
        series = self._series
        texts = series.astype(object).where(series.notna(), None)
        found = made_of(made, texts, errors, repr(series.name))
        # Each row has a list of its own, which its owner may change.
        values = [[*value] if isinstance(value, list) else value for value in found]
        dtype = {"int": "Int64", "str": "string"}.get(kind, object)
        return pandas.Series(values, index=series.index, dtype=dtype, name=series.name)


def register() -> None:
    """Give the series of pandas the accessor ``tokens``."""
    import pandas

    pandas.api.extensions.register_series_accessor("tokens")(PandasTokens)
