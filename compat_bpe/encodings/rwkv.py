"""``Rwkv``: an encoding by a list of tokens of RWKV's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .encoding import Encoding
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from ..formats.rwkv import RwkvVocabulary


class Rwkv(Tokenizer):
    """An encoding with exactly the ids of the package ``rwkv`` 0.8.32.

    It is used like any ``Encoding``. The id 0 is the end of a text, which no text has: it is the
    special token ``<|endoftext|>`` here.

    Args:
        name: the name that ``repr`` shows.
        definition: the content of the list.
    """

    reference = "rwkv"
    definition: RwkvVocabulary  # type: ignore[assignment]

    def __init__(self, name: str, definition: RwkvVocabulary) -> None:
        super().__init__(name, definition)  # type: ignore[arg-type]

    def recipe(self) -> tuple[Callable[..., Encoding], dict[str, Any]]:
        return _make_rwkv, self._by_value()


def _make_rwkv(**arguments: Any) -> Rwkv:
    return Rwkv(**arguments)
