"""The core: the way through the pipeline, from text to ids and back.

``Definition`` has the parts of a tokenizer. ``Core`` takes a text through them. It cuts the text
into spans at its added tokens. A short span is split into chunks. A long span is first cut into
segments, each of which is cached as a whole. Each chunk's ids come from the cache or the model.

The core does not repair text: a surrogate is a ``UnicodeEncodeError`` here, and ``encodings``
repairs it.

``CutPoints`` finds positions at which a text may be cut, so that both sides have the ids of the
whole. The right side of a cut is a text that *continues*: no prefix is put before it, and nothing
is left out at its beginning (``Core.continued``). The ids of the whole are those of the left side,
then those of the right side as a text that continues. A text that continues may be cut at the same
places. Only the two characters beside a position decide whether it is a cut point (see
``pattern.cut_points``), so edits elsewhere do not change it. Streams, documents, truncation and
worker processes all rely on that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, repeat
from operator import add

from ..caches import Cache, Memo, cached_property, changed
from ..pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT, Splitter
from ..unicode.surrogates import START, check_text, has_surrogates, repair
from .models.bpe.by_rank import ByteLevelBPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Union

    from .added_tokens import AddedTokens
    from .decoders.bytes import IdDecoder
    from .decoders.streams import TextStream
    from .models.base import Ids, Model
    from .models.splitters import WholeSplitter
    from .pre_tokenizers.base import Across, PreTokenizerStep
    from .pre_tokenizers.splitter import StepSplitter
    from .processors import Processor
    from .special_tokens import Guard, SpecialTokens

    #: A finder of the added tokens in a text, and of the spans between them.
    Added = Union[SpecialTokens, AddedTokens]


class Definition:
    """The parts of a tokenizer.

    Args:
        added: finds added tokens; the text between two of them is a span.
        splitter: cuts a span into chunks.
        model: turns a chunk into ids.
        tokens: returns each token's bytes and its id. Called lazily: a model over characters never
            needs it to encode.
        highest: the greatest id; -1 if there is none.
        other_tokens: returns the bytes of ids that are not in ``tokens``, or are decoded otherwise.
            Called at the first decoding.
        others_win: if both map an id, ``other_tokens`` wins.
        make_decoder: returns the decoder; None for a decoder that joins the tokens' bytes.
        processor: puts special tokens around a text on request; or None.
        pieces: returns each id's token, written as in the vocabulary; None if the tokens are bytes.
        cuts_at_joints: True if a span may also be cut at each exact joint of the model; False if
            it may be cut only where the splitter allows it.
        words: cuts a span into the chunks of the pre-tokenizer, if ``splitter`` cuts these further.
        steps: the steps of ``splitter``; empty if it leaves a span whole, or cuts it only at joints
            of the model. None if it is not a splitter by steps.
    """

    def __init__(
        self,
        *,
        added: Added,
        splitter: Splitter | StepSplitter | WholeSplitter,
        model: Model,
        tokens: Callable[[], dict[bytes, int]],
        other_tokens: Callable[[], Mapping[int, bytes]],
        others_win: bool = False,
        make_decoder: Callable[[], IdDecoder] | None = None,
        processor: Processor | None = None,
        pieces: Callable[[], Mapping[int, str]] | None = None,
        cuts_at_joints: bool = False,
        words: StepSplitter | None = None,
        steps: Sequence[PreTokenizerStep] | None = None,
        highest: int = -1,
    ) -> None:
        self.added = added
        self.splitter = splitter
        self.model = model
        self.tokens = tokens
        self.other_tokens = other_tokens
        self.others_win = others_win
        self.make_decoder = make_decoder
        self.processor = processor
        self.pieces = pieces
        self.cuts_at_joints = cuts_at_joints
        self.words = words
        self.steps = steps
        self.highest = highest


#: The number of pairs of characters beside a position that are kept.
_PAIRS = 1 << 14

#: The length in bytes of the beginnings that are keys for bounds of a token's length.
_START = 3


class CutPoints:
    """The cut points and joints of texts, and the bounds of their tokens' lengths.

    Args:
        definition: the parts of a tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.splitter = definition.splitter
        self.model = definition.model
        joints = definition.model.joints if definition.cuts_at_joints else None
        is_exact = joints is not None and joints.are_exact
        #: Returns True if the model cuts a span between two characters; None if only the splitter
        #: cuts it.
        self._cuts_between = joints.are_between if joints is not None and is_exact else None
        # Plain dictionaries: in loops over all characters a ``Memo`` takes up to a tenth longer.
        #: For coarse and fine cut points, and for both without the cut points within chunks: pairs
        #: of characters, and the pairs that they may be in normalized text; empty for no cut point.
        self._pairs: tuple[dict[str, tuple[str, ...]], ...] = ({}, {}, {}, {})
        #: Pairs of characters, and True if there is a joint between them.
        self._joints = Memo(self._is_joint, _PAIRS)
        #: Pairs of characters, and True if nothing changes them and the model knows both.
        self._plain = Memo(self._is_plain, _PAIRS)

    def next_cut_point(
        self,
        text: str,
        start: int = 0,
        end: int | None = None,
        names: Set[str] = frozenset(),
        *,
        fine: bool = False,
        whole_chunks: bool = False,
    ) -> int | None:
        """Return the first cut point after ``start`` and before ``end``; None if there is none.

        The ids of the left side and, by ``continued``, of the right side are those of the whole.

        Args:
            text: any text; neither of the two characters beside a cut point is a surrogate.
            start, end: positions in it; ``end`` is its length unless given.
            names: special tokens that may be tokens in it. No name is cut in two: there is never a
                cut point between two characters that follow each other in a name.
            fine: search more cut points, which takes longer.
            whole_chunks: leave out the model's cut points within chunks, so that the chunks of the
                two sides are those of the whole.
        """
        splitter, added = self.splitter, self.definition.added
        guard = added.guard(names)
        if guard is None or not (splitter.has_cuts or self._cuts_between):
            return None
        if end is None:
            end = len(text)
        if added.changes_text or splitter.tree is None or self._cuts_between is not None:
            return self._next_by_pairs(text, start, end, guard, fine, whole_chunks)
        if fine:
            cut_points = splitter.fine_cut_points
        else:
            # The pattern for ASCII text compiles in a fraction of the time.
            cut_points = splitter.ascii_cut_points if text.isascii() else splitter.cut_points
        if cut_points is None:
            return None
        match = cut_points.search(text, start, end)
        while match is not None and guard.is_needed:
            cut = match.end()
            if not guard.forbids(text[cut - 1 : cut + 1]):
                return cut
            match = cut_points.search(text, cut, end)
        return None if match is None else match.end()

    def _next_by_pairs(
        self, text: str, start: int, end: int, guard: Guard, fine: bool, whole_chunks: bool
    ) -> int | None:
        """Return the first cut point, by the pairs of characters beside each position.

        The normalizers return the characters beside the position after normalization, if each side
        can be normalized by itself.
        """
        cuts_between = None if whole_chunks else self._cuts_between
        known = self._pairs[fine + 2 * (cuts_between is None)]
        forbids = guard.forbids if guard.is_needed else None
        for cut in range(start + 1, end):
            beside = text[cut - 1 : cut + 1]
            normalized = known.get(beside)
            if normalized is None:
                normalized = self._normalized_at_cut(beside, fine, cuts_between)
                if len(known) >= _PAIRS:
                    known.clear()
                known[beside] = normalized
            if normalized and (
                forbids is None or not (forbids(beside) or any(map(forbids, normalized)))
            ):
                return cut
        return None

    def next_joint(self, text: str, start: int, end: int) -> int | None:
        """Return the first joint after ``start`` and before ``end``; None if there is none.

        The text before a *joint* has at most as many tokens as the whole. With other text before
        the joint, the text after it has nearly as many tokens (see ``Core.slack``). Each cut point
        is a joint. Within a chunk there may be more joints; the ids of the text after those may
        depend on the text before.

        Args:
            text: any text; names of special tokens are plain text.
            start, end: positions in it.
        """
        is_joint = self._joints
        for place in range(start + 1, end):
            if is_joint[text[place - 1 : place + 1]]:
                return place
        return None

    def _is_joint(self, beside: str) -> bool:
        guard = self.definition.added.guard(frozenset())
        if guard is None or has_surrogates(beside):
            return False
        across = self.definition.added.across(beside)
        return all(
            not (guard.is_needed and (guard.forbids(beside) or guard.forbids(pair)))
            and (
                self.splitter.is_cut(ready, True)
                or (self._cuts_between is not None and self._cuts_between(ready[0], ready[1]))
                or self._stays(ready[0], ready[1])
            )
            for pair, ready in across
        ) and bool(across)

    def longest_span(self, text: str) -> int | None:
        """Return the most characters of a text that one token may stand for; None if not known.

        So n characters of it have at least n / ``longest_span`` tokens in any context, not counting
        the first and the last token.
        """
        joints = self.model.joints
        if joints is None or not joints.longest:
            return None
        are_plain = all(map(self._plain.__getitem__, set(map(add, text, text[1:]))))
        return joints.longest if are_plain else None

    def _is_plain(self, beside: str) -> bool:
        """Return True if two characters are not changed, not in a name, and known to the model."""
        joints, guard = self.model.joints, self.definition.added.guard(frozenset())
        if joints is None or guard is None or has_surrogates(beside):
            return False
        across = self.definition.added.across(beside)
        for pair, ready in across:
            if pair != beside or (guard.is_needed and guard.forbids(pair)):
                return False
            answer = self._after_steps(ready[0], ready[1])
            if isinstance(answer, bool) or not all(map(joints.knows, answer)):
                return False
        return bool(across)

    def _stays(self, left: str, right: str) -> bool:
        """Return True if the tokens up to a place in a span do not depend on later text."""
        joints, answer = self.model.joints, self._after_steps(left, right)
        if isinstance(answer, bool):
            return answer
        return joints is not None and joints.are_between(*answer)

    def _after_steps(self, left: str, right: str) -> Across:
        """Return the answer of all steps for two characters of a span; see ``going_on``."""
        if self.definition.steps is None:
            return False
        for step in self.definition.steps:
            answer = step.going_on(left, right)
            if isinstance(answer, bool):
                return answer
            left, right = answer
        return left, right

    def _normalized_at_cut(
        self, beside: str, fine: bool, cuts_between: Callable[[str, str], bool] | None
    ) -> tuple[str, ...]:
        """Return the pairs that two characters may become; empty if there is no cut point."""
        if has_surrogates(beside):
            return ()
        normalized: list[str] = []
        for pair, ready in self.definition.added.across(beside):
            if not self.splitter.is_cut(ready, fine) and (
                cuts_between is None or not cuts_between(ready[0], ready[1])
            ):
                return ()
            normalized.append(pair)
        return tuple(normalized)

    @cached_property
    def longest_token(self) -> int | None:
        """The length of the longest token in bytes, which bounds counts from below.

        n bytes have at least n / ``longest_token`` tokens. None if it is unknown, for instance
        because the pattern leaves something out.
        """
        longest_name = self.definition.added.longest_name
        if longest_name is None or not (
            self.splitter.leaves_nothing_out and self.model.is_complete
        ):
            return None
        return max(longest_name, *map(len, self.definition.tokens()))

    def longest_in(self, text: str) -> int:
        """Return an upper bound on the length in bytes of the tokens of a text.

        A token at a place is at most as long as the longest token with the same beginning. Only for
        encodings with a ``longest_token``.
        """
        data = repair(text).encode("utf-8")
        lengths = self._longest_by_start
        starts = {data[place : place + _START] for place in range(len(data))}
        return max(_START, *map(lengths.get, starts, repeat(0)))

    @cached_property
    def _longest_by_start(self) -> dict[bytes, int]:
        """The length in bytes of the longest token or name with each beginning."""
        longest: dict[bytes, int] = {}
        names = self.definition.added.ids if self.definition.added.longest_name else ()
        for token in chain(self.definition.tokens(), map(str.encode, names)):
            start = token[:_START]
            if longest.get(start, 0) < len(token):
                longest[start] = len(token)
        return longest

    def splitter_of(self, text: str) -> Splitter | None:
        """Return the splitter if it may be applied to a text directly, else None.

        It may if the text is unchanged and one span, and the pattern is plain
        (``Splitter.is_plain``). The tokens, joined, must also be the UTF-8 of the text.
        """
        splitter = self.splitter
        if self.longest_token is None or not self.model.is_text:
            return None
        if not isinstance(splitter, Splitter) or not splitter.is_plain:
            return None
        if self.definition.make_decoder is not None:
            return None
        if not self.definition.added.is_one_span(text):
            return None
        try:
            check_text(text)
        except UnicodeEncodeError:
            return None
        return splitter


