"""``TextEncoder``: the protocol of encodings in ``fit``, which encodings themselves use."""

from __future__ import annotations

import os
from collections.abc import Sequence, Set
from typing import Protocol

from ..pipeline.core import Core
from ..pipeline.special_tokens import AllowedSpecial, DisallowedSpecial


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


def check_encoding(encoding: object) -> None:
    """Raise ``TypeError`` if an encoding is a name: encodings by name are in a layer above.

    >>> check_encoding("gpt2")
    Traceback (most recent call last):
    TypeError: encoding must be an Encoding, not the name 'gpt2'; get_encoding or load returns it
    """
    if isinstance(encoding, (str, os.PathLike)):
        kind = "name" if isinstance(encoding, str) else "path"
        named = encoding if isinstance(encoding, str) else os.fspath(encoding)
        raise TypeError(
            f"encoding must be an Encoding, not the {kind} {named!r:.80}; "
            "get_encoding or load returns it"
        )
