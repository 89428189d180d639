"""The encoding or the model that a call names, and the count of a text by it.

An agent may name what ships, and no files: a vocabulary's path is for the command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..encodings.encoding import Encoding
from ..encodings.estimates import Factor, factor_for_model
from ..encodings.load import load
from ..encodings.model_names import did_you_mean, encoding_name_for_model
from ..encodings.registry import BASELINES, get_encoding, list_encoding_names
from ..fit.stream import Cutter, portions
from .calls import Call, CallError


@dataclass(frozen=True)
class Chosen:
    """How to count: by an encoding, or by a maker's number of characters to a token."""

    model: str | None
    encoding: Encoding | None
    factor: Factor | None = None

    def count(self, text: str, call: Call) -> int:
        """Return the tokens of a text.

        Raises:
            CallError: the vocabulary has no token for a part of it, or the time is over.
        """
        if self.factor is not None:
            return self.factor.tokens(len(text))
        assert self.encoding is not None
        cutter = Cutter(self.encoding, frozenset())
        tokens = 0
        try:
            for portion in portions(text):
                call.clock.check()
                certain = cutter.feed(portion)
                tokens += cutter.encoding.count(certain)
            rest = cutter.finish()
            return tokens + cutter.encoding.count(rest)
        except ValueError as error:
            raise CallError(str(error)) from None

    def counted(self, note: str = "") -> Any:
        """Return the members of a result that say how it was counted."""
        if self.factor is not None:
            note = note or self.factor.reason
        name = "" if self.encoding is None else self.encoding.name
        return {"encoding": name, "is_estimate": bool(note), "note": note}


def chosen(model: str | None, name: str | None, call: Call) -> Chosen:
    """Return how a call says to count: by a model, or by the name of an encoding.

    Raises:
        CallError: model or encoding is unknown, or both are given.
    """
    if model is not None and name is not None:
        raise CallError("model and encoding exclude each other: give one of them")
    if model is None:
        return Chosen(None, named_encoding(name) if name is not None else default_encoding(call))
    try:
        factor = factor_for_model(model)
        if factor is not None:
            return Chosen(model, None, factor)
        return Chosen(model, get_encoding(encoding_name_for_model(model)))
    except KeyError as error:
        raise CallError(f"{error.args[0]}; the resource compat-bpe://models lists some") from None


def exact(model: str | None, name: str | None, call: Call) -> Encoding:
    """Return the encoding of a call that cuts text, which no estimate can.

    Raises:
        CallError: as in ``chosen``; or the model has no public tokenizer.
    """
    one = chosen(model, name, call)
    if one.encoding is None:
        raise CallError(
            f"model {one.model!r} has no public tokenizer, so nobody can say where its tokens "
            "begin; give an encoding to cut by"
        )
    return one.encoding


def named_encoding(name: str) -> Encoding:
    """Return an encoding that ships.

    Raises:
        CallError: there is none of that name.
    """
    names = [*list_encoding_names(), *BASELINES]
    if name not in names:
        raise CallError(
            f"unknown encoding {name[:100]!r}{did_you_mean(name, names)}; "
            f"the encodings are {', '.join(names)}"
        )
    return get_encoding(name)


@lru_cache(maxsize=1)
def _loaded(path: str) -> Encoding:
    return load(path)


def default_encoding(call: Call) -> Encoding:
    """Return the encoding that the server was started with, by name or from a file.

    A file is loaded at the first call that needs it, and not again.
    """
    if call.default in (*list_encoding_names(), *BASELINES):
        return get_encoding(call.default)
    try:
        return _loaded(call.default)
    except OSError as error:
        raise CallError(f"{call.default}: {error.strerror or error}") from None
    except ValueError as error:
        raise CallError(str(error)) from None
