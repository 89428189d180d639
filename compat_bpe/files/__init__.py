"""Files: their text, and the walk through directories that finds them."""
