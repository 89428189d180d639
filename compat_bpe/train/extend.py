"""Extending a vocabulary: new tokens for new text or given terms, without changing an id.

That is shown here for byte-level BPE; for other kinds see ``extend_pieces``. New tokens come from
merges added after all old ones. Their ids follow the highest id in use, special and reserved tokens
included.

**Chunks without an added merge do not change.**  Let the old vocabulary encode a chunk as t1 … tn,
and let no two neighbours of these be the two parts of an added merge. Then the new vocabulary
encodes it as t1 … tn, too:

- All added merges have higher ranks than all old ones. So as long as an old merge is possible, the
  same merge is carried out at the same place, and merging reaches t1 … tn through the same states.
- There no old merge is possible, and by assumption no added one.
- A chunk that is a token as a whole may be taken without merging. This chunk is not a new token:
  merging makes each new token, and it makes t1 … tn of this chunk.
- Added tokens, normalization and the pattern come before merging and do not depend on it.

This holds for merging by rank and by list. One exception is kept out: with ``byte_fallback``,
tokens with names such as ``<0xC4>`` stand for bytes, so no such token is made.

**Merging by rank** (tiktoken's rule) joins any two parts whose concatenation is a token. For a
token that merging makes, these are always the same two, since no merge crosses a token's edges
before the token is complete. So an added merge joins the pair that it was learned as and no other.
But merging may never make some old tokens (tiktoken takes them for whole chunks only), because one
of their parts is not a token. A new token may be that part. So when a new token begins or ends an
old token that merging never made, the texts are encoded again, and learning continues from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple

from ..corpus.chunk_counts import ChunkCounter
from ..encodings.encoding import Encoding
from ..pipeline.core import is_byte_level, parts_of_text
from ..pipeline.cutter import check_encoding
from ..unicode.surrogates import repair
from .bpe.growing import GrowingVocabulary, check_byte_level
from .extend_pieces import GrowingTokens, growing_tokens
from .kind import LearnedMerge
from .options import check_least


class Change(NamedTuple):
    """A chunk with different ids in the two vocabularies.

    Args:
        chunk: its bytes.
        frequency: its number of occurrences.
        before, after: its ids in the old and in the new vocabulary.
    """

    chunk: bytes
    frequency: int
    before: list[int]
    after: list[int]


class Changes(NamedTuple):
    """The difference between two vocabularies on some texts.

    Args:
        before, after: the number of tokens of the texts in the old and in the new vocabulary, as
            ``Encoding.count`` gives it.
        chunks: the chunks whose ids differ, the one that saves most tokens first.
    """

    before: int
    after: int
    chunks: list[Change]


class Term(NamedTuple):
    """A term, before and after extending.

    Args:
        text: the term, with a space before it or without.
        before, after: its ids in the old and in the new vocabulary.
        reason: the reason why it is not one token; empty if it is.
    """

    text: str
    before: list[int]
    after: list[int]
    reason: str


class Extended(NamedTuple):
    """The result of extending a vocabulary.

    Args:
        encoding: the new encoding.
        merges: the added merges, in the order of the new ids, one for each new token.
            ``frequency`` is 0 for merges of a term. For a token that no merge makes, such as a
            whole word, ``left`` is the token and ``right`` is empty.
        terms: the terms, with and without a space.
        changes: the chunks of the texts that are encoded differently.
        tokens: the new tokens, in the order of their ids.
    """

    encoding: Encoding
    merges: list[LearnedMerge]
    terms: list[Term]
    changes: Changes
    tokens: Sequence[bytes]


class Extender:
    """Extending step by step, for texts in pieces, and with progress.

    Args:
        encoding, number and all others: as in ``extend``.

    Raises:
        ValueError: the kind of vocabulary cannot be extended, or a number is out of range.
    """

    def __init__(
        self,
        encoding: Encoding,
        number: int = 0,
        *,
        terms: Iterable[str] = (),
        with_space: bool = True,
        min_frequency: int = 2,
        max_token_length: int | None = None,
        workers: int | None = None,
        name: str | None = None,
    ) -> None:
        check_encoding(encoding)
        make = GrowingVocabulary if is_byte_level(encoding.core) else growing_tokens
        self._grown: GrowingVocabulary | GrowingTokens = make(encoding)
        check_least("number", number, 0)
        check_least("min_frequency", min_frequency, 0)
        check_least("max_token_length", max_token_length, 1)
        self._old = encoding
        self._number = number
        self._terms = list(terms)
        self._with_space = with_space
        self._limits = min_frequency, max_token_length
        self._name = f"{encoding.name}_extended" if name is None else name
        self._counter = ChunkCounter(encoding, workers)

    def __enter__(self) -> Extender:
        return self

    def __exit__(self, *exception: object) -> None:
        self._counter.__exit__(*exception)

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one; arguments and errors as in ``Trainer.feed``."""
        self._counter.feed(text, group, is_last=is_last)

    def extend(self, advance: Callable[[int], None] = lambda tokens: None) -> Extended:
        """Extend the vocabulary by the terms, and by learning from the texts.

        Args:
            advance: called with 1 for each token learned.

        Raises:
            ValueError, OSError: as ``extend``.
        """
        grown = self._grown
        counts: Counter[Any] = Counter()
        for counter in self._counter.finish().values():
            while counter:  # emptied meanwhile, so that memory does not hold the chunks twice
                chunk, count = counter.popitem()
                counts[grown.chunk_of(chunk)] += count
        terms = [one for term in self._terms for one in self._add_term(repair(term))]
        if self._number:
            for _ in grown.learn(counts, self._number, *self._limits):
                advance(1)
        new = grown.encoding(self._name)
        return Extended(
            new,
            grown.merges,
            [self._in_the_end(term, new) for term in terms],
            _changes_of(self._old, new, counts, self._counter.added_tokens, grown.ids_of),
            grown.new_tokens,
        )

    def _add_term(self, term: str) -> list[Term]:
        forms = [term]
        if self._with_space and term and not term[0].isspace():
            forms.append(f" {term}")
        terms = []
        made: list[Any] | None = None
        for form in forms:
            chunks: list[Any] = [
                one if isinstance(one, int) else self._grown.chunk_of(one)
                for one in parts_of_text(self._old.core, form)
            ]
            if chunks == made:
                continue  # The space is dropped.
            reason = self._add_form(form, chunks)
            # If the pattern splits it from the space, the term itself follows the space as a token.
            if form == term or not reason:
                terms.append(Term(form, _ids(self._old, form), [], reason))
            if not reason and not isinstance(chunks[0], int):
                made = chunks
        return terms

    def _add_form(self, form: str, chunks: list[Any]) -> str:
        """Make a text one token; return an empty string, or the reason why it cannot be one."""
        if len(chunks) != 1:
            shown = ", ".join(
                repr(chunk.decode("utf-8", "replace") if isinstance(chunk, bytes) else chunk)
                for chunk in chunks
            )
            return f"it is split into {shown}" if chunks else "it has no chunks"
        (chunk,) = chunks
        if isinstance(chunk, int):
            return ""
        is_all = self._old.core.leaves_nothing_out or chunk == form.encode()
        if isinstance(chunk, bytes) and not is_all:
            return "the pattern leaves some of it out"
        return self._grown.make_one(chunk)

    def _in_the_end(self, term: Term, new: Encoding) -> Term:
        """Return a term with its new ids; learning may have made it one token after all."""
        after = _ids(new, term.text)
        is_one = len(after) == 1 and self._grown.is_whole(new, after[0], term.text)
        return term._replace(after=after, reason="" if is_one else term.reason)


