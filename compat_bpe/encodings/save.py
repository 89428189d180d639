"""Saving an encoding to files that other programs read.

Each file is written whole or not at all. An encoding that the format cannot hold is an error
before anything is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence

from ..files.write import write_files
from ..formats.checked_json import is_unicode
from ..formats.gpt2 import format_encoder_json, format_vocab_bpe
from ..formats.models.bpe import ListedModel, RankedModel
from ..formats.parts.pre_tokenizers import byte_level_part, pattern_part, pre_tokenizers_part
from ..formats.parts.settings import padding_part, truncation_part
from ..formats.tiktoken import format_ranks
from ..formats.tokenizer_json import TokenizerDefinition
from ..pipeline.added.added_tokens import AddedToken
from ..pipeline.models.bpe.by_merges import ListedMergesEncoder
from ..pipeline.models.bpe.by_rank import BytePairEncoder
from ..pipeline.models.bpe.byte_level import ByteLevelBPE
from .encoding import Encoding
from .tokenizer import Tokenizer


def save_tiktoken(encoding: Encoding, path: str | os.PathLike[str]) -> None:
    """Write the ranks of an encoding as a ``.tiktoken`` file.

    The format holds the ranks alone. The program that reads it must know the pattern and the
    special tokens.

    Raises:
        OSError: the file cannot be written.
        ValueError: merging by rank would not give the ids of the encoding.

    >>> import compat_bpe, tempfile
    >>> enc = compat_bpe.get_encoding("gpt2")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_tiktoken(enc, folder + "/gpt2.tiktoken")
    ...     read = compat_bpe.load(folder + "/gpt2.tiktoken", pattern="gpt2")
    >>> read.encode("hello world") == enc.encode("hello world")
    True
    """
    write_files([(path, format_ranks(ranks_of(encoding)))])


def save_gpt2(
    encoding: Encoding,
    encoder_json: str | os.PathLike[str],
    vocab_bpe: str | os.PathLike[str],
) -> None:
    """Write an encoding as ``encoder.json`` and ``vocab.bpe`` (or ``vocab.json``, ``merges.txt``).

    The format does not hold the pattern.

    Raises:
        OSError: a file cannot be written.
        ValueError: the encoding is no byte-level BPE, a token is made by no merge, or merging by a
            list would not give the ids of the encoding.
    """
    _check_byte_level(encoding)
    model = encoding.definition.model if isinstance(encoding, Tokenizer) else None
    if not isinstance(model, ListedModel):
        ranks = ranks_of(encoding)
        ids = format_encoder_json(ranks, _names(encoding))
        merges = format_vocab_bpe(ranks)
    else:
        encoder = _listed(encoding)
        if not encoder.is_complete:
            raise ValueError(f"{encoding!r}: a byte is no token, for which the format has no rule")
        if model.ignore_merges and not encoder.makes_all_tokens():
            raise ValueError(f"{encoding!r}: a token is made by no merge")
        ids_by_name = {**model.vocabulary, **_names(encoding)}
        ids = json.dumps(dict(sorted(ids_by_name.items(), key=lambda item: item[1]))).encode()
        lines = ["#version: 0.2", *map(" ".join, zip(*model.merges)), ""]
        merges = "\n".join(lines).encode()
    write_files([(encoder_json, ids), (vocab_bpe, merges)])


def save_tokenizer_json(encoding: Encoding, path: str | os.PathLike[str]) -> None:
    """Write an encoding as a ``tokenizer.json``, which Hugging Face tokenizers reads.

    ``encode(text)`` there gives the ids of ``encode(text, allowed_special="all")`` here.

    Raises:
        OSError: the file cannot be written.
        ValueError: the format cannot hold the encoding: two special tokens have one id, a token is
            empty, the pattern cannot be written for Oniguruma, or the encoding is a model of
            SentencePiece, a list of RWKV's, or a baseline of characters or words.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else _definition(encoding)
    if definition.reference == "rwkv":
        raise ValueError(f"{encoding!r}: a tokenizer.json cannot hold a list of RWKV's tokens")
    if not isinstance(definition, TokenizerDefinition):
        raise ValueError(
            f"{encoding!r}: a tokenizer.json cannot hold a model of SentencePiece, which rounds "
            "scores and normalizes text otherwise; save_sentencepiece writes it"
        )
    model = definition.model
    try:
        vocabulary = _with_added(model.vocabulary, model.size, definition.added_tokens)
        written = model.written(vocabulary)
    except ValueError as error:
        raise ValueError(f"{encoding!r}: {error}") from None
    truncation, padding = definition.truncation, definition.padding
    file = {
        "version": "1.0",
        "truncation": truncation and truncation_part(truncation),
        "padding": padding and padding_part(padding),
        "added_tokens": [
            {
                "id": token.id,
                "content": token.content,
                "single_word": token.single_word,
                "lstrip": token.lstrip,
                "rstrip": token.rstrip,
                "normalized": token.normalized,
                "special": token.special,
            }
            for token in sorted(definition.added_tokens, key=lambda token: token.id)
        ],
        **definition.parts,
        "model": written,
    }
    write_files([(path, json.dumps(file, ensure_ascii=False).encode())])


