"""Unigram: the way to write a chunk with the pieces of a vocabulary that has the best score.

Each piece has a score, which is the logarithm of its probability, so the score of a way is the sum
of its pieces' scores. There are very many ways, but not all must be tried (the algorithm is
Viterbi's): the best way to a place has a last piece, and the pieces before it are the best way to
its start. So one pass from left to right finds the best way to every place::

    best[0] = 0
    best[end] = the greatest best[start] + score(chunk[start:end]) of all pieces that end there

The end's best way is then followed back. Two ways may have the same score, and the sums are
rounded. Both cases are decided as in tokenizers:

- Scores are 64-bit floats, and each sum is that of a piece and of all before it, added up from the
  left. So a chunk cannot simply be cut, not even between two characters that no piece has
  together: with other text before them, sums are rounded differently, which decides between ways
  of nearly the same score (``PartEncoder`` has the condition for a cut).
- Places are taken from left to right, and a later way must be better, not only equal. So among
  equal ways the way with the longest last piece wins, then the way with the longest piece before
  it, and so on.

A character that is not a piece is *unknown*: it may be passed at the score of the vocabulary's
worst piece, less 10. At the end, a run of unknown characters becomes

1. one piece, if the run as a whole is a piece;
2. else the pieces of its bytes, such as ``<0x0A>``, if the model falls back to bytes and has all;
3. else the unknown token.

All pieces match, even those that are meant as names, such as ``<s>``. The unknown piece joins the
run that it is in.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, compress, count, groupby
from operator import add

from ...caches import Cache, cached_property, shareable
from ...unicode.text import common_length
from .base import ChunkToken, Joints, TextModel
from .scored_pieces import UnigramTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .base import Ids

    #: Ids and pieces of a part: no ids if a piece is unknown, no pieces if the way is not sure.
    Part = tuple["Ids | None", "Sequence[str] | None"]

_UNKNOWN_PENALTY = 10.0
_BYTE_PIECES = [f"<0x{byte:02X}>" for byte in range(256)]
#: Sums of scores below this are finite in any text.
_TAME = 1e290
_NEVER = float("-inf")
#: The length in characters above which a chunk is encoded part by part.
_LONG = 64
#: Encode by parts after this many characters of long chunks. Encoding them in the plain way takes
#: about as long as building the ``PartEncoder``.
_WORTH_PARTS = 1 << 15
#: The least length in characters of a chunk in the cache (the core keeps shorter ones), the
#: greatest length, and the number of chunks.
_FROM, _UP_TO, _CHUNKS = 129, 1 << 13, 1 << 9

#: The limit for all sums.
SUM_LIMIT = 1 << 26
#: The least difference that is sure, for each character of a part; twice the bound of the argument.
GAP = 2.0**-25

#: The length in characters from which a chunk is compared with the chunk before, and the greatest
#: length of a chunk that is kept for that.
_COMPARED, _LONGEST_KEPT = 1 << 9, 1 << 22
#: The largest number of parts in the cache, and the length in characters of the longest.
_KEPT = 1 << 15
_LONGEST_PART = 128


class Unigram(TextModel):
    """The model that writes a chunk with the pieces of the greatest total score.

    Args:
        pieces: the pieces; the index is the id. The last of equal pieces counts.
        scores: their scores, which are finite.
        unknown: the id of the unknown token, or None.
        byte_fallback: use pieces for bytes where a run of characters is unknown.

    >>> pieces = ["<unk>", "h", "u", "g", "s", "ug", "hug", "gs"]
    >>> scores = [-9.0, -3.0, -2.0, -3.0, -4.0, -3.5, -4.5, -6.0]
    >>> Unigram(pieces, scores, unknown=0).encode("hugs??")
    (6, 4, 0)
    """

    def __init__(
        self,
        pieces: Sequence[str],
        scores: Sequence[float],
        unknown: int | None,
        byte_fallback: bool = False,
    ) -> None:
        self.ids = shareable(zip(pieces, range(len(pieces))))
        self.unknown = unknown
        self.table = UnigramTable(dict(zip(pieces, scores)))
        self.unknown_score = min(scores, default=float("inf")) - _UNKNOWN_PENALTY
        self._byte_ids: list[int | None] = [None] * 256
        if byte_fallback:
            self._byte_ids = [self.ids.get(piece) for piece in _BYTE_PIECES]
        self._unknown_length = 0 if unknown is None else len(pieces[unknown].encode())
        #: The greatest absolute value of a score; unknown characters have the least score.
        self._greatest = max(abs(self.unknown_score), max(scores, default=0.0))
        self._is_tame = self._greatest < _TAME
        self._parts: PartEncoder | None = None
        self._long_chars = 0
        self._chunks = Cache(self._encode, _CHUNKS, _UP_TO)

    @property
    def is_complete(self) -> bool:
        """True if every text has ids without the unknown token, which drops its text."""
        return self.unknown is not None and None not in self._byte_ids

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None if there is none."""
        return self.unknown

    # The plain rule

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the tokens of a chunk with their places, by the plain rule.

        Raises:
            ValueError: a character is unknown, and there is no unknown token.
        """
        return list(self._tokens(self.best_path(chunk)))

    def best_path(self, chunk: str) -> list[str]:
        """Return the pieces and unknown characters of the best way; errors as in ``find``."""
        #: For each place the score of the best way there, and the start of its last piece.
        best: list[tuple[float, int] | None] = [None] * (len(chunk) + 1)
        best[0] = (0.0, 0)
        for start in range(len(chunk)):
            # At least the character before this place leads to it.
            here = best[start]
            assert here is not None
            for end, score, is_unknown in self.edges(chunk, start):
                total = score + here[0]
                there = best[end]
                if there is None or total > there[0]:
                    if is_unknown and self.unknown is None:
                        raise ValueError(
                            f"{chunk[start]!r} is not in the vocabulary, and there is no "
                            "unknown token"
                        )
                    best[end] = (total, start)
        path = []
        end = len(chunk)
        while end:
            _, start = best[end] or (0.0, 0)
            path.append(chunk[start:end])
            end = start
        return path[::-1]

    def edges(self, chunk: str, start: int) -> Iterator[tuple[int, float, bool]]:
        """Yield the edges from a place: the end, the score, and True for an unknown character.

        A character is unknown if it is not a piece by itself, even if longer pieces begin with it.
        """
        if chunk[start] not in self.table.scores:
            yield start + 1, self.unknown_score, True
        for end, score in self.table.matches(chunk, start):
            yield end, score, False

    def _tokens(self, path: Sequence[str]) -> Iterator[ChunkToken]:
        """Yield the tokens of a way: its pieces, and the tokens of its unknown runs."""
        at = 0
        run: list[str] = []
        for piece in path:
            token_id = self.ids.get(piece, self.unknown)
            if token_id == self.unknown:
                run.append(piece)
                continue
            if run:
                yield from self._unknown_tokens("".join(run), at)
                at += len("".join(run).encode())
                run = []
            assert token_id is not None
            end = at + len(piece.encode())
            yield ChunkToken(token_id, piece, at, end)
            at = end
        if run:
            yield from self._unknown_tokens("".join(run), at)

    def _unknown_tokens(self, run: str, at: int) -> Iterator[ChunkToken]:
        """Yield the tokens of an unknown run: a piece, its bytes, or the unknown token."""
        data = run.encode()
        end = at + len(data)
        token_id = self.ids.get(run)
        byte_ids = [self._byte_ids[byte] for byte in data]
        if token_id is None and None not in byte_ids:
            for byte, byte_id in zip(data, byte_ids):
                assert byte_id is not None
                yield ChunkToken(byte_id, _BYTE_PIECES[byte], at, end)
            return
        token_id = self.unknown if token_id is None else token_id
        assert token_id is not None
        yield ChunkToken(token_id, run, at, end)

    # The fast way

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a chunk; errors as in ``find``."""
        return self._encode(chunk) if len(chunk) < _FROM else self._chunks[chunk]

    def _encode(self, chunk: str) -> Ids:
        """Return the ids of a chunk without looking them up.

        Scores whose sums may be infinite take the plain way, since in ``_find_way`` a place that
        was not reached yet has the score -inf. Long chunks are encoded part by part.
        """
        known = self.table.scores.keys()
        if not self._is_tame or (self.unknown is None and not known >= set(chunk)):
            return tuple(token.id for token in self.find(chunk))
        ids: Ids | None = None
        if len(chunk) <= _LONG or len(chunk) * self._greatest > SUM_LIMIT:
            path: Sequence[str] = self._find_way(chunk, 0.0)[0]
        else:
            ids, path = self._encode_long(chunk)
        return self._ids_with_unknown(path) if ids is None else ids

    def _find_way(self, chunk: str, before: float) -> tuple[list[str], float, float]:
        """Return the best way through a chunk, its score, and the least difference of two ways.

        Args:
            chunk: a text.
            before: the score of the text before it.
        """
        find_score = self.table.scores.get
        find_longest = self.table.longest.get
        find_long = self.table.long.matches if self.table.long else None
        unknown_score = self.unknown_score
        length = len(chunk)
        best = [_NEVER] * (length + 1)
        best[0] = before
        came_from = [0] * (length + 1)
        difference = -_NEVER
        for start in range(length):
            here = best[start]
            end = start + 1
            total = find_score(chunk[start], unknown_score) + here
            more = total - best[end]
            if more > 0:
                best[end] = total
                came_from[end] = start
            else:
                more = -more
            if more < difference:
                difference = more
            last = find_longest(chunk[start : start + 2])
            if last is None:
                continue
            last += start
            if last > length:
                last = length
            while end < last:
                end += 1
                score = find_score(chunk[start:end])
                if score is not None:
                    total = score + here
                    more = total - best[end]
                    if more > 0:
                        best[end] = total
                        came_from[end] = start
                    else:
                        more = -more
                    if more < difference:
                        difference = more
            if find_long is not None:
                for length_of_piece, score in find_long(chunk, start):
                    end = start + length_of_piece
                    total = score + here
                    more = total - best[end]
                    if more > 0:
                        best[end] = total
                        came_from[end] = start
                    difference = min(difference, abs(more))
        path = []
        end = length
        while end:
            start = came_from[end]
            path.append(chunk[start:end])
            end = start
        path.reverse()
        return path, best[length], difference

    def _encode_long(self, chunk: str) -> tuple[Ids | None, Sequence[str]]:
        """Return the ids of a long chunk, or, if they are None, its best way."""
        if self._parts is None:
            self._long_chars += len(chunk)
            if self._long_chars < _WORTH_PARTS:
                return None, self._find_way(chunk, 0.0)[0]
        return self._part_encoder().encode(chunk)

    def _part_encoder(self) -> PartEncoder:
        parts = self._parts
        if parts is None:
            parts = PartEncoder(self.table, self._find_way, self._ids_of, self.unknown_score)
            self._parts = parts
        return parts

    # Joints

    @cached_property
    def joints(self) -> Joints | None:
        """The places that no piece reaches across; None if too much depends on unknown characters.

        A run of unknown characters across a joint is one token, or one token for each byte. But if
        only some bytes are pieces, the whole run may be one token where its beginning is several.
        And with a positive score, unknown characters may win over pieces.
        """
        missing = self._byte_ids.count(None)
        if missing not in (0, 256) or self.unknown is None or self.unknown_score > 0:
            return None
        longest = max(map(len, self.ids), default=0)
        return Joints(self._are_apart, self._slack, longest, self._knows)

    def _knows(self, piece: str) -> bool:
        # The unknown piece joins the run that it is in.
        return self.ids.get(piece, self.unknown) != self.unknown

    def _are_apart(self, left: str, right: str) -> bool:
        return left + right not in self._part_encoder().pairs

    def _slack(self, chunk: str) -> int:
        if not self._is_tame or len(chunk) * self._greatest > SUM_LIMIT:
            return 4 * len(chunk)
        # The unknown piece, written in the text, becomes its bytes if it joins a run. And a run may
        # be joined to the run before.
        return self._part_encoder().slack(chunk) + self._unknown_length + 1

    def _ids_of(self, path: Sequence[str]) -> Ids | None:
        """Return the ids of a way; None if a piece is unknown, or the unknown piece."""
        unknown = self.unknown
        ids = [self.ids.get(piece, unknown) for piece in path]
        return None if unknown in ids else tuple(ids)  # type: ignore[arg-type]

    def _ids_with_unknown(self, path: Sequence[str]) -> Ids:
        """Return the ids of a way, runs of unknown characters joined."""
        ids = self._ids_of(path)
        if ids is not None:
            return ids
        result: list[int] = []
        for is_known, run in groupby(path, self._knows):
            if is_known:
                result += map(self.ids.__getitem__, run)
            else:
                result += [token.id for token in self._unknown_tokens("".join(run), 0)]
        return tuple(result)

    def clear_cache(self) -> None:
        """Drop long chunks, and their encoder, which has a cache of its own."""
        self._chunks.clear()
        self._parts = None
        self._long_chars = 0


