"""Learning a Unigram model, as tokenizers does."""
