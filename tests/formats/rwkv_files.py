"""A list of tokens as RWKV publishes it, with few of them."""

from __future__ import annotations

NAME = "rwkv_vocab_v20230424.txt"
BYTES = [bytes([byte]) for byte in range(256)]
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
