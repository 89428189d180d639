"""Vocabulary files and the ranks in them, one module per format.

A vocabulary is a ``dict[bytes, int]`` from token to rank. The rank is the token's id and its
merge priority at once: of all neighbouring parts whose concatenation is a token, the pair with
the lowest rank is merged first. Every reader of a vocabulary promises the same:

- no token and no rank occurs twice;
- every rank is at least 0 and below ``RANK_LIMIT``;
- each of the 256 single bytes is a token, so that any text can be encoded.

Ranks may have holes: p50k_base has no rank 50256, which is the id of its special token.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The upper bound of ranks, itself excluded. tiktoken keeps a rank in 32 unsigned bits and uses the
#: highest value, 2**32 - 1, for "no token" (``Rank::MAX`` in its ``src/lib.rs``).
RANK_LIMIT = 2**32 - 1


def missing_byte(ranks: Mapping[bytes, int]) -> int | None:
    """Return the lowest byte that is not a token, or None if all 256 are.

    >>> missing_byte({bytes([byte]): byte for byte in range(256)}) is None
    True
    >>> missing_byte({b"\\0": 0, b"\\2": 1})
    1
    """
    for byte in range(256):
        if bytes([byte]) not in ranks:
            return byte
    return None
