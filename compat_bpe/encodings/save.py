"""Saving an encoding to files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from ..files.write import write_files
from ..formats.checked_json import is_unicode, parse_json
from ..formats.gpt2 import format_encoder_json, format_vocab_bpe
from ..formats.sentencepiece import parse_sentencepiece, sentencepiece_bytes
from ..formats.tiktoken import format_ranks, parse_ranks
from ..formats.tokenizer_bpe import ListedModel, RankedModel
from ..formats.tokenizer_json import TokenizerDefinition, parse_tokenizer
from ..formats.tokenizer_parts import padding_part, truncation_part
from ..formats.tokenizer_writing import (
    byte_level_part,
    file_parts,
    pattern_part,
    pre_tokenizers_part,
)
from ..formats.vocab_merges import is_heading, parse_merges
from ..pipeline.added_tokens import AddedToken
from ..pipeline.cutter import check_encoding
from ..pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from ..pipeline.models.bpe.by_rank import ByteLevelBPE, BytePairEncoder
from .encoding import Encoding
from .sentencepiece import SentencePiece
from .tokenizer import Tokenizer

#: The members of an added token, in the order of a ``tokenizer.json``.
_MEMBERS = ("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")


def save_tiktoken(encoding: Encoding, path: str | os.PathLike[str]) -> None:
    """Write the ranks of an encoding as a ``.tiktoken`` file.

    The format holds only the ranks. The program that reads the file must know the pattern and the
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
    ranks = ranks_of(encoding)
    data = format_ranks(ranks)
    read = parse_ranks(data, os.fspath(path))
    if read != ranks:
        _fail_other_ids(encoding, path, min(token for token, _ in read.items() ^ ranks.items()))
    write_files([(path, data)])


def save_gpt2(
    encoding: Encoding, encoder_json: str | os.PathLike[str], vocab_bpe: str | os.PathLike[str]
) -> None:
    """Write an encoding as ``encoder.json`` and ``vocab.bpe`` (or ``vocab.json``, ``merges.txt``).

    The format does not hold the pattern.

    Raises:
        OSError: a file cannot be written.
        ValueError: the encoding is not byte-level BPE; no merge makes a token; merging by a list
            would not give the ids of the encoding; or the line of a merge begins like a heading
            (``#version``), which Hugging Face's readers skip.
    """
    _check_byte_level(encoding)
    model = encoding.definition.model if isinstance(encoding, Tokenizer) else None
    if not isinstance(model, ListedModel):
        ranks = ranks_of(encoding)
        ids = format_encoder_json(ranks, _names(encoding))
        merges = format_vocab_bpe(ranks)
    else:
        encoder = _listed(encoding)
        if model.dropout == 1:
            raise ValueError(
                f"{os.fspath(vocab_bpe)}: the format cannot hold the dropout of 1 with which "
                f"{encoding!r} makes no merges; save_tokenizer_json can"
            )
        if not encoder.is_complete:
            raise ValueError(f"{encoding!r}: the format requires a token for every byte")
        if model.ignore_merges and not encoder.makes_all_tokens():
            raise ValueError(f"{encoding!r}: no merge makes one of its tokens")
        ids_by_name = {**model.vocabulary, **_names(encoding)}
        ids = json.dumps(dict(sorted(ids_by_name.items(), key=lambda item: item[1]))).encode()
        lines = ["#version: 0.2", *map(" ".join, zip(*model.merges)), ""]
        merges = "\n".join(lines).encode()
    _check_headings(merges, vocab_bpe)
    read = parse_json(ids, os.fspath(encoder_json)).mapping()
    pairs = [merge.split(" ") for merge in parse_merges(merges, os.fspath(vocab_bpe))]
    listed = ListedMergesEncoder(
        read, ([left for left, _ in pairs], [right for _, right in pairs]), UnknownPolicy()
    )
    whole = listed.tokens if encoding.core.byte_level.whole else {}
    _check_same_merging(encoding, ByteLevelBPE(listed, whole), vocab_bpe)
    write_files([(encoder_json, ids), (vocab_bpe, merges)])


