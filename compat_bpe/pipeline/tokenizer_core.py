"""``TokenizerCore``: a tokenizer of several steps at work, as a ``tokenizer.json`` describes it.

Text goes from added tokens to normalization to splitting to merging.  From the chunks on it is the
way of ``CoreBPE``, with its caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from string import ascii_letters
from typing import NamedTuple

from ..pattern.splitter import Splitter
from .added_tokens import AddedToken, AddedTokens, normalized_content
from .core_bpe import CoreBPE
from .decoders import Decoder
from .models.bpe.by_rank import BytePairEncoder
from .normalizers import Normalizer
from .pre_tokenizers import PrefixSpace, Step, make_splitter, to_bytes


@lru_cache(maxsize=128)
def _joined(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """Both; remembered, since some tokenizers have a thousand names."""
    return one | other


#: What of ASCII a mark after it is composed with.
_COMPOSED = frozenset("<=>" + ascii_letters)


class Parts(NamedTuple):
    """What a tokenizer is made of.

    Args:
        byte_pair: what encodes a chunk.
        tokens: each token's bytes and its id, for chunks that are a token, and for decoding.
        other_tokens: the bytes of the ids that are not in ``tokens`` or are decoded otherwise.
        whole_chunks: whether a chunk that is a token is not merged.
        normalize: what text between added tokens goes through, if anything.
        is_unicode_form: whether that is one of the Unicode normalization forms.
        steps: how it is split then.
        added_tokens: the added tokens.
        template: the ids before and after a text, if they are asked for.
        undecodable: None, or why ids cannot be decoded.
    """

    byte_pair: BytePairEncoder
    tokens: dict[bytes, int]
    other_tokens: Mapping[int, bytes]
    whole_chunks: bool
    normalize: Normalizer | None
    is_unicode_form: bool
    steps: Sequence[Step]
    added_tokens: Sequence[AddedToken]
    template: tuple[Sequence[int], Sequence[int]]
    undecodable: str | None


class TokenizerCore(CoreBPE):
    """Encodes and decodes with one tokenizer.

    Raises:
        ValueError: a pattern cannot be used (``PatternError``).

    >>> from compat_bpe.pattern.parser import parse
    >>> from compat_bpe.pipeline.pre_tokenizers import ByteAlphabet, Split
    >>> tokens = {bytes([i]): i for i in range(256)}
    >>> core = TokenizerCore(
    ...     Parts(
    ...         BytePairEncoder(tokens), tokens, {}, False, str.lower, False,
    ...         [Split(parse("[a-z]+")), ByteAlphabet()],
    ...         [AddedToken("<s>", 256)], ([256], []), None,
    ...     )
    ... )
    >>> core.encode("<s>HI", set())
    [256, 104, 105]
    """

    def __init__(self, parts: Parts) -> None:
        self.encoder = parts.tokens
        self.special = {token.content: token.id for token in parts.added_tokens}
        self.template = parts.template
        self.other_tokens = parts.other_tokens
        self._undecodable = parts.undecodable
        steps = parts.steps
        self._prefix_space = bool(steps) and isinstance(steps[0], PrefixSpace)
        if self._prefix_space:
            # The pieces that this step sees are the stretches between added tokens.
            steps = steps[1:]
        self._added = AddedTokens(parts.added_tokens, parts.normalize)
        self.is_normalized = parts.normalize is not None
        self._always = frozenset(t.content for t in parts.added_tokens if not t.special)
        #: The names that are looked for: what one that is no token takes, no other is found in.
        self._names = frozenset(
            name
            for token in parts.added_tokens
            for name in (token.content, normalized_content(token, parts.normalize))
        )
        #: The names that see what is beside them, or take it.
        self._wide = frozenset(
            t.content for t in parts.added_tokens if t.lstrip or t.rstrip or t.single_word
        )
        self._may_be_cut = (
            not self._prefix_space
            and not self._wide & self._always
            and (parts.normalize is None or parts.is_unicode_form)
        )
        whole = parts.tokens if parts.whole_chunks else {}
        self._set_up(make_splitter(steps), parts.byte_pair, whole, to_bytes(steps))

    def _stretches(self, text: str, allowed_special: Set[str]) -> Iterable[tuple[str, int | None]]:
        for plain, token in self._added.split(text, self._checked(text, allowed_special)):
            if self._prefix_space and plain and plain[0] != " ":
                plain = " " + plain
            yield plain, token

    def next_cut(
        self,
        text: str,
        start: int = 0,
        end: int | None = None,
        names: Set[str] = frozenset(),
        *,
        fine: bool = False,
    ) -> int | None:
        """As in ``CoreBPE``; with a Unicode normalization form, between ASCII characters alone.

        To such a form an ASCII character before another one stays what it is, and so does the
        other, unless a mark follows with which it is composed; that is so of letters and ``<=>``.
        """
        if not self._may_be_cut or names & self._wide:
            return None
        if names or self._always:
            names = _joined(self._names, frozenset(names)) if names else self._names
        cut = super().next_cut(text, start, end, names, fine=fine)
        if self.is_normalized:
            while cut is not None and not (
                text[cut - 1 : cut + 1].isascii() and text[cut] not in _COMPOSED
            ):
                cut = super().next_cut(text, cut, end, names, fine=fine)
        return cut

    @cached_property
    def longest_token(self) -> int | None:
        """As in ``CoreBPE``; added tokens that are tokens everywhere are counted, too."""
        longest = super().longest_token
        if longest is None or self.is_normalized or self._wide & self._always:
            return None
        return max([longest, *(len(name.encode()) for name in self._names)])

    def splitter_of(self, text: str) -> Splitter | None:
        """As in ``CoreBPE``; None also where an added token stands in the text."""
        if self.is_normalized or self._prefix_space or self._undecodable is not None:
            return None
        if any(token is not None for _, token in self._added.split(text, frozenset())):
            return None
        return super().splitter_of(text)

    @cached_property
    def _decoder(self) -> Decoder:
        if self._undecodable is not None:
            raise ValueError(f"{self._undecodable}: it encodes, but cannot decode")
        # A token of the vocabulary may be an added one too, which may be decoded otherwise.
        return Decoder(self.encoder, self.other_tokens, others_count=True)
