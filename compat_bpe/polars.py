"""``pl.col(…).tokens`` for Polars, registered when this module is imported."""

from .columns.accessor import register_polars

register_polars()
