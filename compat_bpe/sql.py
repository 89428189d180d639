"""Functions for SQL in SQLite and DuckDB: the public name."""

from .columns.sql import register as register
