"""SentencePiece's models: BPE, Unigram, characters and words over pieces."""
