"""``series.tokens`` for pandas: there once this module is imported."""

from .columns.pandas import register

register()
