"""The normalizer of SentencePiece, which also puts, removes and writes spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...caches import cached_property, changed
from ..aligned import Aligned
from ..special_tokens import NameFinder
from .base import Normalizer
from .charsmap import Charsmap


class SpaceNormalizer(Normalizer):
    """The normalizer of a SentencePiece model.

    It reads a text from left to right. At each place, the longest user-defined symbol is kept, or
    else the longest sequence of the character map is replaced, or else a character is kept. Then
    the spaces are changed.

    Args:
        charsmap: the character map, or None.
        symbols: the user-defined symbols.
        add_dummy_prefix: put a space before the text.
        remove_extra_whitespaces: remove spaces at the ends, and after other spaces.
        space: the sign for a space.
        whitespace_as_suffix: put the space of ``add_dummy_prefix`` after the text.

    >>> SpaceNormalizer()("  a   b ")
    '▁a▁b'
    """

    def __init__(
        self,
        charsmap: Charsmap | None = None,
        symbols: Sequence[str] = (),
        *,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        space: str = "\u2581",
        whitespace_as_suffix: bool = False,
    ) -> None:
        self._charsmap = charsmap
        self._symbols = NameFinder(symbols) if symbols else None
        self._removes = remove_extra_whitespaces
        self._space = space
        self._before = space if add_dummy_prefix and not whitespace_as_suffix else ""
        self._after = space if add_dummy_prefix and whitespace_as_suffix else ""
        #: True if no symbol or replacement has two spaces in a row, so that text alone shows which
        #: spaces to remove.
        self._is_simple = not any("  " in text for text in symbols) and (
            charsmap is None or not charsmap.may_write("  ")
        )
        self._in_symbols = frozenset("".join(symbols))
        #: False for a text that continues: its first spaces are those after a character.
        self._begins = True
        # With a suffix, the left side would get one, too.
        self.is_local = not self._after and not (self._removes and " " in self._in_symbols)

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        if not text:
            return ""
        if self._removes and not self._is_simple:
            return "".join(char for char, _ in self._characters(text))
        replaced = self._replaced(text)
        space = self._space
        if not self._removes:
            return self._before + replaced.replace(" ", space) + self._after
        if "  " in replaced:
            replaced = re.sub("  +", " ", replaced)
        kept = replaced.lstrip(" ") if self._begins else replaced
        normalized = (self._before + kept.replace(" ", space)).rstrip(space)
        if not normalized and self._after:
            # If the text was not all spaces, it gets the suffix even if it is empty now.
            return "".join(char for char, _ in self._characters(text))
        return normalized + self._after if normalized else ""

    def _replaced(self, text: str) -> str:
        """Return a text with its sequences replaced."""
        if self._charsmap is None:
            return text
        if self._symbols is None or self._symbols.first(text) is None:
            return self._charsmap.replace(text)
        return "".join(new for new, _, _ in self._parts(text))

    def _parts(self, text: str) -> Iterator[tuple[str, int, bool]]:
        """Yield the parts of the normalized text, each with its length in the original text.

        The third value is True for characters that are kept.
        """
        charsmap, symbols = self._charsmap, self._symbols
        patterns = [] if symbols is None else [symbols.candidates()]
        if charsmap is not None:
            patterns.append(charsmap.candidates(text))
        find = re.compile("|".join(patterns) or "(?!)").search
        last = at = 0
        while True:
            match = find(text, at)
            if match is None:
                break
            at = match.start()
            length = 0 if symbols is None else symbols.length_at(text, at)
            if length:
                part: tuple[int, str] | None = (length, text[at : at + length])
            else:
                part = None if charsmap is None else charsmap.longest(text, at)
            if part is None:
                at += 1
                continue
            if last < at:
                yield text[last:at], at - last, True
            yield part[1], part[0], False
            last = at = at + part[0]
        if last < len(text):
            yield text[last:], len(text) - last, True

    def _pieces(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the result for each symbol, sequence and character, and its length in the text."""
        for new, length, is_kept in self._parts(text):
            if is_kept:
                for char in new:
                    yield char, 1
            else:
                yield new, length

    # The plain rule

    def _characters(self, text: str) -> list[tuple[str, int]]:
        """Return the normalized characters, each with the place where its source begins.

        The last item is empty; its place is the end of the text.
        """
        pieces = list(self._pieces(text))
        first = at = 0
        was_space = self._removes and self._begins
        while was_space and first < len(pieces) and pieces[first][0] == " ":
            at += pieces[first][1]
            first += 1
        if first == len(pieces):
            return []
        space = self._space
        chars = [(char, at) for char in self._before]
        for piece, length in pieces[first:]:
            kept = piece.lstrip(" ") if was_space else piece
            chars += [(space if char == " " else char, at) for char in kept]
            if kept:
                was_space = self._removes and kept.endswith(" ")
            at += length
        if self._removes:
            while chars and chars[-1][0] == space:
                at = chars.pop()[1]
        chars += [(char, at) for char in self._after]
        chars.append(("", at))
        return chars

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text, with the places in the original.

        A character's place reaches to the place of the next character, as in the reference.
        """
        chars = self._characters(text.text)
        bounds = [start for start, _ in text.places] + [text.end]
        starts = [bounds[at] for _, at in chars]
        return text._replace(
            text="".join(char for char, _ in chars), places=list(zip(starts, starts[1:]))
        )

    @cached_property
    def continued(self) -> SpaceNormalizer:
        """The normalizer for a text that continues after a cut; it adds or drops no first space."""
        if not self._before and not self._removes:
            return self
        other = changed(self, _before="", _begins=False)
        other.continued = other
        return other

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position after normalization, if a cut is allowed there.

        A cut is allowed where there is no symbol and nothing is replaced. If extra spaces are
        removed, the left character must not be a space. So spaces on the right come after a
        character, and spaces removed at the end of the whole are all on the right side.
        """
        if not self.is_local:
            return None
        charsmap, space = self._charsmap, self._space
        if self._removes and left in (" ", space):
            return None
        if not (self._removes and right == " " and self._is_kept_before_space(left)):
            for char in (left, right):
                if char in self._in_symbols or (charsmap and char in charsmap.characters):
                    return None
        return space if left == " " else left, space if right == " " else right

    def _is_kept_before_space(self, char: str) -> bool:
        return self._charsmap is None or self._charsmap.keeps_before(char, " ")
