"""Columns of tables: counts, ids, and texts that fit, of many texts at once."""
