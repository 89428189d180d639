"""Counting of the words of a corpus, and checks of words that come with their counts.

No token reaches across two words. Words are those that the trainers of Hugging Face tokenizers get:
a text is normalized, then the pre-tokenizer splits it. Names of added tokens are plain text.

Groups may have weights. The counts of a group are then multiplied by a number, so that the sizes
of the groups are in the proportions of their weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any, Callable, NamedTuple, Protocol

from ..caches import cached_property
from ..corpus.chunk_counts import ChunkCounter, Counted, Counts, NotAChunkError, shown
from ..encodings.encoding import Encoding
from ..encodings.load import DEEPSEEK
from ..encodings.tokenizer import Tokenizer
from ..formats.tokenizer_json import PARTS, TokenizerDefinition
from ..formats.tokenizer_models import WordLevelPart
from ..pattern.tree import stays_whole
from ..pipeline.byte_level import UNICODE_TO_BYTE
from .convergence import HeldOut

#: Pre-tokenizers that look at single characters, so that any part of one of their words is a word.
_BY_CHARACTER = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Digits"})

#: The most parts of a counted text that a message shows.
_SHOWN = 4


def types_in(part: Any) -> Iterator[str]:
    """Yield the types of a part and of the parts in it.

    >>> list(types_in({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}))
    ['Sequence', 'ByteLevel']
    """
    if isinstance(part, Mapping):
        if isinstance(part.get("type"), str):
            yield part["type"]
        for name in ("normalizers", "pretokenizers", "decoders", "processors"):
            for one in part.get(name) or ():
                yield from types_in(one)


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

    Words in the byte alphabet, or after ``Metaspace``, are already changed and cannot be split
    again. Only the byte alphabet can be checked.

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
                    f"{shown(word)} is not a word of the pre-tokenizer: its byte alphabet has no "
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


#: The factor that makes weighted counts integers: they are multiples of its inverse.
UNIT = 1000

#: A model that is never used: words are taken as the pre-tokenizer leaves them.
_NO_MODEL = WordLevelPart({"": 0}, "")

#: The parts that make words of a text.
_STEPS = ("normalizer", "pre_tokenizer")


def word_splitter(parts: Mapping[str, Any]) -> Tokenizer:
    """Return a tokenizer whose chunks are the words that a model is learned from.

    Args:
        parts: as of ``WordCounter``.

    Raises:
        ValueError: a part is wrong.
    """
    own = {**dict.fromkeys(PARTS), **{name: parts.get(name) for name in _STEPS}}
    return Tokenizer("words", TokenizerDefinition(_NO_MODEL, (), own, "the tokenizer"))


def word_size(parts: Mapping[str, Any]) -> Callable[[str], int]:
    """Return the function that gives the size of a word in bytes; ``parts`` as above."""
    # In the byte alphabet, a character stands for a byte.
    is_in_bytes = any("ByteLevel" in types_in(parts.get(name)) for name in _STEPS)
    return len if is_in_bytes else lambda word: len(word.encode())


class MergeLog(Protocol):
    """The merges of a run, kept while they are learned, so that another run can go on.

    Attributes:
        merges: the ids of both parts of each merge so far, and its frequency.
        sizes: the numbers of tokens of the held-out words at each check before the last merge.
    """

    merges: list[tuple[int, int, float]]
    sizes: list[int]

    def keep_merge(self, left: int, right: int, frequency: float, sizes: list[int]) -> None:
        """Take a merge, and the sizes at all checks before it."""


class CountedWords(NamedTuple):
    """The words of a corpus.

    Args:
        counts: each word and its count, in units of ``1 / unit``.
        unit: 1, or with weights ``UNIT``.
        bytes: the size of all words in bytes, without weights.
        words: the number of words, without weights.
        factors: with weights, the factor by which each group was multiplied; else empty.
        held_out: the words of the held-out text.
        log: keeps the merges, and has those of an earlier run; None if they are not kept.
    """

    counts: dict[str, int]
    unit: int = 1
    bytes: int = 0
    words: int = 0
    factors: Mapping[str, float] = {}
    held_out: HeldOut = HeldOut()
    log: MergeLog | None = None

    def in_units(self, number: int) -> float:
        """Return a number of counts divided by the factor of all counts."""
        return number / self.unit if self.unit > 1 else number


class WordCounter:
    """A counter of the words of texts that arrive in pieces.

    Memory grows with the number of distinct words.

    Args:
        splitter: an encoding whose chunks are the words.
        make_check: returns the check of words that come with their counts, when it is needed.
        size: returns the size in bytes of a word.
        spelled: returns a word as it is learned from; None if that is the word itself.
        weights: the weights of some groups; the others have 1.
        workers: the most worker processes to use for a large corpus, as in ``ChunkCounter``.

    Raises:
        ValueError: ``workers`` is not positive.

    >>> parts = {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}}
    >>> with WordCounter.of_parts(parts) as counter:
    ...     counter.feed("The dog, the", is_last=False)
    ...     counter.feed("se dogs.")
    ...     counter.finish().counts
    {'the': 1, 'dog': 1, ',': 1, 'these': 1, 'dogs': 1, '.': 1}
    """

    def __init__(
        self,
        splitter: Encoding,
        make_check: Callable[[], Callable[[str], None]],
        size: Callable[[str], int],
        spelled: Callable[[str], str] | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        workers: int | None = None,
    ) -> None:
        self._make_check = make_check
        self._size = size
        self._spelled = spelled
        self._weights = dict(weights or {})
        self._chunks = ChunkCounter(splitter, workers)

    @classmethod
    def of_parts(
        cls,
        parts: Mapping[str, Any],
        *,
        weights: Mapping[str, float] | None = None,
        workers: int | None = None,
    ) -> WordCounter:
        """Return a counter of the words that parts of a ``tokenizer.json`` make.

        Args:
            parts: the normalizer and the pre-tokenizer, as in the file; each may be None or
                missing. Without a pre-tokenizer a text is one word.
            weights, workers: as above.

        Raises:
            ValueError: a part is wrong, or ``workers`` is not positive.
        """
        splitter = word_splitter(parts)
        return cls(
            splitter,
            lambda: word_check(parts.get("pre_tokenizer"), splitter),
            word_size(parts),
            weights=weights,
            workers=workers,
        )

    @cached_property
    def _check(self) -> Callable[[str], None]:
        return self._make_check()

    def __enter__(self) -> WordCounter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._chunks.__exit__(*exception)

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one; see ``ChunkCounter.feed``."""
        self._chunks.feed(text, group, is_last=is_last)

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take words with their counts, as the model gets them: normalized and split off.

        Args:
            counts: the words and their counts; see ``Trainer.feed_counts``.
            group: the group of words that come without one.

        Raises:
            TypeError, ValueError: as ``Trainer.feed_counts``; also if the word alone shows that the
                pre-tokenizer would not split it off (``NotAChunkError``).
        """
        self._chunks.add(counts, group, self._check)

    def so_far(self) -> Counts:
        """Return the counts so far, by group; see ``ChunkCounter.so_far``."""
        return self._chunks.so_far()

    def finish(self, *, may_be_empty: bool = False) -> CountedWords:
        """Return the words of everything fed.

        Args:
            may_be_empty: True if all text may have been left out by the splitter.

        Raises:
            ValueError: there was no text, or a group with a weight had none.
            OSError: a worker process has been killed.
        """
        counts = self._chunks.finish()
        sizes = {
            group: sum(self._size(word) * count for word, count in counter.items())
            for group, counter in counts.items()
        }
        if not may_be_empty and not any(sizes.values()):
            raise ValueError("there is no text to learn from")
        multipliers = multipliers_of(sizes, self._weights) if self._weights else {}
        unit = UNIT if self._weights else 1
        total = 0
        words: dict[str, int] = {}
        # Each counter is emptied as it is read, so that memory does not hold its words twice.
        for group in list(counts):
            counter = counts.pop(group)
            total += sum(counter.values())
            multiplier = multipliers.get(group, 1)
            if not words and multiplier == 1 and self._spelled is None:
                words = dict(counter)
                continue
            while counter:
                word, count = counter.popitem()
                if self._spelled is not None:
                    word = self._spelled(word)
                words[word] = words.get(word, 0) + count * multiplier
        factors = {group: multiplier / unit for group, multiplier in multipliers.items()}
        return CountedWords(words, unit, sum(sizes.values()), total, factors)


def multipliers_of(sizes: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, int]:
    """Return the factor for the counts of each group, in units of ``1 / UNIT``.

    No group is made smaller.

    Args:
        sizes: the size of each group in bytes.
        weights: the weights of some groups; the others have 1.

    Raises:
        ValueError: a group with a weight has no text.

    >>> multipliers_of({"a": 10, "b": 40, "c": 10}, {"a": 4})
    {'a': 16000, 'b': 1000, 'c': 4000}
    """
    for group in weights:
        if not sizes.get(group):
            known = ", ".join(map(repr, sorted(group for group, size in sizes.items() if size)))
            raise ValueError(
                f"there is a weight for {group!r}, but no such text; the groups are {known}"
            )
    factors = {
        group: Fraction(weights.get(group, 1)) / size for group, size in sizes.items() if size
    }
    least = min(factors.values())
    return {group: round(UNIT * factor / least) for group, factor in factors.items()}
