"""Extending a vocabulary: new tokens for new text or given terms, every old id as it was.

New tokens come by merges that are added after all that there are.  Their ids follow after the
highest in use, that of special and reserved tokens included.

**What does not change.**  Let the old vocabulary make the tokens t1 … tn of a chunk.  If no two
neighbours among these are the two parts of an added merge, the new one makes the same of it.  For
all added merges have higher ranks than all old ones.  So while any old merge can be carried out,
the one that is carried out is the same, at the same place, and merging goes through the same states
up to t1 … tn.  There no old merge can be carried out, and by assumption no added one.  Where chunks
that are a token as a whole are not merged, such a chunk might be a new token; but merging makes
each new token, and as it makes t1 … tn of this one, it is none.  What comes before merging (added
tokens, normalization, the pattern) does not look at the vocabulary.

This holds for every vocabulary, by rank and by list, with one exception, which is kept out: with
``byte_fallback`` tokens of certain names, ``<0xC4>`` and the like, mean something, so none such
is made.

**By rank** (tiktoken's rule) any two parts are joined whose concatenation is a token.  For a token
that merging makes, these are always the same two, since no merge crosses a token's edges before it
is complete.  So an added merge is the pair that it was learned as, and nothing else.  But there may
be old tokens that merging never makes (tiktoken takes them for whole chunks alone), and a new token
may be one of the parts that were missing.  Where one begins or ends like such an old token, the
texts are encoded anew, and learning goes on from what they are then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Callable, NamedTuple

from ..corpus.chunk_counts import ChunkCounter
from ..encodings.encoding import Encoding
from ..pipeline.chunks import chunk_bytes, chunks_of
from ..unicode.surrogates import repair
from .bpe import Learner
from .diff import Changes, changes_of
from .extended_vocabulary import GrowingVocabulary
from .trainer import LearnedMerge

_Advance = Callable[[int], None]


class Term(NamedTuple):
    """What became of a term.

    Args:
        text: the term as it stands in text, with a space before it or not.
        before, after: its ids in the old vocabulary, and in the new one.
        reason: why it cannot be one token; empty if it is one.
    """

    text: str
    before: list[int]
    after: list[int]
    reason: str


class Extended(NamedTuple):
    """A vocabulary that was extended.

    Args:
        encoding: the new one.
        merges: the merges that were added, in the order of the ids of the new tokens, which are
            those that they make; ``frequency`` is 0 for those of a term.
        terms: what became of each term.
        changes: how the texts are encoded now that were not so before.
    """

    encoding: Encoding
    merges: list[LearnedMerge]
    terms: list[Term]
    changes: Changes


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
    """Add tokens to a vocabulary: for terms, and learned on texts.  No id that it has changes.

    Learning goes on where the vocabulary ends: of the pairs of neighbouring tokens that the texts
    have, the most frequent becomes a token, and so on.  Terms come first.  A term becomes one token
    by joining the first two of the tokens that it has until it is one; so it takes a new id for
    each of them but one, unless another term shares its beginning.

    Args:
        encoding: the vocabulary, which stays as it is.
        texts: what to learn on.  Names of special tokens in them are text as any other.
        number: how many tokens are learned at most.
        terms: words that are to be one token each.  One that the pattern cuts cannot be.
        with_space: whether a term is to be one token with a space before it, too, as within a
            sentence, if the pattern leaves the two together.
        min_frequency: a pair that comes less often is not learned.
        max_token_length: no token that is learned is longer, in bytes.
        workers: how many processes split a large corpus; as many as there are processors unless
            given.
        name: what the new encoding is called; that of the old one and ``_extended`` unless given.

    Returns:
        The new ``encoding``, the ``merges`` added, what became of the ``terms``, and the
        ``changes`` in how the texts are encoded.

    Raises:
        ValueError: a number is out of range; ids would be; or a text has a byte that the vocabulary
            has no token for.
        TypeError: a text is no str, or ``texts`` or ``terms`` is a single one.
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


