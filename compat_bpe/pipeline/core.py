"""The core: one way through the pipeline, from text to ids and back.

A text is cut into spans at its added tokens. A short span is split into chunks. A long span is
first cut into segments, each of which is cached as a whole. Each chunk's ids come from the cache or
the model.

The core does not repair text: a surrogate is a ``UnicodeEncodeError`` here, and ``encodings``
repairs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain

from ..parallel.lazy import cached_property, changed
from ..pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT
from ..unicode.surrogates import START, check_text
from .cache import Cache
from .cut_points import CutPoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .decoders.base import IdDecoder
    from .decoders.streams import TextStream
    from .definition import Definition
    from .models.base import Ids

#: The default size of the cache in chunks. A chunk and its ids take about 200 bytes.
DEFAULT_CACHE_LIMIT = 1 << 17
#: The greatest length in characters of a chunk that is cached: longer ones hardly ever come back.
_LONGEST_CHUNK = 128
#: The cache holds this many chunks for each segment.
CHUNKS_TO_A_SEGMENT = 32


class Core(CutPoints):
    """The encoder and decoder of one tokenizer.

    Args:
        definition: the parts of the tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition)
        self.added = definition.added
        #: Each added token's name and its id.
        self.special = definition.added.ids
        self._chunk_ids = Cache(self.model.encode, 0, _LONGEST_CHUNK)
        self._segment_ids = Cache(self._encode_segment, 0, LONGEST_SEGMENT)
        self._segment_counts = Cache(self._count_segment, 0, LONGEST_SEGMENT)
        self.set_cache_limit(DEFAULT_CACHE_LIMIT)

    @cached_property
    def encoder(self) -> dict[bytes, int]:
        """Each token's bytes and its id."""
        return self.definition.tokens()

    # Text to ids

    def encode(self, text: str, allowed_special: Set[str]) -> list[int]:
        """Return the ids of a text in which some names are special tokens.

        Args:
            text: any text without surrogates.
            allowed_special: a set of names; a name that is no special token is plain text.

        Raises:
            UnicodeEncodeError: the text has surrogates in it.
            TypeError: ``allowed_special`` is no set.
        """
        ids: list[int] = []
        for span, token in self.spans(text, allowed_special):
            self._encode_span(span, ids)
            if token is not None:
                ids.append(token)
        return ids

    def _encode_span(self, span: str, ids: list[int]) -> None:
        """Append the ids of a span to a list."""
        if len(span) < SHORTEST_SEGMENT:
            chunks = self.splitter.chunks(span)
            ids += chain.from_iterable(map(self._chunk_ids.__getitem__, chunks))
        else:
            for segment_ids in map(self._segment_ids.__getitem__, self.splitter.segments(span)):
                ids += segment_ids

    def count(self, text: str) -> int:
        """Return the number of tokens of a text in which nothing is special."""
        total = 0
        for span, token in self.spans(text, frozenset()):
            total += self._count_span(span)
            total += token is not None
        return total

    def _count_span(self, span: str) -> int:
        if len(span) < SHORTEST_SEGMENT:
            if span.isascii():  # no model has a faster way for all chunks together
                return sum(map(len, map(self._chunk_ids.__getitem__, self.splitter.chunks(span))))
            return self._count_segment(span)
        return sum(map(self._segment_counts.__getitem__, self.splitter.segments(span)))

    def spans(self, text: str, allowed_special: Set[str]) -> Iterable[tuple[str, int | None]]:
        """Return the spans of a text, each with the id of the added token after it, or None.

        Raises:
            UnicodeEncodeError, TypeError: as in ``encode``.
        """
        if not isinstance(allowed_special, (set, frozenset)):
            kind = type(allowed_special).__name__
            raise TypeError(f"allowed_special must be a set or 'all', not {kind}")
        check_text(text)
        if not self.special.keys() >= allowed_special:
            # A name that is no special token is let pass if it is text. If not, these raise.
            "".join(allowed_special).encode()
        return self.added.spans(text, allowed_special)

    def ids_by_chunk(self, text: str) -> Iterator[Ids]:
        """Yield the ids of each chunk of a text in which nothing is special, in order.

        Joined they are what ``encode`` gives. An added token that is a token everywhere is a chunk
        of its own. The ids are cached.

        Raises:
            UnicodeEncodeError: the text has surrogates in it.
        """
        for span, token in self.spans(text, frozenset()):
            yield from self.ids_of_chunks(span)
            if token is not None:
                yield (token,)

    def ids_of_chunks(self, span: str) -> Iterator[Ids]:
        """Yield the ids of each chunk of a span."""
        return map(self._chunk_ids.__getitem__, self.splitter.chunks(span))

    def _encode_segment(self, segment: str) -> Ids:
        ids = self._whole(segment)
        return tuple(chain.from_iterable(self.ids_of_chunks(segment))) if ids is None else ids

    def _count_segment(self, segment: str) -> int:
        ids = self._whole(segment)
        return sum(map(len, self.ids_of_chunks(segment))) if ids is None else len(ids)

    def _whole(self, segment: str) -> Ids | None:
        # A mark is no text that a model can encode.
        is_marked = segment[:1] == START
        return None if is_marked else self.model.encode_segment(segment, self.splitter.chunks)

    @cached_property
    def continued(self) -> Core:
        """The core for a text that goes on after a cut point: itself if there is no difference.

        It is for ids and counts only. Both have the same caches, since these know a span only
        once it is ready to be split.
        """
        added = self.added.continued
        if added is self.added:
            return self
        other = changed(self, added=added)
        other.continued = other
        return other

    # Facts about the ids that the text or its length gives

    def slack(self, text: str) -> int:
        """Return how many tokens the text after a joint can lose when its left context changes.

        Only the chunk in which the joint is depends on what is before it.

        Args:
            text: any text without surrogates, with a joint after its first character.
        """
        joints = self.model.joints
        if joints is None or joints.slack is None:
            return 0
        spans = self.spans(text, frozenset())
        chunks = (chunk for span, _ in spans for chunk in self.splitter.chunks(span))
        return joints.slack(next(chunks, ""))

    @property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a chunk."""
        return self.splitter.leaves_nothing_out

    @property
    def is_normalized(self) -> bool:
        """True if text may be changed before it is split."""
        return self.added.is_normalized

    def count_chunk(self, chunk: str) -> int:
        """Return the number of tokens of a chunk."""
        return len(self._chunk_ids[chunk])

    def token_length(self, token: int) -> int:
        """Return the length of a token in bytes."""
        return len(self._decoder.decode_one(token))

    # The cache

    @property
    def cache_limit(self) -> int:
        """The largest number of chunks in the cache."""
        return self._chunk_ids.limit

    def set_cache_limit(self, limit: int) -> None:
        """Set the largest number of chunks in the cache, of segments in proportion; clear it."""
        self.clear_cache()
        self._chunk_ids.set_limit(limit)
        self._segment_ids.set_limit(limit // CHUNKS_TO_A_SEGMENT)
        self._segment_counts.set_limit(limit // CHUNKS_TO_A_SEGMENT)

    def clear_cache(self) -> None:
        """Clear the cache, that of the model included."""
        self._chunk_ids.clear()
        self._segment_ids.clear()
        self._segment_counts.clear()
        self.model.clear_cache()

    # Ids to text

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of some ids.

        Raises:
            KeyError: an id is not in the vocabulary.
            OverflowError: an id is negative or 2**32 or more.
            TypeError: an id is no integer, or ``tokens`` is no sequence.
        """
        return self._decoder.decode(tokens)

    def decode(self, tokens: Sequence[int], errors: str) -> str:
        """Return the text of some ids; ``errors`` as in ``bytes.decode``."""
        return self._decoder.decode_text(tokens, errors)

    def decoder_of_stream(self, errors: str) -> TextStream:
        """Return a decoder of ids that arrive one after another; ``errors`` as above."""
        return self._decoder.stream(errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one id; errors as in ``decode_bytes``."""
        return self._decoder.decode_one(token)

    def bytes_by_id(self) -> dict[int, bytes]:
        """Return the bytes of each id."""
        others = self.definition.other_tokens()
        tokens = {token_id: token for token, token_id in self.encoder.items()}
        return {**tokens, **others} if self.definition.others_win else {**others, **tokens}

    @cached_property
    def _decoder(self) -> IdDecoder:
        """The decoder, built when something is first decoded."""
        parts = self.definition
        if parts.make_decoder is not None:
            return parts.make_decoder()
        from .decoders.bytes import ByteDecoder

        return ByteDecoder(self.encoder, parts.other_tokens(), parts.others_win)
