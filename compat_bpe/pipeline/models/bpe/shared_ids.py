"""Byte-pair encoding over characters by a vocabulary in which several tokens have one id.

To tokenizers a symbol is an id. So a merge of two tokens is one of all tokens with these ids.
"""

from __future__ import annotations

from ...cache import shareable
from .character_cuts import CharacterCuts
from .characters import CharacterBPE
from .symbols import Symbol, absent_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..base import Ids
    from .by_merges import UnknownPolicy


class SharedIdsBPE(CharacterBPE):
    """``CharacterBPE`` in which each symbol has the name of the last token with its id.

    Args:
        vocabulary, merges, unknown, flags: as in ``CharacterBPE``, but tokens may share an id.

    Raises:
        KeyError: as in ``CharacterBPE``.

    >>> ids = {"a": 0, "b": 0, "c": 1, "ac": 2}
    >>> SharedIdsBPE(ids, (["a"], ["c"])).encode("acbc")
    (2, 2)
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: tuple[Sequence[str], Sequence[str]],
        unknown: UnknownPolicy | None = None,
        **flags: Any,
    ) -> None:
        super().__init__(vocabulary, merges, unknown, **flags)
        last = {token_id: name for name, token_id in vocabulary.items()}
        #: The name of each token's symbol.
        self._symbol = {name: last[token_id] for name, token_id in vocabulary.items()}
        made = [super(SharedIdsBPE, self).join(*pair) for pair in zip(*merges)]
        self._lefts, self._rights = (list(map(self._symbol.__getitem__, part)) for part in merges)
        self._separator = absent_from("".join(vocabulary))
        keys = list(map(self._separator.join, zip(self._lefts, self._rights)))
        self._ranks = shareable(zip(keys, range(len(keys))))
        self._made = shareable(zip(keys, map(self._symbol.__getitem__, made)))
        # A merge may make its left part again, which only the heap allows.
        self._many = 0
        self.cuts = CharacterCuts(vocabulary, None, self._unknown)

    def join(self, left: str, right: str) -> str:
        """Return the name that the merge of two names makes; both names if there is no merge."""
        return self._made.get(left + self._separator + right, left + right)

    def first_symbols(self, chunk: str) -> list[Symbol]:
        """Return the symbols that merging begins with; see ``CharacterBPE.first_symbols``."""
        symbols = super().first_symbols(chunk)
        return [symbol._replace(name=self._symbol[symbol.name]) for symbol in symbols]

    def _merged_ids(self, chunk: str) -> Ids:
        names, _ = self._merge_long([symbol.name for symbol in self.first_symbols(chunk)])
        return tuple(map(self.vocabulary.__getitem__, names))
