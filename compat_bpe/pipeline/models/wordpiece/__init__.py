"""WordPiece: the longest piece first."""