class Extender:
    """Extending step by step, for texts that come in pieces and for who wants to see how it goes.

    Args:
        encoding, number and all others: as in ``extend``.

    Raises:
        ValueError, TypeError: as ``extend``, for what is wrong with its arguments.
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
        for what, value, least in (
            ("number", number, 0),
            ("min_frequency", min_frequency, 0),
            ("max_token_length", max_token_length, 1),
        ):
            if value is not None and value < least:
                raise ValueError(f"{what} is {value}; it must be {least} or more")
        self._old = encoding
        self._number = number
        self._terms = list(terms)
        self._with_space = with_space
        self._min_frequency = min_frequency
        self._max_token_length = max_token_length
        self._name = f"{encoding.name}_extended" if name is None else name
        self._counter = ChunkCounter(encoding, workers)

    def __enter__(self) -> Extender:
        return self

    def __exit__(self, *exception: object) -> None:
        self._counter.__exit__(*exception)

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one; arguments and errors as in ``Trainer.feed``."""
        self._counter.feed(text, group, is_last=is_last)

    def extend(self, advance: _Advance = lambda tokens: None) -> Extended:
        """Extend the vocabulary by all that was given and fed.

        Args:
            advance: called with 1 for each token learned.

        Raises:
            ValueError, OSError: as ``extend``.
        """
        core = self._old.core
        counts: Counter[bytes] = Counter()
        for counter in self._counter.finish().values():
            while counter:  # Not to hold both.
                chunk, count = counter.popitem()
                counts[chunk_bytes(core, chunk)] += count
        grown = GrowingVocabulary(self._old)
        terms = [one for term in self._terms for one in self._add_term(grown, repair(term))]
        missing = self._number
        while missing:
            learned = self._learn(grown, counts, missing, advance)
            if not learned:
                break
            missing -= learned
        new = grown.encoding(self._name)
        return Extended(
            new,
            grown.merges,
            [_in_the_end(term, new) for term in terms],
            changes_of(self._old, new, counts),
        )

    def _add_term(self, grown: GrowingVocabulary, term: str) -> list[Term]:
        forms = [term]
        if self._with_space and term and not term[0].isspace():
            forms.append(f" {term}")
        first, *others = [
            Term(form, _ids(self._old, form), [], self._add_form(grown, form)) for form in forms
        ]
        # If the pattern cuts it from the space, it is a token after that as it is.
        return [first, *(one for one in others if not one.reason)]

    def _add_form(self, grown: GrowingVocabulary, form: str) -> str:
        """Make a token of a text, or say why not."""
        core = self._old.core
        chunks = list(chunks_of(core, form))
        if len(chunks) != 1:
            shown = ", ".join(
                repr(chunk.decode("utf-8", "replace") if isinstance(chunk, bytes) else chunk)
                for chunk in chunks
            )
            return f"it is split into {shown}" if chunks else "it has no chunks"
        (chunk,) = chunks
        if isinstance(chunk, int):
            return ""
        if not core.leaves_nothing_out and chunk != form.encode():
            return "the pattern leaves some of it out"
        if chunk in core.model.whole:
            return ""
        return grown.join_all(chunk)

    def _learn(
        self,
        grown: GrowingVocabulary,
        counts: Mapping[bytes, int],
        number: int,
        advance: _Advance,
    ) -> int:
        """Learn some tokens, and say how many: none if there are none, and at most ``number``."""
        # Learning needs ids without holes; their order is kept, since it decides between equals.
        ids = sorted(grown.data_of)
        place_of = {token: chr(place) for place, token in enumerate(ids)}
        tokens = [grown.data_of[token] for token in ids]
        tokens += grown.taken - set(tokens)
        core = grown.encoding("").core
        words: dict[str, int] = {}
        for chunk, count in counts.items():
            found = core.model.ids_of(chunk)
            # Where a byte is no token, something else stands for it, which is not to be merged.
            if b"".join(grown.data_of.get(token, b"") for token in found) == chunk:
                words["".join(map(place_of.__getitem__, found))] = count
        learner = Learner(
            words,
            tokens,
            min_frequency=self._min_frequency,
            max_token_length=self._max_token_length,
        )
        ids += [-1] * (len(tokens) - len(ids))
        for learned in range(1, number + 1):
            merge = learner.step()
            if merge is None:
                return learned - 1
            ids.append(grown.add(ids[merge.left], ids[merge.right], merge.frequency))
            advance(1)
            if grown.may_make_an_old_token(ids[-1]):
                return learned
        return number


def _in_the_end(term: Term, new: Encoding) -> Term:
    """What became of a term; where it could not be joined from its beginning, learning may have."""
    after = _ids(new, term.text)
    is_one = len(after) == 1 and new.decode_bytes(after) == term.text.encode()
    return term._replace(after=after, reason="" if is_one else term.reason)


def _ids(encoding: Encoding, text: str) -> list[int]:
    return encoding.encode(text, disallowed_special=())