def _ids(encoding: Encoding, text: str) -> list[int]:
    return encoding.encode(text, disallowed_special=())


def extend(
    encoding: Encoding,
    texts: Iterable[str] = (),
    number: int = 0,
    *,
    terms: Iterable[str] = (),
    with_space: bool = True,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    workers: int | None = None,
    name: str | None = None,
) -> Extended:
    """Add tokens to a vocabulary: for terms, and learned from texts. No existing id changes.

    Terms come first. To make a term one token, its first two tokens are joined until one is left.
    This takes one id fewer than the term has tokens now, or fewer still if another term has the
    same beginning. Then the most frequent pair of neighbouring tokens in the texts becomes a token,
    and so on.

    So it is for byte-level BPE; for other kinds, see ``train/extend_pieces.py``. In vocabularies of
    words and of WordPiece, a term becomes a token without any merge. Unigram models, models of
    SentencePiece and baselines cannot be extended.

    Args:
        encoding: the vocabulary, which is not changed.
        texts: the texts to learn from. Names of special tokens in them are plain text.
        number: the most tokens to learn.
        terms: the words, each of which becomes one token, unless the pattern splits it.
        with_space: True to add a second token for each term, with a space before it as within a
            sentence, unless the pattern splits the two.
        min_frequency: the lowest frequency of a pair that is merged.
        max_token_length: the length of the longest token that is learned: in bytes for byte-level
            BPE, in characters for other kinds.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the new encoding; by default the old name and ``_extended``.

    Returns:
        The new ``encoding``, the added ``merges``, the ``terms`` and the ``changes`` of the texts.

    Raises:
        ValueError: the kind of vocabulary cannot be extended; a number is out of range; there are
            no free ids; or the vocabulary has no token for a part of a text.
        TypeError: a text is not a str, or ``texts`` or ``terms`` is a single str.
        OSError: a worker process has been killed.

    >>> from compat_bpe import get_encoding
    >>> gpt2 = get_encoding("gpt2")
    >>> found = extend(gpt2, ["ribosomes, polyribosomes, ribosomes"], 2, terms=["qubit"])
    >>> [(merge.left + merge.right, merge.id) for merge in found.merges]
    [(b'qubit', 50257), (b' qubit', 50258), (b'osomes', 50259), (b'ribosomes', 50260)]
    >>> gpt2.encode("a qubit"), found.encoding.encode("a qubit")
    ([64, 627, 2545], [64, 50258])
    """
    if isinstance(texts, str) or isinstance(terms, str):
        raise TypeError("texts or terms is a str; pass a list of str")
    with Extender(
        encoding,
        number,
        terms=terms,
        with_space=with_space,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        workers=workers,
        name=name,
    ) as extender:
        for text in texts:
            extender.feed(text)
        return extender.extend()


