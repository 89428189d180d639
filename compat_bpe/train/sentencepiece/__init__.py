"""SentencePiece's models, learned as SentencePiece learns them."""