def save_tokenizer_json(encoding: Encoding, path: str | os.PathLike[str]) -> None:
    """Write an encoding as a ``tokenizer.json``, which Hugging Face tokenizers reads.

    ``encode(text)`` there gives the ids of ``encode(text, allowed_special="all")`` here.

    Raises:
        OSError: the file cannot be written.
        ValueError: the format cannot hold the encoding: two special tokens have one id, a token is
            empty, the pattern cannot be written for Oniguruma, or the encoding is a SentencePiece
            model, an RWKV list, or a baseline of characters or words.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else _definition(encoding)
    if definition.reference == "rwkv":
        raise ValueError(f"{encoding!r}: a tokenizer.json cannot hold an RWKV list")
    if not isinstance(definition, TokenizerDefinition):
        raise ValueError(
            f"{encoding!r}: a tokenizer.json cannot hold a SentencePiece model, which rounds "
            "scores and normalizes text in another way; save_sentencepiece writes it"
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
            {name: getattr(token, name) for name in _MEMBERS}
            for token in sorted(definition.added_tokens, key=lambda token: token.id)
        ],
        **definition.parts,
        "model": written,
    }
    data = json.dumps(file, ensure_ascii=False).encode()
    read = Tokenizer(encoding.name, parse_tokenizer(parse_json(data, os.fspath(path))))
    check_same_ids(encoding, read, path)
    write_files([(path, data)])


def check_same_ids(encoding: Encoding, read: Encoding, path: str | os.PathLike[str]) -> None:
    """Raise ``ValueError`` if a file does not give the ids of the encoding it was written from.

    Both encode the text of each token after the text of another token, and the name of each special
    token between other characters. In byte-level BPE, both merge each token, too. The time is
    proportional to the size of the vocabulary.

    Args:
        encoding: the encoding.
        read: the encoding that was read from the bytes of the file.
        path: the file, for the message.
    """
    if isinstance(read.core.model, ByteLevelBPE):
        _check_same_merging(encoding, read.core.model, path)
    ids = sorted(set(encoding.core.encoder.values()))
    half = len(ids) // 2
    texts = list(map(encoding.decode, zip(ids[half:], [*ids[:half], *ids[: len(ids) % 2]])))
    texts += [f"a{name}b" for name in encoding.core.special]
    for text in texts:
        if _ids_of(encoding, text) != _ids_of(read, text):
            _fail_other_ids(encoding, path, text)


def _ids_of(encoding: Encoding, text: str) -> list[int] | None:
    """Return the ids of a text; None if the encoding has no ids for a part of it."""
    try:
        return encoding.encode(text, allowed_special="all")
    except ValueError:
        return None


def _check_same_merging(
    encoding: Encoding, read: ByteLevelBPE, path: str | os.PathLike[str]
) -> None:
    """Raise ``ValueError`` if a model of byte-level BPE merges a token in another way.

    The merges of each token decide the ids of every chunk (``by_merges`` has the argument).

    Args:
        encoding: the encoding that the file was written from, of byte-level BPE, too.
        read: the model as the file has it.
        path: the file, for the message.
    """
    model = encoding.core.byte_level
    merge, merge_read = model.merges.merge, read.merges.merge
    for token in encoding.core.encoder:
        if merge(token) != merge_read(token) or model.ids_of(token) != read.ids_of(token):
            _fail_other_ids(encoding, path, token)


def _fail_other_ids(
    encoding: Encoding, path: str | os.PathLike[str], what: str | bytes
) -> NoReturn:
    raise ValueError(
        f"{os.fspath(path)}: not written, since {what!r} would not get the ids of {encoding!r}; "
        "this is a bug, please report it"
    )


def _check_headings(merges: bytes, path: str | os.PathLike[str]) -> None:
    """Raise ``ValueError`` if readers would skip the line of a merge as a heading."""
    for line in merges.decode().split("\n")[1:]:
        if is_heading(line):
            left, right = line.split(" ")
            raise ValueError(
                f"{os.fspath(path)}: the format cannot hold the merge of {left!r} and {right!r}, "
                "since Hugging Face's readers skip its line as a heading; a rank file and a "
                "tokenizer.json can"
            )


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
            f"{encoding!r}: merging by rank does not give the ids of its list of merges"
        )
    ranks = dict(encoder.ranks)
    if model.ignore_merges and len(encoder.tokens) > len(ranks):
        # No merge makes the other tokens, but a whole chunk can still be one of them.
        added = {token.id for token in encoding.added_tokens}
        ranks = {token: rank for token, rank in encoder.tokens.items() if rank not in added}
        made = BytePairEncoder(ranks)
        for token in ranks.keys() - encoder.ranks.keys():
            if made.makes(token):
                raise ValueError(f"{encoding!r}: merging by rank would make the token {token!r}")
    return ranks


def _check_byte_level(encoding: Encoding) -> None:
    """Raise ``ValueError`` unless an encoding merges bytes, ``TypeError`` if it is a name."""
    check_encoding(encoding)
    if not isinstance(encoding.core.model, ByteLevelBPE):
        raise ValueError(f"{encoding!r} is not byte-level BPE: it has no ranks")


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
    parts = file_parts(pre_tokenizers_part(split, byte_level), None, byte_level)
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
        size: the number of its tokens, duplicates included.
        added: the added tokens.
    """
    ids = dict(vocabulary)
    for token in added:
        if ids.get(token.content, token.id) != token.id:
            raise ValueError(f"{token.content!r} is also an ordinary token")
    others = [token for token in added if token.content not in ids]
    for token in _not_numbered_on(others, size):
        ids[token.content] = token.id
    if len(set(ids.values())) < len(ids):
        raise ValueError("a special token has the id of an ordinary one")
    return ids


def _not_numbered_on(added: Iterable[AddedToken], ordinary: int) -> list[AddedToken]:
    """Return the added tokens that must be in the vocabulary to keep their ids.

    A reader numbers tokens outside the vocabulary in their order, from the vocabulary's size on.
    """
    inside = sorted(added, key=lambda token: token.id)
    following = ordinary + len(inside)
    while inside and inside[-1].id == following - 1:
        following -= 1
        inside.pop()
    return inside


def save_sentencepiece(encoding: Encoding, path: str | os.PathLike[str]) -> None:
    """Write a ``SentencePiece`` encoding as a ``.model`` file.

    Settings of the trainer that change no ids are left out.

    Raises:
        OSError: the file cannot be written.
        ValueError: the encoding is of another kind. A SentencePiece model cannot give its ids.
    """
    check_encoding(encoding)
    if not isinstance(encoding, SentencePiece):
        raise ValueError(
            f"{encoding!r} is not a SentencePiece model: no scores of its tokens would give "
            "the same ids"
        )
    write_files([(path, checked_bytes(encoding, path))])


def checked_bytes(encoding: SentencePiece, path: str | os.PathLike[str]) -> bytes:
    """Return the ``.model`` file of an encoding, after checking that it gives the same ids.

    Raises:
        ValueError: the file gives other ids; the message names ``path``.
    """
    data = sentencepiece_bytes(encoding.definition)
    read = SentencePiece(encoding.name, parse_sentencepiece(data, os.fspath(path)))
    check_same_ids(encoding, read, path)
    return data
