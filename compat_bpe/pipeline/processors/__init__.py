"""Post-processors: special tokens around a text or a pair of texts, one module a kind."""
