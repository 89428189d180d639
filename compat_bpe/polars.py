"""``pl.col(…).tokens`` for Polars: there once this module is imported."""

from .columns.accessor import register_polars

register_polars()
