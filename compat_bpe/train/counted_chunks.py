"""Checks of counted chunks; and ``feed_all``, which gives texts and counts to a trainer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Callable, Protocol

from ..corpus.chunk_counts import Counted, NotAChunkError, shown
from ..encodings.encoding import Encoding
from ..encodings.load_by_ranks import DEEPSEEK
from ..pattern.ast import stays_whole
from ..pipeline.byte_level import UNICODE_TO_BYTE
from .tokenizer_parts import types_in

#: Pre-tokenizers that look at single characters, so that any part of one of their words is a word.
_BY_CHARACTER = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Digits"})

#: The most parts of a counted text that a message shows.
_SHOWN = 4


class CountsTrainer(Protocol):
    """A trainer that takes texts and counts."""

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None: ...

    def feed_counts(self, counts: Counted, group: str = "") -> None: ...

    def hold_out(self, text: str) -> None: ...


def feed_all(
    trainer: CountsTrainer,
    texts: Iterable[str] | Mapping[str, Iterable[str]],
    counts: Counted | Mapping[str, Counted],
    validation: Iterable[str] = (),
) -> None:
    """Give a trainer all texts and counts, each perhaps by group, and what is held out.

    Raises:
        TypeError: ``texts`` is a single str, or something is of the wrong type.
        ValueError: as in ``Trainer.feed_counts`` and ``hold_out``.
    """
    if isinstance(texts, str):
        raise TypeError("texts is a str; pass a list of texts")
    groups = texts if isinstance(texts, Mapping) else {"": texts}
    for group, some in groups.items():
        for text in some:
            trainer.feed(text, group)
    for text in validation:
        trainer.hold_out(text)
    if isinstance(counts, Mapping):
        first = next(iter(counts.values()), None)
        # The counts of a group are a mapping or rows; a count is a number.
        if isinstance(first, Iterable) and not isinstance(first, (str, bytes)):
            for group, own in counts.items():
                trainer.feed_counts(own, group)  # type: ignore[arg-type]
            return
    trainer.feed_counts(counts)  # type: ignore[arg-type]


def whole_chunk_check(encoding: Encoding, pattern: str) -> Callable[[str], None]:
    """Return the check that a counted text is one chunk of a pattern.

    Args:
        encoding: an encoding that splits by the pattern.
        pattern: the pattern or its name, for messages.

    >>> from compat_bpe import get_encoding
    >>> whole_chunk_check(get_encoding("gpt2"), "gpt2")("hug pug")
    Traceback (most recent call last):
    compat_bpe.corpus.chunk_counts.NotAChunkError: 'hug pug' is not one chunk of the pattern \
'gpt2': it splits into 'hug', ' pug'
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
