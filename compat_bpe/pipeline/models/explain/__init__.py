"""Explanations: how each kind of model comes to the ids of a chunk.  A new kind adds a module."""

from . import lattices as lattices
from . import merging as merging
from . import sentencepiece as sentencepiece
from . import wordpiece as wordpiece
from .base import explain as explain
