"""BPE over characters, with a mark for the end of a word or for what does not begin one.

The merges are those of ``BpeTrainer`` of Hugging Face tokenizers 0.23.3, except for the ids of
characters with a mark, whose order is random there (see ``merges_of_characters``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...formats.models.bpe import ListedModel, RankedModel
from ...formats.parts.pre_tokenizers import byte_level_part
from ..kind import Advance
from ..options import BYTE_FALLBACK
from ..run.results import Learned
from ..tokenizer_kind import given_or
from ..tokenizer_parts import GivenPart, types_in
from ..words import CountedWords
from .measure import CharacterWords, Encode
from .merge_kind import MergeKind, MergeSettings
from .merges_of_characters import Marks

_NO_TOKENS: tuple[list[str], list[str]] = ([], [])


@dataclass(frozen=True)
class CharacterBpeSettings(MergeSettings):
    """The settings of training BPE over characters.

    The ids are those of the special tokens, of single characters by code point, of characters with
    a mark, the one in most words first, and of the merges. They do not depend on the order of the
    texts or on the number of workers.

    Args:
        vocab_size: the number of tokens. There are more if special tokens and characters are more,
            and fewer if nothing is left to merge.
        num_merges: the most merges to learn. Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        special_tokens, min_frequency, weights, like, convergence: as in ``WordPieceSettings``.
        unknown: the token of a character that has none, ``<unk>`` unless given; a special token.
        prefix: stands before a piece that does not begin a word; none unless given.
        suffix: stands after a piece that ends a word; ``</w>`` unless this or a prefix is given.
            Empty for none.
        initial_alphabet, limit_alphabet, max_token_length, rule, min_score: as there.
        byte_fallback: make the 256 tokens ``<0x00>`` to ``<0xFF>``, after the special ones, with
            which characters without a token are written. Without it, a tokenizer ``like`` one that
            has them has none, as ``train_new_from_iterator`` of transformers leaves them out.
        normalizer, pre_tokenizer, decoder, post_processor: as there. Unless given, text is split
            as BERT does, and not normalized.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.

    >>> from compat_bpe.train import train
    >>> enc = train(["low lower lowest new newer newest"] * 3, CharacterBpeSettings(20))
    >>> [enc.id_to_token(number) for number in enc.encode("lowest low")]
    ['lo', 'west</w>', 'low</w>']
    >>> enc.decode(enc.encode("lowest low"))
    'lowest low'
    """

    byte_fallback: bool = field(default=False, metadata=BYTE_FALLBACK.as_metadata)

    @property
    def kind(self) -> CharacterBpe:
        """The kind of vocabulary, with these settings."""
        return CharacterBpe(self)


class CharacterBpe(MergeKind):
    """BPE over characters."""

    settings: CharacterBpeSettings

    name: ClassVar[str] = "character-bpe"
    makes = CharacterBpeSettings
    model_types: ClassVar[tuple[type, ...]] = (ListedModel, RankedModel)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": "bert"}

    @property
    def like_model(self) -> ListedModel | None:
        model = super().like_model
        # By ranks, all chunks that are tokens are taken as they are.
        by_ranks = ListedModel({}, _NO_TOKENS, ignore_merges=True)
        return by_ranks if isinstance(model, RankedModel) else model

    @property
    def unknown_token(self) -> str | None:
        if self.settings.unknown is None and self.like_model is not None:
            return self.like_model.unknown.token
        return "<unk>" if self.settings.unknown is None else self.settings.unknown

    @property
    def marks(self) -> Marks:
        model = self.like_model
        usual = "</w>" if not self.settings.prefix else ""
        return Marks(
            given_or(self.settings.prefix, model, "prefix", "") or "",
            given_or(self.settings.suffix, model, "suffix", usual) or "",
        )

    @property
    def extra_tokens(self) -> Sequence[str]:
        return [f"<0x{byte:02X}>" for byte in range(256)] if self.settings.byte_fallback else ()

    @property
    def leaves_bytes_out(self) -> bool:
        """True if ``like`` writes unknown characters as bytes, and this does not."""
        model = self.like_model
        return model is not None and model.unknown.byte_fallback and not self.settings.byte_fallback

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        decoder = self._decoder(parts)
        if not self.settings.byte_fallback:
            return decoder
        return {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, decoder]}

    def _decoder(self, parts: Mapping[str, Any]) -> Any:
        prefix, suffix = self.marks
        if suffix:
            return {"type": "BPEDecoder", "suffix": suffix}
        if prefix:
            return {"type": "WordPiece", "prefix": prefix, "cleanup": False}
        pre_tokenizer = parts["pre_tokenizer"]
        if "ByteLevel" in types_in(pre_tokenizer):
            return byte_level_part()
        is_metaspace = isinstance(pre_tokenizer, Mapping) and pre_tokenizer["type"] == "Metaspace"
        return pre_tokenizer if is_metaspace else {"type": "Fuse"}

    def measured(self, words: Mapping[str, int], tokens: Sequence[str]) -> CharacterWords:
        def model(tokens: Sequence[str], merges: Iterable[tuple[str, str]]) -> Encode:
            encode: Encode = self._part(tokens, merges).define((), "the model so far").model.encode
            return encode

        looks_up = self.like_model is not None and self.like_model.ignore_merges
        return CharacterWords(words, tokens, self.marks, model, looks_up=looks_up)

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        learned = self.learn_tokens(words, advance)
        part = self._part(learned.tokens, learned.merges)
        return Learned(part, learned.learned, learned.stopped, learned.size, learned.curve)

    def _part(self, tokens: Iterable[str], merges: Iterable[tuple[str, str]]) -> ListedModel:
        """Return the model with some tokens and merges."""
        part = self.like_model or ListedModel({}, _NO_TOKENS)
        pairs = [*merges]
        return part._replace(
            vocabulary={token: number for number, token in enumerate(tokens)},
            merges=([left for left, _ in pairs], [right for _, right in pairs]),
            spelled=(),  # those of the file that it is like are others
            unknown=part.unknown._replace(
                token=self.unknown_token,
                byte_fallback=part.unknown.byte_fallback or self.settings.byte_fallback,
            ),
            # None and no text mean the same: it is written as it was.
            prefix=self.marks.prefix or (None if part.prefix else part.prefix),
            suffix=self.marks.suffix or (None if part.suffix else part.suffix),
        )
