"""``TextEncoder``: the protocol of encodings in ``fit``, which encodings themselves use."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from ..pipeline.added.special import AllowedSpecial, DisallowedSpecial
from ..pipeline.core import Core


class TextEncoder(Protocol):
    """The part of ``Encoding`` that fitting needs; see there for each method."""

    name: str

    @property
    def core(self) -> Core: ...

    @property
    def continued(self) -> TextEncoder: ...

    @property
    def special_tokens_set(self) -> set[str]: ...

    def count(self, text: str) -> int: ...

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = ...,
        disallowed_special: DisallowedSpecial = ...,
    ) -> list[int]: ...

    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...

    def with_special(self, names: Set[str]) -> TextEncoder: ...
