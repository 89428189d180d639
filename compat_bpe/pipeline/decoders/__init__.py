"""Decoders: ids back to text, by bytes, by pieces and a file's steps, or as SentencePiece does."""