#: The default size of the cache in chunks. A chunk and its ids take about 200 bytes.
DEFAULT_CACHE_LIMIT = 1 << 17
#: The greatest length in characters of a chunk that is cached. Longer chunks hardly ever recur.
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
            allowed_special: a set of names; a name that is not a special token is plain text.

        Raises:
            UnicodeEncodeError: the text has surrogates.
            TypeError: ``allowed_special`` is not a set.
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
        """Return the number of tokens of a text; names of special tokens are plain text."""
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
            # Names that are not special tokens are ignored. Objects that are not text raise here.
            "".join(allowed_special).encode()
        return self.added.spans(text, allowed_special)

    def ids_by_chunk(self, text: str) -> Iterator[Ids]:
        """Yield the ids of each chunk of a text in order; special names are plain text.

        Joined, they are the ids of ``encode``. An added token that is always a token is a chunk of
        its own. The ids are cached.

        Raises:
            UnicodeEncodeError: the text has surrogates.
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
        # A model cannot encode a mark.
        is_marked = segment[:1] == START
        return None if is_marked else self.model.encode_segment(segment, self.splitter.chunks)

    @cached_property
    def continued(self) -> Core:
        """The core for a text that continues after a cut point: itself if there is no difference.

        Use it only for ids and counts. Both cores have the same caches, since their keys are spans
        that are ready to be split.
        """
        added = self.added.continued
        if added is self.added:
            return self
        other = changed(self, added=added)
        other.continued = other
        return other

    # Bounds and facts

    def slack(self, text: str) -> int:
        """Return how many tokens the text after a joint can lose when its left context changes.

        Only the chunk with the joint depends on the text before it.

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
        """Clear the cache, and that of the model."""
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
            TypeError: an id is not an integer, or ``tokens`` is not a sequence.
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
        """The decoder, built at the first decoding."""
        parts = self.definition
        if parts.make_decoder is not None:
            return parts.make_decoder()
        from .decoders.bytes import ByteDecoder

        return ByteDecoder(self.encoder, parts.other_tokens(), parts.others_win)


