"""``CoreBPE``: a vocabulary and a pattern at work, from text to ids and back.

It has the methods of the class of that name in tiktoken (``tiktoken._tiktoken.CoreBPE``, which is
written in Rust), and ``Encoding`` stands on it as tiktoken's does.  It takes text as it is: what
cannot be UTF-8 is a ``UnicodeEncodeError`` here, and is repaired one floor higher.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from itertools import chain

from compat_bpe.engine.byte_pair import encode_chunk, merge
from compat_bpe.engine.chunk_cache import ChunkCache
from compat_bpe.engine.special import split_special
from compat_bpe.engine.splitter import Splitter


class CoreBPE:
    """Encodes and decodes with one vocabulary.

    Args:
        encoder: each token's bytes and its rank, which is its id.  It is kept, not copied.
        special_tokens_encoder: each special token's name and id.
        pattern: what the chunks of a text match.

    Raises:
        ValueError: the pattern cannot be used (``PatternError``).

    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r"\\w+|\\W")
    >>> core.encode("hi<|end|>", {"<|end|>"})
    [104, 105, 256]
    """

    def __init__(
        self, encoder: dict[bytes, int], special_tokens_encoder: dict[str, int], pattern: str
    ) -> None:
        self.encoder = encoder
        self.special = special_tokens_encoder
        self._splitter = Splitter(pattern)
        #: Chunk → ids, for those met before.
        self.chunk_ids = ChunkCache(encoder)
        self._bytes_by_id: dict[int, bytes] | None = None
        self._sorted_tokens: list[bytes] | None = None

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text in which nothing is special.

        Raises:
            UnicodeEncodeError: the text has surrogates in it.
        """
        return self.encode(text, frozenset())

    def encode(self, text: str, allowed_special: Set[str]) -> list[int]:
        """The ids of a text in which some names are special tokens.

        Args:
            text: any text without surrogates.
            allowed_special: a set of names; those that are no special tokens are plain text.

        Raises:
            UnicodeEncodeError: the text has surrogates in it.
            TypeError: ``allowed_special`` is no set.
        """
        ids: list[int] = []
        for plain, special in self._stretches(text, allowed_special):
            for chunks in self._blocks(plain):
                ids += chain.from_iterable(chunks)
            if special is not None:
                ids.append(self.special[special])
        return ids

    def count(self, text: str) -> int:
        """``len(encode_ordinary(text))``, without a list of the ids."""
        check_text(text)
        return sum(sum(map(len, chunks)) for chunks in self._blocks(text))

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: Set[str]) -> memoryview:
        """What ``encode`` gives, as a read-only buffer of unsigned 32-bit numbers."""
        return memoryview(array("I", self.encode(text, allowed_special))).toreadonly()

    def encode_with_unstable(
        self, text: str, allowed_special: Set[str]
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that stay whatever follows the text, and what may become of the rest.

        See ``Encoding.encode_with_unstable``.
        """
        from compat_bpe.engine.unstable import completions, unstable_length

        ids, last = self.encode_and_last(text, allowed_special)
        stable = len(ids) - unstable_length(self, ids, last)
        rest = self.decode_bytes(ids[stable:])
        return ids[:stable], [list(found) for found in completions(self, rest)]

    def encode_and_last(self, text: str, allowed_special: Set[str]) -> tuple[list[int], int]:
        """What ``encode`` gives, and how many ids are of the last chunk.

        That is 0 if a special token comes after all chunks.
        """
        ids: list[int] = []
        last = 0
        for plain, special in self._stretches(text, allowed_special):
            for chunks in self._blocks(plain):
                for found in chunks:
                    ids += found
                    last = len(found)
            if special is not None:
                ids.append(self.special[special])
                last = 0
        return ids, last

    def encode_single_token(self, piece: bytes) -> int:
        """The id of one token, special tokens included; ``KeyError`` if there is none."""
        if not isinstance(piece, bytes):
            raise TypeError(f"a {type(piece).__name__} is no token: it must be bytes")
        found = self.encoder.get(piece)
        if found is None:
            # A name that is not UTF-8 is none: what replaces it stands in no name either.
            found = self.special.get(piece.decode("utf-8", "surrogateescape"))
        if found is None:
            raise KeyError(piece)
        return found

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """The ids of some bytes taken as one chunk."""
        return list(encode_chunk(bytes(piece), self.encoder))

    def merge_ids(self, piece: bytes) -> list[int]:
        """The ids that merging gives, also where the whole is a token."""
        return [self.encoder[part] for part in merge(piece, self.encoder)]

    def _encode_bytes(self, piece: bytes) -> list[int]:
        """The ids of bytes that may end, or go wrong, within a character.

        What is UTF-8 is encoded as text; its last chunk and all that follows as one chunk.
        """
        from compat_bpe.engine.unstable import unstable_length

        piece = bytes(piece)
        try:
            return self.encode_ordinary(piece.decode())
        except UnicodeDecodeError as error:
            valid = error.start
        ids, last = self.encode_and_last(piece[:valid].decode(), frozenset())
        stable = len(ids) - unstable_length(self, ids, last)
        rest = self.decode_bytes(ids[stable:]) + piece[valid:]
        return ids[:stable] + self.encode_single_piece(rest)

    def _stretches(self, text: str, allowed_special: Set[str]) -> Iterator[tuple[str, str | None]]:
        if not isinstance(allowed_special, (set, frozenset)):
            kind = type(allowed_special).__name__
            raise TypeError(f"allowed_special is a {kind}; it must be a set or 'all'")
        check_text(text)
        names = allowed_special & self.special.keys() if allowed_special else allowed_special
        if len(names) < len(allowed_special):
            # What is no special token is let pass, if only it is text: these raise otherwise.
            "".join(allowed_special).encode()
        return split_special(text, names)

    def _blocks(self, text: str) -> Iterator[Iterator[tuple[int, ...]]]:
        """The ids of each chunk of a text without surrogates, block by block."""
        ids_of, chunks = self.chunk_ids.__getitem__, self._splitter.chunks
        for block in self._splitter.blocks(text):
            yield map(ids_of, chunks(block))

    # Ids to text

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of some ids.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            TypeError: an id is no integer, or ``tokens`` is no sequence.
        """
        if isinstance(tokens, (str, dict)) or not hasattr(tokens, "__getitem__"):
            raise TypeError(f"a {type(tokens).__name__} is no sequence of token ids")
        if isinstance(tokens, (bytes, bytearray)):
            tokens = list(tokens)  # else they would be the array's memory
        try:
            # As an array first: it takes what is an unsigned 32-bit number, and no float that
            # a dictionary would take for one.
            return b"".join(map(self._tokens_by_id().__getitem__, array("I", tokens)))
        except KeyError as error:
            raise _unknown(error.args[0]) from None

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one id; errors as in ``decode_bytes``."""
        (number,) = array("I", (token,))
        found = self._tokens_by_id().get(number)
        if found is None:
            raise _unknown(number)
        return found

    def token_byte_values(self) -> list[bytes]:
        """All tokens but the special ones, sorted by their bytes."""
        return list(self.sorted_tokens())

    def sorted_tokens(self) -> list[bytes]:
        """The list that ``token_byte_values`` copies; built when first asked for."""
        if self._sorted_tokens is None:
            self._sorted_tokens = sorted(self.encoder)
        return self._sorted_tokens

    def _tokens_by_id(self) -> dict[int, bytes]:
        """All tokens by id, built when something is first decoded."""
        found = self._bytes_by_id
        if found is None:
            # Two special names of one id decode to the first (o200k_harmony has such a pair; in
            # tiktoken it depends on a hash).  An id that is mergeable too is that token.
            specials = reversed(list(self.special.items()))
            found = {value: name.encode() for name, value in specials}
            found.update(zip(self.encoder.values(), self.encoder))
            self._bytes_by_id = found
        return found


def check_text(text: str) -> None:
    """Raise ``UnicodeEncodeError`` if a text has surrogates in it, ``TypeError`` if it is none."""
    if not isinstance(text, str):
        raise TypeError(f"a {type(text).__name__} is no text: it must be a str")
    if not text.isascii():
        text.encode()


def _unknown(token: int) -> KeyError:
    return KeyError(f"{token} is not in the vocabulary")
