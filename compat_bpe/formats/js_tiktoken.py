"""The rank files of tiktoken's ports to JavaScript, ``tiktoken`` and ``js-tiktoken`` of npm.

Tokens are in ``bpe_ranks``, a text with a line for each run of ids: an exclamation mark, the first
id, and the tokens of this id and those that follow, in base64 with a blank before each. Beside it
are the pattern and the special tokens. The files are written by ``scripts/ranks.ts`` of
dqbd/tiktoken, and read by ``core.ts`` there, which is lenient: here a damaged file is refused.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64

from . import RANK_LIMIT, missing_byte
from .checked_json import Json
from .ranked import Ranked, check_size

#: The beginning of a line. An id has at most ten digits, before ``int`` reads it.
_RUN = re.compile(r"! (0|[1-9][0-9]{0,9})(?= |$)", re.ASCII)


def parse_js_tiktoken(file: Json) -> Ranked:
    """Return the vocabulary of a rank file.

    Raises:
        ValueError: ``{file}: {place}: {reason}``; the file is damaged.
    """
    pattern = file["pat_str"]
    pattern.text()
    ranks = _ranks(file["bpe_ranks"])
    special: dict[str, int] = {}
    named = file["special_tokens"]
    for name in named.mapping():
        part = named[name]
        number = part.number()
        if not 0 <= number < RANK_LIMIT:
            part.fail(f"must be from 0 to {RANK_LIMIT - 1}")
        special[Json(name, file.source, named.place).text()] = number
    if "" in special:
        named.fail("a special token has no name")
    check_size(file.get("explicit_n_vocab"), ranks, special)
    return Ranked(pattern, ranks, special)


def _ranks(part: Json) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    ids: set[int] = set()
    for number, line in enumerate(part.text().split("\n"), 1):
        if not line:
            continue
        run = _RUN.match(line)
        if run is None:
            part.fail(f"line {number}: must begin with '! ' and an id")
        first = int(run[1])
        fields = line[run.end() :].split(" ")[1:]
        if first + len(fields) > RANK_LIMIT:
            part.fail(f"line {number}: an id is above the highest, {RANK_LIMIT - 1}")
        for id_, field in enumerate(fields, first):
            token = _token(field)
            if token is None:
                part.fail(f"line {number}: the token of the id {id_} is not base64")
            if token in ranks or id_ in ids:
                part.fail(f"line {number}: the token {token!r} or its id {id_} comes twice")
            ranks[token] = id_
            ids.add(id_)
    byte = missing_byte(ranks)
    if byte is not None:
        part.fail(f"there is no token for the single byte 0x{byte:02X}")
    return ranks


def _token(field: str) -> bytes | None:
    """Return the bytes of a token; None if it is not written as base64 is, or is empty."""
    try:
        token = a2b_base64(field)
    except ValueError:
        return None
    # The decoder drops what it does not know.
    written = b2a_base64(token, newline=False).decode()
    return token if token and written == field else None
