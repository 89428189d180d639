"""SentencePiece's BPE, and the rules for pieces of all its models.

**The rules** are about spaces, scripts, digits and length. The plain rule looks at a whole piece.
Two properties make it fast for a piece that two parts make:

- *A few marks say all that matters about a part*: its length, its script at the start and at the
  end, and its spaces. So a piece is judged by the marks of its two parts.
- *Some pairs of characters are in no piece*: two of different scripts, and a digit beside anything
  if digits stand alone. So words are cut between them, once, before training.

**Each step** of BPE joins the most frequent pair of neighbouring pieces in all words. Of equally
frequent pairs, the one of fewer characters is joined; of these, the first by its bytes. Occurrences
of a pair that overlap (``aaa`` has two of ``a a``) all count, though only some are joined, from the
left. A pair that makes no valid piece is not joined.

*One pair makes a piece.*  How a part of a word is joined does not depend on its neighbours, as long
as no piece reaches over its ends. So a piece stands for a pair.

The words are strings, and rare pairs are not followed: ``train.bpe.learner`` says why this is fast
and right.

When nothing is left to join, the reference goes on with pairs whose frequency has fallen to 0,
until the vocabulary is full. These were not followed, so they are found again: all words are joined
once more, step by step.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import add
from typing import NamedTuple

from ...pipeline.models.sentencepiece.base import SPACE
from ...unicode.properties import script_of
from ..bpe.learner import MOST_TOKENS, Learner
from .settings import BOUNDARY, UNKNOWN_CHARACTER, SentencePieceSettings

#: No piece has one of these.
_NEVER = frozenset((UNKNOWN_CHARACTER, BOUNDARY, "\0", " "))
#: The only characters that count as digits.
_DIGITS = frozenset("0123456789０１２３４５６７８９")
#: The scripts that count as Han.
_HAN = frozenset(("Hiragana", "Katakana"))
#: The mark of Katakana and Hiragana that is Common in Unicode, and Han here.
_LONG_VOWEL = "\u30fc"

#: The classes of characters by which words are cut: those that stand alone, those that go with any
#: script; all others are scripts.
_ALONE, _ANY = "\0", "\1"
#: The characters, by their classes, after which words are cut.
_CUT = re.compile(f"{_ALONE}(?=[\\s\\S])|[\\s\\S](?={_ALONE})|([^{_ANY}])(?!\\1|{_ANY}|\\Z)")


class PieceMarks(NamedTuple):
    """All that matters about a part of a piece.

    Args:
        length: its length in characters.
        first: the script of its first character that has one, unless digits stand before that go
            with any script; else empty.
        last: the script that the next character must have; empty for any.
        is_open: True if it has no character that settles the script, so that the one before counts.
        starts, ends: True if its first, its last character is a space.
        is_space: True if it is all spaces.
    """

    length: int
    first: str
    last: str
    is_open: bool
    starts: bool
    ends: bool
    is_space: bool


def _reversed(marks: PieceMarks) -> PieceMarks:
    """Return marks with the spaces of the other side."""
    return marks._replace(starts=marks.ends, ends=marks.starts)


class PieceRules:
    """The rules for the shape of pieces.

    Args:
        settings: the settings.

    >>> rules = PieceRules(SentencePieceSettings(100))
    >>> rules.is_valid("▁the"), rules.is_valid("the▁"), rules.is_valid("F1")
    (True, False, False)
    """

    def __init__(self, settings: SentencePieceSettings) -> None:
        self._settings = settings
        self._longest = settings.max_sentencepiece_length
        self._known: dict[str, tuple[str, bool]] = {}
        self._classes = _Classes(self)

    def script(self, char: str) -> tuple[str, bool]:
        """Return a character's script, empty for any; and True if the script before it goes on."""
        script = self._known.get(char)
        if script is None:
            script = self._known[char] = self._find_script(char)
        return script

    def _find_script(self, char: str) -> tuple[str, bool]:
        settings = self._settings
        if char == SPACE or not settings.split_by_unicode_script:
            return "", True
        if char in _DIGITS and not settings.split_by_number:
            return "", False
        script = script_of(ord(char)) or "Common"
        if script in _HAN or char == _LONG_VOWEL:
            script = "Han"
        return ("", True) if script == "Inherited" else (script, False)

    def stands_alone(self, char: str) -> bool:
        """Return True if a character is in no piece with another one."""
        return char in _NEVER or (char in _DIGITS and self._settings.split_digits)

    # The plain rule

    def is_valid(self, piece: str) -> bool:
        """Return True if a piece of several characters may be made."""
        if len(piece) > self._longest or any(map(self.stands_alone, piece)):
            return False
        before = ""
        for char in piece:
            script, is_open = self.script(char)
            if not is_open:
                if before and script and before != script:
                    return False
                before = script
        return self._has_valid_spaces(piece)

    def _has_valid_spaces(self, piece: str) -> bool:
        settings = self._settings
        if settings.allow_whitespace_only_pieces and not piece.strip(SPACE):
            return True
        last = len(piece) - 1
        places = [at for at, char in enumerate(piece) if char == SPACE]
        if settings.treat_whitespace_as_suffix:
            # A space may not be the first either if it may be inside.
            return all(at == last if settings.split_by_whitespace else at > 0 for at in places)
        return all(at == 0 if settings.split_by_whitespace else at < last for at in places)

    # The fast way

    def marks(self, char: str) -> PieceMarks:
        """Return the marks of a character."""
        script, is_open = self.script(char)
        is_space = char == SPACE
        return PieceMarks(1, script, script, is_open, is_space, is_space, is_space)

    def join(self, left: PieceMarks, right: PieceMarks) -> PieceMarks | None:
        """Return the marks of two parts together, or None if they are not a valid piece.

        Both parts are characters, or valid pieces, and no character stands alone.
        """
        length = left.length + right.length
        if length > self._longest:
            return None
        if right.first and left.last and right.first != left.last:
            return None
        if (left.starts or left.ends or right.starts or right.ends) and not self._may_join_spaces(
            left, right
        ):
            return None
        return PieceMarks(
            length,
            (left.first or right.first) if left.is_open else left.first,
            left.last if right.is_open else right.last,
            left.is_open and right.is_open,
            left.starts,
            right.ends,
            left.is_space and right.is_space,
        )

    def _may_join_spaces(self, left: PieceMarks, right: PieceMarks) -> bool:
        settings = self._settings
        if left.is_space and right.is_space and settings.allow_whitespace_only_pieces:
            return True
        if settings.treat_whitespace_as_suffix:
            left, right = _reversed(right), _reversed(left)
        if not settings.split_by_whitespace:
            return not right.ends
        # If the left part is several spaces, only the first would begin the piece.
        return not right.starts and not (left.is_space and left.length > 1)

    def parts(self, word: str) -> list[tuple[int, int]]:
        """Return the parts of a word, cut wherever no piece reaches over, as starts and ends."""
        ends = [match.end() for match in _CUT.finditer(word.translate(self._classes))]
        if not ends or ends[-1] < len(word):
            ends.append(len(word))
        return list(zip([0, *ends], ends))

    def cut(self, words: Mapping[str, int]) -> dict[str, int]:
        """Return the parts of words and their frequencies, but not those of one character."""
        pieces: Counter[str] = Counter()
        for word, count in words.items():
            for start, end in self.parts(word):
                if end - start > 1:
                    pieces[word[start:end]] += count
        return dict(pieces)


