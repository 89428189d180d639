"""Ids with their places, masks and types: what a `Tokenizer` returns."""
