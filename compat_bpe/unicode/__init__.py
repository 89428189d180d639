"""Unicode as in the reference tokenizers: properties, UTF-8, and escapes for display."""
