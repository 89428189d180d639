"""``.tiktoken`` files: a token and its rank on each line.

A line is the token's bytes in base64, a blank, and the rank in decimal: ``aGVsbG8= 15339``.
The reader accepts every well-formed file that ``tiktoken.load.load_tiktoken_bpe`` accepts, and
gives the same ranks. Lines may end in LF, CR LF or CR. Empty lines are skipped. The blanks around
the two fields and the order of the lines do not matter. The empty token, written ``=`` in the last
line of the rank files of OpenAI's Whisper, is a token like any other.

tiktoken is lenient with a damaged file. Its base64 decoder drops characters that it does not know.
``int`` takes ``+1_0``. The later of two equal tokens wins. A missing byte or a rank used twice
causes a panic later on. Here each of these is an error that names the line.

Holes in the ranks are not an error, since real vocabularies have them. So a file that is cut
between two lines looks whole if it has its 256 byte tokens. (Compare its checksum, if you know
one.) A file that is cut inside a line is refused: the last token is not base64, the last rank is
missing, or the last rank is cut to its first digits and is also the rank of an earlier line.
"""

from __future__ import annotations

import os
import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from operator import itemgetter

from ..files.whole import read_whole
from . import RANK_LIMIT, missing_byte

_BASE64_CHARS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
# Padding where it belongs (RFC 4648, section 4), or padding alone: Whisper's empty token.
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|={1,2}")


def read_ranks(path: str | os.PathLike[str]) -> dict[bytes, int]:
    """Read a ``.tiktoken`` file: its tokens and their ranks, in the order of the file.

    Raises:
        OSError: the file cannot be read.
        ValueError: as in :func:`parse_ranks`.
    """
    return parse_ranks(read_whole(path), os.fspath(path))


def parse_ranks(data: bytes, source: str) -> dict[bytes, int]:
    """Parse the content of a ``.tiktoken`` file; ``source`` is its name in error messages.

    Raises:
        ValueError: ``{source}: line {n}: {reason}``. A line is not a base64 token and a decimal
            rank from 0 to 2**32 - 2, a token or a rank occurs twice, or the file lacks one of the
            256 single bytes.

    >>> data = format_ranks({bytes([byte]): byte for byte in range(256)})
    >>> parse_ranks(data + b"aGVsbG8= 256\\n", "hello.tiktoken")[b"hello"]
    256
    >>> parse_ranks(data + b"aGVsbG8 256\\n", "hello.tiktoken")
    Traceback (most recent call last):
    ValueError: hello.tiktoken: line 257: b'aGVsbG8' is not base64
    """
    ranks = _parse_in_bulk(data)
    return _parse_by_line(data, source) if ranks is None else ranks


def _parse_in_bulk(data: bytes) -> dict[bytes, int] | None:
    """Return the ranks of a file in exactly the form that tiktoken writes, or None for any other.

    This is twice as fast as reading line by line, since each step runs over the whole file in C.
    None leaves the file to the careful reader.
    """
    lines = data.count(b"\n")
    # Spaces and line feeds alternate, one of each per line. All other characters are base64.
    if data.translate(None, _BASE64_CHARS) != b" \n" * lines:
        return None
    fields = data.split()
    token_fields = fields[::2]
    if len(fields) != 2 * lines or b" +" in data:  # int() would take "+1"
        return None
    try:
        tokens = list(map(a2b_base64, token_fields))
        ranks = dict(zip(tokens, map(int, fields[1::2])))
    except ValueError:  # including binascii.Error
        return None
    token_fields.append(b"")
    if b"".join(map(b2a_base64, tokens)) != b"\n".join(token_fields):
        return None  # the decoder skipped something
    numbers = set(ranks.values())
    if not len(tokens) == len(ranks) == len(numbers) or missing_byte(ranks) is not None:
        return None
    return ranks if max(numbers) < RANK_LIMIT else None


