"""The Unigram model: the most likely pieces of a chunk."""