def ranks_of(encoding: Encoding) -> Mapping[bytes, int]:
    """Return ranks by which merging gives the ids of a byte-level BPE.

    Raises:
        ValueError: there are no such ranks.
    """
    _check_byte_level(encoding)
    if not isinstance(encoding, Tokenizer):
        return encoding.core.encoder
    model = encoding.definition.model
    if isinstance(model, RankedModel):
        return model.ranks
    assert isinstance(model, ListedModel), "there is no other model of bytes"
    encoder = _listed(encoding)
    if not encoder.ranks_suffice():
        raise ValueError(
            f"{encoding!r}: merging by rank does not give what its list of merges gives"
        )
    ranks = dict(encoder.ranks)
    if model.ignore_merges and len(encoder.tokens) > len(ranks):
        # The other tokens are made by no merge, but a chunk can still be one.
        added = {token.id for token in encoding.added_tokens}
        ranks = {token: rank for token, rank in encoder.tokens.items() if rank not in added}
        made = BytePairEncoder(ranks)
        for token in ranks.keys() - encoder.ranks.keys():
            if made.makes(token):
                raise ValueError(f"{encoding!r}: merging by rank would make {token!r} of two parts")
    return ranks


def _check_byte_level(encoding: Encoding) -> None:
    """Raise ``ValueError`` unless an encoding merges bytes."""
    if not isinstance(encoding.core.model, ByteLevelBPE):
        raise ValueError(f"{encoding!r} is no byte-level BPE: it has no ranks")


def _listed(encoding: Encoding) -> ListedMergesEncoder:
    encoder = encoding.core.byte_level.merges
    assert isinstance(encoder, ListedMergesEncoder)
    return encoder


def _names(encoding: Encoding) -> dict[str, int]:
    """Return the names and ids of the special tokens and of all other added tokens.

    Raises:
        ValueError: a name has a lone surrogate.
    """
    names = dict(encoding.core.special)
    for name in names:
        if not is_unicode(name):
            raise ValueError(f"{encoding!r}: the special token {name!r} has a lone surrogate")
    return names


def _definition(encoding: Encoding) -> TokenizerDefinition:
    """Return the content of a ``tokenizer.json`` for an encoding by ranks and one pattern."""
    _check_byte_level(encoding)
    try:
        split = pattern_part(encoding.pattern)
    except ValueError as error:
        raise ValueError(f"{encoding!r}: {error}") from None
    byte_level = byte_level_part(use_regex=False)
    parts = {
        "normalizer": None,
        "pre_tokenizer": pre_tokenizers_part(split, byte_level),
        "post_processor": None,
        "decoder": byte_level,
    }
    specials = _names(encoding)
    if len(set(specials.values())) < len(specials):
        raise ValueError(f"{encoding!r}: two special tokens have the same id")
    added = tuple(AddedToken(name, id_, special=True) for name, id_ in specials.items())
    return TokenizerDefinition(RankedModel(encoding.core.encoder), added, parts, encoding.name)


def _with_added(
    vocabulary: Mapping[str, int], size: int, added: Sequence[AddedToken]
) -> dict[str, int]:
    """Return a vocabulary with the added tokens that must be in it to keep their ids.

    Args:
        vocabulary: the tokens of a model, and their ids.
        size: the number of its tokens, those that it has twice included.
        added: the added tokens.
    """
    ids = dict(vocabulary)
    for token in added:
        if ids.get(token.content, token.id) != token.id:
            raise ValueError(f"{token.content!r} is an ordinary token, too")
    others = [token for token in added if token.content not in ids]
    for token in _not_numbered_on(others, size):
        ids[token.content] = token.id
    if len(set(ids.values())) < len(ids):
        raise ValueError("a special token has the id of an ordinary one")
    return ids


def _not_numbered_on(added: Iterable[AddedToken], ordinary: int) -> list[AddedToken]:
    """Return the added tokens that must be in the vocabulary to keep their ids.

    A reader numbers those outside the vocabulary in their order, from the vocabulary's size on.
    """
    inside = sorted(added, key=lambda token: token.id)
    following = ordinary + len(inside)
    while inside and inside[-1].id == following - 1:
        following -= 1
        inside.pop()
    return inside
