"""Vocabularies learned from a corpus."""
