r"""Added tokens: names in text that are tokens of their own, as in a ``tokenizer.json``.

They can do more than the tokens of ``special_tokens``: some are always tokens, and some include the
white space around them. They are found in two rounds:

1. tokens that are not ``normalized``, in the text as given;
2. ``normalized`` tokens by their normalized names, in the remaining text, once it is normalized.

In each round the leftmost name wins, or the longest of several names at one position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from ..caches import cached_property, changed
from ..unicode.properties import white_space, word
from .aligned import Aligned
from .special_tokens import Guard, NameFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .normalizers.base import Normalizer, Pairs
    from .pre_tokenizers.base import SpanStart

#: The number of sets of special tokens whose guards are kept.
_GUARDS = 16


class AddedToken(NamedTuple):
    """An added token.

    Args:
        content: its name, as written in text.
        id: its id. ``Tokenizer.add_tokens`` ignores it, and gives the token an id.
        special: True if it is a token only where that is allowed.
        normalized: True if it is searched in normalized text.
        lstrip, rstrip: True if it includes the white space before it, and after it.
        single_word: True if it is a token only where no word character is beside it.
    """

    content: str
    id: int = -1
    special: bool = False
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False


def normalized_content(token: AddedToken, normalize: Normalizer | None) -> str:
    """Return the text by which a token is found and to which it is decoded.

    >>> normalized_content(AddedToken("A", 1, normalized=True), str.lower)
    'a'
    """
    return normalize(token.content) if token.normalized and normalize else token.content


class AddedTokens:
    """A finder of added tokens in text.

    Args:
        tokens: all added tokens. If two have the same normalized name, a special token wins, or
            else the first one (tokenizers defines no order there).
        normalize: the normalizer of the text between the tokens, or None.
        prefix: changes the beginning of the spans, or None.

    >>> tokens = AddedTokens([AddedToken("<a>", 1, special=True), AddedToken("b", 2, rstrip=True)])
    >>> list(tokens.spans("<a>xb y<a>", allowed={"<a>"}))
    [('', 1), ('x', None), ('', 2), ('y', None), ('', 1)]
    >>> list(tokens.spans("<a>xb y<a>", allowed=set()))
    [('<a>x', None), ('', 2), ('y<a>', None)]
    """

    def __init__(
        self,
        tokens: Sequence[AddedToken],
        normalize: Normalizer | None = None,
        prefix: SpanStart | None = None,
    ) -> None:
        self.normalize = normalize
        self.prefix = prefix
        #: The same for the span at the beginning of the text.
        self._first_normalize = normalize
        self._first_prefix = prefix
        #: The place of the first character in ``align``.
        self.origin = 0
        self.ids = {token.content: token.id for token in tokens}
        self.is_normalized = normalize is not None
        #: True if a span may differ from the text.
        self.changes_text = normalize is not None or prefix is not None
        self._always = frozenset(token.content for token in tokens if not token.special)
        #: All names to search, disallowed ones included: text covered by a disallowed
        #: name is not searched again.
        self._names = frozenset(
            name
            for token in tokens
            for name in (token.content, normalized_content(token, normalize))
        )
        #: The names that depend on the text beside them, or include it.
        self._wide = frozenset(
            token.content for token in tokens if token.lstrip or token.rstrip or token.single_word
        )
        self._tokens = tuple(tokens)
        self._guards: dict[frozenset[str], Guard] = {}
        ordered = sorted(tokens, key=lambda token: not token.special)
        self._as_it_is = _Finder([(t.content, t) for t in ordered if not t.normalized])
        self._normalized = _Finder(
            [(normalized_content(t, normalize), t) for t in ordered if t.normalized]
        )

    @cached_property
    def continued(self) -> AddedTokens:
        """The finder for a text that continues after a cut point: itself if there is no difference.

        The first span of such a text is not the beginning of a text: places are counted from 1.
        """
        normalize = None if self.normalize is None else self.normalize.continued
        prefix = None if self.prefix is None else self.prefix.continued
        if normalize is self.normalize and prefix is self.prefix:
            return self
        other = changed(self, _first_normalize=normalize, _first_prefix=prefix, origin=1)
        other.continued = other
        return other

    def spans(self, text: str, allowed: Set[str]) -> Iterator[tuple[str, int | None]]:
        """Yield the spans of a text, ready to be split, and for each added token "" and its id.

        Args:
            text: without surrogates.
            allowed: the names of the special tokens that become tokens. Any other special name is
                plain text, and no token is found within it.
        """
        for begin, end, token in self._as_it_is.find(text, allowed):
            if token is not None:
                yield "", token.id
                continue
            span = text[begin:end]
            normalize = self.normalize if begin else self._first_normalize
            at_start = self._first_prefix is not None and self._first_prefix.only_first
            count = 0 if begin or not at_start else self._count_at_start(span)
            span = span if normalize is None else normalize(span)
            for start, end, token in self._normalized.find(span, allowed):
                if token is not None:
                    yield "", token.id
                    continue
                prefix = self.prefix if begin or start else self._first_prefix
                part = span[start:end]
                yield part if prefix is None else prefix(part, max(0, count - start)), None

    def _count_at_start(self, span: str) -> int:
        """Return the number of normalized characters that a span's first character becomes.

        Only the beginning of the span is looked at, up to where it may be cut.
        """
        normalize = self.normalize
        if normalize is None:
            return min(1, len(span))
        if normalize.is_local:
            for cut in range(1, len(span)):
                if normalize.across(span[cut - 1], span[cut]) is not None:
                    span = span[:cut]
                    break
        places = normalize.align(Aligned.of(span)).places
        return next((n for n, (start, _) in enumerate(places) if start), len(places))

    def align(self, text: str, allowed: Set[str]) -> Iterator[tuple[Aligned, int | None]]:
        """Yield the spans of ``spans`` and the added tokens, with their places in the text.

        Each token has its id and the normalized text that it stands for; each span has None.
        """
        whole = Aligned.of(text, self.origin)
        for start, end, token in self._as_it_is.find(text, allowed):
            span = whole.part(start, end)
            if token is not None:
                yield span, token.id
                continue
            normalize = self.normalize if start else self._first_normalize
            span = span if normalize is None else normalize.align(span)
            for first, last, token in self._normalized.find(span.text, allowed):
                part = span.part(first, last)
                if token is not None:
                    yield part, token.id
                else:
                    prefix = self.prefix if start or first else self._first_prefix
                    yield part if prefix is None else prefix.align(part), None

    def guard(self, names: Set[str]) -> Guard | None:
        """Return the guard of the names; None if no place is a cut point.

        Ask it about the characters beside a position in the original text, and about those in
        normalized text. A place after a name is forbidden if a span after a token is treated
        differently from a span that continues.

        Args:
            names: special tokens that may be tokens.
        """
        if self.normalize is not None and not self.normalize.is_local:
            return None
        key = frozenset(names)
        guard = self._guards.get(key)
        if guard is None:
            if len(self._guards) >= _GUARDS:
                self._guards.clear()
            guard = self._guards[key] = self._guard(key)
        return guard

    def _guard(self, names: frozenset[str]) -> Guard:
        if not names and not self._always:
            return Guard(())
        tokens = [token for token in self._tokens if not token.special or token.content in names]
        wide = [token for token in tokens if token.content in self._wide]
        lefts: set[str] = set()
        if self.continued is not self:
            lefts.update(name[-1] for name in self._names_of(tokens))
        # The characters beside a wide name, and the white space that it includes, stay with it.
        lefts.update(name[-1] for name in self._names_of(wide))
        rights = {name[0] for name in self._names_of(wide)}
        if any(token.lstrip or token.rstrip for token in wide):
            lefts.update(map(chr, white_space()))
        return Guard(self._names | names, lefts, rights)

    def _names_of(self, tokens: Iterable[AddedToken]) -> Iterator[str]:
        """Yield the names of tokens, original and normalized, that are not empty."""
        for token in tokens:
            yield from filter(None, (token.content, normalized_content(token, self.normalize)))

    @cached_property
    def longest_name(self) -> int | None:
        """The length of the longest name in bytes; None if a token's text may differ in length."""
        if self.is_normalized or self._wide & self._always:
            return None
        if self.prefix is not None and self.prefix.replaces:
            return None  # the tokens, joined, may be shorter or longer than the text
        return max((len(name.encode()) for name in self._names), default=0)

    def across(self, beside: str) -> list[tuple[str, str]]:
        """Return the characters beside a position in normalized text, and in spans to be split.

        All pairs that are possible are returned; none if the text may not be cut there.

        Args:
            beside: the two characters in the original text.
        """
        pairs: Pairs = [(beside[0], beside[1])]
        if self.normalize is not None:
            pairs = self.normalize.all_across(beside[0], beside[1])
        prefix = self.prefix
        ready = pairs if prefix is None else [prefix.across(*pair) for pair in pairs]
        return list(zip(map("".join, pairs), map("".join, ready)))

    def is_one_span(self, text: str) -> bool:
        """Return True if a text without allowed names, and each part of it, is split unchanged.

        A name within a disallowed special name is not a token in the text, but may be one in a part
        of the text.
        """
        if self.changes_text:
            return False
        return not self._always or self._always_names.first(text) is None

    @cached_property
    def _always_names(self) -> NameFinder:
        """A finder of the names of added tokens that are always tokens."""
        return NameFinder(self._always)


