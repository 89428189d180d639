"""``TokenizerCore``: a tokenizer of several steps, as a ``tokenizer.json`` describes it.

Text passes through added tokens, normalization, splitting and merging.  From the chunks on it
takes the same way as in ``CoreBPE``, with its caches.
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
    """Return the union of two sets; cached, since some tokenizers have a thousand names."""
    return one | other


#: ASCII characters that compose with a following combining mark.
_COMPOSED = frozenset("<=>" + ascii_letters)


class Parts(NamedTuple):
    """The parts of a tokenizer.

    Args:
        byte_pair: the encoder of chunks.
        tokens: each token's bytes and its id, for chunks that are a token, and for decoding.
        other_tokens: the bytes of ids that are not in ``tokens``, or that are decoded otherwise.
        whole_chunks: True if a chunk that is a token is that token, without merging.
        normalize: the normalizer of the text between added tokens, or None.
        is_unicode_form: True if the normalizer is one of the Unicode normalization forms.
        steps: the steps that split the normalized text.
        added_tokens: the added tokens.
        template: the ids before and after a text, added on request.
        undecodable: the reason why ids cannot be decoded, or None if they can.
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
    """The core of one tokenizer: it encodes, counts and decodes.

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
            # The pieces that this step sees are the spans between added tokens.
            steps = steps[1:]
        self._added = AddedTokens(parts.added_tokens, parts.normalize)
        self.is_normalized = parts.normalize is not None
        self._always = frozenset(t.content for t in parts.added_tokens if not t.special)
        #: All added-token names, disallowed ones included: text covered by a disallowed name is
        #: not searched again.
        self._names = frozenset(
            name
            for token in parts.added_tokens
            for name in (token.content, normalized_content(token, parts.normalize))
        )
        #: The names whose match depends on the text beside them, or takes some of it.
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
        """Return the next cut point, as in ``CoreBPE``.

        With a Unicode normalization form, only positions between two ASCII characters count.  Such
        a form leaves an ASCII character before another one as it is.  It leaves the second one as
        it is, too, unless a mark follows that composes with it.  Only letters and ``<=>`` compose
        with a mark, so a cut point before one of these does not count.
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
        """The longest token in bytes, as in ``CoreBPE``; tokens found everywhere are included."""
        longest = super().longest_token
        if longest is None or self.is_normalized or self._wide & self._always:
            return None
        return max([longest, *(len(name.encode()) for name in self._names)])

    def splitter_of(self, text: str) -> Splitter | None:
        """Return the splitter of a text, as in ``CoreBPE``; None if it contains an added token."""
        if self.is_normalized or self._prefix_space or self._undecodable is not None:
            return None
        if any(token is not None for _, token in self._added.split(text, frozenset())):
            return None
        return super().splitter_of(text)

    @cached_property
    def _decoder(self) -> Decoder:
        if self._undecodable is not None:
            raise ValueError(f"{self._undecodable}: it encodes, but cannot decode")
        others = self.other_tokens
        # A token of the vocabulary may also be an added token, which may be decoded otherwise.
        ranks = {token: number for token, number in self.encoder.items() if number not in others}
        return Decoder(ranks, others)
