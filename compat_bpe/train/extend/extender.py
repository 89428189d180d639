"""Extending byte-level BPE: new tokens for new text or given terms, without changing an id.

New tokens come from merges added after all old ones. Their ids follow the highest id in use,
special and reserved tokens included.

**Chunks without an added merge do not change.**  Let the old vocabulary encode a chunk as t1 … tn,
and let no two neighbours of these be the two parts of an added merge. Then the new vocabulary
encodes it as t1 … tn, too:

- All added merges have higher ranks than all old ones. So as long as an old merge is possible, the
  same merge is carried out at the same place, and merging reaches t1 … tn through the same states.
- There no old merge is possible, and by assumption no added one.
- A chunk that is a token as a whole may be taken without merging. This chunk is not a new token:
  merging makes each new token, and it makes t1 … tn of this chunk.
- Added tokens, normalization and the pattern come before merging and do not depend on merges.

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
from collections.abc import Iterable, Mapping
from typing import Callable

from ...corpus.chunk_counts import ChunkCounter
from ...encodings.encoding import Encoding
from ...pipeline.chunks import chunk_bytes, chunks_of
from ...unicode.surrogates import repair
from ..bpe.byte_tokens import check_byte_level
from ..bpe.growing import GrowingVocabulary
from ..bpe.merging import Merging, Spelling
from ..diff import changes_of
from ..options import check_least
from .extended import Extended, Term

_Advance = Callable[[int], None]


class Extender:
    """Extending step by step, for texts in pieces, and with progress.

    Args:
        encoding, number and all others: as in ``extend``.

    Raises:
        ValueError: the vocabulary is no byte-level BPE, or a number is out of range.
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
        self._check(encoding)
        check_least("number", number, 0)
        check_least("min_frequency", min_frequency, 0)
        check_least("max_token_length", max_token_length, 1)
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

    def _check(self, encoding: Encoding) -> None:
        """Raise ``ValueError`` if an encoding cannot be extended."""
        check_byte_level(encoding, "extended")

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one; arguments and errors as in ``Trainer.feed``."""
        self._counter.feed(text, group, is_last=is_last)

    def extend(self, advance: _Advance = lambda tokens: None) -> Extended:
        """Extend the vocabulary by the terms, and by learning from the texts.

        Args:
            advance: called with 1 for each token learned.

        Raises:
            ValueError, OSError: as ``extend``.
        """
        core = self._old.core
        counts: Counter[bytes] = Counter()
        for counter in self._counter.finish().values():
            while counter:  # emptied meanwhile, so that memory does not hold the chunks twice
                chunk, count = counter.popitem()
                counts[chunk_bytes(core, chunk)] += count
        grown = GrowingVocabulary(self._old)
        terms = [one for term in self._terms for one in self._add_term(grown, repair(term))]
        if self._number:
            self._learn(grown, counts, advance)
        new = grown.encoding(self._name)
        return Extended(
            new,
            grown.merges,
            [_in_the_end(term, new) for term in terms],
            changes_of(self._old, new, counts, self._counter.added_tokens),
            [merge.left + merge.right for merge in grown.merges],
        )

    def _add_term(self, grown: GrowingVocabulary, term: str) -> list[Term]:
        forms = [term]
        if self._with_space and term and not term[0].isspace():
            forms.append(f" {term}")
        first, *others = [
            Term(form, _ids(self._old, form), [], self._add_form(grown, form)) for form in forms
        ]
        # If the pattern splits it from the space, the term itself follows the space as a token.
        return [first, *(one for one in others if not one.reason)]

    def _add_form(self, grown: GrowingVocabulary, form: str) -> str:
        """Make a text one token; return an empty string, or the reason why it cannot be one."""
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
        if chunk in core.byte_level.whole:
            return ""
        return grown.join_all(chunk)

    def _learn(
        self,
        grown: GrowingVocabulary,
        counts: Mapping[bytes, int],
        advance: _Advance,
    ) -> None:
        """Learn as many tokens as were asked for, or as there are."""
        spelling = Spelling(grown)
        words = {spelling.spell(chunk): count for chunk, count in counts.items()}
        merging = Merging(
            grown,
            words,
            min_frequency=self._min_frequency,
            max_token_length=self._max_token_length,
        )
        for _ in range(self._number):
            if merging.step() is None:
                break
            advance(1)


def _in_the_end(term: Term, new: Encoding) -> Term:
    """Return a term with its new ids; learning may have made it one token after all."""
    after = _ids(new, term.text)
    is_one = len(after) == 1 and new.decode_bytes(after) == term.text.encode()
    return term._replace(after=after, reason="" if is_one else term.reason)


def _ids(encoding: Encoding, text: str) -> list[int]:
    return encoding.encode(text, disallowed_special=())
