"""Models: they encode a chunk as ids."""
