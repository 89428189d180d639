"""Explanations: how each kind of model comes to the ids of a chunk. A new kind adds a module."""

from ..sentencepiece import explain as sentencepiece
from ..unigram import explain as unigram
from ..wordpiece import explain as wordpiece
from . import merging
from .base import explain

__all__ = ["explain", "merging", "sentencepiece", "unigram", "wordpiece"]
