"""Corpora: documents read as streams, prepared, and counted by chunk."""