class _Classes(dict[int, str]):
    """The class of each character: that of its script, that of any, or that of standing alone."""

    def __init__(self, rules: PieceRules) -> None:
        self._rules = rules
        self._scripts: dict[str, str] = {}

    def __missing__(self, point: int) -> str:
        char = chr(point)
        script = self._rules.script(char)[0]
        if self._rules.stands_alone(char):
            kind = _ALONE
        else:
            kind = self._scripts.setdefault(script, chr(len(self._scripts) + 2)) if script else _ANY
        self[point] = kind
        return kind


def learn_pieces(
    words: Mapping[str, int], alphabet: Iterable[str], rules: PieceRules, most: int
) -> Iterator[tuple[str, int]]:
    """Yield the pieces learned from words with their frequencies, in their order.

    Args:
        words: the words and their frequencies.
        alphabet: their characters; others are in no piece.
        rules: the rules for pieces.
        most: the most pieces that are yielded.

    Raises:
        ValueError: there are more pieces than code points.

    >>> rules = PieceRules(SentencePieceSettings(100))
    >>> list(learn_pieces({"▁hug": 10, "▁pug": 5}, "▁hugp", rules, 4))
    [('ug', 15), ('▁h', 10), ('▁hug', 10), ('▁p', 5)]
    """
    parts = rules.cut(words)
    learner = _Learner(parts, [*alphabet], rules)
    number = 0
    for merge in islice(iter(learner.step, None), most):
        yield learner.tokens[merge.made], merge.frequency
        number += 1
    if number < most:
        for piece in islice(learner.spent_pieces(parts), most - number):
            yield piece, 0


