"""``pl.col(…).tokens`` for Polars: there once this module is imported."""

from .columns.polars import register

register()
