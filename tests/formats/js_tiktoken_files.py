"""The ranks of a small file of tiktoken's ports to JavaScript."""

from __future__ import annotations

from base64 import b64encode

BYTES = [bytes([byte]) for byte in range(256)]
PATTERN = r" ?\p{L}+|\s+|[^\s\p{L}]"


def run(first: int, *tokens: bytes) -> str:
    """A line of tokens with ids in a row."""
    return " ".join([f"! {first}", *(b64encode(token).decode() for token in tokens)])


RANKS = "\n".join([run(0, *BYTES), run(300, b"he", b"she")])
