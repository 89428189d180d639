"""Splitting in steps, as in the pre-tokenizers of a ``tokenizer.json``, one module a kind of step.

Each step sees the pieces of the step before, one by one, and nothing around them.
``PreTokenizerStep`` in ``base`` is what all have in common. A new kind of step is a new module.
"""