def changes(old: Encoding, new: Encoding, texts: Iterable[str]) -> Changes:
    """Return the chunks of texts that two vocabularies encode differently.

    Names of special tokens are plain text.

    Args:
        old: an encoding.
        new: an encoding that splits text in the same way, such as ``extend(old, …).encoding``.
        texts: the texts to compare on.

    Raises:
        ValueError: a vocabulary is not byte-level BPE; or a text has a byte for which one of the
            vocabularies has no token.
        TypeError: a text is not a str, or ``texts`` is a single str.
        OSError: a worker process has been killed.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.train.extend import extend
    >>> gpt2 = get_encoding("gpt2")
    >>> new = extend(gpt2, terms=["qubit"], with_space=False).encoding
    >>> found = changes(gpt2, new, ["qubit", "qubit or bit"])
    >>> found.before, found.after
    (6, 4)
    >>> found.chunks[0]
    Change(chunk=b'qubit', frequency=2, before=[421, 2545], after=[50257])
    """
    if isinstance(texts, str):
        raise TypeError("texts is a str; pass a list of texts")
    for encoding in (old, new):
        check_byte_level(encoding, "compared by chunks")
    with ChunkCounter(old) as counter:
        for text in texts:
            counter.feed(text)
        counts: Counter[bytes] = Counter()
        for group_counts in counter.finish().values():
            for chunk, count in group_counts.items():
                counts[old.core.model.to_bytes(chunk)] += count
    ids_of = GrowingVocabulary.ids_of
    return _changes_of(old, new, counts, counter.added_tokens, ids_of)


def _changes_of(
    old: Encoding,
    new: Encoding,
    counts: Mapping[Any, int],
    added_tokens: int,
    ids_of: Callable[[Encoding, Any], list[int]],
) -> Changes:
    """Return the changes, as ``changes`` does, for chunks that are already counted.

    Args:
        old, new: as in ``changes``.
        counts: the chunks, as bytes or texts.
        added_tokens: the number of added tokens between them, which both vocabularies have.
        ids_of: returns the ids of a chunk.
    """
    before = after = added_tokens
    differing = []
    for chunk, frequency in counts.items():
        then, now = ids_of(old, chunk), ids_of(new, chunk)
        before += len(then) * frequency
        after += len(now) * frequency
        if then != now:
            data = chunk if isinstance(chunk, bytes) else chunk.encode()
            differing.append(Change(data, frequency, then, now))
    differing.sort(key=lambda one: ((len(one.after) - len(one.before)) * one.frequency, one.chunk))
    return Changes(before, after, differing)
