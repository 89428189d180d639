"""``Tokenizer``: an encoding of several steps, as a ``tokenizer.json`` describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import chain
from typing import Any

from ..formats.tokenizer_json import TokenizerDefinition
from ..pipeline.added_tokens import AddedToken
from ..pipeline.processors.base import process_ids
from ..pipeline.special import AllowedSpecial, DisallowedSpecial
from .core_bpe import CoreBPE
from .encoding import _NOTHING, Encoding
from .loaded import find


class Tokenizer(Encoding):
    """An encoding with exactly the ids of Hugging Face ``tokenizers``.

    It is used like any ``Encoding``.  *Special* added tokens are treated as in tiktoken: they are
    tokens only if ``allowed_special`` says so, and otherwise plain text.  Other added tokens are
    always tokens, also in ``count`` and ``encode_ordinary``.  So
    ``encode(text, allowed_special="all")`` gives the ids of ``tokenizers``'
    ``encode(text, add_special_tokens=False)``.

    Args:
        name: the name that ``repr`` shows.
        definition: the content of the ``tokenizer.json``.

    Raises:
        ValueError: a part of the definition is not supported, or is wrong.

    >>> from compat_bpe import get_encoding
    >>> enc = get_encoding("deepseek_v3")
    >>> enc.encode("<｜User｜>hello")
    [128803, 33310]
    """

    reference = "tokenizers"

    def __init__(self, name: str, definition: TokenizerDefinition) -> None:
        parts = definition.assemble()
        core = CoreBPE.of(parts)
        self.name = name
        self.definition = definition
        self.max_token_value = max(chain(core.encoder.values(), parts.other_tokens()))
        special = [token for token in definition.added_tokens if token.special]
        self._special_tokens = {token.content: token.id for token in special}
        self._special_token_values = {token.id for token in special}
        self._special_names = frozenset(self._special_tokens)
        self.core = core
        #: The tokenizers that ``with_special`` has made, by the added names.
        self._variants: dict[frozenset[str], Tokenizer] = {}

    @classmethod
    def shipped(cls, name: str) -> Tokenizer:
        from . import deepseek

        tokenizer = cls(name, deepseek.definition(name))
        tokenizer._ships = True
        return tokenizer

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens, special or not."""
        return self.definition.added_tokens

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = _NOTHING,
        disallowed_special: DisallowedSpecial = "all",
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Return the ids of a text that may contain the names of special tokens.

        Args:
            text, allowed_special, disallowed_special: as in ``Encoding.encode``.
            add_special_tokens: add the tokenizer's own ids for the beginning and the end of a text,
                if it has any.

        Raises:
            ValueError, TypeError: as in ``Encoding.encode``.

        >>> from compat_bpe import get_encoding
        >>> enc = get_encoding("deepseek_v3")
        >>> enc.encode("<｜begin▁of▁sentence｜>hello", allowed_special="all")
        [0, 33310]
        """
        ids = super().encode(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        processor = self.core.definition.processor
        return ids if processor is None else process_ids(processor, [ids], add_special_tokens)

    def ordinary_tokens(self) -> dict[bytes, int]:
        added = {token.id for token in self.added_tokens}
        return {token: number for token, number in self.core.encoder.items() if number not in added}

    def extended(
        self, name: str, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> Tokenizer:
        return Tokenizer(name, self.definition.extended(name, tokens, merges))

    def with_special(self, names: Set[str]) -> Tokenizer:
        """Return a tokenizer in which the added tokens of these names are special, too.

        It is the same object for the same names, so its cache is used again.

        >>> from compat_bpe import get_encoding
        >>> enc = get_encoding("deepseek_v3")
        >>> name = "<｜User｜>"
        >>> enc.count(name), enc.with_special({name}).count(name)
        (1, 5)
        """
        added = frozenset(names) - self._special_names
        if not added:
            return self
        if added not in self._variants:
            self._variants[added] = Tokenizer(self.name, self.definition.with_special(added))
        return self._variants[added]

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        raise AttributeError(
            f"{self!r} has no ranks: its vocabulary has a list of merges, and its text is split in "
            "steps; see save_tiktoken for what can be had as ranks"
        )

    @property
    def _pat_str(self) -> str:  # type: ignore[override]
        raise AttributeError(f"{self!r} has no single pattern: its text is split in steps")

    def _by_value(self) -> dict[str, Any]:
        return {"name": self.name, "definition": self.definition}

    def recipe(self) -> tuple[Callable[..., Encoding], dict[str, Any]]:
        return _make_tokenizer, self._by_value()

    def __setstate__(self, value: object) -> None:
        if isinstance(value, str):
            self.__dict__ = find(value, type(self).shipped).__dict__
        elif isinstance(value, dict):
            Tokenizer.__init__(self, **value)
        else:
            raise ValueError(f"the state of a pickled Tokenizer is a {type(value).__name__}")


def _make_tokenizer(**arguments: Any) -> Tokenizer:
    return Tokenizer(**arguments)
