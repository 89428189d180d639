r"""Decomposition and composition, character by character, with what becomes of each.

This is the plain rule of the Unicode normalization forms (UAX 15, section 1.3). The fast way is
``unicodedata.normalize``, but it does not say which characters of a text have become which.

A changed character comes with its relation to the old ones, as in ``Aligned.changed``, and its
combining class. What composes adds up its changes and counts one more removed character.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

#: A character, its change and its combining class.
Changed = tuple[str, int, int]


def decomposed(
    text: str, form: Literal["NFD", "NFKD"], is_unknown: Callable[[str], bool]
) -> Iterator[Changed]:
    r"""Yield the characters of a decomposed text, in canonical order.

    Args:
        form: of the decomposition.
        is_unknown: returns True for a character that stays as it is, with combining class 0.

    >>> [change[:2] for change in decomposed("é\u0323", "NFD", lambda char: False)]
    [('e', 0), ('̣', 0), ('́', 1)]
    """
    known: dict[str, list[Changed]] = {}
    pending: list[Changed] = []
    for char in text:
        parts = known.get(char)
        if parts is None:
            if is_unknown(char):
                parts = [(char, 0, 0)]
            else:
                parts = [
                    (part, int(index > 0), unicodedata.combining(part))
                    for index, part in enumerate(unicodedata.normalize(form, char))
                ]
            known[char] = parts
        for part in parts:
            if part[2]:
                pending.append(part)
                continue
            if pending:
                yield from sorted(pending, key=_CLASS)
                pending.clear()
            yield part
    yield from sorted(pending, key=_CLASS)


_CLASS = itemgetter(2)


def composed(changes: Iterable[Changed], is_unknown: Callable[[str], bool]) -> Iterator[Changed]:
    r"""Yield the characters of a decomposed text, composed.

    Args:
        is_unknown: returns True for a character that nothing composes to.

    >>> parts = [("e", 0, 0), ("\u0301", 0, 230), ("x", 0, 0)]
    >>> [change[:2] for change in composed(parts, lambda char: False)]
    [('é', -1), ('x', 0)]
    """
    starter: Changed | None = None
    between: list[Changed] = []
    for one in changes:
        char, change, its_class = one
        if starter is None:
            if its_class:
                yield one
            else:
                starter = one
            continue
        # Blocked by a mark of the same class or, for a starter, by any mark.
        if not between or between[-1][2] < its_class:
            whole = _composite(starter[0] + char)
            if whole and not is_unknown(whole):
                starter = whole, starter[1] + change - 1, 0
                continue
        if its_class:
            between.append(one)
        else:
            yield starter
            yield from between
            between.clear()
            starter = one
    if starter is not None:
        yield starter
    yield from between


@lru_cache(maxsize=1 << 12)
def _composite(pair: str) -> str:
    """Return what two characters compose to; an empty text if they do not."""
    if pair.isascii():
        return ""
    composite = unicodedata.normalize("NFC", pair)
    return composite if len(composite) == 1 else ""
