"""Published patterns, translated for ``re``, and the chunks that they split a text into."""
