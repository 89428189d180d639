"""The expressions ``pl.col(…).tokens.…`` of Polars."""

from __future__ import annotations

from typing import Any

from .accessor import Kind, Tokens
from .batches import Errors, Made, check_errors, made_of


class PolarsTokens(Tokens):
    """The namespace ``tokens`` of an expression."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def _made(self, made: Made, kind: Kind, errors: Errors) -> Any:
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
            values = made_of(made, batch.to_list(), errors, repr(batch.name))
            return polars.Series(batch.name, values, types[kind])

        return self._expression.map_batches(apply, return_dtype=types[kind], is_elementwise=True)


def register() -> None:
    """Give the expressions of Polars the namespace ``tokens``."""
    import polars

    polars.api.register_expr_namespace("tokens")(PolarsTokens)
