"""Pruning of the pieces of a Unigram vocabulary: those that cost the least likelihood go."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from operator import itemgetter

from .lattice import SharedLattice
from .segmentations import Segmentations


def prune(
    words: Segmentations,
    pieces: Sequence[str],
    live: Sequence[int],
    scores: Sequence[float],
    chars: int,
    most: int,
) -> list[int]:
    """Return the ids of the pieces that stay: those without an alternative, then by their loss.

    The *alternative* of a piece is the best way to write it with other pieces. Its *loss* is what
    the words' log probability loses if the alternative takes its place wherever the best way to
    write a word has it. The textbook drops the pieces of least loss; so does this, but like the
    reference, it differs in three points:

    - The loss is computed with a wrong sum. If each of a piece's n occurrences becomes an
      alternative of k pieces, there are n * (k - 1) more pieces than before. The reference takes
      the number of *all* pieces for k (``alternatives.len()``).
    - A piece that is in no best way of a word is dropped before the others are compared, and may
      leave fewer pieces than are wanted. So is one that is itself best written otherwise.
    - If the pieces that stay anyway are more than ``most``, nothing else is dropped for its loss.

    Args:
        words: the words.
        pieces: the text of each piece, by id.
        live: the ids of the pieces that are left, in their order.
        scores: the logarithms of probabilities by id, with those of unknown characters.
        chars: the number of characters, whose ids are the first ones.
        most: the number of pieces that are left.
    """
    counts = words.best_counts(scores)
    # All characters that are no pieces count as one, the unknown piece.
    is_live = [False] * len(pieces)
    for piece in live:
        is_live[piece] = True
    unknown = [piece for piece in range(chars) if not is_live[piece]]
    number = 0.0
    for piece in unknown:
        number += counts[piece]
    for piece in unknown:
        counts[piece] = number
    total = number
    for piece in live:
        total += counts[piece]
    log_total = log(total)
    alternatives = find_alternatives(pieces, live, scores, chars)
    kept = []
    losses = []
    for piece in live:
        count = counts[piece]
        alternative = alternatives.get(piece)
        if not alternative:
            if count or piece < chars:
                kept.append(piece)
        elif count:
            log_after = log(total + count * len(live))
            after = 0.0
            for other in alternative:
                after += log(counts[other] + count) - log_after
            loss = count / words.total * (log(count) - log_total - after)
            losses.append((piece, loss))
    losses.sort(key=itemgetter(1), reverse=True)
    room = most - len(kept)
    if room >= 0:
        del losses[room:]
    return kept + [piece for piece, _ in losses]


def find_alternatives(
    pieces: Sequence[str], live: Sequence[int], scores: Sequence[float], chars: int
) -> dict[int, list[int]]:
    """Return the alternative of each piece, as ids; it is empty if that is the better way anyway.

    Characters have no alternative and are left out.
    """
    longer = [piece for piece in live if piece >= chars]
    ids = {pieces[piece]: piece for piece in (*range(chars), *longer)}
    longer.sort(key=pieces.__getitem__)
    lattice = SharedLattice([pieces[piece] for piece in longer], ids)
    best = lattice.best(scores)
    return {
        piece: lattice.way(best.edges, best.others[end]) if best.is_whole[end] else []
        for piece, end in zip(longer, lattice.ends)
    }
