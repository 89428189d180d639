"""Text and ids that come in pieces."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

from .place import TEXT, Check, Place

SIZES = (1, 3, 50)


def encoded(place: Place) -> Iterator[Check]:
    fit = place.module("fit")
    for name in ("cl100k_base", "deepseek_v4"):
        encoding = place.module().get_encoding(name)
        ids = encoding.encode_ordinary(TEXT)
        for size in SIZES:
            pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
            found = list(fit.encode_iter(encoding, pieces, disallowed_special=()))
            yield Check(f"{name} ids {size}", found, ids)
            data = TEXT.encode()
            blocks = [data[at : at + size] for at in range(0, len(data), size)]
            yield Check(f"{name} count {size}", fit.count_stream(encoding, blocks), len(ids))
        yield Check(f"{name} file", fit.count_stream(encoding, io.StringIO(TEXT)), len(ids))
        yield Check(f"{name} async", finished(counted(fit, encoding)), len(ids))


def decoded(place: Place) -> Iterator[Check]:
    fit = place.module("fit")
    encoding = place.module().get_encoding("o200k_base")
    ids = encoding.encode_ordinary(TEXT)
    yield Check("texts", "".join(fit.decode_iter(encoding, iter(ids))), TEXT)
    decoder = fit.StreamDecoder(encoding)
    shown = [decoder.feed([token]) for token in ids] + [decoder.finish()]
    yield Check("each", shown)


async def counted(fit: Any, encoding: Any) -> int:
    """Return the count of a text that comes in pieces, asynchronously."""

    async def pieces() -> AsyncIterator[str]:
        for at in range(0, len(TEXT), 5):
            yield TEXT[at : at + 5]

    count: int = await fit.acount_stream(encoding, pieces())
    return count


def finished(coroutine: Coroutine[Any, Any, int]) -> object:
    """Return the result of a coroutine that waits for nothing: it needs no event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    return "it waits"
