"""The tokenizer of a GGUF file, for each of llama.cpp's models.

``gpt2`` and ``gemma4`` are read by ``merges.py``.

``llama`` (BPE) and ``t5`` (Unigram) are SentencePiece vocabularies. A ``.model`` has more data:
here the character map of a BPE is missing, which is empty in all known models. So is the mark of
user-defined symbols, which become normal pieces. But a GGUF file has tokens that were added to the
model, and these are found in text.

``bert`` is WordPiece in which ``▁`` marks a piece that begins a word, and other pieces have no
mark. ``rwkv`` is RWKV's list of tokens, each written as Python's ``repr`` writes bytes.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Union

from .. import missing_byte
from ..tokenizer_writing import bert_parts
from .container import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Metadata,
    Vocabulary,
    read_vocabulary,
)

if TYPE_CHECKING:
    from ..rwkv import RwkvVocabulary
    from ..sentencepiece import NormalizerSpec, SentencePieceModel
    from ..tokenizer_json import TokenizerDefinition

    #: The definition of a tokenizer.
    AnyDefinition = Union[TokenizerDefinition, SentencePieceModel, RwkvVocabulary]

#: Models of llama.cpp that are not supported, and why.
_REFUSED = {
    "plamo2": "it has an algorithm of its own",
    "whitespace": "GGUF files lack its normalizer",
    "hybriddna": "it has an algorithm of its own for genes",
    "none": "the file has no vocabulary",
    "no_vocab": "the file has no vocabulary",
}


def read_gguf(path: str | os.PathLike[str], pattern: str | None = None) -> AnyDefinition:
    """Return the tokenizer of a GGUF file; the weights are not read.

    Args:
        path: the file.
        pattern: the pattern to use in place of the file's steps, in tiktoken's syntax; only for
            vocabularies over bytes.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged, or its tokenizer is not supported.
    """
    metadata = Metadata.of_file(path)
    model = metadata.text("model")
    if model is None:
        if metadata.number("split.no"):
            metadata.fail(
                "model", "this is not the first file of the model, which has the vocabulary"
            )
        metadata.fail("model", "the file has no vocabulary")
    if model in _REFUSED:
        metadata.fail("model", f"{model!r} is not supported: {_REFUSED[model]}")
    if model not in _MODELS:
        metadata.fail("model", f"{model!r} is not supported, only {', '.join(_MODELS)}")
    if pattern is not None and model != "gpt2":
        raise ValueError(f"{metadata.source}: the model {model!r} has no pattern; leave it out")
    return _MODELS[model](read_vocabulary(metadata), pattern)


# The modules for a kind of model are imported on demand.


def _gpt2(vocabulary: Vocabulary, pattern: str | None) -> AnyDefinition:
    from .merges import read_byte_level

    return read_byte_level(vocabulary, pattern)


def _gemma4(vocabulary: Vocabulary, _: str | None) -> AnyDefinition:
    from .merges import read_spelled

    return read_spelled(vocabulary)


def _llama(vocabulary: Vocabulary, _: str | None) -> SentencePieceModel:
    """Return the model of a file of the model ``llama``.

    Raises:
        ValueError: the file is damaged, or SentencePiece does not take its pieces.
    """
    from ..sentencepiece import BPE, NormalizerSpec

    spec = NormalizerSpec("identity", b"", *_spaces(vocabulary, removes_extra=False))
    scores = _scores(vocabulary, is_optional=True)
    normal = [scores[number] for number in vocabulary.of_types(NORMAL)]
    if len(normal) > 1 and min(normal) == max(normal):
        # Made of a tokenizer.json, it has no scores; the pieces are in the order of their merges.
        scores = array("f", map(float, range(0, -len(scores), -1)))
    return _pieces_model(vocabulary, scores, spec, BPE)


def _t5(vocabulary: Vocabulary, _: str | None) -> SentencePieceModel:
    """Return the model of a file of the model ``t5``.

    Raises:
        ValueError: as in ``_llama``.
    """
    from ..sentencepiece import UNIGRAM, NormalizerSpec

    charsmap = vocabulary.metadata.numbers("precompiled_charsmap", "bB")
    blob = b"" if charsmap is None else charsmap.tobytes()
    spec = NormalizerSpec("precompiled", blob, *_spaces(vocabulary, removes_extra=True))
    return _pieces_model(vocabulary, _scores(vocabulary), spec, UNIGRAM)


def _spaces(vocabulary: Vocabulary, *, removes_extra: bool) -> tuple[bool, bool]:
    """Return whether a space is put before a text, and whether extra spaces are removed."""
    metadata = vocabulary.metadata
    prefix = metadata.truth("add_space_prefix")
    removes = metadata.truth("remove_extra_whitespaces")
    return prefix is not False, removes_extra if removes is None else removes


def _scores(vocabulary: Vocabulary, *, is_optional: bool = False) -> array[float]:
    size = len(vocabulary.tokens)
    scores = vocabulary.metadata.numbers("scores", "fi")
    if scores is None and is_optional:  # as in llama.cpp
        return array("f", [0.0]) * size
    if scores is None or len(scores) < size:
        count = 0 if scores is None else len(scores)
        vocabulary.metadata.fail("scores", f"there are {count} for {size} tokens")
    return array("f", scores[:size])


def _pieces_model(
    vocabulary: Vocabulary, scores: array[float], spec: NormalizerSpec, kind: int
) -> SentencePieceModel:
    from ...pipeline.models.sentencepiece.base import SPACE
    from ..sentencepiece import PiecesWithNames

    metadata, texts, types = vocabulary.metadata, vocabulary.tokens, vocabulary.types
    unknown = vocabulary.id_of_role("unk_token")
    if unknown is None or types[unknown] not in (UNKNOWN, CONTROL):
        unknown = types.find(UNKNOWN)
    types = types.replace(bytes([UNKNOWN]), bytes([CONTROL]))
    if unknown < 0:
        metadata.fail(
            "token_type", "no token has the unknown type, and there is no unknown_token_id"
        )
    types[unknown] = UNKNOWN
    known = set(texts)
    for number in vocabulary.of_types(USER_DEFINED):
        # The spaces of added tokens are not replaced.
        written = texts[number].replace(" ", SPACE)
        if written not in known:
            texts[number] = written
    if metadata.text("general.architecture") == "internlm2" and "🐉" in texts:
        # It stands for a NUL, which llama.cpp cannot read.
        texts[texts.index("🐉")] = "\0"
    roles = vocabulary.roles()
    model = PiecesWithNames(
        texts,
        scores.tolist(),
        bytes(types),
        normalizer=spec,
        kind=kind,
        byte_fallback=BYTE in types,
        unk_piece=roles.get("unk_token", "<unk>"),
        bos_piece=roles.get("bos_token", "<s>"),
        eos_piece=roles.get("eos_token", "</s>"),
        pad_piece=roles.get("pad_token", "<pad>"),
        source=metadata.source,
    )
    model.check()
    return model


_BEGIN, _GOES_ON = "▁", "##"
#: The ids for a file without them: those of the first BERT, as in llama.cpp.
_UNKNOWN, _FIRST, _LAST = 100, 101, 102
_CAPITAL = re.compile("[A-Z]").search


def _bert(vocabulary: Vocabulary, _: str | None) -> TokenizerDefinition:
    """Return the tokenizer of a file of the model ``bert``.

    Raises:
        ValueError: the file is damaged.
    """
    from ..tokenizer_json import TokenizerDefinition
    from ..tokenizer_models import WordPiecePart

    metadata, types = vocabulary.metadata, vocabulary.types
    unknown = _id_or(vocabulary, "unk_token", _UNKNOWN)
    first = _id_or(vocabulary, "bos_token", _id_or(vocabulary, "cls_token", _FIRST))
    last = _id_or(vocabulary, "sep_token", _LAST)
    for number in (unknown, first, last):
        if types[number] == NORMAL:
            types[number] = CONTROL
    lower = metadata.truth("normalizer.lowercase")
    if lower is None:
        lower = not _has_capitals(vocabulary)
    tokens = [_as_in_vocab_txt(token, kind) for token, kind in zip(vocabulary.tokens, types)]
    written = vocabulary._replace(tokens=tokens)
    parts = bert_parts(
        tokens[first],
        tokens[last],
        {tokens[first]: first, tokens[last]: last},
        lowercase=lower,
        strip_accents=metadata.truth("normalizer.strip_accents"),
    )
    model = WordPiecePart(written.ids(), tokens[unknown])
    return TokenizerDefinition(model, written.added_tokens(), parts, metadata.source)


def _id_or(vocabulary: Vocabulary, role: str, default: int) -> int:
    number = vocabulary.id_of_role(role)
    number = default if number is None else number
    if number >= len(vocabulary.tokens):
        vocabulary.metadata.fail("tokens", f"there is no {role}")
    return number


def _has_capitals(vocabulary: Vocabulary) -> bool:
    """Return True if some piece has a capital letter, so text is not put in lower case."""
    return any(
        kind == NORMAL and not _is_name(token)
        for token, kind in zip(vocabulary.tokens, vocabulary.types)
        if _CAPITAL(token)
    )


def _as_in_vocab_txt(token: str, kind: int) -> str:
    """Return a token as in a ``vocab.txt``."""
    if kind in (CONTROL, UNKNOWN):
        return token
    if token.startswith(_BEGIN):
        return token[1:]
    # Old files have reserved tokens without a mark.
    is_kept = kind == USER_DEFINED or (token.endswith("]") and _is_name(token))
    return token if is_kept else _GOES_ON + token


def _is_name(token: str) -> bool:
    token = token[1:] if token.startswith(_BEGIN) else token
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def _rwkv(vocabulary: Vocabulary, _: str | None) -> RwkvVocabulary:
    """Return the tokenizer of a file of the model ``rwkv``.

    The first token, under any name, is the end of a text. The others are those of the list.

    Raises:
        ValueError: a token is damaged or occurs twice, or a byte is not a token.
    """
    from ..rwkv import RwkvVocabulary, token_written

    metadata = vocabulary.metadata
    tokens: dict[bytes, int] = {}
    for id_, written in enumerate(vocabulary.tokens[1:], 1):
        try:
            token = token_written(written, is_bytes=True)
        except ValueError as error:
            metadata.fail_item("tokens", id_, str(error))
        if token in tokens:
            metadata.fail_item("tokens", id_, f"{token!r} is also [{tokens[token]}]")
        tokens[token] = id_
    byte = missing_byte(tokens)
    if byte is not None:
        metadata.fail("tokens", f"there is no token for the single byte 0x{byte:02X}")
    return RwkvVocabulary(tokens, metadata.source)


#: The reader of each model.
_MODELS: dict[str, Callable[[Vocabulary, str | None], AnyDefinition]] = {
    "gpt2": _gpt2,
    "gemma4": _gemma4,
    "llama": _llama,
    "t5": _t5,
    "bert": _bert,
    "rwkv": _rwkv,
}
