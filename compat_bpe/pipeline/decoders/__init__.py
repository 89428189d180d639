"""Decoders: ids back to text, one module a kind."""
