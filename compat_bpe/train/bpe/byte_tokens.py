"""The tokens of single bytes, with which byte-level BPE begins; encodings made of tokens."""

from __future__ import annotations

from collections.abc import Iterable

from ...encodings import deepseek
from ...encodings.encoding import Encoding
from ...encodings.load_by_ranks import DEEPSEEK
from ...encodings.published import pattern_named
from ...encodings.tokenizer import Tokenizer
from ...formats.models.bpe import RankedModel
from ...formats.tokenizer_json import TokenizerDefinition
from ...pattern.ast import PatternError
from ...pipeline.added_tokens import AddedToken
from ...pipeline.byte_level import BYTE_TO_UNICODE, UNICODE_TO_BYTE, decode_bytes
from ...pipeline.chunks import is_byte_level

#: The tokens that training begins with, in the order of their ids.
BYTES = [bytes([byte]) for byte in BYTE_TO_UNICODE]

#: The id of each byte, for ``bytes.translate``.
TO_IDS = bytes(bytes(BYTE_TO_UNICODE).index(byte) for byte in range(256))


def make_encoding(
    name: str, pattern: str, tokens: Iterable[bytes], special_tokens: Iterable[str]
) -> Encoding:
    """Make an encoding of tokens, in the order of their ids, followed by special tokens.

    Raises:
        ValueError: the pattern is not valid.
    """
    ranks = {token: rank for rank, token in enumerate(tokens)}
    specials = {special: number for number, special in enumerate(special_tokens, len(ranks))}
    if pattern == DEEPSEEK:
        added = tuple(AddedToken(one, number, special=True) for one, number in specials.items())
        definition = TokenizerDefinition(RankedModel(ranks), added, deepseek.PARTS, name)
        return Tokenizer(name, definition)
    try:
        return Encoding(
            name,
            pat_str=pattern_named(pattern),
            mergeable_ranks=ranks,
            special_tokens=specials,
        )
    except PatternError as error:
        raise ValueError(f"the pattern cannot be used: {error}") from None


def check_byte_level(encoding: Encoding, done: str) -> None:
    """Raise ``ValueError`` if an encoding is no byte-level BPE; ``done`` says what cannot be done.

    >>> from compat_bpe import get_encoding
    >>> check_byte_level(get_encoding("words"), "extended")
    Traceback (most recent call last):
    ValueError: 'words' is no byte-level BPE, so it cannot be extended
    """
    if not is_byte_level(encoding.core):
        raise ValueError(f"{encoding.name!r} is no byte-level BPE, so it cannot be {done}")


def spellings(name: str) -> list[bytes]:
    """Return the tokens that a file may write like a special token.

    One is the name as text. The other is read from the name by GPT-2's byte alphabet, if it has
    all characters of the name.

    >>> spellings("Ġa"), spellings("世")
    ([b'\\xc4\\xa0a', b' a'], [b'\\xe4\\xb8\\x96'])
    """
    tokens = [name.encode()]
    if UNICODE_TO_BYTE.keys() >= set(name):
        tokens.append(decode_bytes(name))
    return tokens
