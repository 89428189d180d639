"""Small files of RWKV, Grok 2, Tekken and tiktoken's ports to JavaScript; why one is refused."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest


def refusal(source: object, call: Callable[[], object]) -> str:
    """Why a call refuses a file: its message without the file's name, which has to come first."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call()
    message = str(caught.value)
    assert message.startswith(f"{source}: ")
    return message[len(f"{source}: ") :]


BYTES = [bytes([byte]) for byte in range(256)]

#: RWKV's list of tokens, with few of them.
NAME = "rwkv_vocab_v20230424.txt"
MORE = [b" he", b"said", b"'\"\\\n", "中文".encode(), b"\xe4\xb8", "\x80😀".encode(), b"  "]


def literal(token: bytes) -> str:
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)


def listed(tokens: list[bytes]) -> bytes:
    lines = [f"{at} {literal(token)} {len(token)}\n" for at, token in enumerate(tokens, 1)]
    return "".join(lines).encode()


WHOLE = listed([*BYTES, *MORE])


GROK_TOKENS = {**dict(zip(BYTES, range(256))), b"12": 256, b"he": 257, b"123": 258}
GROK_SPECIAL = {"<|pad|>": 259, "<|separator|>": 260}


def grok(**changed: Any) -> dict[str, Any]:
    return {
        "regular_tokens": [{"bytes": [*token], "token": id_} for token, id_ in GROK_TOKENS.items()],
        "special_tokens": [
            {"bytes": [*name.encode()], "token": id_} for name, id_ in GROK_SPECIAL.items()
        ],
        "word_split": "V1",
        **changed,
    }


PATTERN = r" ?\p{L}+|\s+|[^\s\p{L}]"


def run(first: int, *tokens: bytes) -> str:
    """A line of tokens with ids in a row."""
    return " ".join([f"! {first}", *(b64encode(token).decode() for token in tokens)])


RANKS = "\n".join([run(0, *BYTES), run(300, b"he", b"she")])


TEKKEN_TOKENS = [*BYTES, b"ab", b"abc", b"more than are used"]
TEKKEN_SPECIAL = 4
TEKKEN_USED = 258


def tekken(count: int = TEKKEN_SPECIAL) -> dict[str, Any]:
    """A file with more tokens than it uses, and names for two of its special tokens."""
    return {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(TEKKEN_TOKENS),
            "default_vocab_size": TEKKEN_USED + count,
            "default_num_special_tokens": count,
            "version": "v13",
        },
        "vocab": [
            {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(TEKKEN_TOKENS)
        ],
        "special_tokens": [
            {"rank": 0, "token_str": "<unk>", "is_control": True},
            {"rank": 1, "token_str": "<s>", "is_control": True},
        ],
    }
