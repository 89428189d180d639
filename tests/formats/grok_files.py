"""A small ``tokenizer.tok.json`` of Grok 2."""

from __future__ import annotations

from typing import Any

TOKENS = {**{bytes([byte]): byte for byte in range(256)}, b"12": 256, b"he": 257, b"123": 258}
SPECIAL = {"<|pad|>": 259, "<|separator|>": 260}


def grok(**changed: Any) -> dict[str, Any]:
    return {
        "regular_tokens": [{"bytes": [*token], "token": id_} for token, id_ in TOKENS.items()],
        "special_tokens": [
            {"bytes": [*name.encode()], "token": id_} for name, id_ in SPECIAL.items()
        ],
        "word_split": "V1",
        **changed,
    }
