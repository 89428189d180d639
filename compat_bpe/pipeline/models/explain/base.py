"""The protocol of an explanation: how a model comes to the ids of one chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    class Explanation(Protocol):
        """The steps by which a model comes to the ids of a chunk."""

        @property
        def chunk(self) -> bytes:
            """The chunk, as bytes."""

        @property
        def note(self) -> str:
            """A remark on the whole chunk; may be empty."""

        @property
        def ids(self) -> Sequence[int]:
            """The ids."""

        @property
        def widest(self) -> Sequence[bytes]:
            """The parts of the step that has the most text, for columns."""

        def rows(self) -> Iterator[Row]:
            """Yield the steps, for people to read."""

        def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
            """Return the steps as members of a JSON object.

            Args:
                show: returns text that shows bytes.
            """


class Item(NamedTuple):
    """One of the ways to go on.

    Args:
        parts: what it consists of.
        figure: its number as text; may be empty.
        lead: the text between it and the item before.
    """

    parts: Sequence[bytes]
    figure: str = ""
    lead: str = ", "


class Row(NamedTuple):
    """A step.

    Args:
        parts: the parts that the chunk has now.
        marked: the first and the end of those that the step is about; equal if there are none.
        items: the ways to go on, in the order in which they are thought of.
        taken: the index of the one that is taken; None if none is.
    """

    parts: Sequence[bytes]
    marked: tuple[int, int] = (0, 0)
    items: Sequence[Item] = ()
    taken: int | None = None


@singledispatch
def explain(model: Any, chunk: str) -> Explanation:
    """Return how a model comes to the ids of a chunk.

    Each kind of model has a module of its own here, which registers its explanation. A model
    without one is explained by the tokens that it finds.

    Raises:
        ValueError: the model has no token for a part of the chunk.

    >>> from ..word_level import WordLevel
    >>> found = explain(WordLevel({"hi": 0, "[UNK]": 1}, "[UNK]"), "hey")
    >>> found.note, found.ids, found.members(bytes.decode)["tokens"]
    ('unknown', (1,), [{'token': '[UNK]', 'id': 1}])
    """
    return Tokens(model, chunk)


class Tokens:
    """The explanation of a chunk by its tokens alone.

    Args:
        model: any model.
        chunk: the chunk.

    Raises:
        ValueError: as in ``explain``.
    """

    def __init__(self, model: Any, chunk: str) -> None:
        self._found = model.find(chunk)
        self.chunk: bytes = chunk.encode()
        self.ids: Sequence[int] = tuple(token.id for token in self._found)
        self.note = "unknown" if self.ids == (model.unknown_id,) else ""

    widest: Sequence[bytes] = ()

    def rows(self) -> Iterator[Row]:
        """Yield the tokens."""
        yield Row([token.text.encode() for token in self._found])

    def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
        """Return the tokens."""
        return {
            "tokens": [
                {"token": show(token.text.encode()), "id": token.id} for token in self._found
            ]
        }
