"""Splitting in steps, as in the pre-tokenizers of a ``tokenizer.json``.

Each step sees the pieces of the step before, one by one, and nothing around them. Their base class
is ``PreTokenizerStep`` in ``base``.
"""
