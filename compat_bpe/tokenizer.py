"""Tokenizers of several steps, and models of SentencePiece: the public names.

``compat_bpe.load`` makes the tokenizers. Use these names for annotations, for ``isinstance``, and
for the settings of ``Tokenizer.encode_with_offsets``.
"""

from .encodings.sentencepiece import SentencePiece as SentencePiece
from .encodings.tokenizer import Tokenizer as Tokenizer
from .pipeline.added_tokens import AddedToken as AddedToken
from .pipeline.models.sentencepiece.base import PlacedPiece as PlacedPiece
from .pipeline.tokenized import Padding as Padding
from .pipeline.tokenized import Tokenized as Tokenized
from .pipeline.tokenized import Truncation as Truncation
