"""The models of a ``tokenizer.json``, one module a kind, as they are in the file."""
