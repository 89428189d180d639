"""``series.tokens`` for pandas, registered when this module is imported."""

from .columns.accessor import register_pandas

register_pandas()
