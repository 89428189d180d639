"""Edits of a document, drawn at random."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from compat_bpe.fit.document import Document
from tests.strategies import pieces


class Edit(NamedTuple):
    """A change at any place, or at one of the edges between pieces or beside it."""

    at: int
    beside: int | None
    length: int
    new: str

    def place(self, document: Document) -> tuple[int, int]:
        at = self.at % (len(document) + 1)
        if self.beside is not None and len(document):
            at = document._tree.find(at % len(document)).start + self.beside
            at = min(max(at, 0), len(document))
        return at, min(at + self.length, len(document))


def edits(size: int) -> st.SearchStrategy[list[Edit]]:
    edit = st.builds(
        Edit,
        st.integers(0, 10**6),
        st.sampled_from([None, None, -1, 0, 0, 1]),
        st.sampled_from([0, 0, 0, 1, 1, 2, 3, 2 * size, 9 * size]),
        st.one_of(st.just(""), st.text("a \n'1e.\r", max_size=2), pieces),
    )
    return st.lists(edit, max_size=8)