class _Learner(Learner[str]):
    """Learns pieces one after another.

    Args:
        words, alphabet, rules: as in ``learn_pieces``; the words are cut.
    """

    def __init__(
        self, words: Mapping[str, int], alphabet: Sequence[str], rules: PieceRules
    ) -> None:
        #: The marks of the pieces so far. In a word, a piece is the character of its number.
        self._marks: list[PieceMarks] = [rules.marks(char) for char in alphabet]
        self._join_marks = rules.join
        self._table = {ord(char): number for number, char in enumerate(alphabet)}
        #: The pairs that were joined, and the pieces that they became.
        self._joined: dict[str, str] = {}
        super().__init__(
            {word.translate(self._table): count for word, count in words.items()}, alphabet
        )

    def _number(self, left: int, right: int) -> int:
        number = len(self._tokens)
        if number >= MOST_TOKENS:
            raise ValueError(f"there can be no more than {MOST_TOKENS:,} pieces")
        marks = self._join_marks(self._marks[left], self._marks[right])
        assert marks is not None
        self._marks.append(marks)
        self._joined[chr(left) + chr(right)] = chr(number)
        return super()._number(left, right)

    def _is_fit(self, pair: str) -> bool:
        marks = self._marks
        return self._join_marks(marks[ord(pair[0])], marks[ord(pair[1])]) is not None

    def _entry(self, pair: str, count: int) -> tuple[int, int, str, str]:
        piece = self._text(pair)
        return -count, len(piece), piece, pair

    def _text(self, pair: str) -> str:
        return self._tokens[ord(pair[0])] + self._tokens[ord(pair[1])]

    def spent_pieces(self, words: Iterable[str]) -> list[str]:
        """Return the pieces that could once have been made, but were not, in their order.

        Args:
            words: the words in their first state.
        """
        seen: set[str] = set()
        for word in words:
            word = word.translate(self._table)
            while True:
                pairs = set(map(add, word, word[1:]))
                seen |= pairs
                # What was joined first has the lowest number.
                pair = min(pairs & self._joined.keys(), key=self._joined.__getitem__, default=None)
                if pair is None:
                    break
                made = self._joined[pair]
                if pair + pair in word:
                    # The first was beside the left part of the second, until that was joined, too.
                    seen.add(made + pair[0])
                word = made.join(word.split(pair))
        spent = [pair for pair in seen - self._joined.keys() if self._is_fit(pair)]
        return sorted(map(self._text, spent), key=lambda piece: (len(piece), piece))
