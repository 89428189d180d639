"""Splitting in steps, as in the pre-tokenizers of a ``tokenizer.json``.

Each step sees the pieces of the step before, each alone, without the text around it. The base class
of steps is ``PreTokenizerStep`` in ``base``.
"""
