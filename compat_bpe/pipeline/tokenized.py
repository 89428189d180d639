"""``Tokenized``: the tokens of a text or a pair of texts with all data; truncation, padding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

T = TypeVar("T")

#: The fields that have one item for each token.
_COLUMNS = tuple(
    """
        ids tokens offsets word_ids type_ids special_tokens_mask attention_mask
    """.split()
)


#: All fields.
_FIELDS = (*_COLUMNS, "overflowing", "sequence_ranges")

STRATEGIES = ("longest_first", "only_first", "only_second")

#: The greatest length of a padded text. A file may set any length, which would take all memory.
MOST_TOKENS = 1 << 24


class Tokenized:
    """The tokens of a text, or of a pair of texts; ``Encoding`` in ``tokenizers``.

    Each list has one item for each token. ``len`` is the number of tokens.

    Args:
        ids: the ids.
        tokens: the tokens' texts, as the vocabulary writes them.
        offsets: the tokens' places in the text, start and end, in characters.
        word_ids: the number of each token's chunk, or of its word if the text was given as words;
            None for a token that is in no text.
        type_ids: 0 for the first text and 1 for the second, unless the post-processor has others.
        special_tokens_mask: 1 for a token that the post-processor or the padding has added.
        attention_mask: 0 for a token of the padding.
        overflowing: the parts that truncation has cut off.
        sequence_ranges: the start and end of each text's tokens, by the number 0 or 1 of the text.
            If it is empty, all tokens are of the first text.

    >>> text = Tokenized([5, 6], ["a", "b"], [(0, 1), (1, 2)], [0, 0])
    >>> text.truncated(1)
    Tokenized(['a'])
    >>> text.padded(3).ids
    [5, 6, 0]
    """

    __slots__ = _FIELDS

    def __init__(
        self,
        ids: Sequence[int] = (),
        tokens: Sequence[str] = (),
        offsets: Sequence[tuple[int, int]] = (),
        word_ids: Sequence[int | None] = (),
        *,
        type_ids: Sequence[int] | None = None,
        special_tokens_mask: Sequence[int] | None = None,
        attention_mask: Sequence[int] | None = None,
        overflowing: Iterable[Tokenized] = (),
        sequence_ranges: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        count = len(ids)
        self.ids = list(ids)
        self.tokens = list(tokens)
        self.offsets = list(offsets)
        self.word_ids = list(word_ids)
        self.type_ids = [0] * count if type_ids is None else list(type_ids)
        self.special_tokens_mask = (
            [0] * count if special_tokens_mask is None else list(special_tokens_mask)
        )
        self.attention_mask = [1] * count if attention_mask is None else list(attention_mask)
        self.overflowing = list(overflowing)
        self.sequence_ranges = dict(sequence_ranges or {})

    @classmethod
    def added(cls, ids: Sequence[int], tokens: Sequence[str], type_id: int) -> Tokenized:
        """Return tokens that are in no text, as a post-processor adds them."""
        count = len(ids)
        return cls(
            ids,
            tokens,
            [(0, 0)] * count,
            [None] * count,
            type_ids=[type_id] * count,
            special_tokens_mask=[1] * count,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenized):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Tokenized({self.tokens!r})"

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self.sequence_ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text of each token: 0 for the first, 1 for the second, None for neither.

        >>> Tokenized.joined([Tokenized.added([7], ["[CLS]"], 0),
        ...     Tokenized([5], ["a"], [(0, 1)], [0], sequence_ranges={0: (0, 1)})]).sequence_ids
        [None, 0]
        """
        sequences: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, end = self.sequence_ranges.get(sequence, (0, len(self)))
            sequences[start:end] = [sequence] * (end - start)
        return sequences

    # Lookups, each with the results of tokenizers

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the text of a token: 0 for the first, 1 for the second, None for neither.

        If all tokens are of one text, the place behind the last token also counts as that text.

        Raises:
            OverflowError: an index is negative. All other lookups raise this error, too.
        """
        _check_index(token_index)
        if not self.sequence_ranges:
            return 0 if token_index <= len(self) else None
        for sequence, (start, end) in self.sequence_ranges.items():
            if start <= token_index < end:
                return sequence
        return None

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Return the place of a token in its text; None if it is in no text.

        >>> text = Tokenized([5, 6], ["a", "b"], [(0, 1), (1, 2)], [0, 0])
        >>> text.token_to_chars(1), text.char_to_token(1), text.word_to_tokens(0)
        ((1, 2), 1, (0, 2))
        """
        return self._of_token(self.offsets, token_index)

    def token_to_word(self, token_index: int) -> int | None:
        """Return the word of a token; None if it is in no text."""
        return self._of_token(self.word_ids, token_index)

    def _of_token(self, column: Sequence[T], index: int) -> T | None:
        """Return a token's item of a column; None if it has none, or is in no text."""
        in_text = self.token_to_sequence(index) is not None
        return column[index] if in_text and index < len(self) else None

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of the first token that covers a character; None if there is none.

        Args:
            char_pos: the index of the character in its text. If the text was given as words, it is
                the index in a word, and the first word with a token there is used.
            sequence_index: the text, 0 for the first and 1 for the second.
        """
        _check_index(char_pos)
        start, end = self._sequence_range(sequence_index)
        for index in range(start, end):
            first, last = self.offsets[index]
            if first <= char_pos < last:
                return index
        return None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the word of the token of ``char_to_token``; None if there is none."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the start and end of a word's tokens; None if it has no tokens.

        Args:
            word_index: the number of the word, as in ``word_ids``.
            sequence_index: the text, 0 for the first and 1 for the second.
        """
        _check_index(word_index)
        start, end = self._sequence_range(sequence_index)
        first = last = None
        for index in range(start, end):
            word = self.word_ids[index]
            if word is None:
                continue
            if word > word_index:  # words are in order, unless a text is in the result twice
                break
            if word == word_index:
                first, last = index if first is None else first, index + 1
        return None if first is None or last is None else (first, last)

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return a word's place in its text; None if it has no tokens."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        return self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1]

    def _sequence_range(self, sequence_index: int) -> tuple[int, int]:
        """Return the range of a text's tokens; the range of all tokens if no ranges are set."""
        _check_index(sequence_index)
        return self.sequence_ranges.get(sequence_index, (0, len(self)))

    def changed(self, **fields: Any) -> Tokenized:
        """Return a copy with some fields replaced."""
        copy = Tokenized.__new__(Tokenized)
        for name in _FIELDS:
            value = fields[name] if name in fields else getattr(self, name)
            setattr(copy, name, value.copy())
        return copy

    @classmethod
    def joined(cls, parts: Iterable[Tokenized]) -> Tokenized:
        """Return parts one after the other.

        The overflowing parts of one part are combined with each of the other parts, and with their
        overflowing parts, as in tokenizers.
        """
        parts = tuple(parts)
        if any(part.overflowing for part in parts):
            return _Joined(tuple(map(_copy, parts))).with_columns()
        return _filled(cls.__new__(cls), parts, [])

    def truncated(self, max_length: int, *, stride: int = 0, direction: str = "right") -> Tokenized:
        """Return the first tokens, and the others in ``overflowing``.

        Args:
            max_length: the largest number of tokens of each part.
            stride: the number of tokens that each part shares with the part before.
            direction: the end that is cut off, ``"right"`` or ``"left"``.

        Raises:
            ValueError: the stride is not less than the length of a part, a number is negative, or
                the direction is unknown.

        >>> whole = Tokenized([1, 2, 3], ["a", "b", "c"], [(0, 1), (1, 2), (2, 3)], [0, 1, 2])
        >>> whole.truncated(2, stride=1).overflowing
        [Tokenized(['b', 'c'])]
        """
        check_direction(direction)
        if min(max_length, stride) < 0:
            raise ValueError(f"max_length is {max_length} and stride {stride}: neither may be < 0")
        count = len(self)
        if max_length >= count:
            return self
        if max_length == 0:
            return Tokenized(overflowing=[self])
        if stride >= max_length:
            raise ValueError(
                f"stride is {stride}; it must be less than the {max_length} tokens of the text "
                "in each part"
            )
        step = max_length - stride
        # The last part is the first one that reaches the end.
        parts_count = -(-(count - max_length) // step) + 1
        starts = [part * step for part in range(parts_count)]
        if direction == "right":
            places = [(start, min(start + max_length, count)) for start in starts]
        else:
            places = [(max(0, count - start - max_length), count - start) for start in starts]
        first, *others = [self._cut(start, end) for start, end in places]
        first.overflowing = others
        return first

    def _cut(self, start: int, end: int) -> Tokenized:
        """Return some of the tokens, without the ranges of the texts, as in tokenizers."""
        return Tokenized(**{name: getattr(self, name)[start:end] for name in _COLUMNS})

    def padded(
        self,
        length: int,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> Tokenized:
        """Return at least ``length`` tokens, and at least as many in each overflowing part.

        Args:
            length: the smallest number of tokens.
            direction: the end at which padding is added, ``"right"`` or ``"left"``.
            pad_id, pad_type_id, pad_token: the token that is added.

        Raises:
            ValueError: the direction is unknown.
        """
        check_direction(direction)
        return _padded(self, length, Padding(None, direction, pad_id, pad_type_id, pad_token))


class Truncation(NamedTuple):
    """The settings of truncation, by the names of tokenizers' ``enable_truncation``.

    Args:
        max_length: the largest number of tokens, including those that the post-processor adds.
        stride: the number of tokens that an overflowing part shares with the part before.
        strategy: the text of a pair that is cut: ``"longest_first"``, ``"only_first"`` or
            ``"only_second"``.
        direction: the end that is cut off, ``"right"`` or ``"left"``.
    """

    max_length: int
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    def check(self) -> None:
        """Raise ``ValueError`` if a setting is wrong."""
        check_direction(self.direction)
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"strategy is {self.strategy!r}; it must be one of {', '.join(STRATEGIES)}"
            )
        for name, value in (("max_length", self.max_length), ("stride", self.stride)):
            if value < 0:
                raise ValueError(f"{name} is {value}; it must be 0 or more")

    def applied(
        self, first: Tokenized, second: Tokenized | None = None, added: int = 0
    ) -> tuple[Tokenized, Tokenized | None]:
        """Return the texts, cut.

        Args:
            first, second: a text, and the second one of a pair.
            added: the number of tokens that the post-processor will add. If it is more than
                ``max_length``, nothing is cut, as in tokenizers.

        Raises:
            ValueError: a setting is wrong; the second text is to be cut, but there is none; a text
                is shorter than the part to cut off; the stride is too large.

        >>> def text(name, count):
        ...     return Tokenized([1] * count, [name] * count, [(0, 1)] * count, [0] * count)
        >>> Truncation(5).applied(text("a", 9), text("b", 2))
        (Tokenized(['a', 'a', 'a']), Tokenized(['b', 'b']))
        """
        self.check()
        room = self.max_length - added
        count = len(first) + (0 if second is None else len(second))
        if room < 0 or (room and count <= room):
            return first, second
        if room == 0:
            lengths = 0, 0
        elif self.strategy == "longest_first":
            lengths = (room, 0) if second is None else _shared(len(first), len(second), room)
        else:
            lengths = self._only_one(first, second, count - room)
        first = self._cut(first, lengths[0])
        return first, None if second is None else self._cut(second, lengths[1])

    def _only_one(
        self, first: Tokenized, second: Tokenized | None, surplus: int
    ) -> tuple[int, int]:
        cuts_first = self.strategy == "only_first"
        if not cuts_first and second is None:
            raise ValueError("truncation is 'only_second', but there is no second text")
        rest = (len(first) if cuts_first else len(second or ())) - surplus
        if rest <= 0:
            raise ValueError(
                f"truncation is {self.strategy!r}, but that text is too short to lose {surplus} "
                "tokens"
            )
        return (rest, len(second or ())) if cuts_first else (len(first), rest)

    def _cut(self, part: Tokenized, length: int) -> Tokenized:
        return part.truncated(length, stride=self.stride, direction=self.direction)


def _shared(first: int, second: int, room: int) -> tuple[int, int]:
    """Return the lengths of two texts for a number of tokens that is too small for both.

    The shorter text stays whole if it has at most half, and the longer text gets the rest.
    Otherwise each gets half, rounded up for the longer text.
    """
    short = min(first, second)
    if 2 * short > room:
        short = room // 2
    long = room - short
    return (short, long) if first <= second else (long, short)


class Padding(NamedTuple):
    """The settings of padding, by the names of tokenizers' ``enable_padding``.

    Args:
        length: the smallest number of tokens; None for the length of the longest text of a batch.
        direction: the end at which padding is added, ``"right"`` or ``"left"``.
        pad_id, pad_type_id, pad_token: the token that is added.
        pad_to_multiple_of: make the length a multiple of this; None or 0 for any length.

    >>> texts = [Tokenized([5], ["a"], [(0, 1)], [0]), Tokenized()]
    >>> Padding(pad_to_multiple_of=2).applied(texts)
    [Tokenized(['a', '[PAD]']), Tokenized(['[PAD]', '[PAD]'])]
    """

    length: int | None = None
    direction: str = "right"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    pad_to_multiple_of: int | None = None

    def check(self) -> None:
        """Raise ``ValueError`` if a setting is wrong."""
        check_direction(self.direction)
        for name in ("length", "pad_id", "pad_type_id", "pad_to_multiple_of"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} is {value}; it must be 0 or more")

    def applied(self, texts: Sequence[Tokenized]) -> list[Tokenized]:
        """Return some texts, padded.

        Raises:
            ValueError: a setting is wrong, or the length is more than ``MOST_TOKENS``.
        """
        self.check()
        length = max(map(len, texts), default=0) if self.length is None else self.length
        if self.pad_to_multiple_of:
            length += -length % self.pad_to_multiple_of
        if length > MOST_TOKENS:
            raise ValueError(f"padding to {length} tokens exceeds the limit of {MOST_TOKENS}")
        return [_padded(text, length, self) for text in texts]


def _filled(
    whole: Tokenized, parts: Sequence[Tokenized], overflowing: list[Tokenized] | None
) -> Tokenized:
    """Set the fields to those of parts one after the other; ``overflowing`` unless it is None."""
    for name in _COLUMNS:
        setattr(whole, name, _column(parts, name))
    whole.sequence_ranges = _ranges(parts)
    if overflowing is not None:
        whole.overflowing = overflowing
    return whole


class _Lazy(Tokenized):
    """Parts one after the other; each field is computed on first use.

    Two texts of a thousand parts have a million combinations, and hardly any of them is used. The
    parts must not change.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Compute a field that has not been set."""
        if name == "overflowing":
            value: Any = self.make_overflowing()
        elif name == "sequence_ranges":
            value = _ranges(self.parts())
        elif name in _COLUMNS:
            value = _column(self.parts(), name)
        else:
            raise AttributeError(f"'Tokenized' object has no attribute {name!r}")
        setattr(self, name, value)
        return value

    def parts(self) -> Sequence[Tokenized]:
        """Return the parts."""
        raise NotImplementedError

    def make_overflowing(self) -> list[Tokenized]:
        """Return the overflowing parts."""
        raise NotImplementedError

    def with_columns(self) -> Tokenized:
        """Compute all fields except ``overflowing``, and return the object itself."""
        return _filled(self, self.parts(), None)


class _Joined(_Lazy):
    """Parts joined; see ``Tokenized.joined``."""

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[Tokenized, ...]) -> None:
        self._parts = parts

    def parts(self) -> Sequence[Tokenized]:
        return self._parts

    def make_overflowing(self) -> list[Tokenized]:
        """Return all combinations of parts and their overflowing parts, except the first one.

        For each part, each combination so far is continued by the part and by each of its
        overflowing parts. Then the parts before it are continued by each of its overflowing parts.
        """
        combinations: list[tuple[Tokenized, ...]] = []
        for place, part in enumerate(self._parts):
            others = part.overflowing
            combinations = [(*before, last) for before in combinations for last in (part, *others)]
            combinations += [(*self._parts[:place], other) for other in others]
        return list(map(_Joined, combinations))


