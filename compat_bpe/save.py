"""Saving encodings as files that other programs read: the public names."""

from .encodings.save import save_gpt2 as save_gpt2
from .encodings.save import save_sentencepiece as save_sentencepiece
from .encodings.save import save_tiktoken as save_tiktoken
from .encodings.save import save_tokenizer_json as save_tokenizer_json
