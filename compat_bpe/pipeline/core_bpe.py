"""``CoreBPE``: a vocabulary and a pattern at work, from text to ids and back.

It has the methods of the class of that name in tiktoken (``tiktoken._tiktoken.CoreBPE``, which is
written in Rust), and ``Encoding`` stands on it as tiktoken's does.  It takes text as it is: what
cannot be UTF-8 is a ``UnicodeEncodeError`` here, and is repaired one floor higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import chain

from ..pattern.splitter import LONGEST_PASSAGE, SHORTEST_PASSAGE, Splitter
from .cache import Recent
from .models.bpe.by_rank import BytePairEncoder, Ids
from .special import split_special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .decoders import Decoder
    from .models.bpe.by_character import UnspacedEncoder
    from .pre_tokenizers import StepSplitter

#: How many chunks are remembered by default.  A chunk and its ids take about 200 bytes.
DEFAULT_CACHE_LIMIT = 1 << 17
#: Longer chunks (in characters) are encoded anew each time: they hardly ever come back.
_LONGEST_CHUNK = 128
#: Bytes of Chinese and the like after which it is worth to set up its own encoder: to merge so many
#: takes as long as that does.
_WORTH_UNSPACED = 1 << 14
#: For each passage, as many chunks are remembered.
_CHUNKS_TO_A_PASSAGE = 32


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
        self._set_up(Splitter(pattern), BytePairEncoder(encoder), encoder)

    def _set_up(
        self,
        splitter: Splitter | StepSplitter,
        byte_pair: BytePairEncoder,
        whole: Mapping[bytes, int],
        to_bytes: Callable[[str], bytes] = str.encode,
    ) -> None:
        """Set up the way from text to ids.

        Args:
            splitter: what gives the chunks of a text.
            byte_pair: what encodes a chunk.
            whole: chunks that are a token before any merging.
            to_bytes: the bytes that a chunk stands for.
        """
        self._splitter = splitter
        self._byte_pair = byte_pair
        self._whole = whole
        self._to_bytes = to_bytes
        # Its parts are taken for UTF-8 text, and each for itself.
        self._may_be_unspaced = to_bytes is str.encode and byte_pair.is_complete
        self._unspaced: UnspacedEncoder | None = None
        self._unspaced_bytes = 0
        self._chunk_ids = Recent(self._encode_chunk, 0, _LONGEST_CHUNK)
        self._passage_ids = Recent(self._encode_passage, 0, LONGEST_PASSAGE)
        self._passage_counts = Recent(self._count_passage, 0, LONGEST_PASSAGE)
        self.set_cache_limit(DEFAULT_CACHE_LIMIT)
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
            if len(plain) < SHORTEST_PASSAGE:
                ids += chain.from_iterable(self._ids_by_chunk(plain))
            else:
                for found in map(self._passage_ids.__getitem__, self._splitter.passages(plain)):
                    ids += found
            if special is not None:
                ids.append(special)
        return ids

    def count(self, text: str) -> int:
        """``len(encode_ordinary(text))``, without a list of the ids."""
        total = 0
        for plain, special in self._stretches(text, frozenset()):
            if len(plain) < SHORTEST_PASSAGE:
                total += self._count_passage(plain)
            else:
                passages = self._splitter.passages(plain)
                total += sum(map(self._passage_counts.__getitem__, passages))
            total += special is not None
        return total

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: Set[str]) -> memoryview:
        """What ``encode`` gives, as a read-only buffer of unsigned 32-bit numbers."""
        from array import array

        return memoryview(array("I", self.encode(text, allowed_special))).toreadonly()

    def encode_with_unstable(
        self, text: str, allowed_special: Set[str]
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that stay whatever follows the text, and what may become of the rest.

        See ``Encoding.encode_with_unstable``.
        """
        from .unstable import completions, unstable_length

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
            for found in self._ids_by_chunk(plain):
                ids += found
                last = len(found)
            if special is not None:
                ids.append(special)
                last = 0
        return ids, last

    def encode_single_token(self, piece: bytes) -> int:
        """The id of one token, special tokens included; ``KeyError`` if there is none."""
        _check_bytes(piece)
        found = self.encoder.get(piece)
        if found is None:
            # A name that is not UTF-8 is none: what replaces it stands in no name either.
            found = self.special.get(piece.decode("utf-8", "surrogateescape"))
        if found is None:
            raise KeyError(piece)
        return found

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """The ids of some bytes taken as one chunk; ``TypeError`` if they are no ``bytes``."""
        _check_bytes(piece)
        return list(self._byte_pair.encode(piece))

    def merge_ids(self, piece: bytes) -> list[int]:
        """The ids that merging gives, also where the whole is a token."""
        return self._byte_pair.merge(piece)

    def _encode_bytes(self, piece: bytes) -> list[int]:
        """The ids of bytes that may end, or go wrong, within a character.

        What is UTF-8 is encoded as text; its last chunk and all that follows as one chunk.
        ``TypeError`` if they are no ``bytes``.
        """
        from .unstable import unstable_length

        _check_bytes(piece)
        try:
            return self.encode_ordinary(piece.decode())
        except UnicodeDecodeError as error:
            valid = error.start
        ids, last = self.encode_and_last(piece[:valid].decode(), frozenset())
        stable = len(ids) - unstable_length(self, ids, last)
        rest = self.decode_bytes(ids[stable:]) + piece[valid:]
        return ids[:stable] + self.encode_single_piece(rest)

    def _stretches(self, text: str, allowed_special: Set[str]) -> Iterable[tuple[str, int | None]]:
        """The text as stretches to be split, each with the id that follows it, if one does."""
        allowed = self._checked(text, allowed_special)
        if not allowed:
            return ((text, None),)
        names = allowed & self.special.keys()
        return (
            (plain, None if name is None else self.special[name])
            for plain, name in split_special(text, names)
        )

    def _checked(self, text: str, allowed_special: Set[str]) -> Set[str]:
        """The allowed names, if they and the text are such as the library in Rust takes."""
        if not isinstance(allowed_special, (set, frozenset)):
            kind = type(allowed_special).__name__
            raise TypeError(f"allowed_special is a {kind}; it must be a set or 'all'")
        check_text(text)
        if not self.special.keys() >= allowed_special:
            # What is no special token is let pass, if only it is text: these raise otherwise.
            "".join(allowed_special).encode()
        return allowed_special

    def _ids_by_chunk(self, text: str) -> Iterator[Ids]:
        """The ids of each chunk of a text without surrogates."""
        return map(self._chunk_ids.__getitem__, self._splitter.chunks(text))

    def _encode_passage(self, passage: str) -> Ids:
        ids = self._unspaced_ids(passage)
        return tuple(chain.from_iterable(self._ids_by_chunk(passage))) if ids is None else ids

    def _count_passage(self, passage: str) -> int:
        ids = self._unspaced_ids(passage)
        return sum(map(len, self._ids_by_chunk(passage))) if ids is None else len(ids)

    def _unspaced_ids(self, passage: str) -> Ids | None:
        """The ids of a passage, if it is best merged part by part; else None."""
        unspaced = self._unspaced
        if unspaced is None or not unspaced.merging_makes_tokens or not _is_wide(passage):
            return None
        ids = unspaced.merge(self._splitter.chunks(passage))
        # Only then a chunk that is a token is what merging gives.
        return ids if unspaced.merging_makes_tokens else None

    def _encode_chunk(self, chunk: str) -> Ids:
        data = self._to_bytes(chunk)
        whole = self._whole.get(data)
        if whole is not None:
            return (whole,)
        if self._may_be_unspaced and _is_wide(chunk):
            if self._unspaced is None:
                self._unspaced_bytes += len(data)
                if self._unspaced_bytes > _WORTH_UNSPACED:
                    from .models.bpe.by_character import UnspacedEncoder

                    self._unspaced = UnspacedEncoder(self._byte_pair, self._whole)
            # Read once: another thread may just forget it.
            unspaced = self._unspaced
            if unspaced is not None:
                return unspaced.merge([chunk])
        return tuple(self._byte_pair.merge(data))

    # Where a text may be cut, and what its length says

    def next_cut(
        self,
        text: str,
        start: int = 0,
        end: int | None = None,
        names: Set[str] = frozenset(),
        *,
        fine: bool = False,
    ) -> int | None:
        """The first safe cut after ``start`` and before ``end``; None if there is none.

        The ids of the two sides of a safe cut are those of the whole.  Whether a place is one is
        seen from the two characters beside it alone (see ``breaks``), so it stays one whatever is
        changed elsewhere.

        Args:
            text: any text; neither of the two characters is a surrogate.
            start, end: places in it; ``end`` is its length unless given.
            names: special tokens that may be tokens in it.  No cut is between two characters that
                stand beside each other in one of these, so none is cut in two.
            fine: look for more cuts, which takes longer.

        >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {}, r" ?[a-z]+|\\W")
        >>> core.next_cut("the dog is gone", 3), core.next_cut("the dog")
        (7, 3)
        """
        splitter = self._splitter
        if fine:
            breaks = splitter.fine_breaks
        else:
            # Those of ASCII text are compiled in a fraction of the time.
            breaks = splitter.ascii_breaks if text.isascii() else splitter.breaks
        if breaks is None:
            return None
        if end is None:
            end = len(text)
        found = breaks.search(text, start, end)
        if found is not None and names:
            inside = _pairs_within(frozenset(names))
            while found is not None and text[found.end() - 1 : found.end() + 1] in inside:
                found = breaks.search(text, found.end(), end)
        return None if found is None else found.end()

    @property
    def leaves_nothing_out(self) -> bool:
        """Whether every character of a text is certainly in a chunk."""
        return self._splitter.leaves_nothing_out

    @cached_property
    def longest_token(self) -> int | None:
        """The length of the longest token in bytes, where no text is of fewer and longer ones.

        So a text of n bytes has at least n / ``longest_token`` tokens.  None if that is not sure,
        because the pattern leaves something out.
        """
        if not (self.leaves_nothing_out and self._byte_pair.is_complete):
            return None
        return max(map(len, self.encoder))

    def splitter_of(self, text: str) -> Splitter | None:
        """What splits a text, if that sees the text as it stands, and is known well enough."""
        splitter = self._splitter
        if self.longest_token is None or self._to_bytes is not str.encode:
            return None
        if not isinstance(splitter, Splitter) or not splitter.is_plain:
            return None
        try:
            check_text(text)
        except UnicodeEncodeError:
            return None
        return splitter

    def count_chunk(self, chunk: str) -> int:
        """The number of tokens of a chunk."""
        return len(self._chunk_ids[chunk])

    def token_length(self, token: int) -> int:
        """The length of a token in bytes."""
        return len(self._decoder.decode_one(token))

    # What is remembered

    @property
    def cache_limit(self) -> int:
        """How many chunks are remembered at most."""
        return self._chunk_ids.limit

    def set_cache_limit(self, limit: int) -> None:
        """Remember at most so many chunks, and passages in proportion; forget all until now."""
        self.clear_cache()
        self._chunk_ids.set_limit(limit)
        self._passage_ids.set_limit(limit // _CHUNKS_TO_A_PASSAGE)
        self._passage_counts.set_limit(limit // _CHUNKS_TO_A_PASSAGE)

    def clear_cache(self) -> None:
        """Forget all that was remembered."""
        self._chunk_ids.clear()
        self._passage_ids.clear()
        self._passage_counts.clear()
        self._unspaced = None
        self._unspaced_bytes = 0

    # Ids to text

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of some ids.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            TypeError: an id is no integer, or ``tokens`` is no sequence.
        """
        return self._decoder.decode(tokens)

    def decode(self, tokens: Sequence[int], errors: str) -> str:
        """What ``decode_bytes`` gives, as text; ``errors`` as in ``bytes.decode``."""
        return self._decoder.decode_text(tokens, errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one id; errors as in ``decode_bytes``."""
        return self._decoder.decode_one(token)

    def token_byte_values(self) -> list[bytes]:
        """All tokens but the special ones, sorted by their bytes."""
        return list(self.sorted_tokens())

    def sorted_tokens(self) -> list[bytes]:
        """The list that ``token_byte_values`` copies; built when first asked for."""
        if self._sorted_tokens is None:
            self._sorted_tokens = sorted(self.encoder)
        return self._sorted_tokens

    @cached_property
    def _decoder(self) -> Decoder:
        """Set up when something is first decoded."""
        from .decoders import Decoder

        return Decoder(self.encoder, _names_by_id(self.special))


def _names_by_id(special_tokens: Mapping[str, int]) -> dict[int, bytes]:
    """The bytes of each special token's name; of two names of one id the first counts."""
    return {number: name.encode() for name, number in reversed(list(special_tokens.items()))}


@lru_cache(maxsize=128)
def _pairs_within(names: frozenset[str]) -> frozenset[str]:
    """All that two characters beside each other in a name can be."""
    return frozenset(left + right for name in names for left, right in zip(name, name[1:]))


def _check_bytes(piece: bytes) -> None:
    """Raise ``TypeError`` for anything but ``bytes``, other buffers included, as tiktoken does."""
    if not isinstance(piece, bytes):
        raise TypeError(f"a {type(piece).__name__} is given, and it must be bytes")


def check_text(text: str) -> None:
    """Raise ``UnicodeEncodeError`` if a text has surrogates in it, ``TypeError`` if it is none."""
    if not isinstance(text, str):
        raise TypeError(f"a {type(text).__name__} is no text: it must be a str")
    if not text.isascii():
        try:
            text.encode("utf-16-le")  # refuses the same as UTF-8, and is faster to write
        except UnicodeEncodeError:
            text.encode()


def _is_wide(text: str) -> bool:
    """Whether a text is mostly of characters from U+0800 on, as Chinese is."""
    return not text.isascii() and len(text.encode()) > 2 * len(text)