def _parse_by_line(data: bytes, source: str) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    line_of_rank: dict[int, int] = {}
    number = 0
    for number, line in enumerate(data.splitlines(), 1):
        if not line:
            continue
        try:
            token, rank = _parse_line(line)
            if token in ranks:
                first = line_of_rank[ranks[token]]
                raise ValueError(f"token {token!r} is already in line {first}")
            if rank in line_of_rank:
                raise ValueError(f"rank {rank} is already in line {line_of_rank[rank]}")
        except ValueError as error:
            gzipped = data.startswith(b"\x1f\x8b")
            reason = "the file is compressed by gzip; decompress it first" if gzipped else error
            raise ValueError(f"{source}: line {number}: {reason}") from None
        ranks[token] = rank
        line_of_rank[rank] = number
    if not ranks:
        raise ValueError(f"{source}: line {number or 1}: the file ends without any token")
    _check_end(ranks, source, number)
    return ranks


def parse_in_order(data: bytes, source: str) -> dict[bytes, int]:
    """Parse a file in which a token's rank is its place, not the number beside it.

    If a token comes twice, the first place counts.

    Raises:
        ValueError: as in :func:`parse_ranks`, except that ranks and tokens may occur twice.

    >>> data = format_ranks({bytes([byte]): byte for byte in range(256)})
    >>> parse_in_order(data + b"YQ== 7\\naGVsbG8= 7\\n", "hello.tiktoken")[b"hello"]
    256
    """
    tokens: dict[bytes, None] = {}
    line_number = 0
    for line_number, line in enumerate(data.splitlines(), 1):
        if line:
            try:
                tokens[_parse_line(line)[0]] = None
            except ValueError as error:
                raise ValueError(f"{source}: line {line_number}: {error}") from None
    ranks = {token: rank for rank, token in enumerate(tokens)}
    _check_end(ranks, source, line_number)
    return ranks


def _check_end(ranks: Mapping[bytes, int], source: str, line: int) -> None:
    byte = missing_byte(ranks)
    if byte is not None:
        raise ValueError(
            f"{source}: line {line}: the file ends without a token for the single byte "
            f"0x{byte:02X}; it is cut short, or not a byte-level vocabulary"
        )


def _parse_line(line: bytes) -> tuple[bytes, int]:
    fields = line.split()
    if len(fields) != 2:
        raise ValueError(
            f"expected a base64 token and a rank, found {len(fields)} "
            f"field{'s' * (len(fields) != 1)} in {_excerpt(line)}"
        )
    encoded, digits = fields
    if not _BASE64.fullmatch(encoded):
        raise ValueError(f"{_excerpt(encoded)} is not base64")
    if not digits.isdigit():
        raise ValueError(f"rank {_excerpt(digits)} is not a decimal number")
    # The length first: int() is slow on thousands of digits, or refuses them.
    significant = digits.lstrip(b"0") or b"0"
    if len(significant) > 10 or int(significant) >= RANK_LIMIT:
        raise ValueError(f"rank {_excerpt(digits)} is above the highest, {RANK_LIMIT - 1}")
    token = b"" if encoded.startswith(b"=") else a2b_base64(encoded)
    return token, int(significant)


def _excerpt(data: bytes) -> str:
    return repr(data) if len(data) <= 40 else f"{data[:40]!r}..."


def format_ranks(ranks: Mapping[bytes, int]) -> bytes:
    """Return the content of a ``.tiktoken`` file, its lines in the order of the ranks.

    For the files that OpenAI publishes, this restores the input of :func:`parse_ranks`, byte for
    byte. The empty token is written as in Whisper's.

    >>> format_ranks({b"hello": 7, b"!": 0, b"": 8})
    b'IQ== 0\\naGVsbG8= 7\\n= 8\\n'
    """
    return b"".join(
        [
            b"%b %d\n" % (b2a_base64(token, newline=False) or b"=", rank)
            for token, rank in sorted(ranks.items(), key=itemgetter(1))
        ]
    )