class _Finder:
    """A finder of tokens by their names; the first of two tokens with one name wins."""

    def __init__(self, tokens: list[tuple[str, AddedToken]]) -> None:
        self._tokens: dict[str, AddedToken] = {}
        for name, token in tokens:
            if name:
                self._tokens.setdefault(name, token)
        self._names = NameFinder(self._tokens)

    def find(self, text: str, allowed: Set[str]) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Yield the start and end of each span and each token; no range is empty.

        A token may overlap with the token before it, if that one has taken white space with which
        both begin or end.
        """
        at = 0
        for start, end in self._names.spans(text) if self._tokens else ():
            token = self._tokens[text[start:end]]
            if token.special and token.content not in allowed:
                continue
            if token.single_word and (
                (start and _is_word(text[start - 1])) or _is_word(text[end : end + 1])
            ):
                continue
            if token.lstrip:
                # The token before may have taken the beginning of this one.
                start = max(start, at)
                while start > at and _is_blank(text[start - 1]):
                    start -= 1
            if token.rstrip:
                while end < len(text) and _is_blank(text[end]):
                    end += 1
            if at < start:
                yield at, start, None
            # A token that has lost all its text to the token before is dropped.
            if start < end:
                yield start, end, token
            # This may step back if the token before took white space of this token.
            at = end
        if at < len(text):
            yield at, len(text), None


def _is_word(char: str) -> bool:
    return bool(char) and ord(char) in word()


def _is_blank(char: str) -> bool:
    return ord(char) in white_space()
