"""Extending vocabularies of other kinds than byte-level BPE, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ...encodings.encoding import Encoding
from ...pipeline.chunks import parts_of_text
from ...unicode.surrogates import repair
from ..diff import Change, Changes, in_order
from .extended import Extended, Term
from .extender import Extender
from .pieces import GrowingTokens, growing_tokens


class PieceExtender(Extender):
    """Extending of words, WordPiece or BPE over characters; arguments as in ``Extender``.

    Raises:
        ValueError: the kind of vocabulary cannot be extended, or a number is out of range.
    """

    def _check(self, encoding: Encoding) -> None:
        self._grown = growing_tokens(encoding)

    def extend(self, advance: Callable[[int], None] = lambda tokens: None) -> Extended:
        grown = self._grown
        counts: Counter[str] = Counter()
        for counter in self._counter.finish().values():
            counts.update(counter)
        terms = [one for term in self._terms for one in self._add(grown, repair(term))]
        if self._number:
            grown.learn(counts, self._number, self._min_frequency, self._max_token_length, advance)
        new = grown.encoding(self._name)
        return Extended(
            new,
            grown.merges,
            [_in_the_end(term, new) for term in terms],
            changes_of_texts(self._old, new, counts, self._counter.added_tokens),
            [token.encode() for token in grown.tokens],
        )

    def _add(self, grown: GrowingTokens, term: str) -> list[Term]:
        forms = [term]
        if self._with_space and term and not term[0].isspace():
            forms.append(f" {term}")
        terms: dict[str, Term] = {}
        for form in forms:
            chunks = list(parts_of_text(self._old.core, form))
            shown = ", ".join(map(repr, chunks))
            if len(chunks) != 1:
                reason = f"it is split into {shown}" if chunks else "it has no chunks"
            elif isinstance(chunks[0], int):
                reason = ""
            elif chunks[0] in terms:
                continue  # The space is dropped.
            else:
                reason = grown.make_one(chunks[0])
            before = self._old.encode(form, disallowed_special=())
            if form == term or not reason:
                terms[shown.strip("'")] = Term(form, before, [], reason)
        return [*terms.values()]


def changes_of_texts(
    old: Encoding, new: Encoding, counts: Counter[str], added_tokens: int
) -> Changes:
    """Return the changes of chunks that are texts; see ``changes_of``."""
    before = after = added_tokens
    differing = []
    for chunk, frequency in counts.items():
        then = [*old.core.model.encode(chunk)]
        now = [*new.core.model.encode(chunk)]
        before += len(then) * frequency
        after += len(now) * frequency
        if then != now:
            differing.append(Change(chunk.encode(), frequency, then, now))
    return Changes(before, after, in_order(differing))


def _in_the_end(term: Term, new: Encoding) -> Term:
    """Return a term with its new ids; learning may have made it one token after all."""
    after = new.encode(term.text, disallowed_special=())
    is_one = len(after) == 1 and after[0] != new.core.model.unknown_id
    return term._replace(after=after, reason="" if is_one else term.reason)
