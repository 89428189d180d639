"""``series.tokens`` for pandas: there once this module is imported."""

from .columns.accessor import register_pandas

register_pandas()
