"""How time grows with the length of texts that have no good place to cut."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Iterator

import tiktoken

from compat_bpe import get_encoding
from tools.benchmark import refuse_difference


def hard_inputs(size: int) -> Iterator[tuple[str, str]]:
    """A name and a text of ``size`` characters for each kind."""
    repeated = {
        "one letter": "a",
        "spaces": " ",
        "tabs": "\t",
        "newlines": "\n",
        "^": "^",
        "digits": "7",
        "AbAb": "Ab",
        "one CJK character": "字",
        "combining marks": "e\u0301\u0327",
        "emoji": "😀",
        "NUL": "\0",
        "U+0085": "\x85",
        "lone surrogates": "\ud83d",
    }
    for name, unit in repeated.items():
        yield name, (unit * (size // len(unit) + 1))[:size]
    rng = random.Random(4)
    yield "random Han", "".join(map(chr, rng.choices(range(0x4E00, 0x9FA6), k=size)))
    yield "random letters", "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=size))
    yield "base64 in one line", base64.b64encode(rng.randbytes(size)).decode()[:size]


def scaling(name: str, size: int) -> dict[str, dict[str, float]]:
    """Seconds for 1, 2 and 4 times ``size`` characters, and tiktoken's for ``size``.

    tiktoken's is left out where it raises: a million spaces make it panic.
    """
    reference, encoding = tiktoken.get_encoding(name), get_encoding(name)
    rows: dict[str, dict[str, float]] = {}
    for times in (1, 2, 4):
        for title, text in hard_inputs(times * size):
            encoding.clear_cache()
            start = time.perf_counter()
            ids = encoding.encode_ordinary(text)
            row = rows.setdefault(title, {})
            row[f"seconds_{times}"] = time.perf_counter() - start
            if times == 1:
                try:
                    start = time.perf_counter()
                    expected = reference.encode_ordinary(text)
                except BaseException as error:  # its panics are no Exception
                    if isinstance(error, KeyboardInterrupt):
                        raise
                else:
                    row["tiktoken_seconds_1"] = time.perf_counter() - start
                    refuse_difference(f"{name}, {title}", ids, expected)
            if encoding.decode(ids) != text.replace("\ud83d", "\ufffd"):
                raise SystemExit(f"{name}, {title}: the ids do not decode to the text")
    return rows
