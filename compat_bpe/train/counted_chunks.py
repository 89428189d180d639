"""Checks of counted chunks: each is one that the splitter would make."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Callable

from ..corpus.counted import NotAChunkError, shown
from ..encodings.encoding import Encoding
from ..encodings.load_by_ranks import DEEPSEEK
from ..pattern.alone import stays_whole
from ..pipeline.byte_level import UNICODE_TO_BYTE
from .tokenizer_parts import types_in

#: Pre-tokenizers that look at single characters, so that any part of one of their words is a word.
_BY_CHARACTER = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Digits"})

#: The most parts of a counted text that a message shows.
_SHOWN = 4


def whole_chunk_check(encoding: Encoding, pattern: str) -> Callable[[str], None]:
    """Return the check that a counted text is one chunk of a pattern.

    Args:
        encoding: an encoding that splits by the pattern.
        pattern: the pattern or its name, for messages.

    >>> from compat_bpe import get_encoding
    >>> whole_chunk_check(get_encoding("gpt2"), "gpt2")("hug pug")
    Traceback (most recent call last):
    compat_bpe.corpus.counted.NotAChunkError: 'hug pug' is not one chunk of the pattern 'gpt2': it \
splits into 'hug', ' pug'
    """
    if pattern != DEEPSEEK:  # whose steps each leave their chunks whole
        tree = encoding.core.splitter.tree
        if tree is None or not stays_whole(tree):
            return lambda chunk: None
    chunks = encoding.core.splitter.chunks

    def check(chunk: str) -> None:
        pieces = chunks(chunk)
        if len(pieces) != 1 or pieces[0] != chunk:
            raise _not_one(chunk, pieces, f"not one chunk of the pattern {pattern!r}")

    return check


def word_check(pre_tokenizer: Any, splitter: Encoding) -> Callable[[str], None]:
    """Return the check that a counted text may be a word that a pre-tokenizer leaves.

    Text in the byte alphabet, or after ``Metaspace``, is already changed and cannot be split again.
    Only its alphabet can be checked.

    Args:
        pre_tokenizer: the pre-tokenizer as in a file, or None.
        splitter: an encoding that splits by it.
    """
    types = {*types_in(pre_tokenizer)} - {"Sequence"}
    if types and types <= _BY_CHARACTER:

        def check(word: str) -> None:
            pieces = splitter.core.splitter.chunks(word)
            if pieces != [word]:
                raise _not_one(word, pieces, "not one word of the pre-tokenizer")

        return check
    if "ByteLevel" in types:
        alphabet = UNICODE_TO_BYTE.keys()

        def check_alphabet(word: str) -> None:
            if not alphabet >= {*word}:
                other = min({*word} - alphabet)
                raise NotAChunkError(
                    f"{shown(word)} is no word of the pre-tokenizer: in its byte alphabet is no "
                    f"{other!r} (a space is 'Ġ')"
                )

        return check_alphabet
    return lambda word: None


def _not_one(text: str, found: Iterable[str], what: str) -> NotAChunkError:
    parts = [*islice(found, _SHOWN + 1)]
    listed = ", ".join(map(shown, parts[:_SHOWN])) + (", …" if len(parts) > _SHOWN else "")
    return NotAChunkError(
        f"{shown(text)} is {what}: it {f'splits into {listed}' if parts else 'is left out'}"
    )
