"""What byte-level BPE begins with: the tokens of single bytes, or a vocabulary that is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ...encodings import deepseek
from ...encodings.deepseek import PARTS as DEEPSEEK_PARTS
from ...encodings.encoding import Encoding
from ...encodings.load import DEEPSEEK
from ...encodings.published import PATTERNS, pattern_named
from ...encodings.save import ranks_of
from ...encodings.tokenizer import Tokenizer
from ...formats.settings_beside import AS_TOKENIZER_JSON
from ...formats.tokenizer_bpe import RankedModel
from ...formats.tokenizer_json import TokenizerDefinition
from ...formats.tokenizer_writing import byte_level_part, pattern_part, pre_tokenizers_part
from ...pattern.ast import PatternError
from ...pipeline.added_tokens import AddedToken
from ...pipeline.byte_level import BYTE_TO_UNICODE, UNICODE_TO_BYTE, decode_bytes
from ...pipeline.core import is_byte_level
from ..tokenizer_parts import types_in

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


def split_by(encoding: Encoding, pattern: str | None) -> Encoding:
    """Return a byte-level BPE with all its tokens and ids, which splits text by another pattern.

    Args:
        encoding: the encoding, which is not changed.
        pattern: the pattern, or its name; None for the encoding's own.

    Raises:
        ValueError: the pattern is not valid, or the encoding puts a space before each chunk.

    >>> from compat_bpe import get_encoding
    >>> enc = split_by(get_encoding("gpt2"), "superbpe")
    >>> enc.core.splitter.chunks("by the way, in 2024"), enc.encode("way")
    (['by the way, in ', '202', '4'], [1014])
    """
    encoding = _by_ranks(encoding)
    if pattern is None:
        return encoding
    try:
        if isinstance(encoding, Tokenizer):
            definition = encoding.definition
            assert isinstance(definition, TokenizerDefinition)
            parts = {**definition.parts, "pre_tokenizer": _pre_tokenizer(definition, pattern)}
            return Tokenizer(encoding.name, definition._replace(parts=parts))
        special = dict(encoding.core.special)
        if pattern == DEEPSEEK:
            added = tuple(AddedToken(one, number, special=True) for one, number in special.items())
            model = RankedModel(dict(encoding.core.encoder))
            definition = TokenizerDefinition(model, added, DEEPSEEK_PARTS, encoding.name)
            return Tokenizer(encoding.name, definition)
        return Encoding(
            encoding.name,
            pat_str=pattern_named(pattern),
            mergeable_ranks=dict(encoding.core.encoder),
            special_tokens=special,
        )
    except PatternError as error:
        raise ValueError(f"the pattern cannot be used: {error}") from None


def _by_ranks(encoding: Encoding) -> Encoding:
    """Return a tokenizer that has no more than ranks and a pattern as that; others as they are.

    So what was trained here and read from its ``tokenizer.json`` is what it was.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else None
    if not isinstance(definition, TokenizerDefinition):
        return encoding
    parts, added = definition.parts, definition.added_tokens
    split = next(_patterns_of(parts["pre_tokenizer"]), None)
    if (
        split is None
        or parts["normalizer"] is not None
        or parts["decoder"] != byte_level_part(use_regex=False)
        or parts["post_processor"] is not None
        or definition.truncation is not None
        or definition.padding is not None
        or any(token != AddedToken(token.content, token.id, special=True) for token in added)
    ):
        return encoding
    try:
        ranks = ranks_of(encoding)
    except ValueError:
        return encoding
    special = {token.content: token.id for token in added}
    return Encoding(
        encoding.name, pat_str=split, mergeable_ranks=dict(ranks), special_tokens=special
    )


def _patterns_of(pre_tokenizer: Any) -> Iterator[str]:
    """Yield the pattern that a pre-tokenizer was written for, if it splits by one alone."""
    steps = pre_tokenizer.get("pretokenizers", ()) if isinstance(pre_tokenizer, Mapping) else ()
    written = steps[0].get("pattern", {}).get("Regex") if steps else None
    for pattern in (*PATTERNS.values(), written):
        if pattern is None:
            continue
        with suppress(ValueError):
            if pre_tokenizer == _by_pattern(pattern):
                yield pattern


def _by_pattern(pattern: str) -> dict[str, Any]:
    return pre_tokenizers_part(pattern_part(pattern), byte_level_part(use_regex=False))


def _pre_tokenizer(definition: TokenizerDefinition, pattern: str) -> Any:
    """Return the pre-tokenizer by another pattern, as in a file."""
    old = definition.parts["pre_tokenizer"]
    if "ByteLevel" not in {*types_in(old)}:
        raise ValueError("its bytes are made by its normalizer: it keeps its own pattern")
    if _adds_space(old):
        raise ValueError("it puts a space before each chunk: it keeps its own pattern")
    if pattern == DEEPSEEK:
        return DEEPSEEK_PARTS["pre_tokenizer"]
    return _by_pattern(pattern_named(pattern))


def _adds_space(part: Any) -> bool:
    """Return True if a pre-tokenizer, or one of a sequence, adds a space."""
    if part is None:
        return False
    return bool(part.get("add_prefix_space")) or any(
        map(_adds_space, part.get("pretokenizers", ()))
    )


def with_special_tokens(encoding: Encoding, names: Iterable[str]) -> Encoding:
    """Return an encoding with special tokens after all others; those that are there stay.

    >>> from compat_bpe import get_encoding
    >>> enc = with_special_tokens(get_encoding("gpt2"), ["<|endoftext|>", "<|pad|>"])
    >>> enc.special_tokens
    {'<|endoftext|>': 50256, '<|pad|>': 50257}
    """
    names = [*names]
    known = encoding.core.special
    new = [name for name in names if name not in known]
    first = encoding.max_token_value + 1
    if isinstance(encoding, Tokenizer):
        definition = encoding.definition
        assert isinstance(definition, TokenizerDefinition)
        added = [AddedToken(name, number, special=True) for number, name in enumerate(new, first)]
        definition = definition._replace(added_tokens=(*definition.added_tokens, *added))
        return Tokenizer(encoding.name, definition.with_special({*names}))
    if not new:
        return encoding
    return Encoding(
        encoding.name,
        pat_str=encoding.pattern,
        mergeable_ranks=dict(encoding.core.encoder),
        special_tokens={**known, **{name: number for number, name in enumerate(new, first)}},
    )


def pattern_name_of(encoding: Encoding) -> str:
    """Return the pattern of a byte-level BPE as a manifest has it.

    >>> from compat_bpe import get_encoding
    >>> pattern_name_of(get_encoding("deepseek_v3")), pattern_name_of(get_encoding("gpt2"))
    ('that of tokenizer.json', 'gpt2')
    """
    if isinstance(encoding, Tokenizer):
        parts = encoding.definition.parts
        same = all(parts.get(key) == DEEPSEEK_PARTS[key] for key in ("normalizer", "pre_tokenizer"))
        # A manifest has only names and ids of special tokens, and no other added tokens.
        simple = all(
            token == AddedToken(token.content, token.id, special=True)
            for token in encoding.added_tokens
        )
        return DEEPSEEK if same and simple else AS_TOKENIZER_JSON
    pattern = encoding.pattern
    return next((name for name, known in PATTERNS.items() if known == pattern), pattern)
