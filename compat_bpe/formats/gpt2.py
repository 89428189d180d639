"""GPT-2's pair of files: ``encoder.json`` and ``vocab.bpe``.

``encoder.json`` is one JSON object from token to id, with the tokens in GPT-2's byte alphabet
(see :mod:`compat_bpe.pipeline.byte_level`). ``vocab.bpe`` lists the merges, highest priority
first, one ``first second`` per line, below an optional ``#version`` line.

GPT-2 merges the *pairs* that are listed. Here, as in tiktoken, any two parts whose *concatenation*
is a token are merged, and the id is the priority. So two things are required:

- ids increase in the order of the merges;
- each token of ``encoder.json`` is one byte, the result of a merge, or a special token.

Both rules then give the same tokens under one condition: merging a token by the lower ranks ends
with its listed pair. In any file that training wrote, it does. The reader does not check this,
since the check takes as long as writing the file. ``format_vocab_bpe(ranks)`` does check it: it
gives back the same merges if the condition holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

from ..files.whole import read_whole, utf8_text
from ..pipeline.byte_level import BYTE_TO_UNICODE, decode_bytes, encode_bytes
from ..pipeline.models.bpe.by_rank import merges_by_rank
from . import RANK_LIMIT
from .checked_json import is_unicode, parse_json


def read_gpt2(
    encoder_json: str | os.PathLike[str],
    vocab_bpe: str | os.PathLike[str],
    special_tokens: Iterable[str] | None = None,
) -> tuple[dict[bytes, int], dict[str, int]]:
    """Read a vocabulary from ``encoder.json`` and ``vocab.bpe``.

    Args:
        encoder_json: path of the file that numbers the tokens.
        vocab_bpe: path of the file that lists the merges.
        special_tokens: the names of the special tokens; ``encoder.json`` must have all of them.
            None takes every name ``<...>`` that is neither a byte nor made by a merge.

    Returns:
        The ranks of the ordinary tokens and the ids of the special ones.

    Raises:
        OSError: a file cannot be read.
        TypeError: ``special_tokens`` is a single str.
        ValueError: ``{file}: {reason}`` or ``{file}: line {n}: {reason}``. A file is damaged, or
            the two do not belong together.

    >>> ranks, special_tokens = read_gpt2(
    ...     "fixtures/gpt2_small/encoder.json", "fixtures/gpt2_small/vocab.bpe"
    ... )
    >>> ranks[b"!"], ranks[b" the"], special_tokens
    (0, 262, {'<|endoftext|>': 384})
    """
    if isinstance(special_tokens, str):
        raise TypeError(f"special_tokens is the str {special_tokens!r}; pass a list of names")
    encoder_path, merges_path = os.fspath(encoder_json), os.fspath(vocab_bpe)
    ids = _read_ids(encoder_path)
    ranks = _read_merges(merges_path, ids, encoder_path)
    mergeable = set(map(encode_bytes, ranks))
    rest = {name: token_id for name, token_id in ids.items() if name not in mergeable}
    if special_tokens is None:
        names = {name for name in rest if len(name) > 2 and name[0] == "<" and name[-1] == ">"}
    else:
        names = set(special_tokens)
    for name in sorted(names - rest.keys()):
        reason = "is a byte or made by a merge" if name in ids else "is not in the file"
        raise ValueError(f"{encoder_path}: special token {name!r} {reason}")
    for name in names:
        if not name:
            raise ValueError(f"{encoder_path}: a special token cannot be empty")
        if not is_unicode(name):
            raise ValueError(f"{encoder_path}: special token {name!r} has a lone surrogate")
    for name, token_id in rest.items():
        if name not in names:
            try:
                decode_bytes(name)
                reason = f"is not a byte, and no merge makes it: is {merges_path} cut short?"
            except ValueError as error:
                reason = f"is not a token: {error}"
            raise ValueError(
                f"{encoder_path}: {name!r} (id {token_id}) {reason} "
                "(a special token not written <...> must be passed in special_tokens)"
            )
    return ranks, rest


def _read_ids(path: str) -> dict[str, int]:
    """Return the checked ids of ``encoder.json``, by names in the byte alphabet."""
    # An object becomes a tuple of its pairs: so duplicate keys are seen, and no array, which is a
    # list, can be mistaken for an object.
    pairs = parse_json(read_whole(path), path, object_pairs_hook=tuple).value
    if not isinstance(pairs, tuple):
        raise ValueError(f"{path}: expected a JSON object from token to id")
    ids: dict[str, int] = {}
    name_of_id: dict[int, str] = {}
    for name, token_id in pairs:
        if type(token_id) is not int:  # a bool is an int to isinstance()
            raise ValueError(f"{path}: the id of {name!r} is not an integer")
        if not 0 <= token_id < RANK_LIMIT:
            raise ValueError(f"{path}: the id of {name!r} is not from 0 to {RANK_LIMIT - 1}")
        if name in ids:
            raise ValueError(f"{path}: {name!r} comes twice")
        if token_id in name_of_id:
            raise ValueError(
                f"{path}: {name_of_id[token_id]!r} and {name!r} have the same id, {token_id}"
            )
        ids[name] = token_id
        name_of_id[token_id] = name
    return ids


def _read_merges(path: str, ids: Mapping[str, int], encoder_path: str) -> dict[bytes, int]:
    """Return the ranks of the single bytes and of the tokens that the merges make."""
    ranks: dict[bytes, int] = {}
    for byte, char in BYTE_TO_UNICODE.items():
        if char not in ids:
            raise ValueError(
                f"{encoder_path}: no token for the single byte 0x{byte:02X}, written {char!r}"
            )
        ranks[bytes([byte])] = ids[char]

    lines = utf8_text(read_whole(path), path).split("\n")
    if not lines[-1]:
        lines.pop()  # the empty text after the last line feed
    line_of_part: dict[bytes, int] = {}
    previous = -1
    for number, line in enumerate(lines, 1):
        if number == 1 and line.startswith("#version"):
            continue
        try:
            parts = line.split()
            if len(parts) != 2:
                raise ValueError(f"expected the two parts of a merge, found {len(parts)}")
            first, second = map(decode_bytes, parts)
            token_id = ids.get(parts[0] + parts[1])
            if token_id is None:
                raise ValueError(f"{parts[0] + parts[1]!r} is not in {encoder_path}")
            if first + second in ranks:
                raise ValueError(f"an earlier merge makes {parts[0] + parts[1]!r}")
            if token_id <= previous:
                raise ValueError(
                    f"{parts[0] + parts[1]!r} has the id {token_id}, the merge before it "
                    f"{previous}; ids must increase in the order of the merges"
                )
        except ValueError as error:
            raise ValueError(f"{path}: line {number}: {error}") from None
        ranks[first + second] = previous = token_id
        line_of_part.setdefault(first, number)
        line_of_part.setdefault(second, number)
    for part, number in line_of_part.items():
        if part not in ranks:
            raise ValueError(
                f"{path}: line {number}: {encode_bytes(part)!r} is not a byte, "
                "and no merge makes it"
            )
    return ranks


def format_encoder_json(ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]) -> bytes:
    """Return the content of ``encoder.json``, ordered by id.

    For GPT-2's vocabulary, r50k_base, this function and :func:`format_vocab_bpe` give OpenAI's
    files, byte for byte.

    Raises:
        ValueError: two tokens have the same id, or the same spelling in the file.

    >>> format_encoder_json({b" a": 1, b"a": 0}, {"<|endoftext|>": 2})
    b'{"a": 0, "\\\\u0120a": 1, "<|endoftext|>": 2}'
    """
    name_of_id: dict[int, str] = {}
    ordinary = [(encode_bytes(token), rank) for token, rank in ranks.items()]
    for name, token_id in (*ordinary, *special_tokens.items()):
        if name_of_id.setdefault(token_id, name) != name:
            raise ValueError(f"{name_of_id[token_id]!r} and {name!r} have the same id, {token_id}")
    ids = {name: token_id for token_id, name in sorted(name_of_id.items())}
    if len(ids) != len(ordinary) + len(special_tokens):
        raise ValueError("a special token and an ordinary one are written the same")
    return json.dumps(ids).encode("ascii")


def format_vocab_bpe(ranks: Mapping[bytes, int]) -> bytes:
    """Return the content of ``vocab.bpe``: for each token of two bytes or more, its merge.

    Ranks do not name the two parts of a merge, but merging finds them: they are the parts of the
    token before the last step. It takes about a second for 50,000 tokens.

    Raises:
        ValueError: merging does not make a token.

    >>> format_vocab_bpe({b"a": 0, b" ": 1, b"aa": 2, b" aa": 3}).decode().splitlines()
    ['#version: 0.2', 'a a', 'Ġ aa']
    """
    lines = ["#version: 0.2"]
    for token, parts in merges_by_rank(ranks):
        if parts is None:
            raise ValueError(
                f"no merge makes the token {token!r} (rank {ranks[token]}): "
                "merging does not end with two parts of it"
            )
        lines.append(" ".join(map(encode_bytes, parts)))
    return "\n".join([*lines, ""]).encode("utf-8")
