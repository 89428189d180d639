"""Pickles: of this Python, from another one, and for another one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

from .place import TEXT, Check, Place


def made(place: Place) -> Iterator[tuple[str, Any]]:
    """Yield an encoding of each kind, with a name for it."""
    tokens = place.module()
    yield "cl100k_base", tokens.get_encoding("cl100k_base")
    yield "deepseek_r1", tokens.get_encoding("deepseek_r1")
    yield "gpt2_small", tokens.load(place.fixtures / "gpt2_small")
    for name in place.names("kinds/*.json"):
        file = place.write(f"pickles/{name}/tokenizer.json", place.fixture(name)["tokenizer"])
        yield name[6:-5], tokens.load(file)


def answer(encoding: Any) -> list[int]:
    """Return ids by which an encoding is known."""
    ids: list[int] = encoding.encode(TEXT + "hug pugs", disallowed_special=())
    return ids


def own(place: Place) -> Iterator[Check]:
    for name, encoding in made(place):
        for protocol in range(2, 6):
            again = pickle.loads(pickle.dumps(encoding, protocol))
            yield Check(f"{name} {protocol}", answer(again), answer(encoding))
        yield Check(f"{name} copy", answer(copy.copy(encoding)), answer(encoding))
        yield Check(f"{name} deepcopy", answer(copy.deepcopy(encoding)), answer(encoding))
    document = place.module("fit").Document(place.module().get_encoding("gpt2"), TEXT)
    document.replace(0, 5, "Bye")
    yield Check("document", pickle.loads(pickle.dumps(document)).count, document.count)


def exchanged(place: Place) -> Iterator[Check]:
    """Read the pickles of another Python, and write some for it."""
    for name, encoding in made(place):
        for protocol in (2, 5):
            if place.pickles_to is not None:
                path = place.pickles_to / f"{name}.{protocol}.pickle"
                path.write_bytes(pickle.dumps(encoding, protocol))
            if place.pickles_from is not None:
                path = place.pickles_from / f"{name}.{protocol}.pickle"
                found = pickle.loads(path.read_bytes())
                yield Check(f"{name} {protocol}", answer(found), answer(encoding))
