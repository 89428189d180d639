"""The encoding or the model that a call names, and the count of a text by it.

An agent may name what ships, and no files: a vocabulary's path is for the command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..encodings.encoding import Encoding
from ..encodings.registry import encoding_of
from ..encodings.resolve import Answer, Terms, UnresolvedError, resolve
from ..fit.stream import StreamCounter, portions
from .calls import Call, CallError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encodings.resolve import Field

#: How calls write what an error tells their agents to give: an agent gives no path.
TERMS = Terms(
    'model "{}"',
    'encoding "{}"',
    "",
    listing="the resource compat-bpe://models lists some",
)


@dataclass(frozen=True)
class Chosen:
    """How to count: by an encoding, or by a maker's number of characters to a token."""

    answer: Answer
    encoding: Encoding

    @property
    def model(self) -> str | None:
        """The model; None if an encoding was named."""
        return self.answer.model

    def count(self, text: str, call: Call) -> int:
        """Return the tokens of a text.

        Raises:
            CallError: the vocabulary has no token for a part of it, or the time is over.
        """
        counter = StreamCounter(self.encoding)
        try:
            for portion in portions(text):
                call.clock.check()
                counter.feed(portion)
            return self.answer.tokens(counter.finish())
        except ValueError as error:
            raise CallError(str(error)) from None

    def counted(self, note: str = "") -> Any:
        """Return the members of a result that say how it was counted."""
        estimate = self.answer.estimate is not None
        note = note or self.answer.note
        name = "" if estimate else self.encoding.name
        return {"encoding": name, "is_estimate": bool(note), "note": note}


def chosen(model: str | None, name: str | None, call: Call) -> Chosen:
    """Return how a call says to count: by a model, or by the name of an encoding.

    Raises:
        CallError: model or encoding is unknown, or both are given.
    """
    if model is not None and name is not None:
        raise CallError("model and encoding exclude each other: give one of them")
    if model is not None:
        return _resolved(model, "model")
    return default_encoding(call) if name is None else named_encoding(name)


def named_encoding(name: str) -> Chosen:
    """Return an encoding that ships.

    Raises:
        CallError: there is none of that name.
    """
    return _resolved(name, "encoding")


def _resolved(name: str, field: Field) -> Chosen:
    try:
        answer = resolve(name, field, files=False, estimate=True)
    except UnresolvedError as error:
        raise CallError(error.message(TERMS)) from None
    return Chosen(answer, encoding_of(answer))


@lru_cache(maxsize=1)
def _loaded(answer: Answer) -> Encoding:
    return encoding_of(answer)


def default_encoding(call: Call) -> Chosen:
    """Return the encoding that the server was started with, by name or from a file.

    A file is loaded at the first call that needs it, and not again.
    """
    try:
        answer = resolve(call.default)
        return Chosen(answer, _loaded(answer))
    except UnresolvedError as error:
        raise CallError(error.message(TERMS)) from None
    except OSError as error:
        raise CallError(f"{call.default}: {error.strerror or error}") from None
    except ValueError as error:
        raise CallError(str(error)) from None
