"""The decoders of a ``tokenizer.json``."""

from __future__ import annotations

from ..checked_json import Json


def unsupported_decoder(part: Json | None) -> str | None:
    """Return the reason why a decoder is not supported, or None for ``ByteLevel``."""
    while part is not None and part["type"].text() == "Sequence":
        items = list(part["decoders"].items(part.place))
        if len(items) != 1:
            return f"{part.source}: {part.place}: a Sequence of decoders is not supported"
        part = items[0]
    if part is None:
        return "the tokenizer has no decoder"
    name = part["type"].text()
    return None if name == "ByteLevel" else f"{part.source}: {part.place}: {name} is not supported"
