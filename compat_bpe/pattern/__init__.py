"""A published pattern as a pattern for ``re``, and the chunks of a text by it."""
