"""Tokenizers of several steps, and models of SentencePiece: the public names.

``compat_bpe.load`` makes the tokenizers. These names are for types, for checks, and for the
settings that ``Tokenizer.encode_with_offsets`` takes.
"""

from .encodings.sentencepiece import SentencePiece as SentencePiece
from .encodings.tokenizer import Tokenizer as Tokenizer
from .pipeline.added_tokens import AddedToken as AddedToken
from .pipeline.models.sentencepiece.base import PlacedPiece as PlacedPiece
from .pipeline.tokenized import Padding as Padding
from .pipeline.tokenized import Tokenized as Tokenized
from .pipeline.tokenized import Truncation as Truncation
