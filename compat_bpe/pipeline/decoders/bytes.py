"""The protocol of a decoder, and the decoders of ids that stand for bytes of their own.

``ByteDecoder`` is for byte-level vocabularies. ``"".join`` is twice as fast as ``b"".join``, so it
keeps a token's bytes as text, one character per byte (Latin-1). The joined text is encoded as
Latin-1 at the end. If it is all ASCII, it is already the decoded text. Ids are decoded in blocks:
when a block is joined, the memory of its tokens is still in the processor's cache from the look-up.
Building a table of all tokens takes more than half as long as loading them, so the first ids are
looked up without a table.

``CharacterDecoder`` and ``WordDecoder`` are for models without a vocabulary.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from .streams import TextStream

    class IdDecoder(Protocol):
        """A decoder of one vocabulary.

        Each method raises ``KeyError`` for an id that is not in the vocabulary, ``OverflowError``
        for one that is negative or 2**32 or more, and ``TypeError`` for anything that is not a
        sequence of integers.
        """

        def decode(self, tokens: Sequence[int]) -> bytes:
            """Return the bytes of some ids."""

        def decode_text(self, tokens: Sequence[int], errors: str) -> str:
            """Return the text of some ids; ``errors`` as in ``bytes.decode``."""

        def stream(self, errors: str) -> TextStream:
            """Return a decoder of ids that arrive one after another; ``errors`` as above."""

        def decode_one(self, token: int) -> bytes:
            """Return the bytes of one token, without regard to its neighbours."""


def checked(tokens: Sequence[int]) -> tuple[list[int], array[int]]:
    """Return ids as a list and as an array.

    An array accepts only unsigned 32-bit numbers. A list would count negative numbers from its end,
    and in a dictionary a float equals an integer.

    Raises:
        OverflowError: an id is negative or 2**32 or more.
        TypeError: an id is not an integer, or ``tokens`` is not a sequence.
    """
    if isinstance(tokens, (str, dict)) or not hasattr(tokens, "__getitem__"):
        raise TypeError(f"a {type(tokens).__name__} is not a sequence of token ids")
    listed = tokens if isinstance(tokens, list) else list(tokens)
    numbers = array("I")
    numbers.fromlist(listed)
    return listed, numbers


#: The number of ids that are looked up and joined at a time.
_BLOCK = 1024

#: The number of ids that are looked up before the table of all tokens is built. They take a tenth
#: of the time that building the table takes.
_FEW = 1 << 10
#: The cost of a look-up among tokens that are not sorted by id, in look-ups among sorted ones.
_COST_OF_SEARCH = 1 << 8


class ByteDecoder:
    """The decoder of one vocabulary.

    Args:
        ranks: each token's bytes and its id.
        others: the bytes of ids that are not in ``ranks``, special tokens for instance.
        others_win: True to use the bytes in ``others`` for an id that is in both.

    >>> ByteDecoder({b"a": 0, b"b": 1}, {5: b"<|end|>"}).decode([1, 0, 5])
    b'ba<|end|>'
    """

    def __init__(
        self,
        ranks: Mapping[bytes, int],
        others: Mapping[int, bytes],
        others_win: bool = False,
    ) -> None:
        self._others = others
        self._others_win = others_win
        #: The tokens and their ids, until the table is built.
        self._listed: tuple[list[bytes], list[int]] | None = list(ranks), list(ranks.values())
        self._few_left = _FEW
        self._are_sorted: bool | None = None
        self._texts: dict[int, str] | list[str | None] | None = None

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of some ids.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            TypeError: an id is not an integer, or ``tokens`` is not a sequence.
        """
        return self._join(tokens).encode("latin-1")

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some ids; ``errors`` as in ``bytes.decode``.

        Raises:
            KeyError, OverflowError, TypeError: as in ``decode``.
            UnicodeDecodeError: with ``errors="strict"``, the bytes are not UTF-8.

        >>> ByteDecoder({b"a": 0, b"\\xc3": 1, b"\\xa9": 2}, {}).decode_text([0, 1, 2], "strict")
        'aé'
        """
        joined = self._join(tokens)
        if joined.isascii() and isinstance(errors, str):
            return joined
        return joined.encode("latin-1").decode("utf-8", errors)

    def stream(self, errors: str) -> TextStream:
        """Return a decoder of ids that arrive one after another; see ``IdDecoder``."""
        from .streams import Concatenation

        return Concatenation(self.decode, errors)

    def _join(self, tokens: Sequence[int]) -> str:
        """Return the bytes of some ids, each as a character; errors as in ``decode``."""
        # All ids are checked before any is looked up, as in tiktoken.
        tokens, numbers = checked(tokens)
        texts = self._table_for(len(tokens))
        joined: list[str] = []
        for start in range(0, len(tokens), _BLOCK):
            if texts is None:
                # Once look-ups have cost too much, `_find` builds the table and uses it.
                joined += map(self._find, numbers[start : start + _BLOCK])
                continue
            block = tokens[start : start + _BLOCK]
            try:
                # With a single id, itemgetter returns the text itself, which joins to the same.
                joined.append("".join(itemgetter(*block)(texts)))
            except (LookupError, TypeError):
                for token in block:
                    self.decode_one(token)
                raise
        return "".join(joined)

    def decode_one(self, token: int) -> bytes:
        """Return the bytes of one id; errors as in ``decode``."""
        (token_id,) = array("I", (token,))
        self._table_for(1)
        return self._find(token_id).encode("latin-1")

    def _table_for(self, count: int) -> dict[int, str] | list[str | None] | None:
        """Return the table of all tokens; None if ``count`` more ids are looked up without it."""
        if self._texts is None:
            self._few_left -= count
            if self._few_left < 0:
                self._set_up()
        return self._texts

    def _find(self, number: int) -> str:
        """Return the bytes of one id, each as a character; ``KeyError`` if there is no such id."""
        listed = self._listed
        if listed is not None:
            data = self._search(number, *listed)
            text = None if data is None else data.decode("latin-1")
        else:
            assert self._texts is not None
            try:
                text = self._texts[number]
            except LookupError:
                text = None
        if text is None:
            raise KeyError(f"{number} is not in the vocabulary")
        return text

    def _search(self, number: int, tokens: list[bytes], numbers: list[int]) -> bytes | None:
        """Return the bytes of one id without the table; None if there is no such id."""
        other = self._others.get(number)
        if other is not None and self._others_win:
            return other
        # Most vocabularies are sorted by id. In others, this finds the right token or none.
        at = bisect_left(numbers, number)
        if at < len(numbers) and numbers[at] == number:
            return tokens[at]
        if self._are_sorted is None:
            self._are_sorted = sorted(numbers) == numbers
        if not self._are_sorted:
            if self._few_left < 0:
                self._set_up()
            self._few_left -= _COST_OF_SEARCH
            if number in numbers:
                return tokens[numbers.index(number)]
        return other

    def _set_up(self) -> None:
        """Build the table of all tokens."""
        listed = self._listed
        if listed is None:
            return  # another thread has built it
        tokens, numbers = listed
        texts = map(str, tokens, repeat("latin-1"))
        others = {token_id: data.decode("latin-1") for token_id, data in self._others.items()}
        end = max(max(numbers, default=-1), max(others, default=-1)) + 1
        # A list is faster, but takes memory for every missing id.
        is_dense = end <= 2 * (len(numbers) + len(others))
        # If an id is missing, as in p50k_base, the last id shows it quickly.
        has_all = numbers[-1:] == [len(numbers) - 1] and numbers == list(range(len(numbers)))
        if is_dense and has_all:
            table: list[str | None] = list(texts)
            table += repeat(None, end - len(table))
            for token_id, text in others.items():
                if self._others_win or table[token_id] is None:
                    table[token_id] = text
            self._texts = table
        else:
            by_id = {} if self._others_win else others
            by_id.update(zip(numbers, texts))
            if self._others_win:
                by_id.update(others)
            self._texts = list(map(by_id.get, range(end))) if is_dense else by_id
        # Set after the table, since another thread may be looking up ids.
        self._listed = None


class _OpenDecoder:
    """A decoder of a model without a vocabulary; see ``IdDecoder`` for the methods."""

    #: The text between two tokens.
    between = ""

    def decode(self, tokens: Sequence[int]) -> bytes:
        return self.decode_text(tokens, "strict").encode()

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        raise NotImplementedError

    def stream(self, errors: str) -> TextStream:
        from .streams import Separated

        return Separated(lambda tokens: self.decode_text(tokens, errors), self.between)

    def decode_one(self, token: int) -> bytes:
        return self.decode((token,))


class CharacterDecoder(_OpenDecoder):
    """The decoder of code points.

    >>> CharacterDecoder().decode_text([110, 233], "strict")
    'né'
    """

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some code points; see ``IdDecoder``."""
        _, numbers = checked(tokens)
        for code_point in numbers:
            if code_point > 0x10FFFF or 0xD800 <= code_point < 0xE000:
                raise KeyError(f"{code_point} is not the code point of a character")
        return "".join(map(chr, numbers))


class WordDecoder(_OpenDecoder):
    """The decoder of words that have been encoded before.

    Args:
        words: the word of each id, as bytes; it may grow.
        between: the text that is put between two words.

    >>> WordDecoder([b"to", b"be"], " ").decode_text([0, 1], "strict")
    'to be'
    """

    def __init__(self, words: Sequence[bytes], between: str) -> None:
        self._words = words
        self.between = between

    def decode_text(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some ids; see ``IdDecoder``."""
        _, numbers = checked(tokens)
        highest = max(numbers, default=-1)
        if highest >= len(self._words):
            raise KeyError(f"no word with the id {highest} has been encoded")
        return self.between.encode().join(map(self._words.__getitem__, numbers)).decode()
