r"""Tokens of a vocabulary that no text can give.

Most tokens are given by their own text, so they are reachable. Any other token *t* can come out of
a text in two ways: a chunk is *t* as a whole, or merging makes *t* inside a chunk. Three reasons
rule out both. Only tokens that one of them rules out are called unreachable; others may be, too.

**Not UTF-8.**  A chunk is a piece of a text, so the bytes of *t* are a piece of valid UTF-8: some
last bytes of a character, whole characters, some first bytes of a character. A token that cannot be
read so (``C0``, say) is in no chunk.

**Cut.**  In both ways the characters of *t*, those it has only a part of included, are side by side
in one match of the pattern. The pattern's tree, without its conditions (lookaround, anchors), is
turned into the position automaton (``pattern.cut_points``), which has paths for all matches, and
more. If no part of a path has the characters of *t*, they are in no match.

**Not merged.**  Suppose merging makes *t* somewhere in a chunk. No merge before that crossed an
edge of *t*: its token would reach beyond *t*, and tokens are never taken apart. So each merge was
either inside *t* or outside. Each one inside joined the lowest-ranked, leftmost pair of the whole
chunk, which was also that of the parts inside. So the same merges happen without the text outside:
merging the bytes of *t* alone gives *t*. If it does not, merging never makes *t*. A chunk may still
be *t* as a whole if the encoding looks chunks up before it merges. Then *t* is text, and a path of
the automaton from a first position to a last one has its characters.

Normalization and added tokens come before splitting, so they only leave fewer texts. A token that
stands for unknown bytes in a ``tokenizer.json`` is never called unreachable, nor is a token whose
name contains that name, since merging may make it. Where bytes without a token vanish, so that
parts that were apart come together, only the third reason is looked for.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal, NamedTuple

from ..encodings.encoding import Encoding
from ..pattern.cut_points import Automaton, TooManyPositions, without_conditions
from ..pattern.tree import Node
from ..pipeline.byte_level import encode_bytes
from ..pipeline.core import is_byte_level
from ..unicode.properties import END

Reason = Literal["not UTF-8", "cut", "not merged"]

#: The least character whose last one, two or three bytes can all be 10xxxxxx.
_FIRST_WITH_TAIL = (0, 0x80, 0x800, 0x10000)


class Unreachable(NamedTuple):
    """A token that no text gives, and why.

    Args:
        id: its id.
        token: its bytes.
        reason: ``"not UTF-8"``, ``"cut"`` (by the pattern) or ``"not merged"``, as the module says.
    """

    id: int
    token: bytes
    reason: Reason


def unreachable_tokens(
    encoding: Encoding, tokens: Iterable[bytes] | None = None
) -> Iterator[Unreachable]:
    r"""Yield mergeable tokens of an encoding that no text can give.

    ``encode_ordinary`` gives none of them for any text. Some of the others may be unreachable, too.

    Args:
        encoding: the encoding.
        tokens: the tokens to look at; all mergeable ones unless given.

    Raises:
        KeyError: one of the tokens is not a mergeable one.
        ValueError: the model is not byte-level BPE; for other kinds, no rules are known.

    >>> ranks = {b"a": 0, b"b": 1, b" ": 2, b"\xc0": 3, b"a ": 4, b" a": 5, b"aab": 6}
    >>> enc = Encoding("small", pat_str=" ?[a-z]+", mergeable_ranks=ranks, special_tokens={})
    >>> for found in unreachable_tokens(enc):
    ...     print(found.token, found.reason)
    b'\xc0' not UTF-8
    b'a ' cut
    >>> enc.encode("aab")  # it is not merged, but looked up
    [6]
    """
    if not is_byte_level(encoding.core):
        raise ValueError(f"{encoding!r} is not byte-level BPE; unreachable tokens are not known")
    known = encoding.ordinary_tokens()
    rules = _Rules(encoding)
    for token in known if tokens is None else tokens:
        number = known[token]
        if _gives_itself(encoding, token, number):
            continue
        reason = rules.reason(token, number)
        if reason is not None:
            yield Unreachable(number, token, reason)


def _gives_itself(encoding: Encoding, token: bytes, number: int) -> bool:
    core, model = encoding.core, encoding.core.byte_level
    try:
        text = token.decode()
        # Most tokens are chunks that are looked up. The cache needs none of them twice.
        is_chunk = core.added.is_one_span(text) and core.splitter.chunks(text) == [text]
        if is_chunk and model.whole.get(model.to_bytes(text)) == number:
            return True
        return encoding.encode_ordinary(text) == [number]
    except ValueError:  # it is not text, or the vocabulary lacks a byte
        return False


class _Rules:
    """The facts of an encoding that rule tokens out."""

    def __init__(self, encoding: Encoding) -> None:
        core = encoding.core
        self._merges = core.byte_level.merges
        self._whole = core.byte_level.whole
        #: True if the merged bytes are those of a chunk exactly as it is in a text.
        self._is_text = core.model.is_text
        tree = core.splitter.tree
        self._paths: _Paths | None = None
        if tree is not None and self._is_text:
            with suppress(TooManyPositions):  # for such a pattern, the rule is not used
                self._paths = _Paths(tree)
        #: Names that stand for unknown bytes.
        self._unknown = self._merges.unknown_names

    def reason(self, token: bytes, number: int) -> Reason | None:
        """Return why no text gives a token; None if one may."""
        if self._unknown:
            name = encode_bytes(token)
            if any(unknown in name for unknown in self._unknown):
                return None
        parts = _Parts.of(token) if self._is_text else None
        if self._is_text:
            if parts is None:
                return "not UTF-8"
            if self._paths is not None and not self._paths.pass_through(parts):
                return "cut"
        if self._is_made(token, number) or self._may_be_chunk(token, number, parts):
            return None
        return "not merged"

    def _is_made(self, token: bytes, number: int) -> bool:
        try:
            return self._merges.merge(token) == [number]
        except ValueError:  # a byte of it is not a token, and was not merged
            return False

    def _may_be_chunk(self, token: bytes, number: int, parts: _Parts | None) -> bool:
        if not token or self._whole.get(token) != number:
            return False
        if parts is None:
            return True
        if parts.before or parts.after:
            return False
        return self._paths is None or self._paths.have(parts.text)


class _Parts(NamedTuple):
    """A piece of UTF-8.

    Args:
        before: the number of last bytes of a character that it begins with, three at most.
        text: whole characters.
        after: the first bytes of a character.
    """

    before: int
    text: str
    after: bytes

    @classmethod
    def of(cls, token: bytes) -> _Parts | None:
        r"""Return the parts of some bytes; None if no valid UTF-8 has them in it.

        >>> _Parts.of("é中".encode()[1:-1]), _Parts.of(b"\xf5")
        (_Parts(before=1, text='', after=b'\xe4\xb8'), None)
        """
        before = 0
        while before < len(token) and 0x80 <= token[before] < 0xC0:
            before += 1
        if before > 3:
            return None
        try:
            text, length = codecs.utf_8_decode(token[before:], "strict", False)
        except UnicodeDecodeError:
            return None
        after = token[before + length :]
        if after and not _beginning_with(after):
            return None
        return cls(before, text, after)


def _beginning_with(head: bytes) -> range:
    r"""Return the characters whose UTF-8 begins with some bytes, fewer than all of it.

    >>> _beginning_with(b"\xed") == range(0xD000, 0xD800)  # surrogates are not characters
    True
    """
    size = 2 + (head[0] >= 0xE0) + (head[0] >= 0xF0)
    bits = head[0] & (0xFF >> (size + 1))
    for byte in head[1:]:
        bits = bits << 6 | (byte & 0x3F)
    left = 6 * (size - len(head))
    end = END if head[0] != 0xED else 0xD800
    return range(max(bits << left, _FIRST_WITH_TAIL[size - 1]), min((bits + 1) << left, end))


class _Paths:
    """The paths through a pattern, its conditions left out."""

    def __init__(self, tree: Node) -> None:
        self._automaton = Automaton(without_conditions(tree))

    def pass_through(self, parts: _Parts) -> bool:
        """Return True if the characters of a token are on some path."""
        holding, holding_any = self._automaton.holding, self._automaton.holding_any
        places: list[int] = []
        if parts.before:
            places.append(holding_any[range(_FIRST_WITH_TAIL[parts.before], END)])
        places += map(holding.__getitem__, parts.text)
        if parts.after:
            places.append(holding_any[_beginning_with(parts.after)])
        return bool(self._ends(self._automaton.all, places))

    def have(self, text: str) -> bool:
        """Return True if a path from a first position to a last one has a text's characters."""
        places = map(self._automaton.holding.__getitem__, text)
        return bool(self._ends(self._automaton.first, places) & self._automaton.last)

    def _ends(self, start: int, places: Iterable[int]) -> int:
        """Return the ends of the paths from one set on that have each position in the next one."""
        state, following = 0, start
        for place in places:
            state = following & place
            if not state:
                return 0
            following = self._automaton.after[state]
        return state
