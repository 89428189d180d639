"""Decoders: from ids to text, by bytes, by pieces and a file's steps, or as in SentencePiece."""
