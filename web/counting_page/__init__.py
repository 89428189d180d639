"""The Python side of the page: what its Web Worker asks, answered by compat_bpe."""
