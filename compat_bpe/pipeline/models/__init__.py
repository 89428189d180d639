"""Models: from a chunk to ids."""