class _Padded(_Lazy):
    """A padded part with its overflowing parts; see ``Tokenized.padded``."""

    __slots__ = ("_length", "_padding", "_part")

    def __init__(self, part: Tokenized, length: int, padding: Padding) -> None:
        self._part = part
        self._length = length
        self._padding = padding

    def parts(self) -> Sequence[Tokenized]:
        return _with_padding(self._part, self._length, self._padding)

    def make_overflowing(self) -> list[Tokenized]:
        return [_Padded(part, self._length, self._padding) for part in self._part.overflowing]


def _padded(part: Tokenized, length: int, padding: Padding) -> Tokenized:
    """Return a part padded to a length, with its overflowing parts."""
    if part.overflowing:
        return _Padded(_copy(part), length, padding).with_columns()
    return _filled(Tokenized.__new__(Tokenized), _with_padding(part, length, padding), [])


def _with_padding(part: Tokenized, length: int, padding: Padding) -> list[Tokenized]:
    """Return a part and its padding, in their order."""
    count = length - len(part)
    if count <= 0:
        return [part]
    added = Tokenized.added(
        [padding.pad_id] * count, [padding.pad_token] * count, padding.pad_type_id
    )
    added.attention_mask = [0] * count
    return [part, added] if padding.direction == "right" else [added, part]


def _copy(part: Tokenized) -> Tokenized:
    """Return a copy that does not change with the part; lazy parts in it are shared."""
    others = [other if isinstance(other, _Lazy) else _copy(other) for other in part.overflowing]
    return part.changed(overflowing=others)


def _column(parts: Iterable[Tokenized], name: str) -> list[Any]:
    return list(chain.from_iterable([getattr(part, name) for part in parts]))


def _ranges(parts: Iterable[Tokenized]) -> dict[int, tuple[int, int]]:
    """Return the ``sequence_ranges`` of parts one after the other."""
    ranges = {}
    at = 0
    for part in parts:
        for sequence, (start, end) in part.sequence_ranges.items():
            ranges[sequence] = at + start, at + end
        at += len(part)
    return ranges


def _check_index(index: int) -> None:
    """Raise ``OverflowError`` if an index is negative, as tokenizers does."""
    if index < 0:
        raise OverflowError(
            f"the index {index} is negative; tokens, characters and words count from 0"
        )


def check_direction(direction: str) -> None:
    """Raise ``ValueError`` unless a direction is ``"right"`` or ``"left"``."""
    if direction not in ("right", "left"):
        raise ValueError(f"direction is {direction!r}; it must be 'right' or 'left'")
