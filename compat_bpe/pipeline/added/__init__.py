"""Added tokens: a text is cut at them, and their names get their ids."""
