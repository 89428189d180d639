"""Normalizers: they make text uniform before it is split.

Each gives what the normalizer of that name gives in tokenizers 0.23.3, whatever version of Unicode
the running Python has.
"""
