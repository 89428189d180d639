"""``TokenizerCore``: a tokenizer of several steps at work, as a ``tokenizer.json`` describes it.

Text goes from added tokens to normalization to splitting to merging.  From the chunks on it is the
way of ``CoreBPE``, with its caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from compat_bpe.engine.added_tokens import AddedToken, AddedTokens
from compat_bpe.engine.byte_pair import BytePairEncoder
from compat_bpe.engine.core_bpe import CoreBPE
from compat_bpe.engine.decoder import Decoder
from compat_bpe.engine.normalization import Normalizer, one_after_the_other
from compat_bpe.engine.pre_tokenizer import PrefixSpace, Step, make_splitter, to_bytes


class Parts(NamedTuple):
    """What a tokenizer is made of.

    Args:
        byte_pair: what encodes a chunk.
        tokens: each token's bytes and its id, for chunks that are a token, and for decoding.
        other_tokens: the bytes of the ids that are not in ``tokens`` or are decoded otherwise.
        whole_chunks: whether a chunk that is a token is not merged.
        normalizers: what text between added tokens goes through.
        steps: how it is split then.
        added_tokens: the added tokens.
        template: the ids before and after a text, if they are asked for.
        undecodable: None, or why ids cannot be decoded.
    """

    byte_pair: BytePairEncoder
    tokens: dict[bytes, int]
    other_tokens: Mapping[int, bytes]
    whole_chunks: bool
    normalizers: Sequence[Normalizer]
    steps: Sequence[Step]
    added_tokens: Sequence[AddedToken]
    template: tuple[Sequence[int], Sequence[int]]
    undecodable: str | None


class TokenizerCore(CoreBPE):
    """Encodes and decodes with one tokenizer.

    Raises:
        ValueError: a pattern cannot be used (``PatternError``).

    >>> from compat_bpe.engine.pattern import parse
    >>> from compat_bpe.engine.pre_tokenizer import ByteAlphabet, Split
    >>> tokens = {bytes([i]): i for i in range(256)}
    >>> core = TokenizerCore(
    ...     Parts(
    ...         BytePairEncoder(tokens), tokens, {}, False, [str.lower],
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
        normalize = one_after_the_other(list(parts.normalizers))
        self._added = AddedTokens(parts.added_tokens, normalize)
        whole = parts.tokens if parts.whole_chunks else {}
        self._set_up(make_splitter(steps), parts.byte_pair, whole, to_bytes(steps))

    def _stretches(self, text: str, allowed_special: Set[str]) -> Iterable[tuple[str, int | None]]:
        for plain, token in self._added.split(text, self._checked(text, allowed_special)):
            if self._prefix_space and plain and plain[0] != " ":
                plain = " " + plain
            yield plain, token

    @cached_property
    def _decoder(self) -> Decoder:
        if self._undecodable is not None:
            raise ValueError(f"{self._undecodable}: it encodes, but cannot decode")
        others = self.other_tokens
        # A token of the vocabulary may be an added one too, which may be decoded otherwise.
        ranks = {token: number for token, number in self.encoder.items() if number not in others}
        return Decoder(ranks, others)
