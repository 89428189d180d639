"""The tokenizer of a GGUF file; each of llama.cpp's models is read by a module of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Union

from .metadata import Metadata
from .vocabulary import Vocabulary, read_vocabulary

if TYPE_CHECKING:
    from ..rwkv import RwkvVocabulary
    from ..sentencepiece import SentencePieceModel
    from ..tokenizer_json import TokenizerDefinition

    #: The definition of a tokenizer.
    Read = Union[TokenizerDefinition, SentencePieceModel, RwkvVocabulary]

#: Models of llama.cpp that are not supported, and why.
_REFUSED = {
    "plamo2": "it has an algorithm of its own",
    "whitespace": "its normalizer is in no GGUF file",
    "hybriddna": "it has an algorithm of its own for genes",
    "none": "the file has no vocabulary",
    "no_vocab": "the file has no vocabulary",
}


def read_gguf(path: str | os.PathLike[str], pattern: str | None = None) -> Read:
    """Return the tokenizer of a GGUF file; the weights are not read.

    Args:
        path: the file.
        pattern: splits text in place of what the file says, in tiktoken's syntax; only for
            vocabularies over bytes.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged, or its tokenizer is not supported.
    """
    metadata = Metadata.of_file(path)
    model = metadata.text("model")
    if model is None:
        if metadata.number("split.no"):
            metadata.fail("model", "the first file of several has the vocabulary, not this one")
        metadata.fail("model", "the file has no vocabulary")
    if model in _REFUSED:
        metadata.fail("model", f"{model!r} is not supported: {_REFUSED[model]}")
    if model not in _MODELS:
        metadata.fail("model", f"{model!r} is not supported, only {', '.join(_MODELS)}")
    if pattern is not None and model != "gpt2":
        raise ValueError(f"{metadata.source}: a tokenizer of the model {model!r} has no pattern")
    return _MODELS[model](read_vocabulary(metadata), pattern)


# A kind of model is imported once a file has it.


def _gpt2(vocabulary: Vocabulary, pattern: str | None) -> Read:
    from .merges import read_byte_level

    return read_byte_level(vocabulary, pattern)


def _gemma4(vocabulary: Vocabulary, _: str | None) -> Read:
    from .merges import read_spelled

    return read_spelled(vocabulary)


def _llama(vocabulary: Vocabulary, _: str | None) -> Read:
    from .pieces import read_bpe

    return read_bpe(vocabulary)


def _t5(vocabulary: Vocabulary, _: str | None) -> Read:
    from .pieces import read_unigram

    return read_unigram(vocabulary)


def _bert(vocabulary: Vocabulary, _: str | None) -> Read:
    from .word_pieces import read_word_pieces

    return read_word_pieces(vocabulary)


def _rwkv(vocabulary: Vocabulary, _: str | None) -> Read:
    from .longest import read_longest

    return read_longest(vocabulary)


#: The reader of each model.
_MODELS: dict[str, Callable[[Vocabulary, str | None], Read]] = {
    "gpt2": _gpt2,
    "gemma4": _gemma4,
    "llama": _llama,
    "t5": _t5,
    "bert": _bert,
    "rwkv": _rwkv,
}