def texts_of_chunks(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[tuple[list[str], int | None]]:
    r"""Yield the chunks of each span, as the model sees them, and the id of the added token after.

    The id is None at the end. Chunks are of normalized text if the tokenizer
    normalizes. The model's ``to_bytes`` returns the bytes of a chunk.

    Args:
        core: the core of an encoding.
        text: any text without surrogates.
        allowed_special: the names of special tokens that are tokens in the text.

    Raises:
        UnicodeEncodeError: the text has surrogates.

    >>> from compat_bpe.encodings.core import CoreBPE
    >>> core = CoreBPE({bytes([i]): i for i in range(256)}, {"<|end|>": 256}, r" ?[a-z]+|\W")
    >>> list(texts_of_chunks(core, "the dog<|end|>", {"<|end|>"}))
    [(['the', ' dog'], 256), ([], None)]
    """
    for span, token in core.spans(text, allowed_special):
        yield core.splitter.chunks(span), token


def parts_of_text(
    core: Core, text: str, allowed_special: Set[str] = frozenset()
) -> Iterator[str | int]:
    """Yield the chunks and ids of ``texts_of_chunks``, one by one."""
    for chunks, token in texts_of_chunks(core, text, allowed_special):
        yield from chunks
        if token is not None:
            yield token


def joins_to_text(core: Core) -> bool:
    """Return True if the tokens of any text, joined, are certainly its UTF-8.

    >>> from compat_bpe import get_encoding
    >>> joins_to_text(get_encoding("gpt2").core), joins_to_text(get_encoding("words").core)
    (True, False)
    """
    definition = core.definition
    return (
        definition.model.is_text
        and definition.make_decoder is None
        and not definition.added.changes_text
        and core.leaves_nothing_out
    )


def is_byte_level(core: Core) -> bool:
    """Return True if the model merges bytes. Only such a model can be extended, for instance."""
    return isinstance(core.model, ByteLevelBPE)
