"""Splitting in steps, as in the pre-tokenizers of a ``tokenizer.json``.

Each step sees the pieces of the step before, one by one, and nothing around them.
``PreTokenizerStep`` in ``base`` is what all have in common.
"""