class PartEncoder:
    """The encoder of long chunks, part by part.

    In Chinese a chunk is a whole clause, and without a pre-tokenizer it is the whole text: long,
    and hardly ever repeated, so a cache of chunks does not help. But between most characters is a
    *joint*: no piece has the two next to each other, so every way goes through there. The parts
    between joints are short and recur, and their ways are cached.

    The property: the way through a part is *sure* if, wherever two ways meet in it, the better way
    is better by more than ``GAP`` for each character of the part. A sure way is the way through the
    part in any chunk. The argument:

    1. All ways go through the part's start, so all sums in it begin with the same number, the score
       of the text before. It is 0 for the part by itself, and any number in a chunk.
    2. Sums below 2**26 are rounded by at most 2**-28. So for a way of n pieces, another number
       changes the sum by that number and at most 2n roundings, together n * 2**-27.
    3. So the difference of two ways of at most n pieces changes by at most n * 2**-26. A greater
       difference keeps its sign, and the same ways win everywhere, from left to right.

    A way that is not sure is searched again with the real score at the start of the part: the sum
    of all pieces before it, added up in the same order.

    Args:
        table: the pieces and their scores.
        find_way: returns the best way through a part that begins with a score, the score at its
            end, and the least difference of ways that meet.
        ids_of: returns the ids of a way; None if a piece is unknown.
        unknown_score: the score of an unknown character.
    """

    def __init__(
        self,
        table: UnigramTable,
        find_way: Callable[[str, float], tuple[list[str], float, float]],
        ids_of: Callable[[Sequence[str]], Ids | None],
        unknown_score: float,
    ) -> None:
        self._find_score = table.scores.get
        self._find_way = find_way
        self._ids_of = ids_of
        self._unknown_score = unknown_score
        #: All pairs of characters that are next to each other in a piece.
        self.pairs: set[str] = set()
        for piece in table.scores:
            self.pairs.update(map(add, piece, piece[1:]))
        #: The last long chunk, the ends of its parts, and the results for them.
        self._last: tuple[str, list[int], list[Part]] = "", [], []
        self._parts: Cache[Part] = Cache(self._find_part, _KEPT, _LONGEST_PART)

    def encode(self, chunk: str) -> tuple[Ids | None, Sequence[str]]:
        """Return the ids of a chunk, or, if they are None, its best way."""
        ends, parts = self._parts_of(chunk)
        ids = [ids for ids, _ in parts]
        if None not in ids:
            return tuple(chain.from_iterable(filter(None, ids))), ()
        ways = [way for _, way in parts]
        if None not in ways:
            return None, list(chain.from_iterable(filter(None, ways)))
        path: list[str] = []
        total = 0.0
        for start, end, way in zip([0, *ends], ends, ways):
            if way is None:
                way, total, _ = self._find_way(chunk[start:end], total)
            else:
                for piece in way:
                    total = self._find_score(piece, self._unknown_score) + total
            path += way
        return None, path

    def _parts_of(self, chunk: str) -> tuple[list[int], list[Part]]:
        """Return the ends of the parts of a chunk, and the result for each part.

        The beginning may be that of the last chunk: to find the longest beginning of a text within
        a limit, many of its beginnings are encoded one after the other.
        """
        last, ends, parts = self._last
        kept = 0
        if len(chunk) > _COMPARED:
            # Both characters beside the end of a part must be the same.
            kept = bisect_left(ends, common_length(chunk, last))
        ends, parts = ends[:kept], parts[:kept]
        start = ends[-1] if ends else 0
        pairs, rest = self.pairs, chunk[start:]
        is_joint = [pair not in pairs for pair in map(add, rest, rest[1:])]
        more = [*compress(count(start + 1), is_joint), len(chunk)]
        texts = map(chunk.__getitem__, map(slice, [start, *more], more))
        ends += more
        parts += map(self._parts.__getitem__, texts)
        if _COMPARED < len(chunk) <= _LONGEST_KEPT:
            self._last = chunk, ends, parts
        return ends, parts

    def slack(self, chunk: str) -> int:
        """Return how many tokens a chunk can lose when the text before it changes."""
        ends, parts = self._parts_of(chunk)
        return sum(
            4 * (end - start)
            for start, end, (_, way) in zip([0, *ends], ends, parts)
            if way is None
        )

    def _find_part(self, text: str) -> Part:
        way, _, difference = self._find_way(text, 0.0)
        if difference <= len(text) * GAP:
            return None, None
        return self._ids_of(way), way
