"""Ids back to bytes.

``"".join`` is twice as fast as ``b"".join``, so a token's bytes are kept as text, a character for
each byte (Latin-1), and what is joined is encoded as Latin-1 at the end; if it is of ASCII alone,
it is the text already.  It is done a block of ids at a time, for which the tokens' memory that the
look-up has just touched is still near when they are joined.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import itemgetter

#: Ids that are looked up and joined at a time.
_BLOCK = 1024


class Decoder:
    """Decodes with one vocabulary.

    Args:
        ranks: each token's bytes and its id.
        others: the bytes of ids that are not in ``ranks``, special tokens for instance.

    >>> Decoder({b"a": 0, b"b": 1}, {5: b"<|end|>"}).decode([1, 0, 5])
    b'ba<|end|>'
    """

    def __init__(self, ranks: Mapping[bytes, int], others: Mapping[int, bytes]) -> None:
        texts = map(str, ranks, repeat("latin-1"))
        by_id = {number: data.decode("latin-1") for number, data in others.items()}
        by_id.update(zip(ranks.values(), texts))
        # A list is faster, but takes room for every id that is left out.
        end = max(by_id, default=-1) + 1
        self._texts: dict[int, str] | list[str | None] = by_id
        if end <= 2 * len(by_id):
            self._texts = list(map(by_id.get, range(end)))

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes of some ids.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            TypeError: an id is no integer, or ``tokens`` is no sequence.
        """
        return self._join(tokens).encode("latin-1")

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """The text of some ids; ``errors`` as in ``bytes.decode``.

        Raises:
            KeyError, OverflowError, TypeError: as in ``decode``.
            UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.

        >>> Decoder({b"a": 0, b"\\xc3": 1, b"\\xa9": 2}, {}).decode_text([0, 1, 2], "strict")
        'aé'
        """
        joined = self._join(tokens)
        if joined.isascii() and isinstance(errors, str):
            return joined
        return joined.encode("latin-1").decode("utf-8", errors)

    def _join(self, tokens: Sequence[int]) -> str:
        """The bytes of some ids, each as a character; errors as in ``decode``."""
        if isinstance(tokens, (str, dict)) or not hasattr(tokens, "__getitem__"):
            raise TypeError(f"a {type(tokens).__name__} is no sequence of token ids")
        if not isinstance(tokens, list):
            tokens = list(tokens)
        joined = []
        for start in range(0, len(tokens), _BLOCK):
            block = tokens[start : start + _BLOCK]
            # An array takes what is an unsigned 32-bit number: no negative one, which a list
            # would count from its end, and no float, which a dictionary would take for an integer.
            array("I").fromlist(block)
            try:
                # Given a single id, itemgetter gives the text itself, which joins to the same.
                joined.append("".join(itemgetter(*block)(self._texts)))
            except (LookupError, TypeError):
                for token in block:
                    self.decode_one(token)
                raise
        return "".join(joined)

    def decode_one(self, token: int) -> bytes:
        """The bytes of one id; errors as in ``decode``."""
        (number,) = array("I", (token,))
        try:
            text = self._texts[number]
        except LookupError:
            text = None
        if text is None:
            raise KeyError(f"{number} is not in the vocabulary")
        return text.encode("latin-1")
