"""Normalizers: they make text uniform before it is split.

Each gives the result of the normalizer of that name in tokenizers 0.23.3, independent of the
Unicode version of the running Python.
"""
