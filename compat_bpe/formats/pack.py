"""Packs: vocabularies in a small file that loads quickly, by means of the standard library.

A pack is a header, one line of ASCII, and a zlib stream (RFC 1950). The stream holds the tokens in
the order of their ranks, joined by a byte that occurs in no other token. Such bytes exist: 0xC0,
0xC1 and 0xF5 to 0xFF, for instance, are in no UTF-8 text, so no token learned from text has one.
Only the token of the single byte itself has it. That token is left out of the stream, and the
header gives its position:

    compat_bpe-pack 1 separator=255 at=187 size=371415 crc32=d2790873 ranks=0-50255,50257-50280

- ``separator``: the byte between the tokens, in decimal.
- ``at``: the position of its own token in the order of the ranks.
- ``size``: the number of bytes that the stream inflates to.
- ``crc32``: the checksum, by ``zlib.crc32``, of the inflated stream followed by the header with
  eight zeros for the checksum.
- ``ranks``: the ranks, lowest and highest of each run without a hole.

Loading takes a handful of calls into C for any number of tokens: inflate, split, pair up.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter

from . import RANK_LIMIT, missing_byte

#: The most bytes that a pack may inflate to, so that a hostile pack cannot fill the memory. It is
#: ten times the size of o200k_base.
SIZE_LIMIT = 1 << 24

_HEADER = (
    rb"compat_bpe-pack 1 separator=([0-9]{1,3}) at=([0-9]{1,10}) size=([0-9]{1,10}) "
    rb"crc32=([0-9a-f]{8}) ranks=([0-9]{1,10}-[0-9]{1,10}(?:,[0-9]{1,10}-[0-9]{1,10})*)\n"
)


def pack(ranks: Mapping[bytes, int]) -> bytes:
    """Pack a vocabulary. Equal vocabularies give equal packs.

    Raises:
        ValueError: the vocabulary lacks a single byte, has a rank twice or outside 0 to
            2**32 - 2, or inflates to more than ``SIZE_LIMIT`` bytes. Or every byte occurs in some
            token of several bytes, so that no byte can separate them.

    >>> ranks = {bytes([byte]): byte for byte in range(256)}
    >>> unpack(pack(ranks), "bytes.pack") == ranks
    True
    """
    byte = missing_byte(ranks)
    if byte is not None:
        raise ValueError(f"the vocabulary has no token for the single byte 0x{byte:02X}")
    tokens, numbers = zip(*sorted(ranks.items(), key=itemgetter(1)))
    if len(set(numbers)) < len(numbers):
        raise ValueError("two tokens of the vocabulary have the same rank")
    if not 0 <= numbers[0] <= numbers[-1] < RANK_LIMIT:
        raise ValueError(f"a rank of the vocabulary is not from 0 to {RANK_LIMIT - 1}")
    free = set(range(256)).difference(*(token for token in tokens if len(token) > 1))
    if not free:
        raise ValueError("every byte occurs in some longer token, so none can separate them")
    # The highest free byte, since low ones are characters that another vocabulary may use.
    separator = bytes([max(free)])
    body = separator.join([token for token in tokens if token != separator])
    if len(body) > SIZE_LIMIT:
        raise ValueError(f"the tokens take {len(body)} bytes, more than {SIZE_LIMIT}")
    header = (
        f"compat_bpe-pack 1 separator={separator[0]} at={tokens.index(separator)} "
        f"size={len(body)} crc32=%08x "
        f"ranks={','.join(f'{run[0]}-{run[-1]}' for run in _runs(numbers))}\n"
    )
    checksum = zlib.crc32((header % 0).encode("ascii"), zlib.crc32(body))
    compressor = zlib.compressobj(level=9, memLevel=9)
    return (header % checksum).encode("ascii") + compressor.compress(body) + compressor.flush()


def _runs(numbers: Iterable[int]) -> list[range]:
    """Return increasing numbers as ranges without a hole."""
    runs: list[range] = []
    for number in numbers:
        if runs and runs[-1].stop == number:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return runs


def unpack(data: bytes, source: str) -> dict[bytes, int]:
    """Return the vocabulary in a pack, its tokens in the order of their ranks.

    It never inflates more than ``SIZE_LIMIT`` bytes.

    Args:
        data: the content of the pack.
        source: its name in error messages.

    Raises:
        ValueError: ``{source}: {reason}``. The pack is not one that :func:`pack` made: it is
            truncated, altered, or something else.

    >>> unpack(b"IQ== 0", "bytes.pack")
    Traceback (most recent call last):
    ValueError: bytes.pack: not a compat_bpe pack, version 1
    """
    match = re.match(_HEADER, data)  # compiled here: not all programs load a pack
    if match is None:
        raise ValueError(f"{source}: not a compat_bpe pack, version 1")
    separator, at, size = map(int, match.group(1, 2, 3))
    runs = [
        range(int(low), int(high) + 1)
        for low, high in (run.split(b"-") for run in match.group(5).split(b","))
    ]
    if separator > 255 or size > SIZE_LIMIT:
        raise ValueError(f"{source}: damaged: the separator or the size is out of range")
    inflater = zlib.decompressobj()
    try:
        # One byte more than expected: zlib takes 0 for no limit, and it only sees the end of the
        # stream if there is room left.
        body = inflater.decompress(data[match.end() :], size + 1)
    except zlib.error as error:
        raise ValueError(f"{source}: damaged: {error}") from None
    if len(body) != size or not inflater.eof or inflater.unused_data:
        raise ValueError(f"{source}: damaged: the stream is cut short, or not {size} bytes long")
    header = data[: match.start(4)] + b"00000000" + data[match.end(4) : match.end()]
    if zlib.crc32(header, zlib.crc32(body)) != int(match.group(4), 16):
        raise ValueError(f"{source}: damaged: the checksum does not match")

    # Every pack that pack() made passes the checks below; a forged one may not.
    separator_token = bytes([separator])
    count = body.count(separator_token) + 2
    if sum(map(len, runs)) != count or at >= count or _runs_overlap(runs):
        raise ValueError(f"{source}: damaged: the ranks do not match the {count} tokens")
    tokens = body.split(separator_token)
    tokens.insert(at, separator_token)
    ranks = dict(zip(tokens, runs[0] if len(runs) == 1 else chain.from_iterable(runs)))
    if len(ranks) != count or missing_byte(ranks) is not None:
        raise ValueError(f"{source}: damaged: a token comes twice, or a single byte is missing")
    return ranks


def _runs_overlap(runs: list[range]) -> bool:
    ends = [end for run in runs for end in (run.start, run.stop)]
    return ends != sorted(ends) or ends[-1] > RANK_LIMIT
